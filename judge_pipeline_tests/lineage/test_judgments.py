"""Judgments behind a figure: a request that was for several criteria is listed once."""

from __future__ import annotations

from typing import Any

from judge_pipeline.lineage.judgments import Said, Served, once_a_request
from judge_pipeline.lineage.sources import PREFERENCE_SET


def said(asked: str, verdict: str, request_hash: str | None, pair: str = "x") -> Said:
    given: dict[str, Any] = {"verdict": verdict}
    return Said(PREFERENCE_SET, "s", "j@full", "j", pair, asked, given, request_hash, "criterion_verdicts")


def test_a_request_is_listed_once_with_the_criteria_that_it_served() -> None:
    given = [
        said("c1, AB", "A", "1"), said("c1, BA", "B", "2"), said("c2, AB", "tie", "1"), said("c3", "A", None),
        said("c4", "A", None), said("c1, AB", "A", "1", pair="y"),
    ]  # fmt: skip
    both, other, *alone = once_a_request(iter(given))
    assert (both.subject, both.request_hash, both.asked, both.said) == ("x", "1", "c1, c2", {})
    assert both.served == (
        Served("criterion_verdicts", "c1, AB", {"verdict": "A"}),
        Served("criterion_verdicts", "c2, AB", {"verdict": "tie"}),
    )
    assert [other, *alone] == [given[1], given[3], given[4], given[5]], "without a request nothing is put together"
