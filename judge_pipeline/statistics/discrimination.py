"""Discrimination and probabilistic scoring: ROC-AUC, average precision, log loss, Brier score, and the two curves.

All take ``ScoreCounts`` and return one value for each row of weights, shape (R,), NaN where undefined.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, ScoreCounts

EPSILON = float(np.finfo(np.float64).eps)
"""Log loss clips probabilities to [EPSILON, 1 - EPSILON], as scikit-learn does for float64."""


TINY = float(np.finfo(np.float64).tiny)
"""Stands for a divisor of 0 where the dividend is 0, too, and 0 / 0 is to be 0."""


def roc_auc(counts: ScoreCounts) -> FloatArray:
    """ROC-AUC (paper 1, V-B1): P(an accepted attempt scores above a rejected one), ties counting one half.

    NaN where only one class has weight.
    """
    above = np.einsum("rd,rd->r", counts.accepted, counts.rejected_below[:, :-1])
    tied = np.einsum("rd,rd->r", counts.accepted, counts.rejected)
    return ratio(above + tied / 2, counts.n_accepted * counts.n_rejected)


def average_precision(counts: ScoreCounts) -> FloatArray:
    """PR-AUC as average precision (paper 1, V-B1): precision at each distinct score, weighted by its step in recall.

    NaN where only one class has weight: without accepted attempts there is no recall, without rejected ones it is 1
    whatever the scores say.
    """
    precision = counts.n_accepted[:, None] - counts.accepted_below[:, :-1]
    chosen = counts.n[:, None] - counts.weight_below[:, :-1]
    # Above the highest score with weight nothing is chosen, so 0 / TINY is 0 there; its step in recall is 0 as well.
    np.divide(precision, np.maximum(chosen, TINY, out=chosen), out=precision)
    value = ratio(np.einsum("rd,rd->r", counts.accepted, precision), counts.n_accepted)
    return np.where(counts.n_rejected > 0, value, np.nan)


def log_loss(counts: ScoreCounts) -> FloatArray:
    """LogLoss (paper 1, eq. 15), natural logarithm, p clipped to [EPSILON, 1 - EPSILON]. NaN without weight."""
    clipped = np.clip(counts.scores, EPSILON, 1 - EPSILON)
    total = counts.accepted @ np.log(clipped) + counts.rejected @ np.log1p(-clipped)
    return ratio(-total, counts.n)


def n_clipped(counts: ScoreCounts) -> FloatArray:
    """Weight of the attempts whose probability log loss had to clip: one such error alone costs 36."""
    outside = (counts.scores < EPSILON) | (counts.scores > 1 - EPSILON)
    clipped: FloatArray = (counts.accepted[:, outside] + counts.rejected[:, outside]).sum(axis=1)
    return clipped


def brier(counts: ScoreCounts) -> FloatArray:
    """Brier score (paper 1, eq. 16): mean squared error of the probability. NaN without weight."""
    squares = counts.accepted @ (1 - counts.scores) ** 2 + counts.rejected @ counts.scores**2
    return ratio(squares, counts.n)


@dataclass(frozen=True, slots=True)
class CurvePoints:
    """Points of a curve in drawing order.

    Attributes:
        x: false positive rate (ROC) or recall (PR), shape (M,).
        y: true positive rate (ROC) or precision (PR), shape (M,).
        threshold: accept where p >= threshold; NaN at the end point where nothing is accepted.
        n: weight of the attempts accepted at the point.
    """

    x: FloatArray
    y: FloatArray
    threshold: FloatArray
    n: FloatArray


def roc_curve_points(counts: ScoreCounts) -> CurvePoints | None:
    """The ROC curve of the first row, from (0, 0) to (1, 1), a point for each distinct score. None for one class."""
    if counts.one_class_reason() is not None:
        return None
    true_positives, false_positives, threshold = _sweep(counts)
    return CurvePoints(
        x=false_positives / false_positives[-1],
        y=true_positives / true_positives[-1],
        threshold=threshold,
        n=true_positives + false_positives,
    )


def pr_curve_points(counts: ScoreCounts) -> CurvePoints | None:
    """The precision-recall curve of the first row, from recall 0 (precision 1 by convention) to recall 1.

    None for one class. The area under it as average precision is a sum of rectangles, not the trapezoids that a line
    through the points suggests.
    """
    if counts.one_class_reason() is not None:
        return None
    true_positives, false_positives, threshold = _sweep(counts)
    chosen = true_positives + false_positives
    precision = np.divide(true_positives, chosen, out=np.ones_like(chosen), where=chosen > 0)
    return CurvePoints(x=true_positives / true_positives[-1], y=precision, threshold=threshold, n=chosen)


def _sweep(counts: ScoreCounts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """True and false positives as the threshold falls from above all scores through each of them."""
    true_positives: NDArray[np.float64] = counts.n_accepted[0] - counts.accepted_below[0, ::-1]
    false_positives: NDArray[np.float64] = counts.n_rejected[0] - counts.rejected_below[0, ::-1]
    return true_positives, false_positives, np.concatenate([[np.nan], counts.scores[::-1]])
