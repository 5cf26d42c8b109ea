"""Equation 9, and scope."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judge_pipeline.judging.verification import in_scope, verify
from judge_pipeline.settings import Scope


def outputs(*rows: tuple[str, Any, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["attempt_id", "p_ac", "error"])


def requests(*ids: str) -> pd.DataFrame:
    return pd.DataFrame({"attempt_id": list(ids)})


def test_a_complete_table_is_verified() -> None:
    assert verify(outputs(("a", 0.0, None), ("b", 1.0, None)), requests("b", "a")) == []
    assert verify(outputs(), requests()) == []


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([("a", 0.5, None)], "1 of 2 attempts have no judgment: b"),
        ([("a", 0.5, None), ("b", 0.5, None), ("b", 0.5, None)], "1 attempts have more than one row: b"),
        ([("a", 0.5, None), ("b", 0.5, None), ("z", 0.5, None)], "1 attempts are outside the judge's scope: z"),
        ([("a", None, None), ("b", 0.5, None)], "1 attempts have no p_ac: a"),
        ([("a", 1.01, None), ("b", -0.01, None)], "2 attempts have a p_ac outside [0, 1]: a, b"),
        ([("a", 0.5, "timeout"), ("b", 0.5, None)], "1 attempts carry an error: a"),
    ],
)
def test_each_clause_of_equation_9_names_its_attempts(rows: list[tuple[str, Any, Any]], problem: str) -> None:
    assert verify(outputs(*rows), requests("a", "b")) == [problem]


def test_a_lower_coverage_asks_for_that_share_and_forgives_nothing_else() -> None:
    three_of_four = outputs(("a", 0.5, None), ("b", 0.5, None), ("c", 0.5, None))
    assert verify(three_of_four, requests("a", "b", "c", "d"), 0.75) == []
    assert len(verify(three_of_four, requests("a", "b", "c", "d"), 0.76)) == 1
    assert len(verify(outputs(("a", 2.0, None)), requests("a", "b"), 0.5)) == 1


def test_long_lists_are_cut() -> None:
    (problem,) = verify(outputs(), requests(*"abcdefg"))
    assert problem == "7 of 7 attempts have no judgment: a, b, c, d, e, ..."


def test_scope_takes_splits_and_is_idempotent(make_requests: Any) -> None:
    table = make_requests(9)
    scoped = in_scope(table, Scope(splits=("val", "test")))
    assert set(scoped["split"]) == {"val", "test"}
    assert list(scoped.index) == list(range(6))
    pd.testing.assert_frame_equal(in_scope(scoped, Scope(splits=("val", "test"))), scoped)
