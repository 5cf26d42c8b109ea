"""A linear mixed model with two crossed random intercepts, by restricted maximum likelihood (REML).

y = a + b x + u(participant) + v(problem) + e, all three normal with mean 0. The likelihood is profiled over everything
but the two variances relative to that of e, and needs the data only through cross products of the levels (Bates et al.
2015): its cost hangs on the number of levels, not of observations. The tests hold it to statsmodels' ``MixedLM``, which
gives the same and works on all observations at every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judge_pipeline.statistics.score_counts import FloatArray, IntArray

MIN_OBSERVATIONS = 10
_START = 0.5
_MAX_RELATIVE = 1e3
"""Largest standard deviation of an effect, in standard deviations of e, that is looked for."""
_NEGLIGIBLE = 1e-6
"""Smaller ones are 0."""


class NotFittedError(ValueError):
    """A model cannot be fitted to these data; the message says why."""


@dataclass(frozen=True, slots=True)
class CrossedEffects:
    """The fitted model.

    Attributes:
        slope: b.
        slope_se: its standard error, given the variances.
        variances: of the first effect, of the second, and of e; None for an effect with a single level.
        n: observations.
    """

    slope: float
    slope_se: float
    variances: tuple[float | None, float | None, float]
    n: int


def fit_crossed_effects(x: ArrayLike, y: ArrayLike, first: ArrayLike, second: ArrayLike) -> CrossedEffects:
    """Fit the model.

    Args:
        x: shape (N,).
        y: shape (N,).
        first: for each observation the level of the first effect, 0 and up, shape (N,).
        second: that of the second effect.

    Raises:
        NotFittedError: too few observations, nothing that varies, or no convergence.
    """
    from scipy.optimize import minimize

    moments = _Moments.of(np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(first), np.asarray(second))
    free = [i for i, n_levels in enumerate(moments.n_levels) if n_levels > 1]
    relative = np.zeros(2)
    if free:
        # Nelder and Mead's search needs no derivative, which does not exist where a variance is 0.
        found = minimize(
            lambda at: moments.deviance(_placed(at, free)), np.full(len(free), _START), method="Nelder-Mead",
            bounds=[(0.0, _MAX_RELATIVE)] * len(free), options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000},
        )  # fmt: skip
        if not found.success:
            raise NotFittedError(f"the mixed model did not converge ({found.message.rstrip('.').lower()})")
        # The search ends near a bound, not on it.
        relative = _placed(np.where(found.x < _NEGLIGIBLE, 0.0, found.x), free)
    products, _ = moments.whitened(relative)
    within, along, _ = _parts(products)
    residual = moments.residual_variance(products)
    variances = [float(residual * relative[i] ** 2) if i in free else None for i in (0, 1)]
    slope_variance = residual * float(np.linalg.inv(within)[1, 1])
    slope = float(np.linalg.solve(within, along)[1])
    return CrossedEffects(slope, slope_variance**0.5, (variances[0], variances[1], residual), moments.n)


@dataclass(frozen=True)
class _Moments:
    """Cross products of the columns (1, x, y) and of the levels' indicators."""

    columns: FloatArray
    """(3, 3)."""
    levels: FloatArray
    """(L, L), the levels of both effects."""
    between: FloatArray
    """(L, 3)."""
    n_levels: tuple[int, int]
    n: int

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, first: IntArray, second: IntArray) -> _Moments:
        n = len(x)
        if n < MIN_OBSERVATIONS:
            raise NotFittedError(f"{n} observations are too few for a mixed model; it needs {MIN_OBSERVATIONS}")
        for name, values in (("churn", x), ("progress", y)):
            if np.ptp(values) == 0:
                raise NotFittedError(f"{name} is the same in all {n} observations")
        columns = np.column_stack([np.ones(n), x, y])
        codes = [np.unique(level, return_inverse=True)[1] for level in (first, second)]
        n_first, n_second = (int(code.max()) + 1 for code in codes)
        levels = np.zeros((n_first + n_second,) * 2)
        together = np.bincount(codes[0] * n_second + codes[1], minlength=n_first * n_second).reshape(n_first, n_second)
        levels[:n_first, n_first:], levels[n_first:, :n_first] = together, together.T
        np.fill_diagonal(levels, np.concatenate([together.sum(axis=1), together.sum(axis=0)]))
        between: FloatArray = np.vstack(
            [
                np.column_stack([np.bincount(code, weights=column, minlength=size) for column in columns.T])
                for code, size in zip(codes, (n_first, n_second), strict=True)
            ]
        )
        return cls(columns.T @ columns, levels, between, (n_first, n_second), n)

    def whitened(self, relative: FloatArray) -> tuple[FloatArray, float]:
        """A'H^-1 A of the columns A, and log |H|, with H the covariance of y over the variance of e."""
        from scipy.linalg import cho_factor, cho_solve

        scale = np.repeat(relative, self.n_levels)
        inner = np.eye(len(scale)) + scale[:, None] * self.levels * scale[None]
        factor = cho_factor(inner, lower=True)
        scaled = scale[:, None] * self.between
        products: FloatArray = self.columns - scaled.T @ cho_solve(factor, scaled)
        return products, 2 * float(np.log(np.diag(factor[0])).sum())

    def residual_variance(self, products: FloatArray) -> float:
        """The REML estimate of the variance of e."""
        within, along, total = _parts(products)
        # Rounding may leave a fit without any residual just below 0.
        return max(float(total - along @ np.linalg.solve(within, along)), 1e-300) / (self.n - 2)

    def deviance(self, relative: FloatArray) -> float:
        """Minus twice the profiled restricted log-likelihood, but for a constant."""
        products, log_determinant = self.whitened(relative)
        within, _, _ = _parts(products)
        residual = self.residual_variance(products)
        return float((self.n - 2) * np.log(residual) + log_determinant + np.linalg.slogdet(within)[1])


def _parts(products: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    return products[:2, :2], products[:2, 2], float(products[2, 2])


def _placed(values: FloatArray, free: list[int]) -> FloatArray:
    placed = np.zeros(2)
    placed[free] = values
    return placed
