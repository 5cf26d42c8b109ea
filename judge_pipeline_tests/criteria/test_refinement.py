"""Tied criteria are refined in batches: exact calls, fates, limits (CriterAlign, section 3.3 and A.3)."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.criteria.generation import generated_criteria
from judge_pipeline.criteria.pairwise_verdicts import criterion_verdicts, joined_verdicts
from judge_pipeline.criteria.refinement import (
    Refined,
    RefinementCalls,
    batched_calls,
    plain_loop_calls,
    refined_by_ties,
    unrefined,
)
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline_tests.criteria.scripted_judge import ScriptedJudge, pairs_of


def refined(judge: ScriptedJudge, pairs: Any, **settings: Any) -> tuple[Refined, pd.DataFrame]:
    """Refinement, and all verdicts."""
    configuration = Configuration(**settings)
    criteria = generated_criteria(configuration, pairs, judge).criteria
    verdicts = criterion_verdicts(configuration, pairs, criteria, judge)
    made = refined_by_ties(configuration, pairs, criteria, verdicts, judge)
    return made, joined_verdicts(verdicts, made.child_verdicts)


def fates(made: Refined, pair_id: str = "p0") -> dict[str, str]:
    rows = made.criteria[made.criteria["pair_id"] == pair_id]
    return dict(zip(rows["criterion"], rows["fate"], strict=True))


def whys(made: Refined) -> dict[str, str]:
    return dict(zip(made.criteria["criterion"], made.criteria["why"], strict=True))


def test_a_tied_criterion_gives_way_to_its_children_and_what_clashes_is_not_taken() -> None:
    judge = ScriptedJudge(
        criteria=["x", "y", "z"],
        children={"x": ["x1", "x2"], "y": ["y1", "y2"]},
        repeats={"x2": "z"},
        contradicts={"y1": "z", "y2": "z"},
    )
    equal = {"x": 1, "y": 1, "z": 2, "x1": 3, "x2": 0}
    made, verdicts = refined(judge, pairs_of((equal, {**equal, "z": 1, "x1": 1})))
    assert fates(made) == {
        "c1": "replaced", "c2": "kept", "c3": "kept", "t1": "kept", "t2": "redundant", "t3": "conflicting",
        "t4": "conflicting",
    }  # fmt: skip
    assert whys(made) == {
        "c1": "refined by t1", "c2": None, "c3": None, "t1": None, "t2": "says the same as c3: it does",
        "t3": "contradicts c3: it does", "t4": "contradicts c3: it does",
    }  # fmt: skip
    rows = made.criteria.set_index("criterion")
    assert rows["parent"].tolist() == [None, None, None, "c1", "c1", "c2", "c2"] and rows.at["t1", "text"] == "x1"
    assert rows["round"].tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert made.child_verdicts[["criterion", "presentation_order", "verdict"]].values.tolist() == [
        ["t1", "AB", "A"],
        ["t1", "BA", "A"],
    ]
    assert judge.calls == {
        "generation": 1, "pairwise_verdicts": 2, "decomposition": 1, "redundancy": 1, "conflict": 1,
        "child_verdicts": 2,
    }  # fmt: skip
    assert plain_loop_calls(made.criteria, verdicts, rounds=2) == RefinementCalls(2, 4, 3)
    assert batched_calls(made.criteria, verdicts, rounds=2) == RefinementCalls(1, 1, 1)


def test_what_the_refiner_is_shown() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], children={"x": ["x1"]})
    refined(judge, pairs_of(({"x": 1, "y": 2}, {"x": 1, "y": 1}), evidence_a=json.dumps({"output": "7"})))
    (asked,) = judge.asked("decomposition")
    assert json.loads(asked["tied"]) == {"c1": {"text": "x", "rationale": "x: 1 against 1"}}
    assert json.loads(asked["others"]) == {"c2": "y"} and asked["presentation_order"] == "AB"
    assert (asked["first"], asked["evidence_first"], asked["instruction"]) == ("x=1 y=2", '{"output": "7"}', "Do it")
    (check,) = judge.asked("redundancy")
    assert json.loads(check["existing"]) == {"c1": "x", "c2": "y"} and json.loads(check["candidates"]) == {"t1": "x1"}
    assert json.loads(check["parents"]) == {"t1": "c1"}


def test_stages_are_asked_only_where_there_is_something_to_ask() -> None:
    judge = ScriptedJudge(criteria=["x"], children={"y": ["z"]}, repeats={"x1": "x"})
    refined(judge, pairs_of(({"x": 1}, {"x": 2})))
    assert set(judge.calls) == {"generation", "pairwise_verdicts"}  # no tie
    refined(judge, pairs_of(({"x": 1}, {"x": 1})))
    assert judge.calls["decomposition"] == 1 and "redundancy" not in judge.calls  # no child
    judge.children = {"x": ["x1"]}
    refined(judge, pairs_of(({"x": 1}, {"x": 1})))
    assert judge.calls["redundancy"] == 1 and "conflict" not in judge.calls  # none is left
    judge.repeats, judge.contradicts = {}, {"x1": "x"}
    made, _ = refined(judge, pairs_of(({"x": 1}, {"x": 1})))
    assert judge.calls["conflict"] == 1 and "child_verdicts" not in judge.calls
    assert fates(made) == {"c1": "kept", "t1": "conflicting"}


def test_children_that_tie_are_refined_in_the_next_round_and_parents_only_once() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], children={"x": ["x1", "x2"], "x1": ["x11"], "x11": ["x111"]})
    same = dict.fromkeys(["x", "y", "x1", "x11", "x111"], 1)
    made, verdicts = refined(judge, pairs_of(({**same, "x2": 1}, {**same, "x2": 2})), rounds=2)
    assert fates(made) == {"c1": "replaced", "c2": "kept", "t1": "replaced", "t2": "kept", "t3": "kept"}
    assert [sorted(json.loads(row["tied"])) for row in judge.asked("decomposition")] == [["c1", "c2"], ["t1"]]
    assert made.criteria["round"].tolist() == [0, 0, 1, 1, 2]
    assert plain_loop_calls(made.criteria, verdicts, 2) == RefinementCalls(3, 3, 3)
    assert batched_calls(made.criteria, verdicts, 2) == RefinementCalls(2, 2, 2)
    once, _ = refined(judge, pairs_of((same, same)), rounds=1)
    assert once.criteria["round"].max() == 1
    none, _ = refined(judge, pairs_of((same, same)), rounds=0)
    pd.testing.assert_frame_equal(none.criteria, unrefined(_criteria(judge, same)).criteria)


def _criteria(judge: ScriptedJudge, features: dict[str, int]) -> pd.DataFrame:
    return generated_criteria(Configuration(), pairs_of((features, features)), judge).criteria


def test_there_is_a_limit_to_what_is_in_force_and_a_parents_first_child_takes_its_place() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], children={"x": ["x1", "x2"], "y": ["y1", "y2"]})
    same = dict.fromkeys(["x", "y", "x1", "x2", "y1", "y2"], 1)
    made, _ = refined(judge, pairs_of((same, same)), max_criteria=3, rounds=1)
    assert fates(made) == {
        "c1": "replaced", "c2": "replaced", "t1": "kept", "t2": "kept", "t3": "kept", "t4": "over_limit",
    }  # fmt: skip
    assert whys(made)["t4"] == "3 criteria are in force" and whys(made)["c1"] == "refined by t1, t2"
    assert set(made.child_verdicts["criterion"]) == {"t1", "t2", "t3"}


def test_an_invalid_answer_settles_nothing() -> None:
    same = {"x": 1, "x1": 1}
    for stage, expected in (
        ("decomposition", {"c1": "kept"}),
        ("redundancy", {"c1": "kept", "t1": "redundancy_unchecked"}),
        ("conflict", {"c1": "kept", "t1": "conflict_unchecked"}),
    ):
        judge = ScriptedJudge(
            criteria=["x"], children={"x": ["x1"]}, broken=lambda question, _row, stage=stage: question == stage
        )
        made, verdicts = refined(judge, pairs_of((same, same)))
        assert fates(made) == expected
        n_nonred = int(stage == "conflict")
        assert plain_loop_calls(made.criteria, verdicts, 2) == RefinementCalls(1, len(expected) - 1, n_nonred)
    assert whys(made)["t1"].startswith("the conflict check has no valid answer: the answer is not a JSON object")


def test_a_child_with_the_words_of_another_is_redundant_whatever_the_check_says() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], children={"x": ["X.", "y1"], "y": ["y1"]})
    made, _ = refined(judge, pairs_of(({"x": 1, "y": 1}, {"x": 1, "y": 1})))
    assert fates(made) == {"c1": "replaced", "c2": "kept", "t1": "redundant", "t2": "kept", "t3": "redundant"}
    assert (whys(made)["t1"], whys(made)["t3"]) == ("has the same words as c1", "has the same words as t2")


def test_words_that_were_replaced_do_not_come_back() -> None:
    judge = ScriptedJudge(criteria=["x"], children={"x": ["x1"], "x1": ["x", "x2"]})
    same = {"x": 1, "x1": 1, "x2": 1}
    made, _ = refined(judge, pairs_of((same, same)), rounds=3)
    assert fates(made) == {"c1": "replaced", "t1": "replaced", "t2": "redundant", "t3": "kept"}
    assert whys(made)["t2"] == "has the same words as c1"


def test_what_contradicts_a_candidate_that_is_dropped_stays() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], children={"x": ["x1", "x2"]}, contradicts={"x1": "y", "x2": "x1"})
    made, _ = refined(judge, pairs_of(({"x": 1, "y": 1}, {"x": 1, "y": 2})))
    assert fates(made) == {"c1": "replaced", "c2": "kept", "t1": "conflicting", "t2": "kept"}
    judge.contradicts = {"x2": "x1"}
    made, _ = refined(judge, pairs_of(({"x": 1, "y": 1}, {"x": 1, "y": 2})))
    assert fates(made) == {"c1": "replaced", "c2": "kept", "t1": "kept", "t2": "conflicting"}


def test_pairs_are_asked_together_and_stay_apart() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], children={"x": ["x1", "x2"], "y": ["y1"]})
    one = {"x": 1, "y": 1}
    made, verdicts = refined(judge, pairs_of((one, one), (one, {"x": 1, "y": 2}), (one, {"x": 2, "y": 2})))
    assert [fates(made, f"p{n}") for n in range(3)] == [
        {"c1": "replaced", "c2": "replaced", "t1": "kept", "t2": "kept", "t3": "kept"},
        {"c1": "replaced", "c2": "kept", "t1": "kept", "t2": "kept"},
        {"c1": "kept", "c2": "kept"},
    ]
    assert judge.calls["decomposition"] == 2 and judge.calls["child_verdicts"] == 4
    assert plain_loop_calls(made.criteria, verdicts, 2) == RefinementCalls(3, 5, 5)


NAMES = [f"f{n}" for n in range(8)]


@st.composite
def scripts(draw: st.DrawFn) -> tuple[ScriptedJudge, Any, dict[str, int]]:
    """A judge, pairs and limits at random; answers of checks name what may not be there any more."""
    some = st.lists(st.sampled_from(NAMES), max_size=2)
    clashes = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(NAMES), max_size=4)
    broken = draw(st.sets(st.sampled_from(["decomposition", "redundancy", "conflict", "verdicts"]), max_size=1))
    judge = ScriptedJudge(
        criteria=draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)),
        children=draw(st.dictionaries(st.sampled_from(NAMES), some, max_size=8)),
        repeats=draw(clashes),
        contradicts=draw(clashes),
        broken=lambda question, row: question in broken and row["pair_id"] == "p0",
    )
    features = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1))
    pairs = pairs_of(*draw(st.lists(st.tuples(features, features), min_size=1, max_size=2)))
    return judge, pairs, {"max_criteria": draw(st.integers(3, 5)), "rounds": draw(st.integers(0, 3))}


@pytest.mark.slow
@given(scripts())
@settings(max_examples=30, deadline=None)
def test_calls_and_fates_follow_the_rules_whatever_is_answered(script: tuple[ScriptedJudge, Any, Any]) -> None:
    judge, pairs, limits = script
    made, verdicts = refined(judge, pairs, **limits)
    asked = {stage: judge.asked(stage) for stage in ("decomposition", "redundancy", "conflict")}
    batched = batched_calls(made.criteria, verdicts, limits["rounds"])
    assert batched == RefinementCalls(*(len(rows) for rows in asked.values()))
    plain = plain_loop_calls(made.criteria, verdicts, limits["rounds"])
    shown = (("decomposition", "tied"), ("redundancy", "candidates"), ("conflict", "candidates"))
    assert plain == RefinementCalls(*(sum(len(json.loads(row[name])) for row in asked[stage]) for stage, name in shown))
    assert batched.total <= plain.total
    for _, rows in made.criteria.groupby("pair_id"):
        fate = dict(zip(rows["criterion"], rows["fate"], strict=True))
        kept = [c for c in fate if fate[c] == "kept"]
        assert 1 <= len(kept) <= limits["max_criteria"] and rows["round"].max() <= limits["rounds"]
        parents = set(rows.loc[rows["fate"].isin(["kept", "replaced"]), "parent"].dropna())
        assert parents == {c for c in fate if fate[c] == "replaced"}
        assert (
            rows.loc[rows["fate"] == "kept", "why"].isna().all()
            and rows.loc[rows["fate"] != "kept", "why"].notna().all()
        )
        assert rows.loc[rows["fate"].isin(["kept", "replaced"]), "text"].is_unique
    judged = verdicts.groupby(["pair_id", "criterion"])["presentation_order"].agg(list)
    stands = made.criteria[made.criteria["fate"].isin(["kept", "replaced"])]
    assert set(judged.index) == set(zip(stands["pair_id"], stands["criterion"], strict=True))
    assert all(orders == ["AB", "BA"] for orders in judged)
