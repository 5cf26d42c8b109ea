"""Who is near whom, whether a drawing keeps that, and whether those who are near have like values.

Distances are given as a whole matrix: 2,000 points take 32 MB.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from judge_pipeline.statistics.score_counts import FloatArray, IntArray

N_PERMUTATIONS = 4999

_BLOCK = 1 << 21
"""Values of permutations held at once (16 MB)."""

_ROUNDING = 1e-10

Statistic = Callable[[FloatArray], FloatArray]
"""Values (B, n), a row for each permutation -> the figure of each row (B,)."""


def nearest_others(distances: FloatArray, k: int) -> IntArray:
    """The k nearest others of each point, the nearest first; of equally near ones those that come first.

    Args:
        distances: shape (n, n), symmetric.
        k: 1 to n - 1.

    Returns:
        Positions, shape (n, k).

    Raises:
        ValueError: there are not k others.
    """
    n = len(distances)
    if not 1 <= k < n:
        raise ValueError(f"{n} points have no {k} nearest others")
    others = np.array(distances, np.float64)
    np.fill_diagonal(others, np.inf)
    return np.argsort(others, axis=1, kind="stable")[:, :k].astype(np.int64)


def kept_share(before: IntArray, after: IntArray) -> float:
    """The share of the nearest before that are among the nearest after; by chance it is k / (n - 1).

    Args:
        before: as ``nearest_others`` gives them, shape (n, k).
        after: the same for another place of the points.
    """
    kept = [len(np.intersect1d(one, other)) for one, other in zip(before, after, strict=True)]
    return float(np.sum(kept) / before.size)


def neighbour_likeness(nearest: IntArray) -> Statistic:
    """Moran's (1950) I with the nearest as neighbours: sum_i z_i mean_{j near i} z_j / sum_i z_i^2, z less its mean.

    1: everybody is like those nearest; -1 / (n - 1): on average over all permutations.

    Args:
        nearest: as ``nearest_others`` gives them, shape (n, k).
    """
    n, k = nearest.shape
    near = csr_matrix((np.full(n * k, 1 / k), nearest.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))

    def figure(values: FloatArray) -> FloatArray:
        z = values - values.mean(axis=1, keepdims=True)
        return np.asarray((z * (near @ z.T).T).sum(axis=1) / (z**2).sum(axis=1), np.float64)

    return figure


def similarity_likeness(similarity: FloatArray) -> Statistic:
    """Mantel's (1967) correlation, over all pairs, of similarity with likeness: less the squared difference of values.

    Args:
        similarity: shape (n, n), symmetric; not constant over pairs.
    """
    n = len(similarity)
    pairs = n * (n - 1) / 2
    off = np.array(similarity, np.float64)
    np.fill_diagonal(off, 0.0)
    off -= off.sum() / (2 * pairs)
    np.fill_diagonal(off, 0.0)
    rows, scale = off.sum(axis=1), float(np.sqrt((off**2).sum() / 2))

    def figure(values: FloatArray) -> FloatArray:
        z = values - values.mean(axis=1, keepdims=True)
        # Over pairs i < j: sum of (z_i - z_j)^2, of its square, and of its product with the centred similarity.
        second, fourth = (z**2).sum(axis=1), (z**4).sum(axis=1)
        total, squares = n * second, n * fourth + 3 * second**2
        product = (z**2) @ rows - (z * (off @ z.T).T).sum(axis=1)
        return np.asarray(-product / (scale * np.sqrt(squares - total**2 / pairs)), np.float64)

    return figure


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A figure beside what it is when the values are dealt out anew.

    Attributes:
        value: the figure.
        null_mean: its mean over permutations.
        null_low: 2.5% of permutations are below.
        null_high: 2.5% of permutations are above.
        p_value: (1 + permutations with a figure at least as large) / (1 + permutations): one-sided, never 0.
        n_permutations: how many were drawn.
    """

    value: float
    null_mean: float
    null_low: float
    null_high: float
    p_value: float
    n_permutations: int


def permutation_test(
    values: FloatArray, statistic: Statistic, *, seed: int, n_permutations: int = N_PERMUTATIONS
) -> PermutationTest:
    """Whether the figure is larger than when the values belong to other points (Fisher; p as Phipson and Smyth 2010).

    Args:
        values: one of each point, not all the same; shape (n,).
        statistic: the figure.
        seed: of the permutations.
        n_permutations: how many are drawn.
    """
    observed = float(statistic(values[None, :])[0])
    stream = np.random.default_rng(seed)
    rows = max(1, _BLOCK // len(values))
    parts = []
    for start in range(0, n_permutations, rows):
        dealt = np.tile(values, (min(rows, n_permutations - start), 1))
        parts.append(statistic(stream.permuted(dealt, axis=1)))
    null = np.concatenate(parts)
    as_large = int((null >= observed - _ROUNDING).sum())
    low, high = np.quantile(null, (0.025, 0.975))
    p_value = (1 + as_large) / (1 + n_permutations)
    return PermutationTest(observed, float(null.mean()), float(low), float(high), p_value, n_permutations)
