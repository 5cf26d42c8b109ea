"""The row of one figure in two runs: each side, the paired difference, and whether it is a drop or a gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_pipeline.cocreation.comparisons import COMPARED
from judge_pipeline.cocreation.judge_figures import RECENTRED
from judge_pipeline.cocreation.two_runs import Pair
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.intervals import ROUNDING, estimate_with_interval, holm, recentred, two_sided_p
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables.metric_words import METRICS as WORDS

TESTED = COMPARED
"""The figures that count as drops or gains unless others are named, and over which Holm corrects."""

Replicates = Mapping[tuple[Any, ...], FloatArray]


@dataclass(frozen=True)
class Basis:
    """What a pair's figure rests on, and why either side may lack it.

    ``n_clusters`` is ``JudgeFigures.n_clusters``: the trajectories, or those of a class that few of them hold.
    """

    split: str
    n: int
    n_left_out: int
    n_trajectories: int
    n_clusters: int
    notes: list[str]
    reasons: Sequence[str]


def difference_row(
    pair: Pair, metric: str, values: tuple[float, float], replicates: Replicates, basis: Basis
) -> dict[str, Any]:
    """A row of RUN_DIFFERENCES but for ``p_holm``, from both sides' values, NaN where undefined, and replicates."""
    better = WORDS[metric].better if metric in WORDS else "lower"
    row: dict[str, Any] = {
        "old_judge": pair[0],
        "new_judge": pair[1],
        "metric": metric,
        "split": basis.split,
        "better": better,
        "n_trajectories": basis.n_trajectories,
        "p_value": None,
        "p_holm": None,
    }
    own = [replicates.get((pair, side, metric)) for side in ("old", "new")]
    for side, value, of in zip(("old", "new"), values, own, strict=True):
        row |= _side(side, metric, value, of, basis)
    estimate = _difference(metric, values, own, basis)
    if estimate.value is not None and own[0] is not None and own[1] is not None:
        row["p_value"] = two_sided_p(_moved(metric, own[1] - own[0], estimate.value), basis.n_clusters)
    return {**row, **estimate.to_row(), "change": _change(better, estimate, row["p_value"])}


def _side(side: str, metric: str, value: float, replicates: FloatArray | None, basis: Basis) -> dict[str, Any]:
    """One side's value and interval, as ``judge_metrics`` has them, over the attempts that both answered."""
    row: dict[str, Any] = {side: None, f"{side}_ci95_low": None, f"{side}_ci95_high": None}
    if np.isnan(value):
        return row
    row[side] = value
    if replicates is not None:
        if metric in RECENTRED:
            replicates = recentred(replicates, value, *RECENTRED[metric])
        estimate = estimate_with_interval(
            value, replicates, n=basis.n, n_left_out=0, n_clusters=basis.n_clusters, on_grid=metric == "threshold"
        )
        row[f"{side}_ci95_low"], row[f"{side}_ci95_high"] = estimate.ci95 or (None, None)
    return row


def _difference(metric: str, values: tuple[float, float], own: Sequence[FloatArray | None], basis: Basis) -> Estimate:
    reasons = [
        f"{side}: {as_side(reason)}"
        for side, value, reason in zip(("old", "new"), values, basis.reasons, strict=True)
        if np.isnan(value)
    ]
    if reasons:
        return Estimate.undefined("; ".join(dict.fromkeys(reasons)), basis.n, basis.n_left_out)
    value = values[1] - values[0]
    if own[0] is None or own[1] is None:
        return Estimate(value, basis.n, basis.n_left_out, None, "; ".join(basis.notes) or None)
    return estimate_with_interval(
        value, _moved(metric, own[1] - own[0], value), n=basis.n, n_left_out=basis.n_left_out,
        n_clusters=basis.n_clusters, warnings=basis.notes,
    )  # fmt: skip


def _moved(metric: str, replicates: FloatArray, value: float) -> FloatArray:
    return recentred(replicates, value) if metric in RECENTRED else replicates


def _change(better: str, estimate: Estimate, p_value: float | None) -> str | None:
    """What is told: the interval leaves out 0 on the worse or on the better side, or holds it, or is not there.

    Of fewer than 5 clusters there is no 95% interval, only the extremes of all resamples: there p decides.
    """
    if better == "neither":
        return None
    if estimate.value is None or estimate.ci95 is None:
        return "undefined"
    low, high = estimate.ci95
    if p_value is not None and p_value > 0.05:
        return "not told"
    if better == "lower":
        low, high = -high, -low
    if high < -ROUNDING:
        return "drop"
    return "gain" if low > ROUNDING else "not told"


def as_side(reason: str) -> str:
    """A reason that names judges of both runs, in the words of the tables: the old and the new one."""
    return reason.replace("OLD ", "old ").replace("NEW ", "new ")


def correct_over_figures(rows: list[dict[str, Any]]) -> None:
    """Fill in ``p_holm`` of one pair's rows: Holm over the figures of ``TESTED`` that have a p-value."""
    tested = [row for row in rows if row["metric"] in TESTED and row["p_value"] is not None]
    for row, corrected in zip(tested, holm([row["p_value"] for row in tested]), strict=True):
        row["p_holm"] = corrected
