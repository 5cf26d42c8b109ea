"""Whether sets rank judges alike: how well one benchmark speaks for another (TRACE, section 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, permutations
from math import factorial

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.intervals import ROUNDING, holm
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables.preference_accuracy import PREFERENCE_RANKS

FEWEST_JUDGES = 3
N_PERMUTATIONS = 9999
_NO_INTERVAL = "no interval: judges are chosen, not drawn; the p-value says whether chance alone would rank so"


def preference_ranks(figures: Mapping[str, Mapping[str, float | None]], *, figure: str, seed: int = 0) -> pd.DataFrame:
    """Spearman's rho and Kendall's tau-b of every two sets over the judges that both have; table PREFERENCE_RANKS.

    p-values: exact over all permutations of up to 7 judges, else over 9,999 drawn ones (Phipson and Smyth 2010).

    Args:
        figures: set (a preference set, or a benchmark of somebody else) -> judge -> its figure; None: undefined there.
        figure: what the figure is called.
        seed: seed of the permutations.
    """
    rows = []
    for statistic, compute in _STATISTICS.items():
        group = []
        for one, other in combinations(figures, 2):
            estimate, p_value = _relation(figures[one], figures[other], compute, seed)
            names = {"set_1": one, "set_2": other, "figure": figure, "statistic": statistic}
            group.append({**names, **estimate.to_row(), "p_value": p_value, "p_holm": None})
        tested = [row for row in group if row["p_value"] is not None]
        for row, p_holm in zip(tested, holm([row["p_value"] for row in tested]), strict=True):
            row["p_holm"] = p_holm
        rows += group
    return PREFERENCE_RANKS.conform(rows)


def _relation(
    one: Mapping[str, float | None], other: Mapping[str, float | None], compute: _Statistic, seed: int
) -> tuple[Estimate, float | None]:
    values = {judge: (one.get(judge), other.get(judge)) for judge in dict.fromkeys((*one, *other))}
    known = np.array([pair for pair in values.values() if None not in pair], np.float64).reshape(-1, 2)
    n, left_out = len(known), len(values) - len(known)
    if n < FEWEST_JUDGES:
        return Estimate.undefined(f"fewer than {FEWEST_JUDGES} judges have the figure on both sets", n, left_out), None
    first, second = known.T
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Estimate.undefined("all judges have the same figure on one of the sets", n, left_out), None
    value = float(compute(first, second[None])[0])
    orders = _permutations(n, seed)
    extreme = int((np.abs(compute(first, second[orders])) >= abs(value) - ROUNDING).sum())
    exact = len(orders) == factorial(n)
    p_value = extreme / len(orders) if exact else (1 + extreme) / (1 + len(orders))
    return Estimate(value, n, left_out, None, _NO_INTERVAL), p_value


def _permutations(n: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    if factorial(n) <= N_PERMUTATIONS:
        return np.array(list(permutations(range(n))), np.int64)
    return np.random.default_rng(seed).permuted(np.tile(np.arange(n), (N_PERMUTATIONS, 1)), axis=1)


def _spearman(first: FloatArray, second: FloatArray) -> FloatArray:
    from scipy.stats import rankdata

    a = rankdata(first) - (len(first) + 1) / 2
    b = rankdata(second, axis=-1) - (len(first) + 1) / 2
    return np.asarray(b @ a / np.sqrt((a**2).sum() * (b**2).sum(axis=-1)), np.float64)


def _kendall(first: FloatArray, second: FloatArray) -> FloatArray:
    i, j = np.triu_indices(len(first), 1)
    a, b = np.sign(first[i] - first[j]), np.sign(second[:, i] - second[:, j])
    return np.asarray(b @ a / np.sqrt((a**2).sum() * (b**2).sum(axis=-1)), np.float64)


_Statistic = Callable[[FloatArray, FloatArray], FloatArray]
"""Figures of judges (J,) on one set, and rows (R, J) of theirs on the other -> (R,)."""

_STATISTICS: Mapping[str, _Statistic] = {"spearman": _spearman, "kendall": _kendall}
