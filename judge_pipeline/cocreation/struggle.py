"""Struggle curves of each judge and of the panel, for trajectories and for groups of them (paper 1, IV-C3, V-B2)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from judge_pipeline.cocreation.null_reasons import first_reason
from judge_pipeline.cocreation.trajectory_groups import MAX_LEVELS
from judge_pipeline.cocreation.turn_orders import attempts_by_order
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, replicate
from judge_pipeline.statistics.intervals import FEW_CLUSTERS, expanded_tail
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.tables.struggle import STRUGGLE_GROUPINGS, STRUGGLE_GROUPS, STRUGGLE_TURNS
from judge_pipeline.tables.struggle import STRUGGLE_STATISTICS as _STATISTICS

LAST_TURN = 30
"""Groups' curves end here: few trajectories go on, and those that do are not like the others."""

_GROUP = ["participant", "problem_id"]
_SINGLE = "no interval: a single cluster cannot be resampled"
_FEW = f"fewer than {FEW_CLUSTERS} clusters: the interval is expanded by t quantiles"


def struggle_turns(
    attempts: pd.DataFrame, predictions: pd.DataFrame, trajectories: pd.DataFrame, panel: Sequence[str]
) -> pd.DataFrame:
    """The table ``struggle_turns``: every judge of ``predictions``, and the panel.

    The panel's mean is over all of its judges or null, as in ``struggle_curves``. In the reversed order confidences are
    the same and changes are those from the turn after.

    Args:
        attempts: table ATTEMPTS.
        predictions: table PREDICTIONS.
        trajectories: table TRAJECTORIES, for the check of turn order.
        panel: the judges J.
    """
    if attempts.empty or predictions.empty:
        return STRUGGLE_TURNS.empty()
    wide = predictions.pivot(index="attempt_id", columns="judge", values="p_ac").astype("float64")
    judges = [*wide.columns, None]
    mean = wide.reindex(columns=sorted(set(panel))).mean(axis=1, skipna=False) if panel else np.nan
    confidences = wide.assign(**{"": mean}).reindex(attempts["attempt_id"]).to_numpy(np.float64)
    parts = []
    for order, turned in attempts_by_order(attempts, trajectories).items():
        place = np.lexsort([turned["turn"].to_numpy(), *(turned[name].to_numpy(str) for name in _GROUP[::-1])])
        table = turned[["attempt_id", *_GROUP, "turn"]].iloc[place].reset_index(drop=True).assign(order=order)
        same = (table[_GROUP].shift() == table[_GROUP]).all(axis=1).to_numpy()
        follows = same & (np.diff(table["turn"].to_numpy(np.int64), prepend=0) == 1)
        for judge, confidence in zip(judges, confidences[place].T, strict=True):
            parts.append(_curve(table, judge, confidence, follows))
    return STRUGGLE_TURNS.conform(pd.concat(parts, ignore_index=True)[STRUGGLE_TURNS.column_names])


def _curve(table: pd.DataFrame, judge: str | None, confidence: FloatArray, follows: np.ndarray) -> pd.DataFrame:
    """One judge's rows, in the order of trajectories and turns; ``follows`` says where the turn before is there."""
    before = np.concatenate([[np.nan], confidence[:-1]])
    change = np.where(follows, confidence - before, np.nan)
    whom = f"by {judge}" if judge is not None else "by the whole panel"
    reason = first_reason(
        len(table),
        [
            (np.isnan(confidence), f"not judged {whom}"),
            (table["turn"] == 1, "no change: turn 1 has no turn before it"),
            (~follows, "no change: the turn before is not in the table"),
            (np.isnan(before), f"no change: the turn before was not judged {whom}"),
        ],
    )
    return table.assign(judge=judge, confidence=confidence, change=change, reason=reason)


def struggle_groups(
    turns: pd.DataFrame,
    trajectories: pd.DataFrame,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    max_levels: int = MAX_LEVELS,
) -> pd.DataFrame:
    """The table ``struggle_groups``: mean confidence and mean change at each turn up to the 30th, in every group.

    At turn k the mean is over trajectories that have a turn k: later turns rest on those that are still going.
    Intervals draw participants, for groups of single participants trajectories; all judges and turns share the draws.

    Args:
        turns: table STRUGGLE_TURNS.
        trajectories: table TRAJECTORIES, for who solved what.
        seed: seed of the bootstrap.
        n_resamples: resamples behind each interval.
        max_levels: groupings with more groups are left out.
    """
    if turns.empty:
        return STRUGGLE_GROUPS.empty()
    solved = pd.MultiIndex.from_frame(trajectories.loc[trajectories["solved"].astype(bool), _GROUP])
    is_solved = pd.MultiIndex.from_frame(turns[_GROUP]).isin(solved)
    levels = turns.assign(all="all", outcome=np.where(is_solved, "solved", "unsolved"))
    parts = []
    for order, table in levels[levels["turn"] <= LAST_TURN].groupby("order", sort=False):
        for grouped_by in STRUGGLE_GROUPINGS:
            if table[grouped_by].nunique() <= max_levels:
                parts.append(_group_rows(table, grouped_by, seed, n_resamples).assign(order=order))
    return STRUGGLE_GROUPS.conform(pd.concat(parts, ignore_index=True)[STRUGGLE_GROUPS.column_names])


def _group_rows(table: pd.DataFrame, grouped_by: str, seed: int, n_resamples: int) -> pd.DataFrame:
    """The means of every judge, group and turn; all of them under the same draws."""
    by_trajectory = grouped_by == "participant"
    clusters = table.groupby(_GROUP if by_trajectory else "participant", sort=True).ngroup().to_numpy(np.int64)
    cells = table.groupby(["judge", grouped_by, "turn"], sort=True, dropna=False)
    cell = cells.ngroup().to_numpy(np.int64)
    keys = cells.size().reset_index(name="n_offered").rename(columns={grouped_by: "level"})
    keys = keys.assign(grouped_by=grouped_by, clustered_by="trajectory" if by_trajectory else "participant")
    shape = (int(clusters.max()) + 1, len(keys))
    means = {name: _ClusteredMeans(table[name].to_numpy(np.float64), cell, clusters, shape) for name in _STATISTICS}
    plan = ClusterResamples((shape[0],), n_resamples, seed)
    replicates = replicate(
        plan, lambda weights: {name: mean.under(weights[0]) for name, mean in means.items()}, n_observations=max(shape)
    )
    offered = keys["n_offered"].to_numpy(np.int64)
    parts = [keys.assign(statistic=name, **means[name].columns(offered, replicates[name])) for name in _STATISTICS]
    found = pd.concat(parts, ignore_index=True)
    # There is no change at turn 1, which is no gap.
    return found[~((found["statistic"] == "change") & (found["turn"] == 1))]


class _ClusteredMeans:
    """Means of cells (a judge, group and turn) without missing values, as they are and under clusters' weights."""

    def __init__(self, values: FloatArray, cell: IntArray, cluster: IntArray, shape: tuple[int, int]) -> None:
        known = ~np.isnan(values)
        value, at = values[known], (cluster[known], cell[known])
        self._sums = csr_matrix((value, at), shape=shape)
        counts = csr_matrix((np.ones(len(value)), at), shape=shape)
        self._counts, self._counts_of = _distinct_columns(counts)
        self._n = np.bincount(at[1], minlength=shape[1])
        self._value = ratio(np.bincount(at[1], weights=value, minlength=shape[1]), self._n)
        self._n_clusters = np.bincount(counts.indices, minlength=shape[1])

    def under(self, weights: FloatArray) -> FloatArray:
        """The means under each row of weights, shape (R, cells)."""
        return ratio(weights @ self._sums, np.take(weights @ self._counts, self._counts_of, axis=1))

    def columns(self, n_offered: IntArray, replicates: FloatArray) -> dict[str, Any]:
        """The columns of the estimates."""
        low, high = np.array(list(_ends(replicates, self._n_clusters))).reshape(-1, 2).T
        reason = first_reason(
            len(self._n),
            [
                (self._n == 0, "no trajectory of the group has it at this turn"),
                (self._n_clusters < 2, _SINGLE),
                (self._n_clusters < FEW_CLUSTERS, _FEW),
            ],
        )
        return {
            "value": self._value, "n": self._n, "n_left_out": n_offered - self._n, "ci95_low": low, "ci95_high": high,
            "reason": reason, "n_clusters": self._n_clusters,
        }  # fmt: skip


def _distinct_columns(matrix: csr_matrix) -> tuple[csr_matrix, IntArray]:
    """The columns that differ, and for each column which it is: judges of the same attempts have equal counts."""
    columns = matrix.tocsc()
    columns.sort_indices()
    known: dict[bytes, int] = {}
    first, place = [], []
    for i, (start, end) in enumerate(itertools.pairwise(columns.indptr)):
        key = columns.indices[start:end].tobytes() + columns.data[start:end].tobytes()
        if key not in known:
            known[key] = len(known)
            first.append(i)
        place.append(known[key])
    return columns[:, first].tocsr(), np.array(place, np.int64)


def _ends(replicates: FloatArray, n_clusters: IntArray) -> Iterator[tuple[float, float]]:
    """The expanded percentile interval of each column, (NaN, NaN) where fewer than two clusters have the cell."""
    for column, n in zip(replicates.T, n_clusters, strict=True):
        defined = column[~np.isnan(column)]
        if n < 2 or not len(defined):
            yield np.nan, np.nan
            continue
        tail = expanded_tail(int(n))
        low, high = np.quantile(defined, [tail, 1 - tail])
        yield float(low), float(high)
