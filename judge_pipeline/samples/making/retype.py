"""Type a program in again as another person would: other names, another layout, the same tokens otherwise.

Everything works on tokens, so that strings, comments, keywords and names of libraries stay as they are. Verdicts are
measured on the result, never carried over from the original.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from judge_pipeline.samples.making.catalogue import MAKING

Naming = Literal["as_is", "short", "plain", "romaji"]

_OPERATORS = (
    *("<<=", ">>=", "//=", "**=", "->", "++", "--", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "//", "**"),
    *("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ":="),
    *"+-*/%=<>?:&|^!~.,;()[]{}",
)
_OPERATOR = "|".join(re.escape(operator) for operator in _OPERATORS)
_SHARED = r"(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<blank>[ \t]+)|(?P<newline>\n)|"
_C_LIKE = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>^\#[^\n]*)|"
    r"""(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|""" + _SHARED + rf"(?P<operator>{_OPERATOR})|(?P<else>.)",
    re.DOTALL | re.MULTILINE,
)
_PYTHON = re.compile(
    r"(?P<comment>\#[^\n]*)|"
    r"""(?P<text>\"\"\".*?\"\"\"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|"""
    + _SHARED
    + rf"(?P<operator>{_OPERATOR})|(?P<else>.)",
    re.DOTALL,
)
_TIGHTENED = {"=", "<", ">", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "&&", "||", "<<", ">>", "?", ":"} | {
    *("+=", "-=", "*=", "/=", "%=", "//", "**")
}
_HEADS = re.compile(r"(\)|\belse|\btry|\bdo|\bstruct|\bclass [\w ]+|\bthrows \w+)$")


class Token(NamedTuple):
    """A piece of source: its kind (comment, directive, text, name, number, blank, newline, operator, else)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Style:
    """How a person writes code down.

    Attributes:
        naming: which names they choose; ``as_is`` keeps those of the program.
        indent: what they indent a level with.
        braces: whether an opening brace stands at the end of its line or on the next (C, C++ and Java).
        tight: whether they leave out blanks around operators.
        comments: whether they keep comments.
        airy: whether they keep empty lines.
    """

    naming: Naming
    indent: str
    braces: Literal["same", "next"]
    tight: bool
    comments: bool
    airy: bool


def tokens(text: str, language: str) -> Iterator[Token]:
    """The source cut into tokens; their texts joined give it back exactly."""
    for match in (_PYTHON if language == "Python" else _C_LIKE).finditer(text):
        yield Token(str(match.lastgroup), match.group())


def retype(text: str, language: str, style: Style, hand: str) -> str:
    """The program as the person with this style writes it.

    Args:
        text: the source, indented by four blanks a level.
        language: C, C++, Java or Python.
        style: the person's habits.
        hand: who writes what; the same hand chooses the same names, so that successive versions stay alike.

    Returns:
        the source without a newline at its end.
    """
    if style.naming != "as_is":
        text = _rename(text, language, style.naming, hand)
    if not style.comments:
        text = _without_comments(text, language)
    lines = text.split("\n")
    if not style.airy:
        lines = [line for line in lines if line.strip()]
    if language != "Python" and style.braces == "next":
        lines = [new for line in lines for new in _opened_below(line)]
    if style.tight:
        lines = [_tightened(line, language) for line in lines]
    return "\n".join(_indented(line, style.indent) for line in lines).rstrip("\n")


@cache
def _words() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((MAKING / "words.toml").read_text(encoding="utf-8"))


def _rename(text: str, language: str, naming: Naming, hand: str) -> str:
    """Give the program's own names others from the list; what could belong to a library or a member keeps its name."""
    pieces = list(tokens(text, language))
    names = {piece.text for piece in pieces if piece.kind == "name"}
    keep = _kept_names(pieces, language)
    taken = set(names) | keep
    chosen: dict[str, str] = {}
    for name in sorted(names & _words()[naming].keys() - keep):
        choices = list(_words()[naming][name])
        random.Random(f"{hand}/{name}").shuffle(choices)
        new = next((choice for choice in choices if choice not in taken), None)
        if new is not None:
            chosen[name] = new
            taken.add(new)
    return "".join(chosen.get(piece.text, piece.text) if piece.kind == "name" else piece.text for piece in pieces)


def _kept_names(pieces: list[Token], language: str) -> set[str]:
    """Names used as a member, a keyword argument or a type, or within a directive."""
    keep: set[str] = set()
    solid = [piece for piece in pieces if piece.kind not in ("blank", "newline", "comment")]
    depth = 0
    for before, piece, after in zip([Token("", ""), *solid], solid, [*solid[1:], Token("", "")], strict=False):
        depth += {"(": 1, ")": -1}.get(piece.text, 0)
        if piece.kind == "directive":
            keep.update(re.findall(r"\w+", piece.text))
        if piece.kind != "name":
            continue
        member = before.text in (".", "->", "::")
        argument = language == "Python" and depth > 0 and after.text == "=" and before.text in ("(", ",")
        imported = before.text in ("import", "from")
        # ``stack<char> stack``, ``char line[9]``: a word of the language is no name of the program.
        type_name = language in ("C", "C++", "Java") and (after.text == "<" and before.text in (";", "", "}", "{", "("))
        keyword = language != "Python" and piece.text in ("char", "union", "case")
        if member or argument or imported or type_name or keyword:
            keep.add(piece.text)
    return keep


def _without_comments(text: str, language: str) -> str:
    lines: list[list[Token]] = [[]]
    for piece in tokens(text, language):
        if piece.kind == "newline":
            lines.append([])
        else:
            lines[-1].append(piece)
    kept = []
    for line in lines:
        code = "".join(piece.text for piece in line if piece.kind != "comment").rstrip()
        if code or not line:
            kept.append(code)
    return "\n".join(kept)


def _opened_below(line: str) -> list[str]:
    """The line, or, where it opens a block at its end, the line and its brace (and a closing brace before it)."""
    code = line.rstrip()
    if not code.endswith(" {") or not _HEADS.search(code[:-2]):
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    head = code[:-2].strip()
    before = []
    if head.startswith("} "):
        before, head = [margin + "}"], head[2:]
    return [*before, margin + head, margin + "{"]


def _tightened(line: str, language: str) -> str:
    pieces = list(tokens(line, language))
    kept = []
    for number, piece in enumerate(pieces):
        inside = piece.kind == "blank" and 0 < number < len(pieces) - 1
        if inside and _drops_blank(pieces, number, language):
            continue
        kept.append(piece.text)
    return "".join(kept)


def _drops_blank(pieces: list[Token], number: int, language: str) -> bool:
    """Whether the blank stands beside an operator that has one on both sides, or between ``if`` and its bracket."""
    before, after = pieces[number - 1], pieces[number + 1]
    for place, operator in ((number - 1, before), (number + 1, after)):
        if operator.kind == "operator" and operator.text in _TIGHTENED and 0 < place < len(pieces) - 1:
            return pieces[place - 1].kind == "blank" and pieces[place + 1].kind == "blank"
    return language != "Python" and before.text in ("if", "for", "while") and after.text == "("


def _indented(line: str, unit: str) -> str:
    code = line.lstrip(" ")
    levels, odd = divmod(len(line) - len(code), 4)
    return unit * levels + " " * odd + code
