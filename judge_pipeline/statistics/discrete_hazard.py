"""Logistic regression of counts, with a covariance robust to clusters: for hazards in discrete time.

A trajectory that is at risk at turns 1 to T is T trials of which at most the last succeeds; the logit of a trial's
chance is the model (Cox 1972; Singer and Willett 1993). Trials with the same features are counted together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from judge_pipeline.statistics.logistic import expit
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

_STEPS = 100
_LARGEST = 15.0
"""A coefficient beyond this (odds of 3 million) means that features separate the events."""


class NotFittedError(ValueError):
    """The model has no finite maximum; the message says why."""


@dataclass(frozen=True, slots=True)
class HazardFit:
    """A fitted model.

    Attributes:
        coefficients: shape (k,).
        covariance: with clusters taken as independent, times n / (n - 1) for n clusters; shape (k, k), NaN with one.
        n_clusters: how many clusters.
    """

    coefficients: FloatArray
    covariance: FloatArray
    n_clusters: int


def fit_hazard(features: FloatArray, cell: IntArray, event: FloatArray, cluster: IntArray) -> HazardFit:
    """Maximum likelihood by Newton's method, and the sandwich covariance over clusters.

    Args:
        features: of each cell, which is what trials with the same features are in, shape (cells, k); of full column
            rank over cells that have trials.
        cell: index of each trial's cell, shape (n,).
        event: whether the trial succeeded, shape (n,).
        cluster: index of each trial's cluster, shape (n,).

    Raises:
        NotFittedError: the features are collinear or separate events from the others.
    """
    n_cells, n_clusters = len(features), int(cluster.max()) + 1
    trials = np.bincount(cell, minlength=n_cells).astype(np.float64)
    events = np.bincount(cell, weights=event, minlength=n_cells).astype(np.float64)
    coefficients = _maximum(features, trials, events)
    p = expit(features @ coefficients)
    information = (features * (trials * p * (1 - p))[:, None]).T @ features
    residuals = csr_matrix((event - p[cell], (cluster, cell)), shape=(n_clusters, n_cells))
    scores = residuals @ features
    inverse = np.linalg.inv(information)
    factor = n_clusters / (n_clusters - 1) if n_clusters > 1 else np.nan
    return HazardFit(coefficients, factor * inverse @ (scores.T @ scores) @ inverse, n_clusters)


def _maximum(features: FloatArray, trials: FloatArray, events: FloatArray) -> FloatArray:
    coefficients = np.zeros(features.shape[1])
    for _ in range(_STEPS):
        p = expit(features @ coefficients)
        gradient = features.T @ (events - trials * p)
        information = (features * (trials * p * (1 - p))[:, None]).T @ features
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError as error:
            raise NotFittedError("the features are collinear") from error
        # A long first step may overshoot where chances are near 0 or 1.
        coefficients = coefficients + step / max(1.0, float(np.abs(step).max()) / 2)
        if np.abs(coefficients).max() > _LARGEST:
            raise NotFittedError("a coefficient grows without bound: the features separate the events")
        if np.abs(step).max() < 1e-10:
            return np.asarray(coefficients, np.float64)
    raise NotFittedError(f"no maximum in {_STEPS} steps")
