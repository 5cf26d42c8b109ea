"""How many clusters a figure needs: for an interval of a given half width, and to tell it from zero.

Both scale the bootstrap's standard error by one over the root of the number of clusters, which supposes that further
trajectories are like those at hand.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from judge_pipeline.statistics.ratios import Z95

HALF_WIDTH = 0.05
"""The half width of a 95% interval that is asked for."""

POWER = 0.8
"""The probability of a p-value below 0.05 that is asked for."""

Z_POWER = NormalDist().inv_cdf(POWER)


def clusters_for_half_width(standard_error: float, n_clusters: int, half_width: float = HALF_WIDTH) -> int:
    """n (z_0.975 SE / half_width)^2, rounded up: clusters that make a 95% interval that narrow; at least 2."""
    return _whole(n_clusters * (Z95 * standard_error / half_width) ** 2)


def clusters_for_power(standard_error: float, n_clusters: int, difference: float) -> int:
    """n ((z_0.975 + z_0.8) SE / difference)^2, rounded up: clusters that tell ``difference`` from 0 in 80% of studies.

    At least 2.

    Raises:
        ValueError: the difference is 0, which no number of clusters tells from 0.
    """
    if difference == 0:
        raise ValueError("a difference of 0 is never told from 0")
    return _whole(n_clusters * ((Z95 + Z_POWER) * standard_error / difference) ** 2)


def _whole(clusters: float) -> int:
    # Rounding noise must not add a cluster to what is a whole number.
    return max(2, math.ceil(clusters - 1e-9))
