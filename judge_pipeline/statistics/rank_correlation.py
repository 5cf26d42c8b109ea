"""How two ordered things go together, as functions of their table: Spearman's rho, Kendall's tau-b, ROC-AUC.

Tables are weighted counts of shape (..., rows, columns), both in ascending order; one value for each table, shape
(...). Ties are many where there are five scores and two verdicts: all three count them, none breaks them.
"""

from __future__ import annotations

import numpy as np

from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray


def spearman_of_tables(tables: FloatArray) -> FloatArray:
    """Spearman's rho: Pearson's correlation of the midranks. NaN where rows or columns are constant."""
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    row_ranks, column_ranks = _centred_midranks(rows), _centred_midranks(columns)
    together = (tables * row_ranks[..., :, None] * column_ranks[..., None, :]).sum(axis=(-2, -1))
    spread = (rows * row_ranks**2).sum(axis=-1) * (columns * column_ranks**2).sum(axis=-1)
    return ratio(together, np.sqrt(spread))


def kendall_tau_b_of_tables(tables: FloatArray) -> FloatArray:
    """Kendall's tau-b: (concordant - discordant) / root of (pairs not tied in rows x pairs not tied in columns).

    NaN where rows or columns are constant.
    """
    concordant, discordant = _concordant(tables), _concordant(tables[..., ::-1])
    spread = _untied(tables.sum(axis=-1)) * _untied(tables.sum(axis=-2))
    return ratio(concordant - discordant, np.sqrt(spread))


def roc_auc_of_tables(tables: FloatArray) -> FloatArray:
    """ROC-AUC of the columns against two rows, rejected then accepted: ties count one half. NaN for one class.

    Shape (..., 2, columns) -> (...).
    """
    rows = tables.sum(axis=-1)
    n_pairs = rows[..., 0] * rows[..., 1]
    lead = _concordant(tables) - _concordant(tables[..., ::-1])
    return ratio(lead + n_pairs, 2 * n_pairs)


def _centred_midranks(counts: FloatArray) -> FloatArray:
    """Twice the midrank of each label, less twice the mean rank: whole numbers for whole counts."""
    total = counts.sum(axis=-1, keepdims=True)
    ranks: FloatArray = 2 * np.cumsum(counts, axis=-1) - counts - total
    return ranks


def _concordant(tables: FloatArray) -> FloatArray:
    """Weight of pairs that lie further along both rows and columns."""
    below = np.cumsum(np.cumsum(tables, axis=-2), axis=-1)
    before: FloatArray = (tables[..., 1:, 1:] * below[..., :-1, :-1]).sum(axis=(-2, -1))
    return before


def _untied(counts: FloatArray) -> FloatArray:
    """Weight of pairs that differ in the label."""
    untied: FloatArray = (counts.sum(axis=-1) ** 2 - (counts**2).sum(axis=-1)) / 2
    return untied
