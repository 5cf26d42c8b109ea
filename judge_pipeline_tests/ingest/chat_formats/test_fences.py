from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.chat_formats.fences import fenced


def marks(text: str) -> str:
    return "".join("#" if inside else "." for inside in fenced(text.split("\n")))


def test_fenced_lines_are_inside_with_their_fences() -> None:
    assert marks("a\n```py\nx\n```\nb") == ".###."


def test_longer_and_other_fences_do_not_close() -> None:
    assert marks("````\n```\n````\n~~~\n```\n~~~") == "######"


def test_a_fence_that_is_never_closed_swallows_nothing() -> None:
    assert marks("a\n```\nb\nc") == "...."


def test_a_fence_that_meets_the_opening_of_another_counts_as_none() -> None:
    assert marks("```\ncut off\nUser:\n```cpp\nx\n```\nend") == "...###."


def test_inline_backticks_are_no_fence() -> None:
    assert marks("```x``` and more\ntext") == ".."


@given(st.lists(st.sampled_from(["```", "```py", "~~~", "````", "x", ""]), max_size=12))
def test_fences_come_in_pairs(lines: list[str]) -> None:
    inside = fenced(lines)
    assert len(inside) == len(lines)
    for i, line in enumerate(lines):
        if inside[i] and (i == 0 or not inside[i - 1]):
            assert line.startswith(("```", "~~~"))
