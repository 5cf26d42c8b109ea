"""A rate from predictions everywhere and labels of a few: prediction-powered inference, and Rogan-Gladen's correction.

Predictions alone are biased as the judge is; labels alone are few. Prediction-powered inference (PPI: Angelopoulos et
al. 2023, Science; PPI++: Angelopoulos, Duchi and Zrnic 2023) takes the mean prediction and corrects it by the mean
error on the labelled part. Rogan and Gladen (1978) correct the share of positive decisions by the decisions'
sensitivity and specificity. Both lean on labelled attempts that are like the others.
"""

from __future__ import annotations

import numpy as np

from judge_pipeline.statistics.ratings import sums_by_cluster
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

_NO_SPREAD = 1e-15
"""Variances of a mean of values in [0, 1] below this are rounding: the values are all the same."""


class ClusteredMeans:
    """Means of several quantities of the same observations, and the covariances of these means, by cluster weights.

    Args:
        columns: the quantities, shape (n, K).
        cluster: index of each observation's cluster, shape (n,).
        n_clusters: how many clusters there are, with or without observations here.
    """

    def __init__(self, columns: FloatArray, cluster: IntArray, n_clusters: int) -> None:
        self._sums = sums_by_cluster(np.column_stack([columns, np.ones(len(columns))]), cluster, n_clusters)

    def totals(self, weights: FloatArray | None = None) -> FloatArray:
        """Sums of the quantities, then the number of observations, under weights (R, clusters); shape (R, K + 1)."""
        return self._weighted(self._sums, weights)

    def means(self, weights: FloatArray | None = None) -> FloatArray:
        """Means under weights (R, clusters), shape (R, K); NaN without weight."""
        sums = self.totals(weights)
        return ratio(sums[:, :-1], sums[:, -1:])

    def covariance(self, first: int, second: int, weights: FloatArray | None = None) -> FloatArray:
        """Cluster-robust covariance of two of the means under weights (R, clusters), shape (R,).

        A mean is a ratio of sums over clusters, so this is G / (G - 1) x sum over clusters of the products of their
        residuals / n^2, for G clusters drawn. With each observation its own cluster it is the sample covariance
        (divisor n - 1) over n. NaN with fewer than two clusters.
        """
        own = self._sums[:, [first, second]]
        size = self._sums[:, -1]
        holds = (size > 0).astype(np.float64)
        products = [own[:, 0] * own[:, 1], own[:, 0] * size, own[:, 1] * size, size**2, size, holds]
        both, first_n, second_n, squares, n, g = self._weighted(np.column_stack(products), weights).T
        means = self.means(weights)
        a, b = means[:, first], means[:, second]
        residuals = both - a * second_n - b * first_n + a * b * squares
        return ratio(g * residuals, np.where(g > 1, g - 1, 0.0) * n**2)

    @staticmethod
    def _weighted(sums: FloatArray, weights: FloatArray | None) -> FloatArray:
        product: FloatArray = sums.sum(axis=0, keepdims=True) if weights is None else weights @ sums
        return product


def power_tuning(
    label_covariance: FloatArray, labelled_variance: FloatArray, unlabelled_variance: FloatArray
) -> FloatArray:
    """lambda of PPI++ for a mean: the weight of the predictions that makes the estimate's variance smallest.

    Cov(mean label, mean prediction) / (Var of the mean prediction on the labelled + on the unlabelled part), kept
    within [0, 1] as the authors do. 0 where predictions never vary: they say nothing, and the labels stand alone.

    Args:
        label_covariance: covariance of the means of label and prediction on the labelled part, shape (R,).
        labelled_variance: variance of the mean prediction there, shape (R,).
        unlabelled_variance: the same on the unlabelled part, shape (R,).
    """
    spread = labelled_variance + unlabelled_variance
    tuned = np.clip(ratio(label_covariance, spread), 0.0, 1.0)
    return np.where(spread <= _NO_SPREAD, 0.0, tuned)


def ppi_mean(
    labels: FloatArray, labelled_predictions: FloatArray, unlabelled_predictions: FloatArray, tuning: FloatArray | float
) -> FloatArray:
    """mean label + tuning x (mean prediction on the unlabelled part - on the labelled part); all of shape (R,).

    Tuning 1 is PPI, 0 is the labels alone. May lie outside [0, 1], and is not cut here.
    """
    return labels + tuning * (unlabelled_predictions - labelled_predictions)


def rogan_gladen(accepted_share: FloatArray, sensitivity: FloatArray, specificity: FloatArray) -> FloatArray:
    """(accepted share + specificity - 1) / (sensitivity + specificity - 1), shape (R,).

    NaN where sensitivity + specificity <= 1: decisions that are no better than a coin cannot be corrected. May lie
    outside [0, 1], and is not cut here.
    """
    youden = sensitivity + specificity - 1
    return ratio(accepted_share + specificity - 1, np.where(youden > 0, youden, 0.0))
