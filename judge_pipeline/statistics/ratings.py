"""Ratings of the same items by several raters, with gaps, summed by cluster once.

Every agreement figure of this package is a function of a few sums over items, so a resample of clusters is one product
of its weights with these sums. What the sums mean is said where they are used: ``agreement``, ``krippendorff``,
``gwet``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judge_pipeline.statistics.agreement import judge_pairs
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

MISSING = -1
"""The code of a rating that was not given."""


@dataclass(frozen=True, slots=True)
class ItemSums:
    """Weighted sums over items, arrays of shape (R,) but the last, (R, labels).

    Attributes:
        n_rated: items with a rating.
        n_paired: items with two ratings or more.
        agreeing: sum over the latter of the share of their pairs of ratings that agree.
        shares: sum over rated items of the share of their ratings that have each label.
    """

    n_rated: FloatArray
    n_paired: FloatArray
    agreeing: FloatArray
    shares: FloatArray


class RatingCounts:
    """Labels 0..n_labels - 1 that raters gave the same items, any of which may be missing.

    Args:
        codes: shape (items, raters), whole numbers, ``MISSING`` where a rater gave none.
        n_labels: how many labels there are, given or not.
        cluster: for each item the index of its cluster, shape (items,); each its own by default.
        n_clusters: how many clusters there are, with or without items here.

    Raises:
        ValueError: codes that are no table, or outside -1..n_labels - 1.
    """

    def __init__(
        self,
        codes: NDArray[np.integer],
        n_labels: int,
        cluster: ArrayLike | None = None,
        n_clusters: int | None = None,
    ) -> None:
        if codes.ndim != 2 or ((codes < MISSING) | (codes >= n_labels)).any():
            raise ValueError(f"ratings must be a table, items by raters, of whole numbers from -1 to {n_labels - 1}")
        self.n_items, self.n_raters = codes.shape
        self.n_labels = n_labels
        self._cluster = np.arange(self.n_items) if cluster is None else np.asarray(cluster, np.int64)
        self._n_clusters = int(self._cluster.max(initial=-1)) + 1 if n_clusters is None else n_clusters
        label_counts = (codes[:, :, None] == np.arange(n_labels)).sum(axis=1).astype(np.float64)
        pairs = self._pair_sums(codes)
        # Two raters may have few items in common: clusters without one add nothing, and need no product.
        self._rated_by_pair = np.flatnonzero(pairs.any(axis=1))
        self._pairs = pairs[self._rated_by_pair]
        self._coincidences = self._coincidence_sums(label_counts)
        self._items = self._item_sums(label_counts)

    def pair_tables(self, weights: FloatArray | None = None) -> FloatArray:
        """For each pair of raters the table of the items that both rated, under weights (R, clusters).

        Shape (R, pairs, labels, labels), first rater along the rows.
        """
        of_clusters = None if weights is None else weights[:, self._rated_by_pair]
        sums = self._weighted(self._pairs, of_clusters)
        return sums.reshape(len(sums), len(judge_pairs(self.n_raters)), self.n_labels, self.n_labels)

    def coincidences(self, weights: FloatArray | None = None) -> FloatArray:
        """Krippendorff's coincidence matrix, shape (R, labels, labels): ordered pairs of ratings within items.

        Each item counts with 1 / (its ratings - 1), so that it adds as much as it has ratings.
        """
        sums = self._weighted(self._coincidences, weights)
        return sums.reshape(len(sums), self.n_labels, self.n_labels)

    def items(self, weights: FloatArray | None = None) -> ItemSums:
        """What Gwet's coefficient and raw agreement are made of, under weights (R, clusters)."""
        sums = self._weighted(self._items, weights)
        return ItemSums(sums[:, 0], sums[:, 1], sums[:, 2], sums[:, 3:])

    def _pair_sums(self, codes: NDArray[np.integer]) -> FloatArray:
        k = self.n_labels
        sums = np.zeros((self._n_clusters, len(judge_pairs(self.n_raters)), k * k))
        for place, (i, j) in enumerate(judge_pairs(self.n_raters)):
            both = (codes[:, i] != MISSING) & (codes[:, j] != MISSING)
            cell = self._cluster[both] * (k * k) + codes[both, i] * k + codes[both, j]
            sums[:, place] = np.bincount(cell, minlength=self._n_clusters * k * k).reshape(-1, k * k)
        return sums.reshape(self._n_clusters, len(judge_pairs(self.n_raters)) * k * k)

    def _coincidence_sums(self, label_counts: FloatArray) -> FloatArray:
        n_ratings = label_counts.sum(axis=1)
        share = np.nan_to_num(ratio(1.0, np.maximum(n_ratings - 1, 0.0)))
        pairs = label_counts[:, :, None] * label_counts[:, None, :]
        labels = np.arange(self.n_labels)
        pairs[:, labels, labels] -= label_counts
        return self._by_cluster((pairs * share[:, None, None]).reshape(self.n_items, self.n_labels**2))

    def _item_sums(self, label_counts: FloatArray) -> FloatArray:
        n_ratings = label_counts.sum(axis=1)
        agreeing = np.nan_to_num(
            ratio((label_counts * (label_counts - 1)).sum(axis=1), n_ratings * np.maximum(n_ratings - 1, 0.0))
        )
        shares = np.nan_to_num(ratio(label_counts, n_ratings[:, None]))
        return self._by_cluster(np.column_stack([n_ratings >= 1, n_ratings >= 2, agreeing, shares]))

    def _by_cluster(self, columns: FloatArray) -> FloatArray:
        return sums_by_cluster(columns, self._cluster, self._n_clusters)

    @staticmethod
    def _weighted(sums: FloatArray, weights: FloatArray | None) -> FloatArray:
        product: FloatArray = sums.sum(axis=0, keepdims=True) if weights is None else weights @ sums
        return product


def sums_by_cluster(columns: FloatArray, cluster: IntArray, n_clusters: int) -> FloatArray:
    """Sums of the columns of an array (items, columns) by cluster, shape (clusters, columns)."""
    sums = [np.bincount(cluster, weights=column, minlength=n_clusters) for column in columns.T]
    return np.stack(sums, axis=1).astype(np.float64) if sums else np.zeros((n_clusters, 0))
