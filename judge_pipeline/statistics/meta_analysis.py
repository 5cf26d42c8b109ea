"""Pooling the same effect of many judges by random effects: the Paule-Mandel estimator, through statsmodels.

effect_j ~ Normal(mean, variance_j + tau2). tau2 solves sum of (effect - mean)^2 / (variance + tau2) = judges - 1, or is
0 where the effects differ by less than their variances (Paule and Mandel 1982). The pooled mean's standard error takes
effects as independent: judges that answered the same pairs are not, which is why ``preference.misalignment`` has a
test of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.score_counts import FloatArray

NORMAL_95 = 1.959963984540054
"""The 97.5% quantile of the normal distribution."""

_SOLVED = 1e-5
"""How far the equation may be from judges - 1: where statsmodels stops."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """A pooled effect.

    Attributes:
        mean: the pooled effect; None where there is no effect to pool.
        se: its standard error under the model; None with ``mean``.
        tau2: variance between effects; None with fewer than two effects.
        weights: share of each effect offered, 0 where it was left out; shape (effects,). They sum to 1, or to 0
            without a mean.
        n: effects that were pooled.
        n_left_out: effects that were offered and are undefined, or have no variance.
        reason: why something is None, or what was left out.
    """

    mean: float | None
    se: float | None
    tau2: float | None
    weights: FloatArray
    n: int
    n_left_out: int
    reason: str | None

    def estimate(self) -> Estimate:
        """The pooled effect with its normal interval, mean -+ 1.96 se; ``n`` counts effects."""
        if self.mean is None or self.se is None:
            return Estimate.undefined(self.reason or "nothing to pool", self.n, self.n_left_out)
        half = NORMAL_95 * self.se
        return Estimate(self.mean, self.n, self.n_left_out, (self.mean - half, self.mean + half), self.reason)


def paule_mandel(effects: FloatArray, variances: FloatArray) -> Pooled:
    """The effects pooled by random effects.

    An effect takes part where it is finite and its variance is finite and above 0. statsmodels says nothing where there
    is no effect (tau2 is infinite) or a variance is 0 (everything is NaN); here the first has no mean, and the second
    is left out and counted.

    Args:
        effects: shape (effects,); NaN: undefined.
        variances: of each effect's own error, shape (effects,).

    Raises:
        ValueError: the shapes differ.
    """
    if effects.shape != variances.shape or effects.ndim != 1:
        raise ValueError(f"effects and variances must be of one length: {effects.shape} and {variances.shape}")
    used = np.isfinite(effects) & np.isfinite(variances) & (variances > 0)
    n, n_left_out = int(used.sum()), int((~used).sum())
    weights = np.zeros(len(effects))
    left_out = f"{n_left_out} of {len(effects)} left out: undefined or without a variance" if n_left_out else None
    if n == 0:
        return Pooled(None, None, None, weights, 0, n_left_out, left_out or "there is nothing to pool")
    own, variance = effects[used], variances[used]
    if n == 1:
        weights[used] = 1.0
        why = "one effect: the variance between effects cannot be known, and its own error is all that is counted"
        reason = "; ".join(part for part in (why, left_out) if part)
        return Pooled(float(own[0]), float(np.sqrt(variance[0])), None, weights, 1, n_left_out, reason)
    tau2 = _tau2(own, variance)
    precision = 1 / (variance + tau2)
    weights[used] = precision / precision.sum()
    mean = float(weights[used] @ own)
    return Pooled(mean, float(precision.sum() ** -0.5), tau2, weights, n, n_left_out, left_out)


def _tau2(effects: FloatArray, variances: FloatArray) -> float:
    """The variance between two or more effects."""
    from scipy.optimize import brentq
    from statsmodels.stats.meta_analysis import combine_effects

    # In units of the smallest error and from their mean: the same, whatever the effects are measured in.
    unit = float(variances.min())
    scaled, own = (effects - effects.mean()) / np.sqrt(unit), variances / unit

    def excess(tau2: float) -> float:
        precision = 1 / (own + tau2)
        mean = precision @ scaled / precision.sum()
        return float(precision @ (scaled - mean) ** 2) - (len(effects) - 1)

    with np.errstate(all="ignore"):  # its I2 of effects that are all the same
        found = float(combine_effects(scaled, own, method_re="pm").tau2)
    if abs(excess(found)) <= _SOLVED or (found == 0 and excess(0.0) <= 0):
        return found * unit
    # statsmodels stops after 50 steps, and gives 0 where one lands beyond the root by rounding. It says neither.
    return float(brentq(excess, 0.0, float(scaled @ scaled))) * unit
