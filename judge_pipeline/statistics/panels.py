"""How the answers of several judges become one: mean, median, mean of logits, and a stacker fitted on labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_pipeline.statistics.logistic import CLIP, clipped_logit, expit, fit_logistic, n_clipped
from judge_pipeline.statistics.score_counts import FloatArray

PENALTY = 1.0
"""The stacker's L2 penalty on each judge's coefficient (C = 1); its intercept is free."""

MIN_ATTEMPTS = 10
"""Fewer labelled attempts than this fit no stacker."""

FEW_ATTEMPTS = 100
"""Below this many labelled attempts a stacker says that it rests on few."""


@dataclass(frozen=True)
class Stacker:
    """A fitted stacker, or why there is none.

    Attributes:
        coefficients: intercept, then one for each judge's logit, shape (1 + J,); None where it could not be fitted.
        n: labelled attempts it was fitted on.
        n_accepted: accepted ones among them.
        reason: why there are no coefficients, or warnings joined by '; '.
    """

    coefficients: FloatArray | None
    n: int
    n_accepted: int
    reason: str | None


def mean(p: FloatArray) -> FloatArray:
    """Mean of the answers, shape (n, J) -> (n,); NaN where one is missing."""
    return np.asarray(p.mean(axis=1), np.float64)


def median(p: FloatArray) -> FloatArray:
    """Median of the answers, shape (n, J) -> (n,); NaN where one is missing."""
    return np.asarray(np.median(p, axis=1), np.float64)


def logit_mean(p: FloatArray) -> FloatArray:
    """The answer whose logit is the mean of the logits, shape (n, J) -> (n,); NaN where one is missing."""
    return expit(np.asarray(clipped_logit(p).mean(axis=1), np.float64))


def stacked(p: FloatArray, coefficients: FloatArray) -> FloatArray:
    """The stacker's answer, shape (n, J) -> (n,); NaN where one is missing."""
    return expit(coefficients[0] + clipped_logit(p) @ coefficients[1:])


def fit_stacker(y: FloatArray, p: FloatArray) -> Stacker:
    """Logistic regression of labels (n,) on the judges' logits, shape (n, J), none missing, with an L2 penalty.

    Logits are on one scale already and are not standardized. The penalty keeps judges who say the same from sharing
    out opposite coefficients, and separated labels from having no fit.
    """
    n, accepted = len(y), int(y.sum())
    if n < MIN_ATTEMPTS:
        reason = f"val is too small: {n} labelled attempts that all judges answered, and a stacker needs {MIN_ATTEMPTS}"
        return Stacker(None, n, accepted, reason)
    if accepted in (0, n):
        return Stacker(None, n, accepted, f"val has only one class: all {n} attempts are of y = {int(accepted > 0)}")
    features = np.column_stack([np.ones(n), clipped_logit(p)])
    penalty = np.array([0.0, *[PENALTY] * p.shape[1]])
    return Stacker(fit_logistic(features, y, penalty), n, accepted, "; ".join(_warnings(p)) or None)


def _warnings(p: FloatArray) -> list[str]:
    notes = []
    if len(p) < FEW_ATTEMPTS:
        notes.append(f"fitted on few attempts: {len(p)} of val, fewer than {FEW_ATTEMPTS}")
    clipped = n_clipped(p)
    if clipped:
        notes.append(f"{clipped} of {p.size} answers on val lie beyond [{CLIP}, {1 - CLIP}] and were clipped")
    return notes
