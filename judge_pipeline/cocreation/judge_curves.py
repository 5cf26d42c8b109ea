"""The points behind the judges' curves, with their bands: the table ``judge_curves`` (paper 1, Figures 2 and 3)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.judge_figures import JudgeFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.statistics import calibration, discrimination, thresholds
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import FEWEST_RESAMPLES, expanded_tail
from judge_pipeline.statistics.score_counts import FloatArray, ScoreCounts
from judge_pipeline.tables import JUDGE_CURVES

BAND_GRID: FloatArray = np.arange(51) / 50
"""False positive rates and recalls at which a band is given."""

_Key = tuple[str, str]


def judge_curves(
    predictions: pd.DataFrame,
    *,
    seed: int = 0,
    n_resamples: int = N_RESAMPLES,
    panel: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Each judge's curves on test, and MCC on val at every threshold of the grid; the table ``judge_curves``.

    ``roc`` and ``pr`` hold a point for each distinct score; ``roc_band`` and ``pr_band`` give the same curves at
    ``BAND_GRID`` with pointwise 95% intervals; ``reliability`` holds the bins; ``mcc_val`` the curve that t* is the
    top of (eq. 19), without the thresholds at which MCC is 0/0. A judge whose test split has one class only has no
    ROC and no PR curve; without labelled attempts of a split it has no row of it.

    Args:
        predictions: as for ``judge_metrics``.
        seed: seed of the bootstrap; the resamples are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind the bands.
        panel: the judges to report; all by default.

    Raises:
        PredictionError: as for ``judge_metrics``.
    """
    judged = JudgedAttempts.of(predictions)
    val, test = judged.splits["val"], judged.splits["test"]
    figures = {
        name: JudgeFigures.of(val, test, judged.judges.index(name)) for name in judged.panel(panel)
    }  # fmt: skip

    def statistics(weights: Weights) -> dict[_Key, FloatArray]:
        found: dict[_Key, FloatArray] = {}
        for name, judge in figures.items():
            on_test, on_val = judge.test.count(weights[0]), judge.val.count(weights[1])
            found[name, "roc_band"] = roc_at(on_test, BAND_GRID)
            found[name, "pr_band"] = precision_at(on_test, BAND_GRID)
            found[name, "mcc_val"] = thresholds.mcc(thresholds.confusion_at(on_val, thresholds.GRID))
        return found

    replicates: dict[_Key, FloatArray] = {}
    if figures:
        resamples = judged.resamples(n_resamples, seed)
        replicates = replicate(resamples, statistics, n_observations=max(len(test.y), len(val.y)))
    parts = [JUDGE_CURVES.empty()]
    for name, judge in figures.items():
        parts += [_curve(name, curve, columns) for curve, columns in _curves(name, judge, replicates)]
    filled = [part for part in parts if len(part)]
    return JUDGE_CURVES.conform(pd.concat(filled, ignore_index=True) if filled else parts[0])


def roc_at(counts: ScoreCounts, rates: FloatArray) -> FloatArray:
    """True positive rate at false positive rates (G,), along straight lines between points; shape (R, G).

    Where several points share a false positive rate the highest counts, so 0 has the height of the first step. NaN
    where a class has no weight.
    """
    found = np.full((len(counts.accepted), len(rates)), np.nan)
    for row in np.flatnonzero((counts.n_accepted > 0) & (counts.n_rejected > 0)):
        fpr = 1 - counts.rejected_below[row, ::-1] / counts.n_rejected[row]
        tpr = 1 - counts.accepted_below[row, ::-1] / counts.n_accepted[row]
        last = np.append(np.diff(fpr) > 0, True)
        found[row] = np.interp(rates, fpr[last], tpr[last])
    return found


def precision_at(counts: ScoreCounts, recalls: FloatArray) -> FloatArray:
    """Precision at the first point whose recall reaches each of ``recalls`` (G,); shape (R, G).

    These are the steps whose area is average precision. NaN where a class has no weight.
    """
    found = np.full((len(counts.accepted), len(recalls)), np.nan)
    for row in np.flatnonzero((counts.n_accepted > 0) & (counts.n_rejected > 0)):
        accepted = counts.n_accepted[row] - counts.accepted_below[row, :-1][::-1]
        rejected = counts.n_rejected[row] - counts.rejected_below[row, :-1][::-1]
        # At recall 0 the step of the first accepted attempt holds, however far down it stands.
        first = np.searchsorted(accepted / counts.n_accepted[row], np.maximum(recalls, 1e-9) - 1e-12)
        found[row] = accepted[first] / (accepted + rejected)[first]
    return found


def _curves(name: str, judge: JudgeFigures, replicates: dict[_Key, FloatArray]) -> list[tuple[str, dict[str, Any]]]:
    counts = judge.test_counts
    found: list[tuple[str, dict[str, Any]]] = []
    for curve, points, at in (
        ("roc", discrimination.roc_curve_points(counts), roc_at),
        ("pr", discrimination.pr_curve_points(counts), precision_at),
    ):
        if points is not None:
            found.append((curve, {"x": points.x, "y": points.y, "threshold": points.threshold, "n": points.n}))
            band = _band(replicates[name, f"{curve}_band"], judge.n_clusters(f"{curve}_auc"))
            found.append((f"{curve}_band", {"x": BAND_GRID, "y": at(counts, BAND_GRID)[0], "n": judge.test.n, **band}))
    if len(counts.scores):
        bins = calibration.reliability_bins(counts)
        ends = {"ci95_low": bins.ci95_low, "ci95_high": bins.ci95_high}
        found.append(("reliability", {"x": bins.mean_score, "y": bins.accepted_share, "n": bins.n, **ends}))
    mcc = thresholds.mcc(thresholds.confusion_at(judge.val_counts, thresholds.GRID))[0] if judge.val.n else None
    if mcc is not None and not np.isnan(mcc).all():
        known = ~np.isnan(mcc)
        grid = thresholds.GRID[known]
        ends = _band(replicates[name, "mcc_val"], judge.n_clusters("mcc_val"))
        band = {end: values[known] for end, values in ends.items()}
        found.append(("mcc_val", {"x": grid, "y": mcc[known], "threshold": grid, "n": judge.val.n, **band}))
    return found


def _band(replicates: FloatArray, n_clusters: int) -> dict[str, FloatArray]:
    """Pointwise ends over the resamples in which the point is defined, expanded as all intervals are.

    NaN where no resample defines the point, and everywhere for a single cluster and for fewer than
    ``FEWEST_RESAMPLES``. Both classes make these curves, so the clusters are those that count for the curve's figure
    (``JudgeFigures.n_clusters``): with few of the rarer class, those of all would promise too much.
    """
    if n_clusters < 2 or len(replicates) < FEWEST_RESAMPLES:
        nothing = np.full(replicates.shape[1], np.nan)
        return {"ci95_low": nothing, "ci95_high": nothing}
    tail = expanded_tail(n_clusters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a point that no resample defines has no end: NaN is meant
        low, high = np.nanquantile(replicates, [tail, 1 - tail], axis=0)
    return {"ci95_low": low, "ci95_high": high}


def _curve(judge: str, curve: str, columns: dict[str, Any]) -> pd.DataFrame:
    table = pd.DataFrame(columns).assign(judge=judge, curve=curve)
    table["point"] = np.arange(1, len(table) + 1)
    return JUDGE_CURVES.conform(table.reindex(columns=JUDGE_CURVES.column_names))
