"""A figure is drawn once for the same table, and anew for any other."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judge_pipeline.figures.drawn_once import MOST_KEPT, drawn_once
from judge_pipeline.figures.style import DrawnFigure, not_drawn

TABLE = pd.DataFrame({"judge": ["a", None], "turn": pd.array([1, 2], dtype="Int64"), "value": [0.1, 0.2]})


def counting() -> tuple[Any, list[Any]]:
    """A function that draws, and what it was called with."""
    calls: list[Any] = []

    @drawn_once
    def draw(table: pd.DataFrame, *further: Any) -> DrawnFigure:
        calls.append(further)
        return not_drawn("f", f"figure {len(calls)}", "of a test")

    return draw, calls


def test_the_same_content_is_drawn_once_whatever_object_holds_it() -> None:
    draw, calls = counting()
    same = [TABLE, TABLE.copy(), TABLE.astype({"turn": "int64"}), TABLE.set_index(pd.Index([7, 8]))]
    assert {draw(table).title for table in same} == {"figure 1"} and len(calls) == 1


@pytest.mark.parametrize(
    "other",
    [
        TABLE.assign(value=[0.1, 0.2 + 1e-15]),
        TABLE.assign(judge=["a", ""]),
        TABLE.assign(judge=["a", "\udcff"]),
        TABLE.rename(columns={"value": "other"}),
        TABLE.iloc[::-1],
        TABLE.head(1),
    ],
)
def test_any_other_content_is_drawn_anew(other: pd.DataFrame) -> None:
    draw, calls = counting()
    assert draw(TABLE).title != draw(other).title and len(calls) == 2


def test_every_table_that_is_given_counts_by_its_content_and_none_is_not_an_empty_one() -> None:
    draw, calls = counting()
    empty = pd.DataFrame()
    for second in (TABLE, TABLE.copy(), TABLE.head(1), None, empty, empty.copy(), None):
        draw(TABLE, second, 3)
    assert [len(calls), calls[1][0] is None, calls[2][0] is None] == [4, False, True]


def test_arguments_count_and_the_oldest_are_let_go_of() -> None:
    draw, calls = counting()
    for number in range(MOST_KEPT + 1):
        draw(TABLE, number)
    draw(TABLE, MOST_KEPT)
    draw(TABLE, 0)
    assert calls == [(number,) for number in range(MOST_KEPT + 1)] + [(0,)]
