"""What can be counted in a response without understanding it: length, code, comments, and how much it changes.

All of it comes from table PAIR_TEXTS, of the pair's own row alone.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from rapidfuzz.distance import Levenshtein

from judge_pipeline.ingest.comments import comment_spans
from judge_pipeline.preference.fenced_code import code_in

FEATURES = (
    "log_chars", "log_lines", "fenced_share", "comment_share", "log_changed_lines", "unchanged", "blank", "failed",
)  # fmt: skip
"""The features of a response, in the order of ``response_features``."""


def code_of(response: str) -> str:
    """The code of the response's fenced blocks, joined; all of it where it has none."""
    code = code_in(response)
    return response if code is None else code


def lines_of(text: str) -> list[str]:
    """The lines of a text; all kinds of line ends are one, and one at the end begins no further line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


def code_to_edit_of(texts: Mapping[str, Any]) -> str | None:
    """The code that the pair's responses edit; None where there is none but white space."""
    code = texts["code_to_edit"]
    return code if isinstance(code, str) and code.strip() else None


def changed_lines(response: str, code_to_edit: str | None) -> int:
    """Lines that a response changes: inserted, removed and replaced ones count 1 each (Levenshtein distance).

    Compared is the response's code (``code_of``) with the code to edit. Where there is none to edit, as in chats and
    completions, all lines of the response's code are inserted. An empty response removes all there is to edit.
    """
    before = [] if code_to_edit is None else lines_of(code_to_edit)
    return int(Levenshtein.distance(before, lines_of(code_of(response))))


def response_features(texts: Mapping[str, Any], side: str) -> list[float]:
    """The features of one response of a pair, as ``FEATURES`` names them.

    - ``log_chars``, ``log_lines``: log(1 + n) of its characters and lines;
    - ``fenced_share``: characters in fenced blocks, of all;
    - ``comment_share``: lines of its code with a comment, of those that are not blank (0 where there is none, or where
      the language has no comments that are known);
    - ``log_changed_lines``: log(1 + n) of ``changed_lines``;
    - ``unchanged``: 1 where its code is the code to edit;
    - ``blank``: 1 where it is white space;
    - ``failed``: 1 where running it gave an error.

    Args:
        texts: the pair's row of PAIR_TEXTS.
        side: a or b.
    """
    response = texts[f"response_{side}"]
    fenced, code, before = code_in(response) or "", code_of(response), code_to_edit_of(texts)
    language = texts["language"]
    return [
        math.log1p(len(response)),
        math.log1p(len(lines_of(response))),
        len(fenced) / len(response) if response else 0.0,
        _comment_share(code, language if isinstance(language, str) else None),
        math.log1p(changed_lines(response, before)),
        float(before is not None and lines_of(code) == lines_of(before)),
        float(not response.strip()),
        float(_failed(texts[f"evidence_{side}"])),
    ]


def _comment_share(code: str, language: str | None) -> float:
    text = code.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    written = {number for number, line in enumerate(lines) if line.strip()}
    begins = [0]
    for line in lines[:-1]:
        begins.append(begins[-1] + len(line) + 1)
    commented: set[int] = set()
    for start, end in comment_spans(text, language):
        commented.update(range(bisect_right(begins, start) - 1, bisect_right(begins, end - 1)))
    return len(commented & written) / len(written) if written else 0.0


def _failed(evidence: Any) -> bool:
    error = json.loads(evidence).get("error") if isinstance(evidence, str) else None
    return bool(error.strip() if isinstance(error, str) else error)
