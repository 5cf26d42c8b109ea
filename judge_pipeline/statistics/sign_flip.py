"""The sign-flip randomization test of paired differences, over clusters.

Where a treatment does nothing, each cluster's difference might as well have had the other sign. So the mean is held
against the means under all assignments of signs (Fisher 1935; Good 2005). It needs no distribution and no resamples,
and says how small a p-value so many clusters can give: 2 / 2^n.
"""

from __future__ import annotations

import numpy as np

from judge_pipeline.statistics.score_counts import FloatArray

EXACT_CLUSTERS = 14
"""Up to so many clusters all assignments of signs are gone through; beyond, ``N_DRAWS`` are drawn."""

N_DRAWS = 20_000

_BLOCK = 1 << 21
"""Signs held at once (16 MB)."""

_ROUNDING = 1e-12


def sign_flip_p(sums: FloatArray, seed: int) -> float | None:
    """The two-sided p-value of "the differences are as likely to have the other sign".

    Args:
        sums: for each cluster the sum of its differences, shape (clusters,).
        seed: of the drawn signs.

    Returns:
        The share of assignments under which the total is at least as large, either way; the one that occurred counts
        as drawn, so it is never 0. None without a cluster.
    """
    n = len(sums)
    if not n:
        return None
    limit = abs(float(sums.sum())) - _ROUNDING * max(1.0, float(np.abs(sums).sum()))
    if n <= EXACT_CLUSTERS:
        bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        return float((np.abs((2.0 * bits - 1.0) @ sums) >= limit).mean())
    stream = np.random.default_rng(seed)
    as_large, rows = 0, max(1, _BLOCK // n)
    for start in range(0, N_DRAWS, rows):
        signs = 2.0 * stream.integers(0, 2, size=(min(rows, N_DRAWS - start), n)) - 1.0
        as_large += int((np.abs(signs @ sums) >= limit).sum())
    return float((1 + as_large) / (1 + N_DRAWS))


def smallest_p(n_clusters: int) -> float:
    """The smallest p-value that so many clusters can give; 1 without any."""
    if n_clusters <= EXACT_CLUSTERS:
        return min(1.0, 2.0 / float(2**n_clusters))
    return 1.0 / (1 + N_DRAWS)
