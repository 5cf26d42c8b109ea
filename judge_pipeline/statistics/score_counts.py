"""Weighted counts of accepted and rejected attempts at each distinct score.

Every metric of a score against a 0/1 label is a function of these counts, so the scores are sorted once and each
resample of a bootstrap only changes the weights. Counts have one row for each set of weights: a point estimate is one
row of weights 1, a bootstrap block has a row for each resample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class ScoreCounts:
    """Weight of accepted (y = 1) and rejected (y = 0) attempts at each distinct score.

    Attributes:
        scores: the distinct scores, ascending, shape (D,).
        accepted: weight of the accepted attempts at each score, shape (R, D), one row for each set of weights.
        rejected: weight of the rejected attempts at each score, shape (R, D).
    """

    scores: FloatArray
    accepted: FloatArray
    rejected: FloatArray

    @cached_property
    def accepted_below(self) -> FloatArray:
        """Accepted weight at the first d scores, for d = 0..D; shape (R, D + 1)."""
        return _prefix_sums(self.accepted)

    @cached_property
    def rejected_below(self) -> FloatArray:
        """Rejected weight at the first d scores, for d = 0..D; shape (R, D + 1)."""
        return _prefix_sums(self.rejected)

    @cached_property
    def weight_below(self) -> FloatArray:
        """All weight at the first d scores, for d = 0..D; shape (R, D + 1)."""
        return self.accepted_below + self.rejected_below

    @cached_property
    def scores_below(self) -> FloatArray:
        """Sum of weight times score over the first d scores, for d = 0..D; shape (R, D + 1)."""
        return _prefix_sums((self.accepted + self.rejected) * self.scores)

    @property
    def n_accepted(self) -> FloatArray:
        """All accepted weight, shape (R,)."""
        return self.accepted_below[:, -1]

    @property
    def n_rejected(self) -> FloatArray:
        """All rejected weight, shape (R,)."""
        return self.rejected_below[:, -1]

    @property
    def n(self) -> FloatArray:
        """All weight, shape (R,)."""
        return self.weight_below[:, -1]

    def one_class_reason(self) -> str | None:
        """Why figures that compare the two classes do not exist for the first row; None where both are there."""
        accepted, rejected = self.n_accepted[0], self.n_rejected[0]
        if accepted + rejected == 0:
            return "no attempt has both a label and an answer"
        if rejected == 0:
            return f"only one class: {_all_of(accepted)} accepted (y = 1)"
        if accepted == 0:
            return f"only one class: {_all_of(rejected)} rejected (y = 0)"
        return None


class SortedScores:
    """Scores and labels, sorted once, to be counted under any weights.

    Args:
        y: labels, 0 or 1, shape (N,).
        p: scores in [0, 1], shape (N,). Equal scores are ties.
        cluster: for each observation the index of its weight, shape (N,); each its own by default.

    Raises:
        ValueError: shapes differ, a label other than 0 and 1, or a score that is missing or outside [0, 1].
    """

    def __init__(self, y: ArrayLike, p: ArrayLike, cluster: ArrayLike | None = None) -> None:
        labels = np.asarray(y, np.float64)
        scores = np.asarray(p, np.float64)
        index = np.arange(len(labels)) if cluster is None else np.asarray(cluster, np.int64)
        if not (labels.ndim == 1 and labels.shape == scores.shape == index.shape):
            raise ValueError(f"y {labels.shape}, p {scores.shape} and cluster {index.shape} must be equally long")
        if not np.isin(labels, (0.0, 1.0)).all():
            raise ValueError("labels must be 0 or 1; leave out what is not judged yet")
        if not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError("scores must lie in [0, 1]; leave out what is missing")
        self.scores, place = np.unique(scores, return_inverse=True)
        self.n = len(labels)
        self._accepted = _summer(place[labels == 1], index[labels == 1], len(self.scores))
        self._rejected = _summer(place[labels == 0], index[labels == 0], len(self.scores))

    def count(self, weights: FloatArray | None = None) -> ScoreCounts:
        """The counts under ``weights`` of shape (R, clusters), or with weight 1 for each observation (R = 1)."""
        return ScoreCounts(self.scores, self._accepted(weights), self._rejected(weights))


def count_scores(y: ArrayLike, p: ArrayLike, weights: ArrayLike | None = None) -> ScoreCounts:
    """The counts of labels ``y`` and scores ``p``, both (N,), under ``weights`` of shape (N,) or (R, N)."""
    rows = None if weights is None else np.atleast_2d(np.asarray(weights, np.float64))
    return SortedScores(y, p).count(rows)


def _summer(place: IntArray, index: IntArray, n_places: int) -> Callable[[FloatArray | None], FloatArray]:
    """A function that sums weights[:, index] into ``n_places`` columns by ``place``."""
    order = np.argsort(place, kind="stable")
    place, index = place[order], index[order]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    target = place[starts]
    sizes = np.diff(starts, append=len(place)).astype(np.float64)
    distinct = len(starts) == len(place)

    def summed(weights: FloatArray | None) -> FloatArray:
        sums = np.zeros((1 if weights is None else len(weights), n_places))
        if not len(place):
            return sums
        if weights is None:
            sums[0, target] = sizes
            return sums
        taken = np.take(weights, index, axis=1)
        sums[:, target] = taken if distinct else np.add.reduceat(taken, starts, axis=1)
        return sums

    return summed


def _prefix_sums(values: FloatArray) -> FloatArray:
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def _all_of(attempts: float) -> str:
    return "the only attempt is" if attempts == 1 else f"all {attempts:g} attempts are"
