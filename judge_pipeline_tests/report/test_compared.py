"""Sentences of comparisons over made tables: whatever the numbers, none says more than the corrected p-values do."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge_pipeline import tables
from judge_pipeline.estimate import Estimate
from judge_pipeline.report.compared import ALPHA, calibration, differences, overconfidence, panels
from judge_pipeline.report.findings import findings
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline_tests.report.made_tables import Made, made_tables
from judge_pipeline_tests.report.test_findings import told

JUDGES = ("a", "b", "c", "baseline-text")
MADE = made_tables(Made(judges=JUDGES, participants=20))


def difference(
    metric: str, against: str, judge_1: str, judge_2: str | None, value: float, p: float | None, **more: Any
) -> dict[str, Any]:
    ends = (value - 0.2, value + 0.2)
    estimate = Estimate(value, 36, 0, ends) if p is not None else Estimate.undefined("one class", 36)
    empty = dict.fromkeys(tables.JUDGE_DIFFERENCES.column_names)
    row = {"metric": metric, "against": against, "judge_1": judge_1, "judge_2": judge_2, "p_value": p, "p_holm": p}
    return empty | row | estimate.to_row() | {"n_trajectories": 18} | more


def given_rows(rows: list[dict[str, Any]], **more: Any) -> CocreationReportInput:
    return replace(MADE, judge_differences=tables.JUDGE_DIFFERENCES.conform(rows), **more)


def chance(*rows: tuple[str, float, float | None]) -> CocreationReportInput:
    return given_rows([difference("roc_auc", "chance", judge, None, value, p) for judge, value, p in rows])


def test_nobody_is_told_from_chance_after_the_correction() -> None:
    others = [difference("roc_auc", "chance", judge, None, value, 0.9) for judge, value in (("b", 0.1), ("c", -0.1))]
    alone = difference("roc_auc", "chance", "a", None, 0.3, 0.06, p_value=0.02)
    text = told(findings(given_rows([alone, *others])), "No judge is distinguishable")
    assert "corrected for looking at 3 judges (Holm): the smallest is 0.060, a's" in text
    assert "Taken alone, the interval of a lies above 0.5; with 3 looks at once that is not enough" in text


def test_an_interval_of_so_few_clusters_that_p_stays_above_5_percent_shows_nothing_alone() -> None:
    text = told(findings(chance(("a", 0.3, 0.12), ("b", 0.1, 0.6))), "No judge is distinguishable")
    assert "Taken alone" not in text


def test_judges_are_told_from_chance_with_their_p() -> None:
    text = told(findings(chance(("a", 0.3, 0.01), ("b", -0.3, 0.02), ("c", 0.0, 0.9))), "1 of 3 judges ranks")
    assert "(p = 0.010)" in text and "worse than chance: b" in text
    assert "1 is not told from chance at this n" in text


def pairs_of(p: dict[tuple[str, str], float], **more: Any) -> list[dict[str, Any]]:
    values = {
        row["judge"]: row["value"] for row in MADE.judge_metrics.query("metric == 'roc_auc'").to_dict("records")
    }  # fmt: skip
    return [
        difference("roc_auc", "judge", one, two, values[one] - values[two], p.get((one, two), 1.0), **more)
        for one, two in combinations(JUDGES, 2)
    ]


def ranked() -> list[str]:
    rows = MADE.judge_metrics.query("metric == 'roc_auc'")
    return [str(judge) for judge in rows.sort_values("value", ascending=False)["judge"]]


def test_the_best_judge_is_told_from_those_it_is_told_from() -> None:
    best, *_, last = ranked()
    pair = (best, last) if (best, last) in combinations(JUDGES, 2) else (last, best)
    text = told(findings(given_rows(pairs_of({pair: 0.01}))), f"{best} ranks better than 1 of 3 others")
    assert f"It is told from {last}." in text and "that does not mean equal" in text
    none = told(findings(given_rows(pairs_of({}))), "No judge is told from another by ROC-AUC")
    assert "corrected for 6 pairs (Holm)" in none


def test_what_it_would_take_is_said_or_why_it_cannot_be() -> None:
    needed = {"attempts_for_power": 245, "trajectories_for_power": 112, "attempts_for_width": 168}
    text = told(findings(given_rows(pairs_of({}, **needed))), "What it would take")
    assert "about 245 test attempts in 112 trajectories would show it (power 80%); there are 36" in text
    assert "within 0.05 takes about 168" in text
    assert "cannot be said" in told(findings(given_rows(pairs_of({}))), "What it would take")


@pytest.mark.parametrize(
    ("x", "y", "word"), [((0.9, 0.1), (0.6, 0.4), "overconfident"), ((0.6, 0.4), (0.9, 0.1), "underconfident")]
)
def test_miscalibrated_judges_have_a_direction(x: tuple[float, float], y: tuple[float, float], word: str) -> None:
    empty = dict.fromkeys(tables.JUDGE_CURVES.column_names)
    rows = [
        empty | {"judge": "a", "curve": "reliability", "point": k, "x": px, "y": py, "n": 18}
        for k, (px, py) in enumerate(zip(x, y, strict=True), 1)
    ]
    curves = tables.JUDGE_CURVES.conform(rows)
    table = given_rows([difference("ece_squared_debiased", "calibration", "a", None, 0.1, 0.01)]).judge_differences
    found = calibration(differences(table, "ece_squared_debiased", "calibration"), curves, {"a": "a"}, None)
    assert word in found[0].text and "sure to" in found[0].text
    assert overconfidence(curves) == pytest.approx((max(x), max(y)))


def maps(low: float, high: float) -> pd.DataFrame:
    estimate = Estimate((low + high) / 2, 36, 0, (low, high)).to_row()
    row = {"judge": "a", "map": "platt", "metric": "brier", "quantity": "change", **estimate}
    return tables.JUDGE_CALIBRATION.conform([row])


def test_a_map_helps_only_where_its_whole_interval_does() -> None:
    rows = [difference("ece_squared_debiased", "calibration", "a", None, 0.0, 0.9)]
    start = "No judge is shown to be miscalibrated"
    helped = told(findings(given_rows(rows, judge_calibration=maps(-0.1, -0.01))), start)
    assert "lowers the Brier score on test: Platt for a (1 maps tried, not corrected)" in helped
    assert "No map fitted on val is shown to lower" in told(
        findings(given_rows(rows, judge_calibration=maps(-0.1, 0.01))), start
    )
    assert "and 1 raise it" in told(findings(given_rows(rows, judge_calibration=maps(0.01, 0.1))), start)


def panel(value: float, p: float, metric: str = "roc_auc") -> pd.DataFrame:
    row = {"method": "mean", "metric": metric, "quantity": "difference", "split": "test", "best_judge": "a",
           "p_value": p, "p_holm": p, **Estimate(value, 36, 0, (value - 0.1, value + 0.1)).to_row()}  # fmt: skip
    return tables.JUDGE_PANELS.conform([row])


def test_a_panel_beats_its_best_judge_only_where_shown_and_in_the_right_direction() -> None:
    assert panels(panel(0.1, 0.01), {})[0].lead == "A panel beats its best judge"
    assert panels(panel(0.1, 0.2), {})[0].lead == "No panel is shown to beat its best judge"
    assert panels(panel(0.1, 0.01, "brier"), {})[0].lead == "No panel is shown to beat its best judge"
    assert panels(panel(-0.1, 0.01, "brier"), {})[0].lead == "A panel beats its best judge"
    assert panels(None, {}) == []


def agreement(raw: float, kappa: float, accepted: float) -> CocreationReportInput:
    rows = [
        {"statistic": name, "rated": "decision", "judge_1": None, "judge_2": None,
         **Estimate(value, 36, 0, (value - 0.1, value + 0.1)).to_row()}
        for name, value in (("fleiss", kappa), ("mean_cohen", kappa), ("raw_agreement", raw), ("prevalence", accepted),
                            ("gwet_ac1", raw - 0.05))
    ]  # fmt: skip
    return replace(MADE, judge_agreement=tables.JUDGE_AGREEMENT.conform(rows))


def test_kappas_paradox_is_named_where_it_is_there_and_nowhere_else() -> None:
    paradox = told(findings(agreement(0.9, 0.1, 0.95)), "Agreement beyond chance is not shown")
    assert "decide alike on 90.0%" in paradox and "95% of decisions are accept" in paradox and "AC1" in paradox
    assert "Kappa is far lower" not in told(findings(agreement(0.9, 0.8, 0.5)), "Judges agree more")
    assert "Kappa is far lower" not in told(findings(agreement(0.6, 0.2, 0.95)), "Judges agree more")


p_values = st.one_of(st.none(), st.floats(0, 1))


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    chance_p=st.tuples(*[p_values] * 4), values=st.tuples(*[st.floats(-0.5, 0.5)] * 4),
    pair_p=st.tuples(*[p_values] * 6), panel_p=st.floats(0, 1), gap_p=p_values,
)  # fmt: skip
def test_no_sentence_claims_more_than_the_corrected_p_values(
    chance_p: tuple[float | None, ...],
    values: tuple[float, ...],
    pair_p: tuple[float | None, ...],
    panel_p: float,
    gap_p: float | None,
) -> None:
    rows = [
        difference("roc_auc", "chance", judge, None, value, p)
        for judge, value, p in zip(JUDGES, values, chance_p, strict=True)
    ]
    pairs = pairs_of({})
    for row, p in zip(pairs, pair_p, strict=True):
        rows.append(difference("roc_auc", "judge", row["judge_1"], row["judge_2"], row["value"] or 0.0, p))
    rows.append(difference("ece_squared_debiased", "calibration", "a", None, abs(values[0]), gap_p))
    found = findings(given_rows(rows, judge_panels=panel(values[0], panel_p)))
    leads = " | ".join(s.lead for s in found)
    texts = " ".join(s.text for s in found)
    shown = {j for j, v, p in zip(JUDGES, values, chance_p, strict=True) if p is not None and p < ALPHA and v}
    above = {j for j, v, p in zip(JUDGES, values, chance_p, strict=True) if j in shown and v > 0}
    if any(p is not None for p in chance_p):
        assert ("attempts better than chance" in leads.replace("No judge ranks attempts better", "")) == bool(above)
        assert ("distinguishable from chance at this n" in leads) == (not shown)
    if not any(p is not None and p < ALPHA for p in pair_p):
        assert "ranks better than" not in leads
        assert "It is told from" not in texts and "beats the baseline" not in texts
    assert ("A panel beats" in leads) == (panel_p < ALPHA and values[0] > 0)
    assert ("do not mean what they say" in leads) == (gap_p is not None and gap_p < ALPHA and values[0] != 0)
    assert "None" not in texts and "nan" not in texts


def test_without_the_tables_the_findings_are_those_of_intervals() -> None:
    found = findings(MADE)
    assert MADE.judge_differences is None
    assert any("Intervals are not widened" in s.text or "contains 0.5" in s.text for s in found)
    assert not [s for s in found if "Holm" in s.text]
