"""Features of responses, against counts by hand and by other means."""

from __future__ import annotations

import difflib
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.preference.response_features import (
    FEATURES,
    changed_lines,
    code_of,
    code_to_edit_of,
    lines_of,
    response_features,
)

CHAT = "Sorting makes it short:\n\n```python\n# take the last\ndef f(a):\n    return sorted(a)[-1]  # it\n```\nDone."


def features(response: str, **texts: Any) -> dict[str, float]:
    row = {"response_b": response, "code_to_edit": None, "language": "Python", "evidence_b": None, **texts}
    return dict(zip(FEATURES, response_features(row, "b"), strict=True))


def test_a_chat_by_hand() -> None:
    code = "# take the last\ndef f(a):\n    return sorted(a)[-1]  # it"
    assert code_of(CHAT) == code
    assert features(CHAT) == {
        "log_chars": math.log1p(len(CHAT)),
        "log_lines": math.log1p(8),
        "fenced_share": len(code) / len(CHAT),
        "comment_share": pytest.approx(2 / 3),
        "log_changed_lines": math.log1p(3),
        "unchanged": 0.0,
        "blank": 0.0,
        "failed": 0.0,
    }


def test_an_edit_by_hand() -> None:
    before = "def f(a):\n    return a[0]\n\nf(1)\n"
    found = features("def f(a):\r\n    return a[1]\r\n\r\nf(1)\r\nf(2)", code_to_edit=before)
    assert found["log_changed_lines"] == math.log1p(2)  # a line replaced, a line inserted
    assert (found["unchanged"], found["fenced_share"], found["comment_share"]) == (0.0, 0.0, 0.0)
    same = features(f"Nothing to do.\n```\n{before}```", code_to_edit=before)
    assert (same["unchanged"], same["log_changed_lines"]) == (1.0, 0.0)
    assert features(before, code_to_edit="  \n")["unchanged"] == 0.0


def test_nothing_is_blank_and_removes_all_that_there_is() -> None:
    assert lines_of("") == [] and lines_of("\n") == [""] and lines_of("a\rb\r\nc\n") == ["a", "b", "c"]
    assert changed_lines("", "a\nb\nc\n") == 3 and changed_lines("", None) == 0
    assert changed_lines("```\n```\nI cannot do that.\nSorry.", None) == 0  # it has a block of code, without code
    assert features("")["blank"] == features(" \n")["blank"] == 1.0
    assert features("")["fenced_share"] == features("")["comment_share"] == 0.0


@pytest.mark.parametrize(
    ("evidence", "failed"),
    [
        (None, 0.0), ({}, 0.0), ({"error": None}, 0.0), ({"error": " "}, 0.0), ({"output": "Error"}, 0.0),
        ({"error": "NameError: x"}, 1.0),
    ],
)  # fmt: skip
def test_what_running_gave(evidence: dict[str, Any] | None, failed: float) -> None:
    assert features("x", evidence_b=None if evidence is None else json.dumps(evidence))["failed"] == failed


def test_comments_that_go_over_lines_count_each_and_blank_lines_do_not() -> None:
    code = 'def f():\n    """First.\n\n    Second.\n    """\n    return "# no"\n'
    assert features(code)["comment_share"] == pytest.approx(3 / 5)
    assert features("/* a\n b */ int x;\nint y; // z\n", language="C++")["comment_share"] == 1.0
    assert features("-- a\n", language="Brainfuck")["comment_share"] == 0.0
    assert features("import os\n# a\n", language=None)["comment_share"] == 0.5


def test_white_space_is_no_code_to_edit() -> None:
    assert code_to_edit_of({"code_to_edit": " \n"}) is None and code_to_edit_of({"code_to_edit": float("nan")}) is None
    assert code_to_edit_of({"code_to_edit": "x"}) == "x"


CODE = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=7).map("\n".join)


@settings(deadline=None)
@given(CODE, CODE)
def test_changed_lines_are_a_distance_in_lines(first: str, second: str) -> None:
    n = changed_lines(first, second)
    assert n == changed_lines(second, first) and (n == 0) == (lines_of(first) == lines_of(second))
    assert abs(len(lines_of(first)) - len(lines_of(second))) <= n <= max(len(lines_of(first)), len(lines_of(second)))
    # An edit script replaces, inserts and removes: none is shorter than the distance.
    steps = difflib.SequenceMatcher(None, lines_of(first), lines_of(second), autojunk=False).get_opcodes()
    assert n <= sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in steps if tag != "equal")
    assert changed_lines(first, None) == len(lines_of(first))


@settings(deadline=None)
@given(st.text(max_size=80), st.text(max_size=80) | st.none(), st.sampled_from([None, "Python", "C++", "Lua", "??"]))
def test_any_text_has_finite_features(response: str, before: str | None, language: str | None) -> None:
    found = features(response, code_to_edit=before, language=language)
    assert all(math.isfinite(value) and value >= 0 for value in found.values())
    assert found["fenced_share"] <= 1 and found["comment_share"] <= 1
