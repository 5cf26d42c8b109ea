"""Generation, verdicts in both orders, swap-consistency filtering and decisions, each by itself."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.criteria.decisions import final_decisions, monolithic_decisions
from judge_pipeline.criteria.generation import generated_criteria, same_words
from judge_pipeline.criteria.pairwise_verdicts import criterion_verdicts, verdict_of
from judge_pipeline.criteria.refinement import unrefined
from judge_pipeline.criteria.replies import replies
from judge_pipeline.criteria.swap_consistency import consistent_evidence
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.tables.criteria import CRITERIA, CRITERION_VERDICT_VALUES, CRITERION_VERDICTS
from judge_pipeline_tests.criteria.scripted_judge import FLIPPED, ScriptedJudge, pairs_of

BOTH = Configuration()
ONE_ORDER = Configuration(swap_filter=False)
PAIRS = pairs_of(({"x": 2, "y": 1}, {"x": 1, "y": 1}), ({"x": 1}, {"x": 2, "y": 1}))


def test_generated_criteria_have_our_ids_and_no_word_twice() -> None:
    judge = ScriptedJudge(criteria=["Is fast", "is  FAST.", "Is short", "Is fast"])
    made = generated_criteria(BOTH, PAIRS, judge)
    assert made.criteria[["pair_id", "criterion", "text"]].values.tolist() == [
        ["p0", "c1", "Is fast"], ["p0", "c2", "Is short"], ["p1", "c1", "Is fast"], ["p1", "c2", "Is short"],
    ]  # fmt: skip
    assert (made.n_duplicates, dict(made.failures)) == (4, {}) and set(made.criteria["request_hash"]) == {"h"}
    assert judge.calls == {"generation": 2} and {row["presentation_order"] for row in judge.asked("generation")} == {
        "AB"
    }


def test_a_pair_whose_generation_stays_invalid_has_no_criteria_and_says_so() -> None:
    judge = ScriptedJudge(criteria=["x"], broken=lambda _question, row: row["pair_id"] == "p0")
    made = generated_criteria(BOTH, PAIRS, judge)
    assert made.criteria["pair_id"].tolist() == ["p1"] and list(made.failures) == ["p0"]
    assert made.failures["p0"].failure_class == "invalid"


def test_more_criteria_than_the_limit_are_invalid_not_cut() -> None:
    made = generated_criteria(Configuration(max_criteria=2), PAIRS, ScriptedJudge(criteria=["a", "b", "c"]))
    assert made.criteria.empty and len(made.failures) == 2


@given(st.text("aB .", max_size=9))
def test_the_same_words_are_the_same_in_any_case_and_spacing(text: str) -> None:
    assert same_words(f"  {text.upper()}\n") == same_words(text)
    assert same_words(same_words(text)) == same_words(text)


def test_verdicts_of_both_orders_are_in_terms_of_the_same_responses() -> None:
    judge = ScriptedJudge(criteria=["x", "y"])
    criteria = generated_criteria(BOTH, PAIRS, judge).criteria
    made = criterion_verdicts(BOTH, PAIRS, criteria, judge)
    assert made[["pair_id", "criterion", "presentation_order", "verdict"]].values.tolist() == [
        ["p0", "c1", "AB", "A"], ["p0", "c1", "BA", "A"], ["p0", "c2", "AB", "tie"], ["p0", "c2", "BA", "tie"],
        ["p1", "c1", "AB", "B"], ["p1", "c1", "BA", "B"],
        ["p1", "c2", "AB", "insufficient"], ["p1", "c2", "BA", "insufficient"],
    ]  # fmt: skip
    assert judge.calls["pairwise_verdicts"] == 4
    assert made["rationale"].tolist()[:2] == ["x: 2 against 1", "x: 1 against 2"]
    one = criterion_verdicts(ONE_ORDER, PAIRS, criteria, judge)
    assert set(one["presentation_order"]) == {"AB"} and judge.calls["pairwise_verdicts"] == 6


def test_one_criterion_a_call_gives_the_same_table_in_more_calls() -> None:
    judge = ScriptedJudge(criteria=["x", "y"])
    criteria = generated_criteria(BOTH, PAIRS, judge).criteria
    single = Configuration(criteria_per_call="one")
    pd.testing.assert_frame_equal(
        criterion_verdicts(single, PAIRS, criteria, judge), criterion_verdicts(BOTH, PAIRS, criteria, judge)
    )
    assert judge.calls["pairwise_verdicts"] == 8 + 4


def test_an_invalid_answer_is_a_null_verdict_of_all_that_it_was_asked_about() -> None:
    def broken(question: str, row: Any) -> bool:
        return question == "verdicts" and row["presentation_order"] == "BA" and "x" in row["criteria"]

    judge = ScriptedJudge(criteria=["x", "y"], broken=broken)
    criteria = generated_criteria(BOTH, PAIRS, judge).criteria
    made = criterion_verdicts(BOTH, PAIRS, criteria, judge)
    assert made.loc[made["presentation_order"] == "BA", "verdict"].isna().all() and made["verdict"].notna().sum() == 4
    assert set(made["failure_class"].dropna()) == {"invalid"}
    single = criterion_verdicts(Configuration(criteria_per_call="one"), PAIRS, criteria, judge)
    assert single.loc[single["verdict"].isna(), "criterion"].tolist() == ["c1", "c1"]


@pytest.mark.parametrize("said", CRITERION_VERDICT_VALUES)
def test_pi_swaps_a_and_b_alone(said: str) -> None:
    assert verdict_of(said, "AB") == said and verdict_of(said, "BA") == FLIPPED[said]
    assert verdict_of(str(verdict_of(said, "BA")), "BA") == said


def test_a_row_that_was_not_asked_stops_the_stage() -> None:
    judge = ScriptedJudge(criteria=["x"])

    def pilot(stage: str, question: Any, rows: pd.DataFrame) -> pd.DataFrame:
        made = judge(stage, question, rows)
        made.loc[1, ["answer", "failure_class"]] = None
        return made

    with pytest.raises(ValueError, match="1 of 2 requests have neither an answer nor a failure"):
        generated_criteria(BOTH, PAIRS, pilot)
    assert replies(judge, "final", None, pd.DataFrame()) == {}  # type: ignore[arg-type]


SAID = (*CRITERION_VERDICT_VALUES, None)


@given(st.lists(st.tuples(st.sampled_from(SAID), st.sampled_from(SAID)), max_size=25))
@settings(max_examples=30, deadline=None)
def test_evidence_is_what_the_formula_says(said: list[tuple[str | None, str | None]]) -> None:
    """E = {(c_i, v_i) : v_i(a, b) = pi(v_i(b, a))}, by brute force over what was said of first and second."""
    refined, verdicts = _tables(said)
    made = consistent_evidence(BOTH, refined, verdicts)
    expected = [f"c{n}" for n, (ab, ba) in enumerate(said) if ab is not None and ab == FLIPPED[ba]]
    assert made.loc[made["kept"].astype(bool), "criterion"].tolist() == expected
    assert len(made) == len(said) and (made["why"].isna() == made["kept"].astype(bool)).all()
    alone = consistent_evidence(ONE_ORDER, refined, verdicts)
    assert alone["kept"].tolist() == [ab is not None for ab, _ in said] and alone["verdict_ba"].isna().all()
    assert alone["verdict"].tolist() == [ab for ab, _ in said]


def _tables(said: list[tuple[str | None, str | None]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    criteria, verdicts = [], []
    empty = dict.fromkeys(CRITERION_VERDICTS.column_names)
    for n, pair in enumerate(said):
        criteria.append({"pair_id": "p", "criterion": f"c{n}", "text": "t", "aspect": "others", "weight": None})
        for order, slot in zip(("AB", "BA"), pair, strict=True):
            verdict = slot if slot is None or order == "AB" else FLIPPED[slot]
            row = {"pair_id": "p", "criterion": f"c{n}", "presentation_order": order, "verdict": verdict}
            verdicts.append(empty | row | {"failure": "cut off" if slot is None else None})
    table = CRITERIA.conform([row | {"request_hash": None} for row in criteria])
    return unrefined(table).criteria, CRITERION_VERDICTS.conform(verdicts)


def test_why_a_verdict_is_filtered_out_is_said() -> None:
    refined, verdicts = _tables([("A", "A"), ("A", None), (None, "B"), ("tie", "A"), ("insufficient", "insufficient")])
    made = consistent_evidence(BOTH, refined, verdicts)
    assert made["why"].tolist() == [
        "flips with the order: A in order AB, B in order BA", "invalid in order BA: cut off",
        "invalid in order AB: cut off", "flips with the order: tie in order AB, B in order BA", None,
    ]  # fmt: skip


def test_a_criterion_in_force_without_verdicts_is_an_error() -> None:
    refined, verdicts = _tables([("A", "B")])
    with pytest.raises(ValueError, match="criterion c0 of pair p has no verdict in order BA"):
        consistent_evidence(BOTH, refined, verdicts[verdicts["presentation_order"] == "AB"])


def _decided(configuration: Configuration, judge: ScriptedJudge, pairs: Any = PAIRS) -> pd.DataFrame:
    criteria = generated_criteria(configuration, pairs, judge).criteria
    verdicts = criterion_verdicts(configuration, pairs, criteria, judge)
    evidence = consistent_evidence(configuration, unrefined(criteria).criteria, verdicts)
    return final_decisions(configuration, pairs, evidence, judge)


def test_the_final_judge_is_shown_what_is_left_and_decides_on_the_pairs_that_have_any() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], biased=lambda pair, text: pair == "p1" or text == "y")
    made = _decided(BOTH, judge)
    assert made[["pair_id", "decision", "decided_by", "n_criteria", "n_evidence"]].values.tolist() == [
        ["p0", "A", "judge", 2, 1], ["p1", "tie", "no_evidence", 2, 0],
    ]  # fmt: skip
    (asked,) = judge.asked("final")
    assert json.loads(asked["verdicts"]) == {"c1": {"verdict": "A", "confidence": "high", "aspect": "others"}}
    assert json.loads(asked["rationales"]) == {"c1": "x: 2 against 1"} and asked["presentation_order"] == "AB"
    assert "monolithic" not in judge.calls


def test_without_evidence_the_monolithic_judge_decides_where_the_configuration_says_so() -> None:
    judge = ScriptedJudge(criteria=["x"], biased=lambda pair, text: pair == "p1" and text == "x")
    made = _decided(Configuration(no_evidence="monolithic"), judge)
    assert made[["pair_id", "decision", "decided_by", "n_criteria", "n_evidence"]].values.tolist() == [
        ["p0", "A", "judge", 1, 1], ["p1", "B", "judge", 1, 0],
    ]  # fmt: skip
    assert [row["pair_id"] for row in judge.asked("monolithic")] == ["p1"]


def test_an_invalid_final_answer_is_a_null_decision() -> None:
    judge = ScriptedJudge(criteria=["x"], broken=lambda question, row: question == "final" and row["pair_id"] == "p0")
    made = _decided(BOTH, judge)
    assert made["decision"].tolist() == [None, "B"] and made["failure_class"].tolist() == ["invalid", None]
    assert made["decided_by"].tolist() == ["judge", "judge"] and made["failure"][0].startswith("the answer is not")


def test_a_monolithic_judge_is_asked_once_a_pair_in_order_ab() -> None:
    judge = ScriptedJudge(broken=lambda _question, row: row["pair_id"] == "p2")
    pairs = pairs_of(*(({"x": a}, {"x": b}) for a, b in itertools.product((1, 2), (1, 2))))
    made = monolithic_decisions(Configuration(generator="none"), pairs, judge)
    assert made["decision"].tolist() == ["tie", "B", None, "tie"] and set(made["n_criteria"]) == {0}
    assert judge.calls == {"monolithic": 4}
