"""Decomposition one by one: what it takes up, what it asks, how many calls, the same rules as in batches."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.criteria.method import Judged, judge_pairs
from judge_pipeline.criteria.pairwise_verdicts import joined_verdicts
from judge_pipeline.criteria.refinement import RefinementCalls, plain_loop_calls
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline_tests.criteria.baseline_judge import BaselineJudge
from judge_pipeline_tests.criteria.scripted_judge import pairs_of

POINTWISE: dict[str, Any] = {"criterion_judge": "pointwise", "refinement": "rrd", "aggregator": "uniform"}
PAIRWISE: dict[str, Any] = {"refinement": "rrd", "swap_filter": False}


def judged(judge: BaselineJudge, *pairs: Any, **given_: Any) -> Judged:
    return judge_pairs(Configuration(**given_), pairs_of(*pairs), judge)


def fates(made: Judged, pair: str = "p0") -> dict[str, str]:
    rows = made.refined_criteria[made.refined_criteria["pair_id"] == pair]
    return dict(zip(rows["criterion"], rows["fate"], strict=True))


def calls(judge: BaselineJudge) -> RefinementCalls:
    return RefinementCalls(*(judge.calls.get(stage, 0) for stage in ("decomposition", "redundancy", "conflict")))


def test_pointwise_what_both_meet_is_decomposed_and_nothing_else() -> None:
    judge = BaselineJudge(criteria=["x", "y", "z"], children={name: [f"{name}1", f"{name}2"] for name in "xyz"})
    a, b = {"x": 2, "y": 2, "z": 1, "x1": 2, "x2": 1}, {"x": 3, "y": 1, "z": 1, "x1": 1, "x2": 1}
    made = judged(judge, (a, b), **POINTWISE)
    assert fates(made) == {"c1": "replaced", "c2": "kept", "c3": "kept", "t1": "kept", "t2": "kept"}
    (asked,) = judge.asked("decomposition")
    assert json.loads(asked["met"]) == {
        "c1": {"text": "x", "A": "x of x=2 y=2 z=1 x1=2 x2=1", "B": "x of x=3 y=1 z=1 x1=1 x2=1"}
    }
    assert json.loads(asked["others"]) == {"c2": "y", "c3": "z"} and asked["presentation_order"] == "AB"
    assert calls(judge) == RefinementCalls(1, 2, 2) and judge.calls["child_answers"] == 2
    assert made.child_answers[["criterion", "response", "met"]].values.tolist() == [
        ["t1", "A", True], ["t1", "B", False], ["t2", "A", False], ["t2", "B", False],
    ]  # fmt: skip
    decided = made.decisions.iloc[0]
    assert (decided["score_a"], decided["score_b"], decided["n_criteria"]) == (2, 0, 4)  # y and x1 against none


def test_pairwise_ties_are_decomposed_each_by_a_call() -> None:
    judge = BaselineJudge(criteria=["x", "y", "z"], children={"x": ["x1"], "y": ["y1"]})
    made = judged(judge, ({"x": 1, "y": 1, "z": 1, "x1": 1}, {"x": 1, "y": 1, "z": 2, "x1": 2}), **PAIRWISE)
    assert fates(made) == {"c1": "replaced", "c2": "replaced", "c3": "kept", "t1": "kept", "t2": "kept"}
    asked = judge.asked("decomposition")
    assert [list(json.loads(row["tied"])) for row in asked] == [["c1"], ["c2"]]
    assert [list(json.loads(row["others"])) for row in asked] == [["c2", "c3"], ["c1", "c3"]]
    assert made.decisions["decision"].tolist() == ["B"] and "final" in judge.calls
    assert set(made.child_verdicts["presentation_order"]) == {"AB"}


def test_each_candidate_is_checked_beside_what_stands_and_candidates_before_it() -> None:
    judge = BaselineJudge(
        criteria=["x", "y"], children={"x": ["x1", "y2"], "y": ["x1", "y1"]}, repeats={"y2": "x1"},
        contradicts={"y1": "x1"},
    )  # fmt: skip
    same = dict.fromkeys(["x", "y"], 2)
    made = judged(judge, (same, same), **POINTWISE)
    assert fates(made) == {
        "c1": "replaced", "c2": "kept", "t1": "kept", "t2": "redundant", "t3": "redundant", "t4": "conflicting",
    }  # fmt: skip
    assert [list(json.loads(row["existing"])) for row in judge.asked("redundancy")] == [
        ["c1", "c2"], ["c1", "c2", "t1"], ["c1", "c2", "t1", "t2"], ["c1", "c2", "t1", "t2", "t3"],
    ]  # fmt: skip
    assert [list(json.loads(row["candidates"])) for row in judge.asked("conflict")] == [["t1"], ["t4"]]
    assert calls(judge) == RefinementCalls(2, 4, 2)


def test_depth_and_number_are_bounded() -> None:
    judge = BaselineJudge(criteria=["a"], children={"a" * n: ["a" * (n + 1), "b" * n] for n in range(1, 6)})
    same = {"a" * n: 2 for n in range(1, 7)}
    for rounds in (0, 1, 3):
        made = judged(judge, (same, same), **POINTWISE, rounds=rounds)
        assert made.refined_criteria["round"].max() == rounds
    few = judged(judge, (same, same), **POINTWISE, max_criteria=1)
    assert fates(few) == {"c1": "replaced", "t1": "replaced", "t2": "over_limit", "t3": "kept", "t4": "over_limit"}


def test_an_invalid_answer_settles_its_own_criterion_only() -> None:
    same = dict.fromkeys(["x", "y"], 2)
    for stage, broken, expected in (
        ("pointwise_decomposition", "c1", {"c1": "kept", "c2": "replaced", "t1": "kept"}),
        ("redundancy", "t1", {"c1": "kept", "c2": "replaced", "t1": "redundancy_unchecked", "t2": "kept"}),
        ("conflict", "t2", {"c1": "replaced", "c2": "kept", "t1": "kept", "t2": "conflict_unchecked"}),
    ):
        judge = BaselineJudge(
            criteria=["x", "y"], children={"x": ["x1"], "y": ["y1"]},
            broken=lambda question, row, stage=stage, broken=broken: (
                question == stage and broken in (row.get("parent"), row.get("candidate"))
            ),
        )  # fmt: skip
        assert fates(judged(judge, (same, same), **POINTWISE)) == expected


NAMES = [f"f{n}" for n in range(6)]


@st.composite
def scripts(draw: st.DrawFn) -> tuple[dict[str, Any], Any, dict[str, int]]:
    some = st.lists(st.sampled_from(NAMES), max_size=2)
    script = {
        "criteria": draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)),
        "children": draw(st.dictionaries(st.sampled_from(NAMES), some, max_size=6)),
        "repeats": draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES), max_size=2)),
        "contradicts": draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES), max_size=2)),
    }
    features = st.fixed_dictionaries({name: st.integers(1, 2) for name in NAMES})
    pairs = draw(st.lists(st.tuples(features, features), min_size=1, max_size=2))
    return script, pairs, {"max_criteria": draw(st.integers(3, 5)), "rounds": draw(st.integers(0, 3))}


@pytest.mark.slow
@given(scripts())
@settings(max_examples=15, deadline=None)
def test_one_by_one_comes_to_the_same_as_in_batches_by_the_formulas_calls(script: Any) -> None:
    """A judge that answers on each criterion alike however many it is asked about: only the number of calls differs."""
    judge_settings, pairs, limits = script
    loop, batch = BaselineJudge(**judge_settings), BaselineJudge(**judge_settings)
    made = judged(loop, *pairs, **PAIRWISE, **limits)
    batched = judged(batch, *pairs, refinement="btcr", swap_filter=False, **limits)
    pd.testing.assert_frame_equal(made.refined_criteria, batched.refined_criteria)
    pd.testing.assert_frame_equal(made.decisions, batched.decisions)
    verdicts = joined_verdicts(made.criterion_verdicts, made.child_verdicts)
    assert calls(loop) == plain_loop_calls(made.refined_criteria, verdicts, limits["rounds"])
