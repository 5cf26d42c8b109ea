"""Which judges' tables may be used: what was asked then is held against what would be asked now."""

from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.cocreation.coverage import (
    CurrentRequests,
    JudgeFacts,
    below_min_coverage,
    flag_unverified,
    judge_coverage,
    usable,
)
from judge_pipeline.judging.answer_rates import AnswerRates
from judge_pipeline.tables import JUDGE_OUTPUTS

REQUESTS = pd.DataFrame({"attempt_id": ["a", "b", "c"], "split": ["train", "val", "test"]})
NOW = CurrentRequests({"a": "1", "b": "2", "c": "3"})


def outputs(**hashes: str) -> pd.DataFrame:
    empty = dict.fromkeys(JUDGE_OUTPUTS.column_names) | {"judge": "j", "p_ac": 0.5, "n_tries": 1}
    return JUDGE_OUTPUTS.conform([empty | {"attempt_id": a, "request_hash": h} for a, h in hashes.items()])


def row(table: pd.DataFrame | None, current: CurrentRequests = NOW, splits: tuple[str, ...] = ("train", "val", "test")):
    judge = JudgeFacts("j", "litellm", True, "all", splits)
    tables = {} if table is None else {"j": table}
    coverage = judge_coverage([judge], REQUESTS, tables, {"j": current})
    return coverage.iloc[0], usable(coverage)


@pytest.mark.parametrize(
    ("table", "current", "status", "words"),
    [
        (outputs(a="1", b="2", c="3"), NOW, "verified", None),
        (outputs(a="1", b="2"), NOW, "unverified", "1 of 3 attempts in scope"),
        (None, NOW, "not judged", "it has not been run yet, or its run failed"),
        (outputs(a="1", b="2", c="3", d="4"), NOW, "stale", "1 judgment(s) are of attempts no longer requested"),
        (outputs(a="1", b="old", c="3"), NOW, "stale", "1 of 3 judgments answer another request than today's"),
        (outputs(a="1", b="2", c="3"), CurrentRequests({"a": "1", "b": "2"}), "stale", "1 of 3 judgments answer"),
        (outputs(a="1", b="2", c="3"), CurrentRequests({}, "x.j2: there is no such file"), "stale", "x.j2: there is"),
    ],
)
def test_a_table_is_used_only_for_what_it_answers(
    table: pd.DataFrame | None, current: CurrentRequests, status: str, words: str | None
) -> None:
    found, names = row(table, current)
    assert found["status"] == status
    assert found["reason"] is None if words is None else words in found["reason"]
    assert names == (["j"] if status in ("verified", "unverified") else [])


def test_only_the_scope_is_looked_at() -> None:
    found, _ = row(outputs(c="3"), CurrentRequests({"c": "3"}), splits=("test",))
    assert (found["status"], found["n_in_scope"], found["n_judged"]) == ("verified", 1, 1)


def test_a_table_that_cannot_be_read_stops_its_judge_only() -> None:
    judges = [JudgeFacts(name, "litellm", True, "all", ("train", "val", "test")) for name in ("good", "broken")]
    tables = {"good": outputs(a="1", b="2", c="3").assign(judge="good")}
    coverage = judge_coverage(judges, REQUESTS, tables, {"good": NOW}, {"broken": "broken.parquet cannot be read"})
    assert coverage["status"].tolist() == ["verified", "damaged"]
    assert coverage["reason"].tolist() == [None, "broken.parquet cannot be read"]
    assert usable(coverage) == ["good"]


def test_failures_are_told_by_class_of_judges_that_are_asked_only() -> None:
    judges = [JudgeFacts(name, "litellm", True, "all", ("train", "val", "test")) for name in ("asked", "recorded")]
    rates = AnswerRates(9, {"invalid": 1, "rate_limit": 3, "infrastructure": 1}, {"refusal": 1})
    coverage = judge_coverage(judges, REQUESTS, {}, {}, rates={"asked": rates}).set_index("judge")
    columns = ["n_failed", "failures", "n_tries", "n_failed_tries", "failed_tries"]
    assert coverage.loc["asked", columns].tolist() == [
        1, "refusal: 1", 9, 5, "rate_limit: 3, infrastructure: 1, invalid: 1",
    ]  # fmt: skip
    assert coverage.loc["recorded", "n_failed"] == 0
    assert coverage.loc["recorded", columns[1:]].isna().all()


def test_a_figure_is_flagged_for_each_unverified_judge_that_it_rests_on() -> None:
    coverage = pd.DataFrame(
        {"judge": ["a", "b", "c"], "status": ["unverified", "verified", "unverified"], "reason": ["why", None, "so"]}
    )
    figures = pd.DataFrame({"reason": [None, "few", None, "few"]}, dtype="object")
    flagged = flag_unverified(figures, coverage, [["a"], ["a", "b", "c"], ["b"], []])
    assert flagged["reason"].tolist() == [
        "a is unverified: why", "a is unverified: why; c is unverified: so; few", None, "few",
    ]  # fmt: skip


def test_a_judge_below_min_coverage_is_told_and_one_at_it_is_not() -> None:
    judges = (("a", "verified", 10), ("b", "unverified", 9), ("c", "unverified", 8), ("d", "stale", 1))
    rows = [
        {
            "judge": judge, "backend": "recorded", "in_panel": True, "status": status, "scope": "all attempts",
            "n_in_scope": 10, "n_judged": n, "n_repaired": 0, "cost_usd": None, "model": None, "reason": None,
        }
        for judge, status, n in judges
    ]  # fmt: skip
    coverage = pd.DataFrame(rows)
    assert below_min_coverage(coverage, 0.9) == ["c judged 8 of 10 attempts; min_coverage is 0.9"]
    assert [line[0] for line in below_min_coverage(coverage, 1.0)] == ["b", "c"]
    assert below_min_coverage(coverage, 0.5) == []
