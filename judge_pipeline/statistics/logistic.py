"""Logistic regression on few features, to the last digits: for calibration maps and the stacker.

scikit-learn's solvers stop at a tolerance and penalize what should not be penalized here; the tests hold this to it and
to statsmodels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from judge_pipeline.statistics.score_counts import FloatArray

CLIP = 0.001
"""Answers are clipped to [CLIP, 1 - CLIP] before a logarithm or logit: 0 from a judge that writes two decimals says
"less than 0.005", not "never", and a logit without bound would let one such answer decide a fit or a panel."""

_STEPS = 200
_CLOSE = 1e-13
_NO_MINIMUM = "the logistic regression has no unique minimum: its features are collinear, or separate the labels"


def clipped_logit(p: FloatArray) -> FloatArray:
    """ln(p / (1 - p)), p clipped to [CLIP, 1 - CLIP]."""
    inside = np.clip(p, CLIP, 1 - CLIP)
    return np.asarray(np.log(inside) - np.log1p(-inside), np.float64)


def n_clipped(p: FloatArray) -> int:
    """How many of the answers ``clipped_logit`` clips."""
    return int(((p < CLIP) | (p > 1 - CLIP)).sum())


def expit(z: FloatArray) -> FloatArray:
    """1 / (1 + exp(-z)), without overflow."""
    small = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1 / (1 + small), small / (1 + small)), np.float64)


def log_likelihood_loss(features: FloatArray, targets: FloatArray, coefficients: FloatArray) -> float:
    """Sum of -t ln p - (1 - t) ln(1 - p) with p = expit(features @ coefficients)."""
    z = features @ coefficients
    return float((np.logaddexp(0.0, z) - targets * z).sum())


def fit_logistic(features: FloatArray, targets: FloatArray, penalty: FloatArray | None = None) -> FloatArray:
    """The coefficients that minimize ``log_likelihood_loss`` + sum of penalty / 2 x coefficient^2, by Newton's method.

    Args:
        features: shape (n, k), of full column rank; a column of ones for an intercept.
        targets: labels or smoothed labels in [0, 1], shape (n,). Without a penalty no plane may separate labels of
            exactly 0 and 1, or there is no minimum.
        penalty: shape (k,), 0 where a coefficient is free; none by default.

    Returns:
        shape (k,).

    Raises:
        ValueError: there is no unique minimum.
    """
    ridge = np.zeros(features.shape[1]) if penalty is None else penalty
    coefficients = np.zeros(features.shape[1])

    def objective(at: FloatArray) -> float:
        return log_likelihood_loss(features, targets, at) + float((ridge * at**2).sum()) / 2

    for _ in range(_STEPS):
        p = expit(features @ coefficients)
        gradient = features.T @ (p - targets) + ridge * coefficients
        hessian = (features * (p * (1 - p))[:, None]).T @ features + np.diag(ridge)
        try:
            step = np.asarray(np.linalg.solve(hessian, gradient), np.float64)
        except np.linalg.LinAlgError as error:
            raise ValueError(_NO_MINIMUM) from error
        size = _damping(objective, coefficients, step, float(gradient @ step))
        coefficients = coefficients - size * step
        if size == 1.0 and np.abs(step).max() <= _CLOSE * (1 + np.abs(coefficients).max()):
            return coefficients
    if np.abs(gradient).max() > 1e-9 * (1 + np.abs(features).sum(axis=0).max()):
        raise ValueError(_NO_MINIMUM)
    return coefficients


def _damping(objective: Callable[[FloatArray], float], at: FloatArray, step: FloatArray, slope: float) -> float:
    """The first of 1, 1/2, 1/4, ... of the Newton step that lowers the objective enough (Armijo)."""
    here = objective(at)
    size = 1.0
    # Near the minimum the decrease drowns in rounding, where the full step is right.
    noise = 1e-12 * (1 + abs(here))
    while objective(at - size * step) > here - 1e-4 * size * slope + noise and size > 1e-10:
        size /= 2
    return size
