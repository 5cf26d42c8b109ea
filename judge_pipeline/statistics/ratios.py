"""Division that says "undefined" instead of warning, and the interval of a share."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Z95 = NormalDist().inv_cdf(0.975)
"""The 97.5% point of the standard normal distribution."""


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> NDArray[np.float64]:
    """numerator / denominator in float64, NaN wherever the denominator is 0. Shapes broadcast; nothing warns."""
    top, bottom = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    quotient: NDArray[np.float64] = np.divide(top, bottom, out=np.full(top.shape, np.nan), where=bottom != 0)
    return quotient


def wilson_interval(successes: ArrayLike, n: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """95% score interval (Wilson 1927) of successes / n, NaN where n is 0.

    It has width at 0 of n and at n of n, where a bootstrap has none. It takes the n observations as independent.
    """
    share = ratio(successes, n)
    count = np.broadcast_to(np.asarray(n, np.float64), share.shape)
    spread = ratio(Z95**2, count)
    centre = (share + spread / 2) / (1 + spread)
    half = np.sqrt(np.maximum(share * (1 - share) * spread + spread**2 / 4, 0.0)) / (1 + spread)
    # At the ends the formula gives 0 and 1 exactly; rounding must not push the share out of its own interval.
    return np.minimum(np.maximum(centre - half, 0.0), share), np.maximum(np.minimum(centre + half, 1.0), share)
