"""A response judged alone: answers in rows, what is left out, what counts as evidence, sums by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judge_pipeline.criteria.answers import UNANSWERED
from judge_pipeline.criteria.method import Judged, judge_pairs
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.tables import criteria as tables
from judge_pipeline_tests.criteria.baseline_judge import BaselineJudge
from judge_pipeline_tests.criteria.scripted_judge import pairs_of

PLAIN: dict[str, Any] = {"criterion_judge": "pointwise", "refinement": "none", "aggregator": "uniform"}
WEIGHTED = PLAIN | {"generator": "weighted", "aggregator": "own_weights"}
LLM = PLAIN | {"aggregator": "llm_weights"}

XYZ = ({"x": 2, "y": 1, "z": 0}, {"x": 1, "y": 2, "z": 3})
"""A meets x; B meets y and z."""


def judged(judge: BaselineJudge, *pairs: Any, **settings: Any) -> Judged:
    return judge_pairs(Configuration(**(PLAIN | settings)), pairs_of(*pairs), judge)


def decision(made: Judged, row: int = 0) -> tuple[Any, ...]:
    names = ["decision", "decided_by", "score_a", "score_b", "n_criteria", "n_evidence"]
    found = made.decisions.loc[row, names]
    return tuple(None if pd.isna(value) else value for value in found)


@pytest.mark.parametrize(
    ("settings", "weights", "expected"),
    [
        (PLAIN, {}, ("B", "weighted_sum", 1, 2, 3, 3)),
        (WEIGHTED, {"x": 3, "y": 1, "z": 2}, ("tie", "weighted_sum", 3, 3, 3, 3)),
        (WEIGHTED, {"x": 3, "y": 1, "z": 1}, ("A", "weighted_sum", 3, 2, 3, 3)),
        (LLM, {"x": 7, "y": 4, "z": 4}, ("B", "weighted_sum", 7, 8, 3, 3)),
        (LLM, {"x": 10, "y": 9, "z": 1}, ("tie", "weighted_sum", 10, 10, 3, 3)),
        (PLAIN | {"aggregator": "judge"}, {}, ("B", "judge", None, None, 3, 3)),
    ],
)
def test_sums_are_those_by_hand_and_equal_ones_tie(settings: Any, weights: Any, expected: Any) -> None:
    made = judged(BaselineJudge(criteria=["x", "y", "z"], weights=weights), XYZ, **settings)
    assert decision(made) == expected
    for name, table in (
        ("criterion_answers", tables.CRITERION_ANSWERS), ("refined_criteria", tables.REFINED_CRITERIA),
        ("decisions", tables.CRITERIA_DECISIONS), ("child_answers", tables.CHILD_ANSWERS),
    ):  # fmt: skip
        pd.testing.assert_frame_equal(table.conform(getattr(made, name)), getattr(made, name))
    assert made.criterion_verdicts.empty and made.consistent_evidence.empty and made.child_verdicts.empty


def test_weights_stand_with_the_criteria_that_they_weigh() -> None:
    judge = BaselineJudge(criteria=["x", "y"], weights={"x": 3, "y": 2})
    own, llm, plain = (judged(judge, XYZ, **settings) for settings in (WEIGHTED, LLM, PLAIN))
    assert own.criteria["weight"].tolist() == own.refined_criteria["weight"].tolist() == [3, 2]
    assert llm.criteria["weight"].isna().all() and llm.refined_criteria["weight"].tolist() == [3, 2]
    assert plain.refined_criteria["weight"].isna().all()
    assert llm.refined_criteria["weight_request_hash"].tolist() == ["h", "h"]
    (row,) = judge.asked("weights")
    assert (row["first"], row["second"], row["evidence_first"]) == ("", "", None)


def test_answers_are_a_row_for_each_criterion_and_response() -> None:
    made = judged(BaselineJudge(criteria=["x", "y"]), XYZ, ({"x": 5}, {"y": 5}))
    rows = made.criterion_answers[["pair_id", "criterion", "response", "met"]].values.tolist()
    assert rows == [
        ["p0", "c1", "A", True], ["p0", "c1", "B", False], ["p0", "c2", "A", False], ["p0", "c2", "B", True],
        ["p1", "c1", "A", True], ["p1", "c1", "B", False], ["p1", "c2", "A", False], ["p1", "c2", "B", True],
    ]  # fmt: skip


def test_all_criteria_of_a_response_in_one_call_or_each_in_its_own() -> None:
    judge = BaselineJudge(criteria=["x", "y", "z"])
    together = judged(judge, XYZ)
    assert judge.calls["pointwise_answers"] == 2
    apart = judged(judge, XYZ, criteria_per_call="one")
    assert judge.calls["pointwise_answers"] == 2 + 6
    pd.testing.assert_frame_equal(together.criterion_answers, apart.criterion_answers)


def test_what_is_left_out_is_invalid_or_not_met() -> None:
    judge = BaselineJudge(criteria=["x", "y", "z"], leaves_out=["z"])
    strict = judged(judge, XYZ)
    assert strict.criterion_answers["met"].isna().all()
    assert strict.criterion_answers["failure_class"].tolist() == ["invalid"] * 6
    assert decision(strict) == ("tie", "no_evidence", None, None, 3, 0)
    lenient = judged(judge, XYZ, unanswered="not_met")
    assert decision(lenient) == ("tie", "weighted_sum", 1, 1, 3, 3)
    unanswered = lenient.criterion_answers[lenient.criterion_answers["criterion"] == "c3"]
    assert not unanswered["met"].any() and (unanswered["rationale"] == UNANSWERED).all()
    judge.leaves_out = ["x", "y", "z"]
    assert judged(judge, XYZ, unanswered="not_met").criterion_answers["met"].isna().all(), "nothing at all is no answer"


def test_a_criterion_counts_where_both_responses_have_a_valid_answer() -> None:
    judge = BaselineJudge(criteria=["x", "y"], broken=lambda question, row: question == "pointwise" and (
        (row["response"], row["criteria"]) == ("B", '{"c2": "y"}')
    ))  # fmt: skip
    pair = ({"x": 1, "y": 2}, {"x": 2, "y": 2})
    assert decision(judged(judge, pair, criteria_per_call="one")) == ("B", "weighted_sum", 0, 1, 2, 1)


def test_where_no_answer_is_valid_the_rule_decides() -> None:
    judge = BaselineJudge(criteria=["x"], broken=lambda question, _row: question == "pointwise")
    assert decision(judged(judge, XYZ)) == ("tie", "no_evidence", None, None, 1, 0)
    assert decision(judged(judge, XYZ, no_evidence="monolithic")) == ("B", "judge", None, None, 1, 0)
    judge.broken = lambda question, _row: question == "generation"
    made = judged(judge, XYZ, aggregator="judge")
    assert decision(made) == ("tie", "no_evidence", None, None, 0, 0)


def test_without_a_valid_answer_that_weighs_or_judges_there_is_no_decision() -> None:
    judge = BaselineJudge(criteria=["x", "y"], broken=lambda question, _row: question in ("weights", "pointwise_final"))
    weighed = judged(judge, XYZ, **LLM)
    assert decision(weighed) == (None, "weighted_sum", None, None, 2, 2)
    assert weighed.decisions["failure_class"].tolist() == ["invalid"]
    assert weighed.refined_criteria["weight_failure_class"].tolist() == ["invalid"] * 2
    assert weighed.refined_criteria["weight"].isna().all()
    assert decision(judged(judge, XYZ, aggregator="judge")) == (None, "judge", None, None, 2, 2)
    assert decision(judged(judge, XYZ)) == ("tie", "weighted_sum", 1, 1, 2, 2), "sums without weights need none"


def test_the_judge_over_answers_is_shown_both_and_the_pair() -> None:
    judge = BaselineJudge(criteria=["x", "y"])
    judged(judge, XYZ, aggregator="judge")
    (row,) = judge.asked("final")
    assert (row["first"], row["second"]) == ("x=2 y=1 z=0", "x=1 y=2 z=3")
    assert row["answers"] == (
        '{"c1": {"aspect": "others", "A": true, "B": false}, "c2": {"aspect": "others", "A": false, "B": true}}'
    )


def test_criteria_are_improved_once_and_stay_where_the_answer_is_invalid() -> None:
    judge = BaselineJudge(
        criteria=["x", "y"], improved=["z", "x", "z."], weights={"x": 3, "z": 2},
        broken=lambda question, row: question == "improvement" and row["pair_id"] == "p1",
    )  # fmt: skip
    made = judged(judge, XYZ, XYZ, XYZ, **WEIGHTED, improve=True)
    shown = made.criteria.groupby("pair_id", sort=False)[["text", "weight"]].agg(list)
    assert shown.index.tolist() == ["p0", "p1", "p2"] and made.n_duplicates == 2
    assert shown["text"].tolist() == [["z", "x"], ["x", "y"], ["z", "x"]]
    assert shown["weight"].tolist() == [[2, 3], [3, 1], [2, 3]]
    assert {row["weights"] for row in judge.asked("improvement")} == {'{"c1": 3, "c2": 1}'}
    assert made.decisions["decision"].tolist() == ["A", "A", "A"]  # z 2, x 3 against; p1: x 3, y 1
    assert judge.calls == {"generation": 3, "improvement": 3, "pointwise_answers": 6}
