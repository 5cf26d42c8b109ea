from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.report.shown_lines import (
    MAX_LINE_CHARS,
    MAX_LINES,
    Line,
    first_lines,
    lines_of,
    marked,
    shown_line,
    without_blank_runs,
    without_long_runs,
)

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "  d", ""]), max_size=40)


@given(TEXTS, TEXTS)
def test_what_is_not_marked_is_the_same_in_both_and_nothing_is_lost(first: list[str], second: list[str]) -> None:
    left, right = marked(first, second)
    assert [line.text for line in left] == first and [line.text for line in right] == second
    same = [[line.text for line in side if line.kind == "same"] for side in (left, right)]
    assert same[0] == same[1]
    assert all(line.kind in ("same", "differs") for line in (*left, *right))
    if first == second:
        assert not any(line.kind == "differs" for line in (*left, *right))


@given(st.lists(st.sampled_from(["same", "differs"]), max_size=80))
def test_long_runs_of_the_same_are_left_out_and_counted(kinds: list[str]) -> None:
    lines = [Line(kind, str(place)) for place, kind in enumerate(kinds)]
    found = without_long_runs(lines)
    assert [line for line in found if line.kind == "differs"] == [line for line in lines if line.kind == "differs"]
    left_out = sum(int(line.text.split()[1]) for line in found if line.kind == "place")
    assert len([line for line in found if line.kind != "place"]) + left_out == len(lines)
    assert all(len(run) <= 8 for run in "".join(line.kind[0] for line in found).replace("p", "d").split("d"))


def test_lines_that_are_too_long_or_too_many_are_not_compared_or_cut() -> None:
    assert shown_line("x" * MAX_LINE_CHARS) == "x" * MAX_LINE_CHARS
    assert shown_line("x" * 1234).endswith("… (1,234 characters)")
    many = ["x"] * (MAX_LINES + 1)
    left, right = marked(many, ["y"])
    assert {line.kind for line in (*left, *right)} == {"same"}
    assert lines_of("a\tb\r\nc") == ["a   b", "c"]


def test_blank_runs_and_what_is_beyond_the_first_lines_are_counted() -> None:
    lines = [Line("differs", text) for text in ("a", "", " ", "", "\t", "b", "", "c")]
    found = without_blank_runs(lines)
    assert [line.text for line in found] == ["a", "… 4 blank lines …", "b", "", "c"]
    assert first_lines(found, 5) == found
    assert [line.text for line in first_lines(found, 2)] == ["a", "… 4 blank lines …", "… 3 more lines …"]
