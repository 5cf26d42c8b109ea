"""Krippendorff's alpha (Krippendorff 2011, "Computing Krippendorff's alpha-reliability"): any raters, any gaps.

alpha = 1 - (observed disagreement) / (disagreement expected by chance); an item counts where it has two ratings or
more. How much two labels disagree is the level of measurement's: nominal, ordinal or interval.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judge_pipeline.statistics.agreement import judge_pairs
from judge_pipeline.statistics.ratings import sums_by_cluster
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray

Level = Literal["nominal", "ordinal", "interval"]

NO_VARIATION = "alpha is 0/0: all ratings are the same"

_ROUNDING = 1e-12
"""A spread below this share of the sum of squares is that of equal numbers, summed with rounding."""


def alpha_of_coincidences(coincidences: FloatArray, level: Level) -> FloatArray:
    """Alpha of coincidence matrices (``RatingCounts.coincidences``) over labels 0, 1, 2, ... in their order.

    Args:
        coincidences: shape (..., K, K).
        level: nominal: any two labels disagree by 1; ordinal: by the square of the ratings between them; interval: by
            the square of the steps between them.

    Returns:
        shape (...), NaN where all paired ratings are one label, and where there is none.
    """
    margins = coincidences.sum(axis=-1)
    n = margins.sum(axis=-1)
    delta = _disagreement(margins, level)
    observed = (coincidences * delta).sum(axis=(-2, -1))
    by_chance = (margins[..., :, None] * margins[..., None, :] * delta).sum(axis=(-2, -1))
    return 1 - ratio((n - 1) * observed, by_chance)


class MeasuredRatings:
    """Ratings on a continuous scale, for alpha at the interval level and the mean absolute difference.

    Args:
        values: shape (items, raters), NaN where a rater gave none.
        cluster: for each item the index of its cluster, shape (items,); each its own by default.
        n_clusters: how many clusters there are.
    """

    def __init__(self, values: FloatArray, cluster: ArrayLike | None = None, n_clusters: int | None = None) -> None:
        self.n_items, self.n_raters = values.shape
        index = np.arange(self.n_items) if cluster is None else np.asarray(cluster, np.int64)
        size = int(index.max(initial=-1)) + 1 if n_clusters is None else n_clusters
        given = values[~np.isnan(values)]
        # Alpha does not change when all values move; near 0 the sums of squares lose less to rounding.
        moved = values - (given.mean() if len(given) else 0.0)
        everyone = [_measured_columns(moved)]
        pairs = [_measured_columns(moved[:, [i, j]]) for i, j in judge_pairs(self.n_raters)]
        self._sums = sums_by_cluster(np.column_stack(everyone + pairs), index, size)

    def alpha(self, weights: FloatArray | None = None) -> FloatArray:
        """Alpha of all raters, then of each pair, under weights (R, clusters); shape (R, 1 + pairs).

        NaN where all paired values are the same, and where there is none.
        """
        n, first, second, apart, _, _ = self._weighted(weights)
        # The sum over all pairs of values of their squared difference is 2 (n S2 - S1^2).
        spread = n * second - first**2
        spread = np.where(spread > _ROUNDING * n * second, spread, 0.0)
        return 1 - ratio((n - 1) * apart, 2 * spread)

    def mean_abs_difference(self, weights: FloatArray | None = None) -> FloatArray:
        """Mean over items of the mean absolute difference of their pairs of values; shape as ``alpha``."""
        *_, n_paired, difference = self._weighted(weights)
        return ratio(difference, n_paired)

    def _weighted(self, weights: FloatArray | None) -> FloatArray:
        """The six sums, shape (6, R, 1 + pairs)."""
        sums = self._sums.sum(axis=0, keepdims=True) if weights is None else weights @ self._sums
        columns: FloatArray = np.moveaxis(sums.reshape(len(sums), -1, 6), -1, 0)
        return columns


def _measured_columns(values: FloatArray) -> FloatArray:
    """For each item: ratings, their sum, sum of squares, squared differences of ordered pairs over (ratings - 1);
    whether it has a pair, and the mean absolute difference of its pairs. All 0 for fewer than two ratings.
    """
    known = ~np.isnan(values)
    m = known.sum(axis=1).astype(np.float64)
    paired = m >= 2
    filled = np.where(known, values, 0.0)
    squares, differences = np.zeros(len(values)), np.zeros(len(values))
    for i, j in judge_pairs(values.shape[1]):
        gap = np.where(known[:, i] & known[:, j], filled[:, i] - filled[:, j], 0.0)
        squares += gap**2
        differences += np.abs(gap)
    apart = np.nan_to_num(ratio(2 * squares, m - 1))
    mean_gap = np.nan_to_num(ratio(2 * differences, m * (m - 1)))
    columns = np.column_stack([m, filled.sum(axis=1), (filled**2).sum(axis=1), apart, paired, mean_gap])
    return np.where(paired[:, None], columns, 0.0)


def _disagreement(margins: FloatArray, level: Level) -> FloatArray:
    """The squared difference delta of any two labels, shape (..., K, K)."""
    k = margins.shape[-1]
    places = np.arange(k)
    if level == "nominal":
        return np.asarray(places[:, None] != places, np.float64)
    if level == "interval":
        return np.asarray((places[:, None] - places) ** 2, np.float64)
    # The ratings from label c to label k, the ends counted by half, are a difference of midranks.
    midranks = np.cumsum(margins, axis=-1) - margins / 2
    delta: FloatArray = (midranks[..., :, None] - midranks[..., None, :]) ** 2
    return delta
