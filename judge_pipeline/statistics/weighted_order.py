"""Medians and rank correlations under the weights of a cluster bootstrap.

Values are sorted once; each resample only changes how often they count. Both figures equal those of the sample in which
every observation is repeated as often as its weight says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_matrix

from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray


class OrderedValues:
    """Values with the cluster of each, sorted once.

    Args:
        values: shape (N,), N >= 1, none missing.
        cluster: for each observation the index of its weight, shape (N,).

    Raises:
        ValueError: shapes differ, there is no value, or one is missing.
    """

    def __init__(self, values: ArrayLike, cluster: ArrayLike) -> None:
        given, index = np.asarray(values, np.float64), np.asarray(cluster, np.int64)
        if given.ndim != 1 or given.shape != index.shape or not len(given):
            raise ValueError(f"values {given.shape} and cluster {index.shape} must be equally long and not empty")
        if np.isnan(given).any():
            raise ValueError(f"{int(np.isnan(given).sum())} values are missing; leave them out")
        self.distinct, place = np.unique(given, return_inverse=True)
        self.place: IntArray = place
        order = np.argsort(place, kind="stable")
        self._cluster = index[order]
        self._starts = np.flatnonzero(np.diff(place[order], prepend=-1))

    def weight_of(self, weights: FloatArray) -> FloatArray:
        """The weight of each distinct value, shape (R, D), under weights of shape (R, clusters)."""
        taken: FloatArray = np.take(weights, self._cluster, axis=1)
        return taken if len(self._starts) == len(self._cluster) else np.add.reduceat(taken, self._starts, axis=1)

    def centred_midranks(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The midrank of each distinct value less the mean rank, and its weight; both (R, D)."""
        counts = self.weight_of(weights)
        upto = np.cumsum(counts, axis=1)
        return upto - counts / 2 - upto[:, -1:] / 2, counts


class Medians:
    """Medians of several samples under the same weights of clusters.

    Resampled medians lie near the sample's own, so only the values around it are counted one by one; how much weight
    lies below them is a product with a sparse matrix. A resample whose median lies elsewhere is counted in full.

    Args:
        samples: for each sample its values and the cluster of each, as for ``OrderedValues``.
        n_clusters: how many clusters there are weights of.
    """

    def __init__(self, samples: Sequence[tuple[FloatArray, IntArray]], n_clusters: int) -> None:
        self._samples = [_Sorted.of(values, cluster) for values, cluster in samples]
        self._windows = [
            sample.window(np.bincount(sample.cluster, minlength=n_clusters).astype(np.float64))
            for sample in self._samples
        ]
        self._counts = _counted([sample.cluster for sample in self._samples], n_clusters)
        below = [sample.cluster[:start] for sample, (start, _) in zip(self._samples, self._windows, strict=True)]
        self._below = _counted(below, n_clusters)

    def under(self, weights: FloatArray) -> FloatArray:
        """The median of each sample under each row of weights, shape (R, samples); NaN where there is no weight."""
        halves, below = weights @ self._counts / 2, weights @ self._below
        found = np.full(halves.shape, np.nan)
        for i, (sample, (start, end)) in enumerate(zip(self._samples, self._windows, strict=True)):
            half = halves[:, i]
            upto = np.cumsum(np.take(weights, sample.cluster[start:end], axis=1), axis=1) + below[:, i, None]
            inside = (below[:, i] < half) & (half < upto[:, -1])
            found[inside, i] = sample.middle(upto[inside], half[inside], start)
            outside = ~inside & (half > 0)
            if outside.any():
                whole = np.cumsum(np.take(weights[outside], sample.cluster, axis=1), axis=1)
                found[outside, i] = sample.middle(whole, half[outside], 0)
        return found


def _counted(clusters: Sequence[IntArray], n_clusters: int) -> csc_matrix:
    """How many values of each sample lie in each cluster, shape (clusters, samples)."""
    sample = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    cluster = np.concatenate([*clusters, np.zeros(0, np.int64)])
    return csc_matrix((np.ones(len(cluster)), (cluster, sample)), shape=(n_clusters, len(clusters)))


_WINDOW_SD = 5
"""Values counted one by one on either side of the median, in standard deviations of its rank in a resample."""
_LEAST_WINDOW = 32


@dataclass(frozen=True)
class _Sorted:
    """Values in ascending order with the cluster of each."""

    values: FloatArray
    cluster: IntArray

    @classmethod
    def of(cls, values: FloatArray, cluster: IntArray) -> _Sorted:
        order = np.argsort(values, kind="stable")
        return cls(values[order], cluster[order])

    def window(self, counts: FloatArray) -> tuple[int, int]:
        """Where the medians of resamples are expected; ``counts`` are the values in each cluster."""
        n = len(self.values)
        below = np.bincount(self.cluster[: n // 2], minlength=len(counts))
        reach = int(_WINDOW_SD * np.sqrt(((below - counts / 2) ** 2).sum())) + _LEAST_WINDOW
        return max(0, n // 2 - reach), min(n, n // 2 + reach)

    def middle(self, upto: FloatArray, half: FloatArray, start: int) -> FloatArray:
        """The mean of the lower and the upper median, from the weight up to each value from ``start`` on."""
        last = len(self.values) - 1
        lower = np.minimum(start + (upto < half[:, None]).sum(axis=1), last)
        upper = np.minimum(start + (upto <= half[:, None]).sum(axis=1), last)
        found: FloatArray = (self.values[lower] + self.values[upper]) / 2
        return found


_CACHED_ELEMENTS = 1 << 15
"""Numbers that a step of a rank correlation goes through at once: its dozen arrays must fit the processor's cache."""


class RankedPairs:
    """Pairs of values, to be correlated by ranks under weights.

    Args:
        first: shape (N,), N >= 1, none missing.
        second: shape (N,).
        cluster: for each pair the index of its weight, shape (N,).

    Raises:
        ValueError: as ``OrderedValues``.
    """

    def __init__(self, first: ArrayLike, second: ArrayLike, cluster: ArrayLike) -> None:
        self._cluster = np.asarray(cluster, np.int64)
        self._first, self._second = OrderedValues(first, cluster), OrderedValues(second, cluster)

    def spearman(self, weights: FloatArray) -> FloatArray:
        """Spearman's rho under each row of weights, shape (R,): Pearson's correlation of the midranks.

        NaN where either side is constant.
        """
        n_rows = max(1, _CACHED_ELEMENTS // len(self._cluster))
        starts = range(0, max(len(weights), 1), n_rows)
        return np.concatenate([self._of_block(weights[start : start + n_rows]) for start in starts])

    def _of_block(self, weights: FloatArray) -> FloatArray:
        x, x_weight = self._first.centred_midranks(weights)
        y, y_weight = self._second.centred_midranks(weights)
        at_pairs = np.take(x, self._first.place, axis=1)
        at_pairs *= np.take(y, self._second.place, axis=1)
        together = np.einsum("rn,rn->r", at_pairs, np.take(weights, self._cluster, axis=1))
        spread = np.einsum("rd,rd,rd->r", x, x, x_weight) * np.einsum("rd,rd,rd->r", y, y, y_weight)
        return ratio(together, np.sqrt(spread))
