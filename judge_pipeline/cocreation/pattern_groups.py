"""How many trajectories recover and stagnate, over all and in every group, with intervals (paper 1, IV-C3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.trajectory_groups import MAX_LEVELS
from judge_pipeline.estimate import Estimate
from judge_pipeline.ingest.turns import natural_key
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.ratios import ratio, wilson_interval
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.tables.struggle import PATTERN_GROUPS, PATTERNS, STRUGGLE_GROUPINGS

_SINGLE = "no cluster interval: a single cluster cannot be resampled"
_ALIKE = "no cluster interval: all of them are alike, so that resamples cannot differ"

_TAUTOLOGY = ("outcome", "solved_after_rejection")
"""All of the solved and none of the unsolved were solved: no row says so."""


def pattern_groups(
    patterns: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, max_levels: int = MAX_LEVELS
) -> pd.DataFrame:
    """The table ``pattern_groups``: the share that shows each pattern, of the trajectories where its rule can say.

    The interval of the estimate is Wilson's, that over clusters draws participants, for groups of single participants
    trajectories. Where every trajectory is alike it is null: resamples of them have no width.

    Args:
        patterns: table TRAJECTORY_PATTERNS.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each cluster interval.
        max_levels: groupings with more groups are left out.
    """
    rows: list[dict[str, Any]] = []
    outcome = np.where(patterns["solved"].astype(bool), "solved", "unsolved")
    for order, table in patterns.assign(all="all", outcome=outcome).groupby("order", sort=False):
        for grouped_by in STRUGGLE_GROUPINGS:
            if table[grouped_by].nunique() <= max_levels:
                found = _group_rows(table.reset_index(drop=True), grouped_by, seed, n_resamples)
                rows += [{"order": order, "grouped_by": grouped_by, **row} for row in found]
    return PATTERN_GROUPS.conform(rows)


def _group_rows(table: pd.DataFrame, grouped_by: str, seed: int, n_resamples: int) -> Iterator[dict[str, Any]]:
    """The rows of one grouping, all of them under the same draws."""
    by_trajectory = grouped_by == "participant"
    cluster = np.arange(len(table)) if by_trajectory else pd.factorize(table["participant"])[0]
    plan = ClusterResamples((int(cluster.max()) + 1,), n_resamples, seed)
    kind = "trajectory" if by_trajectory else "participant"
    for level in sorted(table[grouped_by].unique(), key=natural_key):
        here = (table[grouped_by] == level).to_numpy(bool)
        for pattern in PATTERNS:
            if (grouped_by, pattern) == _TAUTOLOGY:
                continue
            shows = table[pattern].to_numpy(np.float64, na_value=np.nan)
            reasons = table.loc[here, f"{pattern}_reason"].dropna()
            counted = _Counted(shows[here], cluster[here].astype(np.int64), plan)
            yield {
                "pattern": pattern, "level": level, "clustered_by": kind,
                **counted.columns(str(reasons.mode().iloc[0]) if len(reasons) else None),
            }  # fmt: skip


class _Counted:
    """How many of a group's trajectories show a pattern, by cluster."""

    def __init__(self, shows: FloatArray, cluster: IntArray, plan: ClusterResamples) -> None:
        known = ~np.isnan(shows)
        size = plan.n_clusters[0]
        self._plan = plan
        self._n_left_out = int((~known).sum())
        self._of = np.bincount(cluster[known], minlength=size).astype(np.float64)
        self._shown = np.bincount(cluster[known], weights=shows[known], minlength=size)

    def columns(self, why_unknown: str | None) -> dict[str, Any]:
        """The columns of the estimate; ``why_unknown`` is the reason given most often."""
        n, shown, n_clusters = int(self._of.sum()), int(self._shown.sum()), int((self._of > 0).sum())
        counts = {"n_shown": shown, "n_clusters": n_clusters}
        if not n:
            missing = f"the rule can say it of no trajectory here; most often: {why_unknown}"
            undefined = Estimate.undefined(missing, 0, self._n_left_out)
            return {**counts, **undefined.to_row(), "cluster_low": None, "cluster_high": None}
        low, high = (float(end) for end in wilson_interval(shown, n))
        notes, ends = _ALIKE, None
        if n_clusters < 2:
            notes = _SINGLE
        elif 0 < shown < n:
            clustered = self._clustered(shown / n, n, n_clusters)
            notes, ends = clustered.reason or "", clustered.ci95
        share = Estimate(shown / n, n, self._n_left_out, (low, high), notes or None)
        cluster_low, cluster_high = ends or (None, None)
        return {**counts, **share.to_row(), "cluster_low": cluster_low, "cluster_high": cluster_high}

    def _clustered(self, value: float, n: int, n_clusters: int) -> Estimate:
        """The share with the interval that takes only clusters as independent."""

        def share(weights: Weights) -> dict[str, FloatArray]:
            return {"share": ratio(weights[0] @ self._shown, weights[0] @ self._of)}

        found = replicate(self._plan, share, n_observations=self._plan.n_clusters[0])["share"]
        return estimate_with_interval(value, found, n=n, n_left_out=self._n_left_out, n_clusters=n_clusters)
