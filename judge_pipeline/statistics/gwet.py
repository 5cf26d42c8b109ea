"""Gwet's AC1 (Gwet 2008; with missing ratings: Gwet 2014, Handbook of Inter-Rater Reliability, chapter 2).

Kappa falls towards 0 where nearly all ratings are one label, however often raters agree; AC1 takes chance agreement to
be largest where labels are even, and does not.
"""

from __future__ import annotations

import numpy as np

from judge_pipeline.statistics.ratings import ItemSums
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray


def ac1_of_items(sums: ItemSums) -> FloatArray:
    """AC1 from ``RatingCounts.items``, shape (R,).

    (p_a - p_e) / (1 - p_e): p_a is the mean share of agreeing pairs over the items with two ratings or more, p_e is
    sum over labels of pi (1 - pi) / (labels - 1), pi the mean share of a label over all rated items. NaN where no item
    has two ratings. One label from everyone has AC1 1.
    """
    observed = ratio(sums.agreeing, sums.n_paired)
    share = ratio(sums.shares, sums.n_rated[:, None])
    by_chance = (share * (1 - share)).sum(axis=1) / (share.shape[1] - 1)
    return ratio(observed - by_chance, 1 - by_chance)


def ac1_of_tables(tables: FloatArray) -> FloatArray:
    """AC1 of two raters who rated all items, from their tables (..., K, K); shape (...), NaN for an empty table."""
    n = tables.sum(axis=(-2, -1))
    observed = ratio(np.trace(tables, axis1=-2, axis2=-1), n)
    share = ratio(tables.sum(axis=-1) + tables.sum(axis=-2), 2 * n[..., None])
    by_chance = (share * (1 - share)).sum(axis=-1) / (tables.shape[-1] - 1)
    return ratio(observed - by_chance, 1 - by_chance)


def raw_agreement_of_items(sums: ItemSums) -> FloatArray:
    """The share of pairs of ratings that agree, averaged over the items with two ratings or more; shape (R,)."""
    return ratio(sums.agreeing, sums.n_paired)
