"""Many penalized logistic regressions on the same features, each with weights of its own, at once.

A bootstrap of a model is this: a resample is a vector of weights. Newton's method runs over all resamples together, and
each step is three matrix products. Steps are damped by what a logistic loss allows: along a step that moves no linear
predictor by more than r, the share ln(1 + r) / r of it is certain to lower the loss (Bach 2010), so no loss is computed
and no start can fail. The tests hold it to scikit-learn.
"""

from __future__ import annotations

import numpy as np

from judge_pipeline.statistics.logistic import expit
from judge_pipeline.statistics.score_counts import FloatArray

_STEPS = 5000
"""A handful are needed; a weak penalty on labels that are nearly separated takes hundreds of damped ones."""
_CLOSE = 1e-6
"""A step that moves no linear predictor by more is the last: what is left is about its square."""
_FULL_STEP = 1.0
_BLOCK_ELEMENTS = 1 << 16
"""Weights worked on at once (half a megabyte): with the arrays beside them they stay in the processor's cache."""


def fit_weighted_logistic(
    features: FloatArray, labels: FloatArray, weights: FloatArray, *, c: float = 1.0
) -> FloatArray:
    """For each row of weights the minimum of c x weighted logistic loss + squared length of the coefficients / 2.

    The intercept is not penalized. It is scikit-learn's ``LogisticRegression(C=c)``.

    Args:
        features: shape (n, k), without a column of ones.
        labels: 0 or 1, shape (n,).
        weights: not negative, shape (fits, n).
        c: inverse strength of the penalty, above 0.

    Returns:
        Intercept and coefficients, shape (fits, 1 + k); NaN where a row's weights leave labels of one class, or none.

    Raises:
        ValueError: shapes that do not fit, c not above 0, or no convergence.
    """
    n, k = features.shape
    if labels.shape != (n,) or weights.ndim != 2 or weights.shape[1] != n or c <= 0:
        raise ValueError(f"features {features.shape}, labels {labels.shape}, weights {weights.shape}, c {c}: no fit")
    design = np.column_stack([np.ones(n), features])
    pairs = np.triu_indices(k + 1)
    products = design[:, pairs[0]] * design[:, pairs[1]]
    fitted = np.full((len(weights), k + 1), np.nan)
    total, of_class_1 = weights.sum(axis=1), weights @ labels
    defined = np.flatnonzero((of_class_1 > 0) & (of_class_1 < total))
    rows = max(1, _BLOCK_ELEMENTS // max(n, 1))
    start = np.zeros(k + 1)
    for begin in range(0, len(defined), rows):
        block = defined[begin : begin + rows]
        fitted[block] = _fit_block(design, products, labels, weights[block], start, 1 / c)
        start = fitted[block].mean(axis=0)  # resamples resemble each other
    return fitted


def _fit_block(
    design: FloatArray, products: FloatArray, labels: FloatArray, weights: FloatArray, start: FloatArray, ridge: float
) -> FloatArray:
    m = design.shape[1]
    penalty = np.full(m, ridge)
    penalty[0] = 0.0
    rows, columns = np.triu_indices(m)
    found = np.tile(start, (len(weights), 1))
    active = np.arange(len(weights))
    at, own = found.copy(), weights
    predictor = at @ design.T
    for _ in range(_STEPS):
        p = expit(predictor)
        gradient = (own * (p - labels)) @ design + penalty * at
        hessian = np.empty((len(at), m, m))
        hessian[:, rows, columns] = hessian[:, columns, rows] = (own * p * (1 - p)) @ products
        hessian[:, range(m), range(m)] += penalty
        step = -np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        move = step @ design.T
        reach = np.abs(move).max(axis=1)
        size = np.where(reach > _FULL_STEP, np.log1p(reach) / np.maximum(reach, _FULL_STEP), 1.0)[:, None]
        at, predictor = at + size * step, predictor + size * move
        found[active] = at
        going = reach > _CLOSE
        if not going.any():
            return found
        if not going.all():
            active, at, own, predictor = active[going], at[going], own[going], predictor[going]
    raise ValueError(f"{len(active)} of {len(weights)} logistic regressions did not converge in {_STEPS} steps")
