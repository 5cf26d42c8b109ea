from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from judge_pipeline.cocreation.anchor_figures import anchor_figures
from judge_pipeline.figures.anchors import anchor_figure
from judge_pipeline.report.anchor_views import anchor_periods
from judge_pipeline.report.anchor_words import drifted, not_drifted
from judge_pipeline.tables.anchors import ANCHOR_METRICS, ANCHOR_RUNS
from judge_pipeline_tests.cocreation import scored_judges

N = 500


def attempts() -> pd.DataFrame:
    return scored_judges.simulated(3, n_groups=80, gaps=0.0).drop_duplicates("attempt_id")


def runs(noise: dict[str, float], hashes: dict[str, str] | None = None) -> pd.DataFrame:
    """One judge in several periods; ``noise``: period -> what is added to its answers."""
    base = scored_judges.simulated(3, n_groups=80, gaps=0.0).query("judge == 'a'")
    parts = []
    for place, (period, size) in enumerate(noise.items()):
        rng = np.random.default_rng(place)
        p = np.clip(base["p_ac"] + rng.normal(0, size, len(base)), 0, 1) if size else base["p_ac"]
        parts.append(
            base[["attempt_id", "judge", "s_algo", "s_robust"]].assign(
                period=period, p_ac=p, model="m", request_hash=(hashes or {}).get(period, "h"), cost_usd=None,
                latency_ms=None, failure=None,
            )
        )  # fmt: skip
    return ANCHOR_RUNS.conform(pd.concat(parts)[ANCHOR_RUNS.column_names])


def test_a_period_has_its_figures_and_its_paired_change_since_the_first() -> None:
    given = runs({"2026-01": 0.0, "2026-02": 0.1})
    found = anchor_figures(given, attempts(), seed=0, n_resamples=N).set_index(["period", "metric", "quantity"])
    labels = attempts().set_index("attempt_id")["y"]
    auc = {period: roc_auc_score(labels[rows["attempt_id"]], rows["p_ac"]) for period, rows in given.groupby("period")}
    for period, value in auc.items():
        assert found.loc[(period, "roc_auc", "value"), "value"] == pytest.approx(value, abs=1e-12)
    change = found.loc[("2026-02", "roc_auc", "change")]
    assert change["value"] == pytest.approx(auc["2026-02"] - auc["2026-01"], abs=1e-12)
    assert change["ci95_low"] <= change["value"] <= change["ci95_high"]
    assert ("2026-01", "roc_auc", "change") not in found.index
    assert {metric for _, metric, _ in found.index} == set(ANCHOR_METRICS)


@pytest.mark.slow
def test_a_judge_that_became_worse_has_drifted_and_one_that_did_not_has_not() -> None:
    worse = anchor_figures(runs({"1": 0.0, "2": 0.05, "3": 0.6}), attempts(), seed=0, n_resamples=2000)
    said = drifted(worse)
    assert any("ROC-AUC changed by -" in sentence for sentence in said)
    assert all("drifted by 3" in sentence for sentence in said)
    assert drifted(worse, "nobody") == []
    same = anchor_figures(runs({"1": 0.0, "2": 0.0}), attempts(), seed=0, n_resamples=N)
    assert drifted(same) == []
    assert (same.query("quantity == 'change'")["value"] == 0).all()
    # What was worse in between and is well again is no drift of today.
    back = anchor_figures(runs({"1": 0.0, "2": 0.6, "3": 0.0}), attempts(), seed=0, n_resamples=2000)
    assert drifted(back) == []


def test_another_prompt_or_model_begins_anew() -> None:
    given = runs({"1": 0.0, "2": 0.6, "3": 0.6}, hashes={"1": "old", "2": "new", "3": "new"})
    found = anchor_figures(given, attempts(), seed=0, n_resamples=N).query("quantity == 'change'")
    assert set(found["period"]) == {"3"}
    labels = attempts().set_index("attempt_id")["y"]
    auc = {p: roc_auc_score(labels[rows["attempt_id"]], rows["p_ac"]) for p, rows in given.groupby("period")}
    assert found.set_index("metric").loc["roc_auc", "value"] == pytest.approx(auc["3"] - auc["2"], abs=1e-12)


def test_nothing_asked_and_nothing_answered_are_no_drift() -> None:
    assert anchor_figures(ANCHOR_RUNS.empty(), attempts(), seed=0, n_resamples=N).empty
    given = runs({"1": 0.0, "2": 0.0})
    silent = given.assign(p_ac=given["p_ac"].where(given["period"] == "1"), request_hash=None)
    found = anchor_figures(silent, attempts(), seed=0, n_resamples=N)
    assert found.query("period == '2'")["value"].isna().all()
    assert found.query("period == '2'")["reason"].notna().all()
    assert drifted(found) == []


@pytest.mark.slow
def test_without_drift_the_words_say_what_could_have_been_missed_and_never_that_there_is_none() -> None:
    same = anchor_figures(runs({"1": 0.0, "2": 0.02}), attempts(), seed=0, n_resamples=N)
    row = same.set_index(["period", "metric", "quantity"]).loc[("2", "roc_auc", "change")]
    (told,) = not_drifted(same)
    assert told.startswith("a: no drift is told by 2 (n = ")
    assert f"[{row['ci95_low']:.2f}, {row['ci95_high']:.2f}]" in told and told.endswith("be missed")
    (once,) = not_drifted(same[same["period"] == "1"])
    assert once == "a: asked in one period (1) so far, so there is nothing to compare"
    anew = anchor_figures(
        runs({"1": 0.0, "2": 0.6}, hashes={"1": "old", "2": "new"}), attempts(), seed=0, n_resamples=N
    )
    (told,) = not_drifted(anew)
    assert "the comparison begins anew" in told and drifted(anew) == []
    worse = anchor_figures(runs({"1": 0.0, "2": 0.6}), attempts(), seed=0, n_resamples=2000)
    assert not_drifted(worse) == [] and drifted(worse)


def test_figure_and_table_show_every_period_with_its_interval() -> None:
    found = anchor_figures(runs({"2026-01": 0.0, "2026-02": 0.2, "2026-03": 0.2}), attempts(), seed=0, n_resamples=N)
    drawn = anchor_figure(found)
    assert drawn.figure is not None and "In 2026-03: " in drawn.alt
    values = found[found["quantity"] == "value"].set_index(["metric", "period"])
    for trace, metric in zip(drawn.figure.data, ANCHOR_METRICS, strict=True):
        mine = values.loc[metric]
        assert list(trace.y) == mine["value"].tolist()
        assert np.allclose(np.add(trace.y, trace.error_y.array), mine["ci95_high"].astype(float))
        assert np.allclose(np.subtract(trace.y, trace.error_y.arrayminus), mine["ci95_low"].astype(float))
    rows = anchor_periods(found, {}).rows
    assert len(rows) == 3 * len(ANCHOR_METRICS)
    assert rows[0][4].text == "–" and rows[1][4].estimate is not None
    assert anchor_figure(found.iloc[:0]).reason is not None and anchor_periods(found.iloc[:0], {}).rows == []
