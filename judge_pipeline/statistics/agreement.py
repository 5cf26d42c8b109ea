"""Agreement between raters: raw agreement, Cohen's kappa for pairs, Fleiss' kappa for all (paper 1, eq. 21, V-B1).

The functions on tables take weights along the first axis, so that a bootstrap is one product; the functions on labels
(``cohen``, ``fleiss``) return an ``Estimate`` with its count and, where kappa is 0 / 0, the reason.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray

ONE_LABEL = "kappa is 0/0: every rater gives every item the same one label"


def raw_agreement_of_tables(tables: FloatArray) -> FloatArray:
    """Observed agreement p_o of contingency tables, shape (..., K, K) -> (...). NaN for an empty table."""
    return ratio(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def cohen_of_tables(tables: FloatArray) -> FloatArray:
    """Cohen's kappa (eq. 21) of contingency tables, shape (..., K, K) -> (...).

    NaN where both raters give the one same label throughout (p_e = 1), and for an empty table.
    """
    total = tables.sum(axis=(-2, -1))
    same = np.trace(tables, axis1=-2, axis2=-1)
    by_chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    # (p_o - p_e) / (1 - p_e), both multiplied by total^2: whole numbers, so 0 / 0 is recognised exactly.
    return ratio(same * total - by_chance, total**2 - by_chance)


def weighted_cohen_of_tables(tables: FloatArray, power: int) -> FloatArray:
    """Cohen's weighted kappa (Cohen 1968) of tables over ordered labels, shape (..., K, K) -> (...).

    Two labels disagree by their distance in steps, to the ``power`` of 1 (linear weights) or 2 (quadratic). NaN where
    both raters give the one same label throughout, and for an empty table.
    """
    steps = np.arange(tables.shape[-1])
    apart = (np.abs(steps[:, None] - steps) ** power).astype(np.float64)
    observed = (tables * apart).sum(axis=(-2, -1)) * tables.sum(axis=(-2, -1))
    by_chance = (tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :] * apart).sum(axis=(-2, -1))
    return 1 - ratio(observed, by_chance)


def prevalence_index_of_tables(tables: FloatArray) -> FloatArray:
    """Prevalence index of 2 x 2 tables (Byrt, Bishop and Carlin 1993), signed; shape (..., 2, 2) -> (...).

    Share of items on which both give the first label less that on which both give the second. Far from 0, kappa is
    lower than agreement would suggest.
    """
    return ratio(tables[..., 0, 0] - tables[..., 1, 1], tables.sum(axis=(-2, -1)))


def bias_index_of_tables(tables: FloatArray) -> FloatArray:
    """Bias index of 2 x 2 tables (Byrt, Bishop and Carlin 1993), signed; shape (..., 2, 2) -> (...).

    The first rater's share of the first label less the second rater's. Far from 0, kappa is higher than agreement
    would suggest.
    """
    return ratio(tables[..., 0, 1] - tables[..., 1, 0], tables.sum(axis=(-2, -1)))


def fleiss_of_counts(counts: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Fleiss' kappa of items rated by the same number of raters each.

    Args:
        counts: how many raters gave each item each label, shape (items, labels), rows summing to one number >= 2.
        weights: weight of each item, shape (R, items); 1 each by default.

    Returns:
        shape (R,); NaN where only one label was ever given, and without weight.
    """
    rows = np.ones((1, len(counts))) if weights is None else weights
    n_raters = float(counts[0].sum()) if len(counts) else 2.0
    n_items = rows.sum(axis=1)
    agreeing = rows @ (counts * (counts - 1)).sum(axis=1)
    labels = rows @ counts
    n_ratings = n_items * n_raters
    # p_bar = agreeing / (n_ratings (n_raters - 1)) and p_e = sum labels^2 / n_ratings^2, over one denominator.
    observed = agreeing * n_ratings
    by_chance = (labels**2).sum(axis=1) * (n_raters - 1)
    return ratio(observed - by_chance, n_ratings**2 * (n_raters - 1) - by_chance)


def mean_pair_agreement_of_counts(counts: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Raw agreement of all raters: the share of rater pairs that agree, averaged over items. Shapes as Fleiss."""
    rows = np.ones((1, len(counts))) if weights is None else weights
    n_raters = float(counts[0].sum()) if len(counts) else 2.0
    return ratio(rows @ (counts * (counts - 1)).sum(axis=1), rows.sum(axis=1) * n_raters * (n_raters - 1))


def judge_pairs(n_judges: int) -> list[tuple[int, int]]:
    """All pairs i < j."""
    return list(combinations(range(n_judges), 2))


class DecisionCounts:
    """Accept/reject decisions of several judges on the same items, summed by cluster once.

    Every agreement figure is a function of a few sums over items, so a resample of clusters is one product of its
    weights with these sums.

    Args:
        decisions: accepted or not, shape (items, judges).
        cluster: for each item the index of its cluster, shape (items,); each its own by default.
        n_clusters: how many clusters there are, with or without items here.
    """

    def __init__(
        self, decisions: NDArray[np.bool_], cluster: ArrayLike | None = None, n_clusters: int | None = None
    ) -> None:
        self.n_items, self.n_judges = decisions.shape
        index = np.arange(self.n_items) if cluster is None else np.asarray(cluster, np.int64)
        size = int(index.max(initial=-1)) + 1 if n_clusters is None else n_clusters
        columns = [np.ones(self.n_items), *decisions.T.astype(np.float64)]
        columns += [(decisions[:, i] & decisions[:, j]).astype(np.float64) for i, j in judge_pairs(self.n_judges)]
        self._sums = _cluster_sums(columns, index, size)
        accepts = decisions.sum(axis=1)
        levels = range(self.n_judges + 1)
        self._levels = _cluster_sums([(accepts == level).astype(np.float64) for level in levels], index, size)
        self.level_counts: FloatArray = np.array([[level, self.n_judges - level] for level in levels], np.float64)
        """For each number of accepting judges 0..J: (accepting, rejecting); the ``counts`` of Fleiss' kappa."""

    def pair_tables(self, weights: FloatArray | None = None) -> FloatArray:
        """2 x 2 tables (accept, reject) of all pairs under weights (R, clusters); shape (R, pairs, 2, 2)."""
        sums = self._weighted(self._sums, weights)
        total, accepts, both = sums[:, :1], sums[:, 1 : 1 + self.n_judges], sums[:, 1 + self.n_judges :]
        first = accepts[:, [i for i, _ in judge_pairs(self.n_judges)]]
        second = accepts[:, [j for _, j in judge_pairs(self.n_judges)]]
        cells = [both, first - both, second - both, total - first - second + both]
        return np.stack(cells, axis=-1).reshape(*both.shape, 2, 2)

    def accepted_shares(self, weights: FloatArray | None = None) -> FloatArray:
        """Share of items that each judge accepts, under weights (R, clusters); shape (R, judges)."""
        sums = self._weighted(self._sums, weights)
        return ratio(sums[:, 1 : 1 + self.n_judges], sums[:, :1])

    def level_weights(self, weights: FloatArray | None = None) -> FloatArray:
        """Weight of the items with 0..J accepting judges, shape (R, J + 1); goes with ``level_counts``."""
        return self._weighted(self._levels, weights)

    @staticmethod
    def _weighted(sums: FloatArray, weights: FloatArray | None) -> FloatArray:
        product: FloatArray = sums.sum(axis=0, keepdims=True) if weights is None else weights @ sums
        return product


def cohen(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Cohen's kappa of two raters' labels; an item that either left out (None) is left out and counted.

    Raises:
        ValueError: the two are not equally long.
    """
    a, b = np.asarray(first, dtype=object), np.asarray(second, dtype=object)
    if a.shape != b.shape:
        raise ValueError(f"two raters must rate the same items: {len(a)} and {len(b)} labels")
    complete = np.array([x is not None and y is not None for x, y in zip(a, b, strict=True)], dtype=bool)
    n, left_out = int(complete.sum()), int((~complete).sum())
    if n == 0:
        return Estimate.undefined("no item was rated by both", 0, left_out)
    labels = sorted({*a[complete], *b[complete]}, key=repr)
    place = {label: i for i, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for x, y in zip(a[complete], b[complete], strict=True):
        table[place[x], place[y]] += 1
    value = float(cohen_of_tables(table))
    return Estimate.undefined(ONE_LABEL, n, left_out) if np.isnan(value) else Estimate(value, n, left_out)


def fleiss(counts: ArrayLike) -> Estimate:
    """Fleiss' kappa of a table of items by labels, on complete items only.

    Items rated by fewer raters than the fullest item are left out and counted.

    Raises:
        ValueError: not a table of counts.
    """
    table = np.asarray(counts, np.float64)
    if table.ndim != 2 or (table < 0).any():
        raise ValueError("counts must be a table of non-negative numbers, items by labels")
    raters = table.sum(axis=1)
    n_raters = raters.max(initial=0.0)
    complete = table[raters == n_raters]
    n, left_out = len(complete), len(table) - len(complete)
    if n_raters < 2 or n == 0:
        return Estimate.undefined("no item was rated by two or more raters", 0, len(table))
    value = float(fleiss_of_counts(complete)[0])
    return Estimate.undefined(ONE_LABEL, n, left_out) if np.isnan(value) else Estimate(value, n, left_out)


def _cluster_sums(columns: list[FloatArray], cluster: NDArray[np.int64], n_clusters: int) -> FloatArray:
    """Sums of each column by cluster, shape (clusters, columns)."""
    sums = [np.bincount(cluster, weights=column, minlength=n_clusters) for column in columns]
    return np.stack(sums, axis=1).astype(np.float64)
