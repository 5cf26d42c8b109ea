"""Shares solved by a time, medians and restricted means in every group, with cluster-bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from judge_pipeline.cocreation.time_to_success import observed_until, shown_times
from judge_pipeline.cocreation.trajectory_groups import MAX_LEVELS, Grouping, Level, groupings
from judge_pipeline.cocreation.trajectory_times import TURNS
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.intervals import expanded_tail
from judge_pipeline.statistics.ratios import ratio, wilson_interval
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.statistics.survival import kaplan_meier
from judge_pipeline.statistics.survival_summaries import Summary, WeightedTimes, median_time, restricted_mean
from judge_pipeline.tables.time_to_success import SUCCESS_CURVES, SURVIVAL_GROUPS, TIME_STATISTICS

HORIZON_TURNS, HORIZON_MINUTES = 10, 60
"""Where restricted means end, unless a caller says otherwise."""

_ONE_CLUSTER = "no cluster interval: a single cluster cannot be resampled"


def success_curves(
    times: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, max_levels: int = MAX_LEVELS
) -> pd.DataFrame:
    """The table ``success_curves``: S(k) in every group, with Wilson's interval and one over clusters.

    In turns the denominator is every trajectory, also those without any decision; in minutes those whose time is known.

    Args:
        times: table TRAJECTORY_TIMES.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each cluster interval.
        max_levels: groupings with more groups are left out.
    """
    parts = []
    for grouping in groupings(times, max_levels):
        curves = [_SuccessCurve(grouping, level) for level in grouping.levels if level.known.any()]
        statistics = {i: curve.shares for i, curve in enumerate(curves)}
        replicates = _replicates(statistics, grouping, seed, n_resamples)
        parts += [curve.rows(replicates[i]) for i, curve in enumerate(curves)]
    return SUCCESS_CURVES.conform(pd.concat(parts, ignore_index=True)) if parts else SUCCESS_CURVES.empty()


class _SuccessCurve:
    """S(k) of one group, as it is and under weights."""

    def __init__(self, grouping: Grouping, level: Level) -> None:
        self._grouping, self._level = grouping, level
        time, event, cluster = level.timed
        self.time = shown_times(time, 1 if grouping.time_unit == TURNS else 0)
        counted = level.cluster if grouping.counts_undecided else cluster
        self._n_of = np.bincount(counted, minlength=grouping.n_clusters).astype(np.float64)
        place = np.searchsorted(self.time, time[event])
        shape = (grouping.n_clusters, len(self.time))
        self._solved = csr_matrix((np.ones(len(place)), (cluster[event], place)), shape=shape)

    def shares(self, weights: FloatArray) -> FloatArray:
        """S at each of ``time``, shape (R, T); NaN where a row gives the group no weight."""
        return ratio(np.cumsum(weights @ self._solved, axis=1), (weights @ self._n_of)[:, None])

    def rows(self, replicates: FloatArray) -> pd.DataFrame:
        n = int(self._n_of.sum())
        n_solved = np.cumsum(np.asarray(self._solved.sum(axis=0)).ravel().astype(np.int64))
        low, high = wilson_interval(n_solved, n)
        n_clusters = int((self._n_of > 0).sum())
        cluster_low, cluster_high = _band(replicates, n_clusters)
        return pd.DataFrame(
            {
                "time": self.time,
                "n_solved": n_solved,
                "value": ratio(n_solved, n),
                "n": n,
                "n_left_out": len(self._level.time) - n,
                "ci95_low": low,
                "ci95_high": high,
                "reason": None if n_clusters > 1 else _ONE_CLUSTER,
                "cluster_low": cluster_low,
                "cluster_high": cluster_high,
            }
        ).assign(**_names(self._grouping, self._level, n_clusters))


def _names(grouping: Grouping, level: Level, n_clusters: int) -> dict[str, Any]:
    return {**grouping.names, "level": level.name, "clustered_by": grouping.clustered_by, "n_clusters": n_clusters}


def _replicates(
    statistics: Mapping[Any, Any], grouping: Grouping, seed: int, n_resamples: int
) -> Mapping[Any, FloatArray]:
    """Every statistic under the same resamples of the grouping's clusters."""
    if not statistics:
        return {}
    plan = ClusterResamples((grouping.n_clusters,), n_resamples, seed)

    def compute(weights: Weights) -> Mapping[Any, FloatArray]:
        return {key: function(weights[0]) for key, function in statistics.items()}

    return replicate(plan, compute, n_observations=grouping.n_clusters)


def _band(replicates: FloatArray, n_clusters: int) -> tuple[FloatArray, FloatArray]:
    """Expanded percentiles of each column of (R, T); NaN with a single cluster."""
    defined = replicates[~np.isnan(replicates).any(axis=1)]
    if n_clusters < 2 or not len(defined):
        nothing = np.full(replicates.shape[1], np.nan)
        return nothing, nothing
    tail = expanded_tail(n_clusters)
    low, high = np.quantile(defined, [tail, 1 - tail], axis=0)
    return low, high


def survival_groups(
    times: pd.DataFrame,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    horizon_turns: int = HORIZON_TURNS,
    horizon_minutes: int = HORIZON_MINUTES,
    max_levels: int = MAX_LEVELS,
) -> pd.DataFrame:
    """The table ``survival_groups``: three figures of each group's Kaplan-Meier estimate.

    The restricted mean is the mean time unsolved up to the horizon. Where a group is observed for less than that and
    some stay unsolved, both it and the share solved end at the last observation, which ``horizon`` and ``reason`` tell.

    Args:
        times: table TRAJECTORY_TIMES.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each cluster interval.
        horizon_turns: horizon of times in turns.
        horizon_minutes: horizon of times in minutes.
        max_levels: groupings with more groups are left out.
    """
    rows: list[dict[str, Any]] = []
    for grouping in groupings(times, max_levels):
        asked = horizon_turns if grouping.time_unit == TURNS else horizon_minutes
        groups = {level.name: _Group(grouping, level, asked) for level in grouping.levels if level.known.any()}
        figures = {name: group.figures for name, group in groups.items()}
        replicates = _replicates(figures, grouping, seed, n_resamples)
        for level in grouping.levels:
            known = level.name in groups
            rows += groups[level.name].rows(replicates[level.name]) if known else _unknown_rows(grouping, level, asked)
    return SURVIVAL_GROUPS.conform(rows)


def _unknown_rows(grouping: Grouping, level: Level, horizon: int) -> Iterator[dict[str, Any]]:
    """The figures of a group in which no time is known."""
    for statistic in TIME_STATISTICS:
        undefined = Estimate.undefined(level.why_unknown or "no time is known", 0, len(level.time))
        yield {
            **_names(grouping, level, 0), **undefined.to_row(), "statistic": statistic, "n_events": 0,
            "horizon": None if statistic == "median" else horizon, "cluster_low": None, "cluster_high": None,
        }  # fmt: skip


class _Group:
    """The figures of one group in which times are known, as they are and under weights."""

    def __init__(self, grouping: Grouping, level: Level, asked: int) -> None:
        self._grouping, self._level, self._asked = grouping, level, asked
        time, event, cluster = level.timed
        self._n_events, self._n_clusters = int(event.sum()), len(np.unique(cluster))
        self._curve = kaplan_meier(time, event, every_turn=False)
        self._horizon = observed_until(self._curve, asked)
        self._weighted = WeightedTimes(time, event, cluster, grouping.n_clusters)

    def figures(self, weights: FloatArray) -> FloatArray:
        """The figures in the order of TIME_STATISTICS, shape (R, 3)."""
        found = self._weighted.figures(weights, self._horizon)
        return np.stack([found[name] for name in TIME_STATISTICS], axis=1)

    def rows(self, replicates: FloatArray) -> Iterator[dict[str, Any]]:
        n = int(self._level.known.sum())
        counts = {"n": n, "n_left_out": len(self._level.time) - n, "n_events": self._n_events}
        for i, statistic in enumerate(TIME_STATISTICS):
            found, notes = self._estimate(statistic)
            low, high = self._cluster_interval(replicates, i)
            if low is None and high is None and found.value is not None:
                notes.append(_ONE_CLUSTER)
            yield {
                **_names(self._grouping, self._level, self._n_clusters), **counts, "statistic": statistic,
                "horizon": None if statistic == "median" else self._horizon, "value": found.value,
                "ci95_low": found.low, "ci95_high": found.high, "cluster_low": low, "cluster_high": high,
                "reason": "; ".join(notes) or None,
            }  # fmt: skip

    def _estimate(self, statistic: str) -> tuple[Summary, list[str]]:
        """The figure with its model-based interval, and what is to be said about either."""
        notes = []
        if statistic == "median":
            found = median_time(self._curve)
            if found.value is None:
                notes.append("more than half are unsolved when observation ends")
            elif found.high is None:
                notes.append("the interval has no upper end: the band does not come down to one half")
            return found, notes
        if self._horizon < self._asked:
            notes.append(f"observed up to {self._horizon} only, not {self._asked}")
        found = restricted_mean(self._curve, self._horizon) if statistic == "restricted_mean" else self._solved()
        if found.low is None:
            notes.append("no interval: no event or all at once leave no variance to estimate")
        return found, notes

    def _solved(self) -> Summary:
        place = int(np.searchsorted(self._curve.turn, self._horizon, side="right")) - 1
        value, low, high = (x[place] for x in (self._curve.value, self._curve.ci95_low, self._curve.ci95_high))
        if np.isnan(low) or value == 1:
            return Summary(float(1 - value), None, None)
        return Summary(float(1 - value), float(1 - high), float(1 - low))

    def _cluster_interval(self, replicates: FloatArray, column: int) -> tuple[float | None, float | None]:
        """Expanded percentiles; a median that a resample does not reach counts as later than any."""
        values = replicates[~np.isnan(replicates[:, 1]), column]
        if self._n_clusters < 2 or not len(values):
            return None, None
        tail = expanded_tail(self._n_clusters)
        reached = np.where(np.isnan(values), np.inf, values)
        ends = np.quantile(
            reached, [tail, 1 - tail], method="inverted_cdf" if TIME_STATISTICS[column] == "median" else "linear"
        )
        return _finite(ends[0]), _finite(ends[1])


def _finite(end: float) -> float | None:
    return float(end) if np.isfinite(end) else None
