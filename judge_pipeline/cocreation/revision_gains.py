"""What incremental fixes and rewrites gain: how often the next attempt is accepted, and how confidence moves (RQ2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.tables.revision import DIFFERENCE_OF_KINDS, GAIN_STATISTICS, REVISION_GAINS, REVISION_KINDS

_GROUP = ["participant", "problem_id"]
_UNKNOWN = {
    "share": "no revision has a known size",
    "accepted_after_rejection": "no such revision follows a rejected attempt and is decided",
    "mean_delta_p_mean": "no such revision was judged by the whole panel on both turns",
}


def revision_gains(revisions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES) -> pd.DataFrame:
    """The table ``revision_gains``, by code NED and by CodeBLEU churn, in each order of turns.

    ``share`` is of all revisions whose size is known. ``accepted_after_rejection`` is the accepted share of revisions
    that follow a rejected attempt, ``mean_delta_p_mean`` the mean change of the panel's confidence. Two kinds are
    compared on the same resamples.

    Args:
        revisions: table REVISIONS.
        seed: seed of the bootstrap, whose clusters are trajectories.
        n_resamples: resamples behind each interval.
    """
    rows: list[dict[str, Any]] = []
    for order in revisions["order"].unique():
        here = revisions[revisions["order"] == order].reset_index(drop=True)
        cluster = here.groupby(_GROUP, sort=True).ngroup().to_numpy(np.int64)
        plan = ClusterResamples((int(cluster.max()) + 1,), n_resamples, seed)
        for measure in ("code_ned", "codebleu_churn"):
            gains = _Gains(_ratios(here, cluster, measure))
            points = gains((np.ones((1, plan.n_clusters[0])),))
            replicates = replicate(plan, gains, n_observations=plan.n_clusters[0])
            for (kind, statistic), point in points.items():
                estimate = gains.estimate(kind, statistic, float(point[0]), replicates[kind, statistic])
                names = {"order": order, "measure": measure, "kind": kind, "statistic": statistic}
                rows.append({**names, **estimate.to_row()})
    return REVISION_GAINS.conform(rows)


Key = tuple[str, str]
"""kind, statistic"""


@dataclass(frozen=True)
class _Ratio:
    """A share or mean as sums over clusters: its numerator and its denominator."""

    above: FloatArray
    below: FloatArray
    n: int
    n_left_out: int

    @classmethod
    def of(cls, values: FloatArray, of_kind: Any, cluster: IntArray) -> _Ratio:
        """The mean of the values that are known and of the kind."""
        used = of_kind & ~np.isnan(values)
        size = int(cluster.max()) + 1
        above = np.bincount(cluster[used], weights=values[used], minlength=size).astype(np.float64)
        below = np.bincount(cluster[used], minlength=size).astype(np.float64)
        return cls(above, below, int(used.sum()), int((of_kind & np.isnan(values)).sum()))

    def under(self, weights: FloatArray) -> FloatArray:
        return ratio(weights @ self.above, weights @ self.below)


def _ratios(revisions: pd.DataFrame, cluster: IntArray, measure: str) -> dict[Key, _Ratio]:
    kind = revisions[f"{measure}_kind"].to_numpy(object)
    known = revisions[measure].notna().to_numpy()
    after = revisions["y_after"].to_numpy(np.float64, na_value=np.nan)
    rejected = revisions["y_before"].to_numpy(np.float64, na_value=np.nan) == 0
    delta = revisions["delta_p_mean"].to_numpy(np.float64)
    found: dict[Key, _Ratio] = {}
    for name in REVISION_KINDS:
        is_kind = kind == name
        shares = np.where(known, is_kind.astype(np.float64), np.nan)
        found[name, "share"] = _Ratio.of(shares, np.full(len(kind), True), cluster)
        found[name, "accepted_after_rejection"] = _Ratio.of(after, is_kind & rejected, cluster)
        found[name, "mean_delta_p_mean"] = _Ratio.of(delta, is_kind, cluster)
    return found


class _Gains:
    """Every figure of one measure as a function of the clusters' weights."""

    def __init__(self, ratios: Mapping[Key, _Ratio]) -> None:
        self._ratios = ratios
        _, self._fix, _, self._rewrite = REVISION_KINDS

    def __call__(self, weights: Weights) -> dict[Key, FloatArray]:
        values = {key: ratio.under(weights[0]) for key, ratio in self._ratios.items()}
        for statistic in GAIN_STATISTICS[1:]:
            values[DIFFERENCE_OF_KINDS, statistic] = values[self._rewrite, statistic] - values[self._fix, statistic]
        return values

    def estimate(self, kind: str, statistic: str, value: float, replicates: FloatArray) -> Estimate:
        """The figure with its interval, or why it is undefined."""
        kinds = (self._rewrite, self._fix) if kind == DIFFERENCE_OF_KINDS else (kind,)
        parts = [self._ratios[name, statistic] for name in kinds]
        n, n_left_out = sum(part.n for part in parts), sum(part.n_left_out for part in parts)
        if np.isnan(value):
            empty = next(name for name, part in zip(kinds, parts, strict=True) if not part.n)
            return Estimate.undefined(f"{empty}: {_UNKNOWN[statistic]}", n, n_left_out)
        held = np.any([part.below > 0 for part in parts], axis=0)
        return estimate_with_interval(
            value, replicates, n=n, n_left_out=n_left_out, n_clusters=int(held.sum())
        )  # fmt: skip
