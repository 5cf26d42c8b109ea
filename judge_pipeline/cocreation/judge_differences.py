"""Differences between judges, and of judges to chance, with p-values and the data that would settle them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.comparisons import (
    Comparison,
    SharedFigures,
    agreement_against_chance,
    judge_pairs,
    judges_against_levels,
)
from judge_pipeline.cocreation.judge_figures import RECENTRED
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import (
    ROUNDING,
    estimate_with_interval,
    holm,
    recentred,
    standard_error,
    two_sided_p,
)
from judge_pipeline.statistics.sample_size import clusters_for_half_width, clusters_for_power
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import JUDGE_DIFFERENCES

UNBOUNDED = ("log_loss",)
"""Figures on a scale without bounds, of which a half width of 0.05 says nothing."""

MOST_TRAJECTORIES = 1_000_000
"""A needed number beyond this is not given: the difference is as good as 0."""


def judge_differences(
    predictions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, panel: Sequence[str] | None = None
) -> pd.DataFrame:
    """Each figure of a judge less another's, and less what a judge without skill reaches; ``judge_differences``.

    Paired: both figures come from the same attempts of test, those that both judges answered, and their replicates
    from the same resamples. Each judge decides at its own t*, held fixed. p-values invert the intervals
    (``intervals.two_sided_p``) and are corrected by Holm over the rows of one metric and one ``against``.

    Args:
        predictions: as for ``judge_metrics``.
        seed: seed of the bootstrap; the resamples are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind each interval.
        panel: the judges J whose kappas are set against 0; all by default. Differences are those of all judges.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    shared = SharedFigures(judged)
    groups = (
        judge_pairs(shared),
        judges_against_levels(shared),
        agreement_against_chance(judged, judged.panel(panel)),
    )
    comparisons = [comparison for group, _ in groups for comparison in group]

    def statistics(weights: Weights) -> dict[int, FloatArray]:
        found = shared.under(weights)
        return dict(enumerate(values for _, replicates in groups for values in replicates(weights, found)))

    test, val = judged.splits["test"], judged.splits["val"]
    replicates = replicate(judged.resamples(n_resamples, seed), statistics, n_observations=max(len(test.y), len(val.y)))
    rows = [_row(comparison, replicates[i], judged.cluster_note) for i, comparison in enumerate(comparisons)]
    _correct(rows)
    return JUDGE_DIFFERENCES.conform(rows)


def _row(comparison: Comparison, replicates: FloatArray, note: str | None) -> dict[str, Any]:
    c = comparison
    of: dict[str, Any] = {"metric": c.metric, "against": c.against, "judge_1": c.judge_1, "judge_2": c.judge_2}
    of["n_trajectories"] = c.n_trajectories
    if np.isnan(c.value):
        estimate = Estimate.undefined(c.reason or "0/0", c.n, c.n_left_out)
        return {**of, **estimate.to_row(), "p_value": None, **_needed(c, None)}
    if c.metric in RECENTRED:
        replicates = recentred(replicates, c.value)
    estimate = estimate_with_interval(
        c.value,
        replicates,
        n=c.n,
        n_left_out=c.n_left_out,
        n_clusters=c.n_clusters,
        warnings=[*c.warnings, *([] if note is None else [note])],
    )
    p_value = two_sided_p(replicates, c.n_clusters)
    return {**of, **estimate.to_row(), "p_value": p_value, **_needed(c, standard_error(replicates, c.n_clusters))}


def _needed(comparison: Comparison, error: float | None) -> dict[str, Any]:
    """How many trajectories and attempts would settle the difference, or why that cannot be said."""
    c, reasons = comparison, []
    width = power = None
    if error is None or error < ROUNDING:
        reasons.append("undefined difference" if np.isnan(c.value) else "resampling does not move this difference")
    else:
        if c.metric in UNBOUNDED:
            reasons.append(f"{c.metric} has no bounds, so a half width of 0.05 says nothing of it")
        else:
            width = clusters_for_half_width(error, c.n_trajectories)
        if abs(c.value) < ROUNDING:
            reasons.append("a difference of 0 is never told from 0")
        else:
            power = clusters_for_power(error, c.n_trajectories, c.value)
    if max(width or 0, power or 0) > MOST_TRAJECTORIES:
        reasons.append(f"it would take more than {MOST_TRAJECTORIES:,} trajectories")
    return {**_numbers("width", width, c), **_numbers("power", power, c), "needed_reason": "; ".join(reasons) or None}


def _numbers(purpose: str, trajectories: int | None, comparison: Comparison) -> dict[str, int | None]:
    attempts = None
    if trajectories is not None and trajectories > MOST_TRAJECTORIES:
        trajectories = None
    if trajectories is not None:
        attempts = math.ceil(trajectories * comparison.n / comparison.n_trajectories - 1e-9)
    return {f"trajectories_for_{purpose}": trajectories, f"attempts_for_{purpose}": attempts}


def _correct(rows: list[dict[str, Any]]) -> None:
    """Add ``p_holm`` to each row, over the rows of its metric and what it is set against that have a p-value."""
    families: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        row["p_holm"] = None
        if row["p_value"] is not None:
            families[row["metric"], row["against"]].append(row)
    for family in families.values():
        for row, corrected in zip(family, holm([row["p_value"] for row in family]), strict=True):
            row["p_holm"] = corrected
