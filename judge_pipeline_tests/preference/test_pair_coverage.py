from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from judge_pipeline.preference.pair_coverage import (
    PairJudgeFacts,
    comparable,
    flag_unverified,
    pair_judge_coverage,
    usable_judges,
)
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE
from judge_pipeline.tables.preference import PREFERENCE_SPLITS
from judge_pipeline_tests.preference.made_set import hash_of, judgments_of

IDS = ["p1", "p2", "p3"]
SPLITS = PREFERENCE_SPLITS.conform(
    [
        {"pair_id": p, "split": s, "instruction_group": p, "assigned_by": "seed"}
        for p, s in zip(IDS, ("train", "val", "val"), strict=True)
    ]
)
FACTS = PairJudgeFacts("j", "litellm", None, "all pairs", ("train", "val", "test"))
TODAY = {(p, order): hash_of("j", p, order) for p in IDS for order in ("AB", "BA")}


def table(ids: list[str] = IDS, n_invalid: int = 0) -> pd.DataFrame:
    return judgments_of("j", pd.DataFrame({"pair_id": ids, "ab": "A", "ba": "B"}), n_invalid)


def row(judgments: pd.DataFrame | None, facts: PairJudgeFacts = FACTS, **more: object) -> dict[str, object]:
    given = {} if judgments is None else {"j": judgments}
    found = pair_judge_coverage([facts], SPLITS, given, **more)  # type: ignore[arg-type]
    return found.astype(object).where(found.notna(), None).to_dict("records")[0]


def test_whole_tables_are_verified_and_invalid_answers_are_counted_by_class() -> None:
    given = table(n_invalid=2)
    given.loc[given["pair_id"].eq("p2") & given["slot"].isna(), "failure_class"] = "refusal"
    found = row(given, current={"j": TODAY})
    assert found == {
        "judge": "j", "backend": "litellm", "family": None, "status": "verified", "scope": "all pairs",
        "n_in_scope": 3, "n_judged": 3, "n_answers": 6, "n_invalid": 2, "invalid": "invalid: 1, refusal: 1",
        "n_tries": 6, "cost_usd": pytest.approx(0.006), "model": "j-1", "reason": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "more", "status", "reason"),
    [
        (None, {}, "not judged", "not been run yet"),
        (table(["p1", "p2"]), {}, "unverified", "1 of 3 pairs in scope lack an answer in some order"),
        (table().drop(index=[0]), {}, "unverified", "1 of 3"),
        (table([*IDS, "gone"]), {}, "stale", "1 pair(s) that are no longer in scope"),
        (table(), {"current": {"j": "the template is gone"}}, "stale", "the template is gone"),
        (table(), {"current": {"j": TODAY | {("p2", "BA"): "new"}}}, "stale", "1 of 6 choices answer another request"),
        (table(), {"current": {"other": "x"}}, "verified", None),
        (None, {"damaged": {"j": "cannot be read"}}, "damaged", "cannot be read"),
    ],
)  # fmt: skip
def test_each_state_is_said_with_its_reason(
    given: pd.DataFrame | None, more: dict[str, object], status: str, reason: str | None
) -> None:
    found = row(given, **more)
    assert found["status"] == status
    assert found["reason"] is None if reason is None else reason in str(found["reason"])


def test_a_scope_is_what_counts_and_a_known_hindrance_is_the_reason() -> None:
    scoped = replace(FACTS, splits=("val",), scope="val", not_asked="no key")
    assert row(None, scoped)["reason"] == "no key"
    assert row(table(["p2", "p3"]), scoped)["status"] == "verified"
    assert row(table(), scoped)["status"] == "stale"
    assert row(table(), replace(FACTS, counts_tries=False))["n_tries"] is None


def test_a_judge_that_was_asked_in_one_order_is_verified_in_that_and_its_scope_says_so() -> None:
    found = row(table().query("presentation_order == 'AB'"))
    assert (found["status"], found["n_judged"], found["scope"]) == ("verified", 3, "all pairs, order AB alone")


def test_one_order_is_never_set_beside_two() -> None:
    both, one = table().drop(index=[0]), table().query("presentation_order == 'AB'").assign(judge="one")
    rows, without = comparable({"j": both, "one": one})
    assert set(zip(rows["judge"], rows["pair_id"], strict=True)) == {("j", "p2"), ("j", "p3")} and without == ["one"]
    rows, without = comparable({"one": one})
    assert len(rows) == 3 and without == []
    rows, without = comparable({})
    assert rows.empty and without == []


def coverage(**status_of: tuple[str, str | None]) -> pd.DataFrame:
    empty = {column.name: 0 for column in PAIR_JUDGE_COVERAGE.columns}
    nulls = dict.fromkeys(("invalid", "n_tries", "cost_usd", "model"))
    return PAIR_JUDGE_COVERAGE.conform(
        [
            empty | nulls | {"judge": judge, "backend": "x", "family": family, "status": status, "scope": "all",
                             "reason": "why" if status == "unverified" else None}
            for judge, (status, family) in status_of.items()
        ]
    )  # fmt: skip


def test_figures_that_rest_on_an_unverified_judge_say_so() -> None:
    found = coverage(whole=("verified", "f"), part=("unverified", "f"), old=("stale", None))
    assert usable_judges(found) == ["whole", "part"]
    rows = pd.DataFrame(
        [
            ("judge", "whole", None, None), ("judge", "part", None, "few"), ("family", "f", None, None),
            ("difference", "whole", "part", None), ("floor", "part", None, None), ("panel", None, None, None),
        ],
        columns=["of", "name", "other", "reason"],
    )  # fmt: skip
    told = "part is unverified: why"
    assert flag_unverified(rows, found)["reason"].tolist() == [None, f"{told}; few", told, told, None, told]
    assert flag_unverified(rows, coverage(whole=("verified", None))) is rows
