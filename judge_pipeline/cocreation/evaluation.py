"""Judges as measurement instruments: the tables behind Tables IV and V and Figures 2, 3, 5, 7 (paper 1, VI-A).

Everything is computed from the long prediction table alone. Intervals come from one cluster bootstrap by trajectory
with the same resamples for every judge and every figure, so replicates of two judges may be subtracted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.judge_agreement import judge_agreement
from judge_pipeline.cocreation.judge_curves import judge_curves
from judge_pipeline.cocreation.judge_figures import METRICS, ON_VAL, RECENTRED, JudgeFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts, PredictionError, check_predictions
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import FEW_CLUSTERS, estimate_with_interval, recentred, standard_error
from judge_pipeline.statistics.sample_size import HALF_WIDTH, clusters_for_half_width
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import JUDGE_METRICS

__all__ = [
    "PredictionError",
    "check_predictions",
    "judge_agreement",
    "judge_curves",
    "judge_metrics",
    "thresholds_that_saw_more_than_val",
]


def judge_metrics(
    predictions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, panel: Sequence[str] | None = None
) -> pd.DataFrame:
    """Every figure of every judge with its interval (paper 1, Table IV); the table ``judge_metrics``.

    t* is chosen on val and applied unchanged to test; intervals hold it fixed, except that of ``threshold`` and of
    ``mcc_test_reselected``, for which each resample of val chooses its own.

    Args:
        predictions: long table with attempt_id, judge, p_ac, y, split, and where known participant and problem_id.
            Rows without y or p_ac are left out and counted.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
        panel: the judges to report; all by default. Their intervals do not depend on it.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    val, test = judged.splits["val"], judged.splits["test"]
    names = judged.panel(panel)
    figures = {name: JudgeFigures.of(val, test, judged.judges.index(name)) for name in names}

    def statistics(weights: Weights) -> dict[tuple[str, str], FloatArray]:
        return {
            (name, metric): values
            for name, judge in figures.items()
            for metric, values in judge.replicates(*weights).items()
        }

    resamples = judged.resamples(n_resamples, seed)
    replicates = replicate(resamples, statistics, n_observations=max(len(test.y), len(val.y)))
    rows: list[dict[str, Any]] = []
    for name, judge in figures.items():
        column = judged.judges.index(name)
        contexts = {split: _SplitContext.of(judged, split, column) for split in ("val", "test")}
        found = judge.points() | judge.stability(replicates[name, "threshold"])
        for metric in METRICS:
            split = "val" if metric in ON_VAL else "test"
            own = replicates.get((name, metric))
            estimate = _judge_estimate(judge, metric, found[metric], own, contexts[split])
            rows.append({"judge": name, "metric": metric, "split": split, **estimate.to_row()})
    return JUDGE_METRICS.conform(rows)


def thresholds_that_saw_more_than_val(metrics: pd.DataFrame, predictions: pd.DataFrame) -> list[str]:
    """Judges whose t* is not that of val alone, in words: it is chosen again from val, without train and test.

    Args:
        metrics: table JUDGE_METRICS.
        predictions: what it was made from.
    """
    judged = JudgedAttempts.of(predictions[predictions["split"] == "val"])
    val, test = judged.splits["val"], judged.splits["test"]
    alone = {}
    for place, name in enumerate(judged.judges):
        chosen = JudgeFigures.of(val, test, place).threshold
        alone[name] = None if chosen is None else chosen.value
    rows = metrics[metrics["metric"] == "threshold"]
    found = {j: None if pd.isna(t) else float(t) for j, t in zip(rows["judge"], rows["value"], strict=True)}
    return [
        f"{judge}: t* is {found[judge]}, and {alone.get(judge)} when chosen from val alone"
        for judge in sorted(found)
        if found[judge] != alone.get(judge)
    ]


def _judge_estimate(
    judge: JudgeFigures, metric: str, value: float, replicates: FloatArray | None, context: _SplitContext
) -> Estimate:
    n = judge.val.n if metric in ON_VAL else judge.test.n
    n_left_out = context.n_attempts - n
    if np.isnan(value):
        return Estimate.undefined(judge.undefined_reason(metric), n, n_left_out)
    warnings = [*judge.warnings(metric), *context.notes]
    if replicates is None:
        return Estimate(value, n, n_left_out, None, "; ".join(warnings) or None)
    if metric == "roc_auc":
        warnings += _too_few(replicates, judge)
    if metric in RECENTRED:
        replicates = recentred(replicates, value, *RECENTRED[metric])
    return estimate_with_interval(
        value,
        replicates,
        n=n,
        n_left_out=n_left_out,
        n_clusters=judge.n_clusters(metric),
        warnings=warnings,
        on_grid=metric == "threshold",
    )


def _too_few(replicates: FloatArray, judge: JudgeFigures) -> list[str]:
    """How much data the AUC takes, where there are few trajectories."""
    n, n_clusters = judge.test.n, judge.n_test_clusters
    error = standard_error(replicates, judge.n_clusters("roc_auc"))
    if n_clusters >= FEW_CLUSTERS or not error:
        return []
    needed = clusters_for_half_width(error, n_clusters)
    if needed <= n_clusters:
        return []
    return [
        f"too few to place this judge: an interval within {HALF_WIDTH:g} of the AUC takes about {needed:,} "
        f"trajectories ({math.ceil(needed * n / n_clusters):,} attempts)"
    ]


@dataclass(frozen=True, slots=True)
class _SplitContext:
    """The attempts of a split, and warnings about all figures of one judge on it."""

    n_attempts: int
    notes: list[str]

    @classmethod
    def of(cls, judged: JudgedAttempts, split: str, judge: int) -> _SplitContext:
        return cls(len(judged.splits[split].y), judged.notes(judge, split))
