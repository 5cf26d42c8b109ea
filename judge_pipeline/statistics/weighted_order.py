"""Medians and rank correlations under the weights of a cluster bootstrap.

Values are sorted once; each resample only changes how often they count. Both figures equal those of the sample in which
every observation is repeated as often as its weight says.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

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

    def medians(self, weights: FloatArray) -> FloatArray:
        """The median under each row of weights, shape (R,); NaN where a row has no weight."""
        upto = np.cumsum(self.weight_of(weights), axis=1)
        half = upto[:, -1] / 2
        lower, upper = _places(upto, half)
        found = (self.distinct[lower] + self.distinct[upper]) / 2
        return np.where(half > 0, found, np.nan)

    def centred_midranks(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The midrank of each distinct value less the mean rank, and its weight; both (R, D)."""
        counts = self.weight_of(weights)
        upto = np.cumsum(counts, axis=1)
        return upto - counts / 2 - upto[:, -1:] / 2, counts


_FEW = 256
"""Up to so many distinct values a whole block is compared at once, which is faster than a search in each row."""


def _places(upto: FloatArray, half: FloatArray) -> tuple[IntArray, IntArray]:
    """In each row the first places at which the sum reaches the half and passes it, at most the last place."""
    last = upto.shape[1] - 1
    if last < _FEW:
        lower, upper = (upto < half[:, None]).sum(axis=1), (upto <= half[:, None]).sum(axis=1)
    else:
        found = [
            (row.searchsorted(at, "left"), row.searchsorted(at, "right")) for row, at in zip(upto, half, strict=True)
        ]
        lower, upper = np.array(found, np.int64).reshape(-1, 2).T
    return np.minimum(lower, last), np.minimum(upper, last)


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
        x, x_weight = self._first.centred_midranks(weights)
        y, y_weight = self._second.centred_midranks(weights)
        at_pairs = np.take(x, self._first.place, axis=1)
        at_pairs *= np.take(y, self._second.place, axis=1)
        together = np.einsum("rn,rn->r", at_pairs, np.take(weights, self._cluster, axis=1))
        spread = np.einsum("rd,rd,rd->r", x, x, x_weight) * np.einsum("rd,rd,rd->r", y, y, y_weight)
        return ratio(together, np.sqrt(spread))
