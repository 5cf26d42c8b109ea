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
    """Cross products of the columns (1, x, y) and of the levels' indicators, of which those each are diagonal."""

    columns: FloatArray
    """(3, 3)."""
    together: FloatArray
    """(L1, L2): how many observations have a level of the one and of the other effect."""
    between: tuple[FloatArray, FloatArray]
    """(L1, 3) and (L2, 3)."""
    n: int

    @property
    def n_levels(self) -> tuple[int, int]:
        return self.together.shape[0], self.together.shape[1]

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
        cells = np.bincount(codes[0] * n_second + codes[1], minlength=n_first * n_second)
        together = cells.reshape(n_first, n_second).astype(np.float64)
        sums = [_sums(columns, code, size) for code, size in zip(codes, (n_first, n_second), strict=True)]
        return cls(columns.T @ columns, together, (sums[0], sums[1]), n)

    def whitened(self, relative: FloatArray) -> tuple[FloatArray, float]:
        """A'H^-1 A of the columns A, and log |H|, with H the covariance of y over the variance of e.

        By Woodbury's formula, in which the larger effect, whose own block is diagonal, is eliminated first.
        """
        from scipy.linalg import cho_factor, cho_solve

        many, few = (0, 1) if self.n_levels[0] >= self.n_levels[1] else (1, 0)
        counts = self.together if many == 0 else self.together.T
        mixed = relative[0] * relative[1] * counts
        of_many = 1 + relative[many] ** 2 * counts.sum(axis=1)
        of_few = 1 + relative[few] ** 2 * counts.sum(axis=0)
        rest = cho_factor(np.diag(of_few) - mixed.T @ (mixed / of_many[:, None]), lower=True)
        right_many, right_few = relative[many] * self.between[many], relative[few] * self.between[few]
        solved_few = cho_solve(rest, right_few - mixed.T @ (right_many / of_many[:, None]))
        solved_many = (right_many - mixed @ solved_few) / of_many[:, None]
        products: FloatArray = self.columns - right_many.T @ solved_many - right_few.T @ solved_few
        return products, float(np.log(of_many).sum() + 2 * np.log(np.diag(rest[0])).sum())

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


def _sums(columns: FloatArray, code: IntArray, n_levels: int) -> FloatArray:
    """The sum of each column at each level, (L, 3)."""
    return np.column_stack([np.bincount(code, weights=c, minlength=n_levels) for c in columns.T]).astype(np.float64)


def _parts(products: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    return products[:2, :2], products[:2, 2], float(products[2, 2])


def _placed(values: FloatArray, free: list[int]) -> FloatArray:
    placed = np.zeros(2)
    placed[free] = values
    return placed
