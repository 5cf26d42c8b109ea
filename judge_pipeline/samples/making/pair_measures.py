"""What the responses of the sample pairs really are, measured: the scores of the set's rubric, without a model.

Every item of the set's ``rubric.yaml`` is a measure of a response's text, or of running it. The response with more of
it satisfies the item better; as much is alike.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from textwrap import dedent
from typing import Any

from judge_pipeline.samples.making.pair_rule import answer_code, lines_of_code, passes

_FENCED = re.compile(r"```.*?(```|\Z)", re.DOTALL)
_CASES = (ast.If, ast.IfExp, ast.ExceptHandler, ast.Raise, ast.BoolOp)


@dataclass(frozen=True, slots=True)
class Measured:
    """One response, measured.

    Attributes:
        right: whether it passes its task's checks.
        n_lines: lines of code; blank lines and comments aside.
        n_explaining: characters that explain: comments, docstrings, and of a chat the text around the code.
        n_cases: places where the code tells cases apart: conditions, their parts, errors caught and raised.
        name_chars: mean length of the names in the code.
    """

    right: bool
    n_lines: int
    n_explaining: int
    n_cases: int
    name_chars: float


ITEMS: Mapping[str, Callable[[Measured], float]] = {
    "does-what-was-asked": lambda m: float(m.right),
    "fewer-lines": lambda m: -float(m.n_lines),
    "explains-itself": lambda m: float(m.n_explaining),
    "tells-cases-apart": lambda m: float(m.n_cases),
    "longer-names": lambda m: m.name_chars,
}
"""Item of rubric.yaml -> how far a response satisfies it."""


@cache
def _measured(mode: str, answer: str, prefix: str, suffix: str, checks: str) -> Measured:
    task = {"id": "measured", "mode": mode, "prefix": prefix, "suffix": suffix, "checks": checks}
    code = answer_code(task, answer)
    tree = ast.parse(dedent(code))
    around = len(_FENCED.sub("", answer).strip()) if mode == "chat" else 0
    explaining = around + sum(map(len, (*_comments(dedent(code)), *_docstrings(tree))))
    cases = sum(isinstance(node, _CASES) for node in ast.walk(tree))
    cases += sum(len(node.ifs) for node in ast.walk(tree) if isinstance(node, ast.comprehension))
    names = sorted({*(n.id for n in ast.walk(tree) if isinstance(n, ast.Name)),
                    *(n.arg for n in ast.walk(tree) if isinstance(n, ast.arg))})  # fmt: skip
    mean = sum(map(len, names)) / len(names) if names else 0.0
    return Measured(passes(task, answer), lines_of_code(code), explaining, cases, mean)


def measured(task: Mapping[str, Any], answer: str) -> Measured:
    """The answer of a task, measured."""
    return _measured(task["mode"], answer, task.get("prefix", ""), task.get("suffix", ""), task["checks"])


def item_scores(a: Measured, b: Measured) -> dict[str, int]:
    """Item -> -1 where y_A satisfies it better, 1 where y_B does, 0 where both are alike."""
    return {item: (of(b) > of(a)) - (of(b) < of(a)) for item, of in ITEMS.items()}


def _comments(code: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def _docstrings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield ast.get_docstring(node) or ""
