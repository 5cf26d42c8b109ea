"""The stages together: position bias that SCF removes, decisions that follow the responses, stages that are shared."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.criteria.method import Judged, judge_pairs
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.tables import criteria as tables
from judge_pipeline_tests.criteria.scripted_judge import FLIPPED, ScriptedJudge, pairs_of, share_of

FULL = Configuration()
TABLES = {
    "criteria": tables.CRITERIA, "criterion_verdicts": tables.CRITERION_VERDICTS,
    "refined_criteria": tables.REFINED_CRITERIA, "child_verdicts": tables.CHILD_VERDICTS,
    "consistent_evidence": tables.CONSISTENT_EVIDENCE, "decisions": tables.CRITERIA_DECISIONS,
}  # fmt: skip


def test_every_stage_gives_its_table_and_the_calls_add_up() -> None:
    judge = ScriptedJudge(criteria=["x", "y"], children={"y": ["z"]})
    pairs = pairs_of(({"x": 2, "y": 1, "z": 1}, {"x": 1, "y": 1, "z": 2}), ({"x": 1, "y": 2}, {"x": 1, "y": 1}))
    made = judge_pairs(FULL, pairs, judge)
    for name, table in TABLES.items():
        pd.testing.assert_frame_equal(table.conform(getattr(made, name)), getattr(made, name))
    assert made.decisions["decision"].tolist() == ["tie", "A"]  # x: A and z: B; y: A
    assert made.decisions["n_criteria"].tolist() == [2, 2] and made.n_duplicates == 0
    assert judge.calls == {
        "generation": 2, "pairwise_verdicts": 4, "decomposition": 2, "redundancy": 1, "conflict": 1,
        "child_verdicts": 2, "final": 2,
    }  # fmt: skip


def test_a_monolithic_configuration_has_one_stage() -> None:
    judge = ScriptedJudge()
    made = judge_pairs(Configuration(generator="none"), pairs_of(({"x": 1}, {"x": 2})), judge)
    assert made.decisions["decision"].tolist() == ["B"] and judge.calls == {"monolithic": 1}
    assert all(getattr(made, name).empty for name in TABLES if name != "decisions")


def test_scf_removes_exactly_what_a_position_bias_of_a_known_rate_says() -> None:
    """40 pairs in mirrored twins, so that the truth has no skew: what is left of one after SCF is none."""
    names = ["x", "y", "z"]
    halves = [dict(zip(names, values, strict=True)) for values in itertools.product((1, 2), repeat=3)]
    pairs = [(a, b) for a, b in itertools.permutations(halves, 2) if all(a[n] != b[n] for n in names[:2])][:40]
    judge = ScriptedJudge(criteria=names, biased=lambda pair, text: share_of(pair, text) < 0.3)
    made = judge_pairs(Configuration(refinement="none"), pairs_of(*pairs), judge)
    cases = [(n, name, a[name], b[name]) for n, (a, b) in enumerate(pairs) for name in names]
    biased = {(f"p{n}", name) for n, name, _, _ in cases if share_of(f"p{n}", name) < 0.3}
    evidence = made.consistent_evidence.set_index(["pair_id", "text"])
    assert {key for key, kept in evidence["kept"].items() if not kept} == biased and len(biased) > 10
    before = evidence["verdict"].value_counts()
    after = evidence.loc[evidence["kept"].astype(bool), "verdict"].value_counts()
    truth = [(f"p{n}", name, a, b) for n, name, a, b in cases]
    true_a, true_b = (sum(sign * (a - b) > 0 for *_, a, b in truth) for sign in (1, -1))
    assert true_a == true_b
    unbiased = [(a, b) for pair, name, a, b in truth if (pair, name) not in biased]
    assert after["A"] - after["B"] == sum(a > b for a, b in unbiased) - sum(a < b for a, b in unbiased)
    assert before["A"] - before["B"] == after["A"] - after["B"] + len(biased)
    assert all(why == "flips with the order: A in order AB, B in order BA" for why in evidence["why"].dropna())


def test_without_scf_only_order_ab_is_asked_and_bias_decides() -> None:
    judge = ScriptedJudge(criteria=["x", "y", "z"], biased=lambda _pair, text: text != "z")
    pairs = pairs_of(({"x": 1, "y": 1, "z": 1}, {"x": 2, "y": 2, "z": 2}))
    assert judge_pairs(Configuration(swap_filter=False), pairs, judge).decisions["decision"].tolist() == ["A"]
    assert judge.calls["pairwise_verdicts"] == 1
    assert judge_pairs(FULL, pairs, judge).decisions["decision"].tolist() == ["B"]


NAMES = ["x", "y", "z", "x1", "x2", "y1"]


@st.composite
def scripts(draw: st.DrawFn) -> tuple[dict[str, Any], list[Any], Configuration]:
    features = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1))
    children = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=2))
    script = {"criteria": draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3)), "children": draw(children)}
    configuration = Configuration(
        refinement=draw(st.sampled_from(["btcr", "none"])),
        swap_filter=draw(st.booleans()),
        criteria_per_call=draw(st.sampled_from(["all", "one"])),
        no_evidence=draw(st.sampled_from(["tie", "monolithic"])),
        generator=draw(st.sampled_from(["pair", "none"])),
    )
    return script, draw(st.lists(st.tuples(features, features), min_size=1, max_size=3)), configuration


@pytest.mark.slow
@given(scripts())
@settings(max_examples=25, deadline=None)
def test_responses_that_change_places_mirror_every_verdict_and_decision(script: Any) -> None:
    """Of a judge that is consistent in order: y_A for y_B in, A for B out, in every table."""
    settings_of_judge, pairs, configuration = script

    def judged(which: list[Any]) -> Judged:
        return judge_pairs(configuration, pairs_of(*which), ScriptedJudge(**settings_of_judge))

    there, back = judged(pairs), judged([(b, a) for a, b in pairs])
    pd.testing.assert_frame_equal(there.refined_criteria, back.refined_criteria)
    for name, column in (
        ("criterion_verdicts", "verdict"), ("child_verdicts", "verdict"), ("consistent_evidence", "verdict"),
        ("decisions", "decision"),
    ):  # fmt: skip
        mirrored = [FLIPPED[value] for value in getattr(back, name)[column]]
        assert getattr(there, name)[column].tolist() == mirrored, name
    assert there.consistent_evidence["kept"].all()


def test_stages_of_two_configurations_are_the_same_rows_as_long_as_nothing_differs() -> None:
    """Rows in common become requests in common: generation and order AB of all who do not guide them."""
    pairs = pairs_of(({"x": 1}, {"x": 2}), ({"x": 1}, {"x": 1}))
    plain, full = (ScriptedJudge(criteria=["x"], children={"x": ["y"]}) for _ in range(2))
    judge_pairs(Configuration(swap_filter=False, refinement="none"), pairs, plain)
    judge_pairs(FULL, pairs, full)
    rows = {
        id(judge): [str((name, sorted(row.items(), key=str))) for _, name, row in judge.log] for judge in (plain, full)
    }
    shared = set(rows[id(plain)]) & set(rows[id(full)])
    assert len(shared) == 5 and len(rows[id(plain)]) == 6  # 2 generations, 2 of order AB, the final of p0


def test_nothing_of_a_pair_changes_what_another_is_asked() -> None:
    one, two = ({"x": 1, "y": 1}, {"x": 1, "y": 2}), ({"x": 3}, {"x": 4})
    script: dict[str, Any] = {"criteria": ["x", "y"], "children": {"x": ["y1", "x2"]}}
    alone, together = ScriptedJudge(**script), ScriptedJudge(**script)
    judge_pairs(FULL, pairs_of(one), alone)
    judge_pairs(FULL, pairs_of(one, two), together)
    asked = [[row for _, _, row in judge.log if row["pair_id"] == "p0"] for judge in (alone, together)]
    assert asked[0] == asked[1]


def test_guidance_reaches_its_stage_and_no_other() -> None:
    judge = ScriptedJudge(criteria=["x"], children={"x": ["y"]})
    guidance = {stage: {"p0": stage} for stage in ("generator", "criterion_judge", "final_judge")}
    pairs = pairs_of(({"x": 1}, {"x": 1}))
    judge_pairs(FULL, PairsToJudge(pairs.rows, guidance), judge)
    seen = {
        stage: {row.get("guidance") for asked_in, _, row in judge.log if asked_in == stage} for stage in judge.calls
    }
    assert seen == {
        "generation": {"generator"}, "pairwise_verdicts": {"criterion_judge"}, "child_verdicts": {"criterion_judge"},
        "decomposition": {None}, "redundancy": {None}, "conflict": {None}, "final": {"final_judge"},
    }  # fmt: skip
