from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from scipy.special import expit, logit

from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.cocreation.panels import (
    COMPARED,
    judge_panels,
    panel_weights,
    weights_that_saw_more_than_val,
)
from judge_pipeline.tables import JUDGE_PANELS, PREDICTIONS

from . import paper_items
from .scored_judges import JUDGES, simulated

METHODS = ("mean", "median", "logit_mean", "stacker")


def build(frame: pd.DataFrame, n_resamples: int = 50, **options: object) -> pd.DataFrame:
    return judge_panels(frame, panel_weights(frame, **options), seed=0, n_resamples=n_resamples, **options)


def row(table: pd.DataFrame, method: str, metric: str, quantity: str = "value") -> pd.Series:
    mask = (table["method"] == method) & (table["metric"] == metric) & (table["quantity"] == quantity)
    assert mask.sum() == 1
    return table[mask].iloc[0]


def complete(frame: pd.DataFrame, split: str) -> tuple[pd.DataFrame, pd.Series]:
    own = frame[frame["split"] == split]
    wide = own.pivot(index="attempt_id", columns="judge", values="p_ac").dropna()
    return wide, own.drop_duplicates("attempt_id").set_index("attempt_id")["y"].loc[wide.index]


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_the_combined_answers(seed: int) -> None:
    frame = simulated(seed, n_groups=200)
    table, weights = build(frame), panel_weights(frame)["value"].to_numpy()
    wide, y = complete(frame, "test")
    logits = logit(wide.clip(0.001, 0.999))
    combined = {
        "mean": wide.mean(axis=1),
        "median": wide.median(axis=1),
        "logit_mean": expit(logits.mean(axis=1)),
        "stacker": expit(weights[0] + logits @ weights[1:]),
    }
    for method, p in combined.items():
        assert row(table, method, "brier")["value"] == pytest.approx(sk.brier_score_loss(y, p), abs=1e-12)
        assert row(table, method, "roc_auc")["value"] == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)
        t = row(table, method, "threshold")["value"]
        mcc = row(table, method, "mcc_test")["value"]
        assert mcc == pytest.approx(sk.matthews_corrcoef(y, p >= t), abs=1e-12)
        assert row(table, method, "brier")["n"] == len(y)
        n_test = frame.loc[frame["split"] == "test", "attempt_id"].nunique()
        assert row(table, method, "brier")["n_left_out"] == n_test - len(y)


def test_the_rival_is_the_best_on_val_not_on_test() -> None:
    frame = simulated(4, n_groups=200, gaps=0.0)
    # Judge a is best on val and worst on test.
    frame.loc[(frame["judge"] == "a") & (frame["split"] == "val"), "p_ac"] = frame["y"] * 0.8 + 0.1
    frame.loc[(frame["judge"] == "a") & (frame["split"] == "test"), "p_ac"] = 0.9 - frame["y"] * 0.8
    table, metrics = build(frame, n_resamples=500), judge_metrics(frame, seed=0, n_resamples=5)
    for metric in COMPARED:
        difference = row(table, "mean", metric, "difference")
        assert difference["best_judge"] == "a"
        own = metrics[(metrics["judge"] == "a") & (metrics["metric"] == metric)].iloc[0]["value"]
        expected = row(table, "mean", metric)["value"] - own
        assert difference["value"] == pytest.approx(expected, abs=1e-12)
    assert row(table, "mean", "roc_auc", "difference")["p_value"] < 0.01


def test_a_panel_of_independent_judges_beats_its_best() -> None:
    table = build(simulated(5, n_groups=500, gaps=0.0), n_resamples=500)
    for method in METHODS:
        difference = row(table, method, "roc_auc", "difference")
        assert difference["ci95_low"] > 0
        assert difference["p_value"] <= difference["p_holm"] < 0.05
    assert row(table, "stacker", "log_loss", "difference")["ci95_high"] < 0


def test_a_panel_of_one_voice_does_not_differ_from_it() -> None:
    frame = simulated(6, n_groups=150, gaps=0.0)
    one = frame[frame["judge"] == "a"]
    table = build(pd.concat([one.assign(judge=name) for name in "xyz"]))
    for method in ("mean", "median"):
        difference = row(table, method, "brier", "difference")
        assert difference["best_judge"] == "x"
        assert difference["value"] == pytest.approx(0, abs=1e-12)
        assert difference["p_value"] == 1


def test_the_stacker_has_seen_val_alone() -> None:
    frame = simulated(7, n_groups=120)
    weights = panel_weights(frame)
    assert weights_that_saw_more_than_val(weights, frame) == []
    turned = frame.assign(y=frame["y"].where(frame["split"] == "val", 1 - frame["y"]))
    pd.testing.assert_frame_equal(panel_weights(turned), weights, check_exact=True)
    everything = panel_weights(frame.assign(split="val"))
    assert weights_that_saw_more_than_val(everything, frame)
    assert weights["judge"].tolist() == [None, *JUDGES]
    val, _ = complete(frame, "val")
    assert set(weights["n_val"]) == {len(val)}


def test_without_a_stacker_the_means_stay() -> None:
    frame = paper_items.predictions()
    weights = panel_weights(frame)
    assert weights["value"].isna().all()
    assert weights_that_saw_more_than_val(weights, frame) == []
    table = build(frame)
    stacker = table[table["method"] == "stacker"]
    assert stacker["value"].isna().all()
    assert stacker["reason"].str.contains("val is too small: 8 labelled attempts").all()
    assert row(table, "mean", "roc_auc")["value"] > 0.5
    assert row(table, "mean", "brier")["n"] == 36


def test_what_not_all_answered_is_left_out_and_one_who_never_did_leaves_nothing() -> None:
    frame = simulated(8, n_groups=100)
    silent = pd.concat([frame, frame[frame["judge"] == "a"].assign(judge="d", p_ac=np.nan)])
    table = build(silent)
    assert table["value"].isna().all()
    missing = row(table, "mean", "brier")
    assert missing["n"] == 0
    assert "answer by every judge of the panel" in missing["reason"]
    assert build(silent, panel=list(JUDGES)).equals(build(frame))


@pytest.mark.parametrize("panel", [["a"], []])
def test_a_panel_needs_two_judges(panel: list[str]) -> None:
    table = build(simulated(0), panel=panel)
    assert table["value"].isna().all()
    assert table["reason"].str.contains("a panel needs two judges").all()


def test_one_class_is_said_and_weights_of_another_panel_are_refused() -> None:
    frame = simulated(9, n_groups=100)
    table = build(frame.assign(y=frame["y"].where(frame["split"] == "val", 0)))
    assert "only one class" in row(table, "mean", "roc_auc")["reason"]
    assert "only one class" in row(table, "mean", "roc_auc", "difference")["reason"]
    table = build(frame.assign(y=frame["y"].where(frame["split"] == "test", 0)))
    assert "no judge of the panel has roc_auc on val" in row(table, "mean", "roc_auc", "difference")["reason"]
    with pytest.raises(ValueError, match="the weights are of a, b, the panel is a, b, c"):
        judge_panels(frame, panel_weights(frame, panel=["a", "b"]), seed=0)


def test_same_seed_same_bytes_whatever_the_order_of_rows_and_nothing_in_is_undefined() -> None:
    frame = simulated(1)
    pd.testing.assert_frame_equal(build(frame), build(frame.sample(frac=1, random_state=0)), check_exact=True)
    empty = build(PREDICTIONS.empty())
    assert empty["value"].isna().all()
    assert [*empty.columns] == JUDGE_PANELS.column_names
