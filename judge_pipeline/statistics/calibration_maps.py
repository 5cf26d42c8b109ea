"""Calibration maps: functions of p_ac, fitted on labelled answers, that make probabilities of it.

Platt's, beta and temperature scaling are logistic regressions on functions of p, isotonic regression is a staircase.
The three are fitted to Platt's smoothed targets, (N1 + 1) / (N1 + 2) for the N1 accepted and 1 / (N0 + 2) for the N0
rejected answers, instead of 1 and 0: on few answers that p separates, the plain fits have no minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from judge_pipeline.statistics.logistic import (
    CLIP,
    clipped_logit,
    expit,
    fit_logistic,
    log_likelihood_loss,
    n_clipped,
)
from judge_pipeline.statistics.score_counts import FloatArray

MIN_ANSWERS = 10
"""Fewer labelled answers than this are not fitted at all."""

FEW_ANSWERS = {"platt": 100, "beta": 100, "temperature": 100, "isotonic": 1000}
"""Below this many labelled answers a fitted map says that it rests on few; a staircase needs more than a slope."""

Parameters = Mapping[tuple[str, int], float]
"""(parameter, knot) -> value; knot is 0 but for isotonic maps, whose knots are numbered from 1."""


@dataclass(frozen=True)
class FittedMap:
    """A map, or why there is none.

    Attributes:
        name: platt, beta, temperature or isotonic.
        parameters: what ``apply_map`` needs; None where the map could not be fitted.
        n: labelled answers it was fitted on.
        n_accepted: accepted ones among them.
        reason: why there are no parameters, or warnings joined by '; '.
    """

    name: str
    parameters: Parameters | None
    n: int
    n_accepted: int
    reason: str | None


def fit_map(name: str, y: FloatArray, p: FloatArray) -> FittedMap:
    """The map ``name`` fitted to labels ``y`` and answers ``p``, both (n,), none missing."""
    n, accepted = len(y), int(y.sum())
    reason = _why_not(name, y, p)
    if reason is not None:
        return FittedMap(name, None, n, accepted, reason)
    parameters = _FITS[name](y, p)
    return FittedMap(name, parameters, n, accepted, "; ".join(_warnings(name, parameters, p)) or None)


def apply_map(name: str, parameters: Parameters, p: FloatArray) -> FloatArray:
    """The calibrated probabilities of answers ``p``, same shape; NaN stays NaN."""
    if name == "isotonic":
        knots = sorted(knot for parameter, knot in parameters if parameter == "knot_p_ac")
        x = np.array([parameters["knot_p_ac", knot] for knot in knots])
        value = np.array([parameters["knot_value", knot] for knot in knots])
        return np.asarray(np.interp(p, x, value), np.float64)
    if name == "platt":
        return expit(parameters["intercept", 0] + parameters["slope", 0] * clipped_logit(p))
    if name == "temperature":
        return expit(parameters["inverse_temperature", 0] * clipped_logit(p))
    features = _beta_features(p)
    coefficients = np.array([parameters[name, 0] for name in ("c", "a", "b")])
    return expit(features @ coefficients)


def smoothed_targets(y: FloatArray) -> FloatArray:
    """Platt's (1999) targets: the mean of the label under a uniform prior, given how many there are of it."""
    accepted = float(y.sum())
    return np.where(y == 1, (accepted + 1) / (accepted + 2), 1 / (len(y) - accepted + 2))


def parameter_names(name: str) -> tuple[tuple[str, int], ...]:
    """The parameters that a map has at least, as keys of ``Parameters``."""
    return {
        "platt": (("intercept", 0), ("slope", 0)),
        "beta": (("a", 0), ("b", 0), ("c", 0)),
        "temperature": (("inverse_temperature", 0),),
        "isotonic": (("knot_p_ac", 1), ("knot_value", 1)),
    }[name]


def _fit_platt(y: FloatArray, p: FloatArray) -> Parameters:
    features = np.column_stack([np.ones(len(p)), clipped_logit(p)])
    intercept, slope = fit_logistic(features, smoothed_targets(y))
    return {("intercept", 0): float(intercept), ("slope", 0): float(slope)}


def _fit_temperature(y: FloatArray, p: FloatArray) -> Parameters:
    # 1 / T is what is linear, and is 0, not infinite, where a judge's confidence says nothing.
    (inverse,) = fit_logistic(clipped_logit(p)[:, None], smoothed_targets(y))
    return {("inverse_temperature", 0): max(float(inverse), 0.0)}


def _fit_beta(y: FloatArray, p: FloatArray) -> Parameters:
    """The best of the fits whose a and b are not negative: the free one, or the best on the edge a = 0 or b = 0."""
    features, targets = _beta_features(p), smoothed_targets(y)
    best: FloatArray = np.zeros(3)
    best_loss = np.inf
    for kept in ([0, 1, 2], [0, 1], [0, 2], [0]):
        coefficients = np.zeros(3)
        coefficients[kept] = fit_logistic(features[:, kept], targets)
        if (coefficients[1:] < 0).any():
            continue
        loss = log_likelihood_loss(features, targets, coefficients)
        if loss < best_loss:
            best, best_loss = coefficients, loss
    c, a, b = (float(value) for value in best)
    return {("a", 0): a, ("b", 0): b, ("c", 0): c}


def _fit_isotonic(y: FloatArray, p: FloatArray) -> Parameters:
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(p, y)
    parameters: dict[tuple[str, int], float] = {}
    for knot, (x, value) in enumerate(zip(fitted.X_thresholds_, fitted.y_thresholds_, strict=True), start=1):
        parameters["knot_p_ac", knot] = float(x)
        parameters["knot_value", knot] = float(value)
    return parameters


def _beta_features(p: FloatArray) -> FloatArray:
    """Columns 1, ln p and -ln(1 - p), shape (n, 3)."""
    inside = np.clip(p, CLIP, 1 - CLIP)
    return np.stack([np.ones_like(inside), np.log(inside), -np.log1p(-inside)], axis=-1)


def _why_not(name: str, y: FloatArray, p: FloatArray) -> str | None:
    n, accepted = len(y), int(y.sum())
    if n < MIN_ANSWERS:
        return f"val is too small: {n} labelled answers, and a map needs {MIN_ANSWERS}"
    if accepted in (0, n):
        return f"val has only one class: all {n} labelled answers are of y = {int(accepted > 0)}"
    values = np.unique(np.clip(p, CLIP, 1 - CLIP))
    needed = {"platt": 2, "beta": 3, "temperature": 1, "isotonic": 1}[name]
    if len(values) < needed:
        return f"the judge gives {len(values)} distinct value(s) on val, and the map needs {needed}"
    if name == "temperature" and len(values) == 1 and values[0] == 0.5:
        return "the judge gives 0.5 throughout val, which no temperature changes"
    return None


def _warnings(name: str, parameters: Parameters, p: FloatArray) -> list[str]:
    notes = []
    if len(p) < FEW_ANSWERS[name]:
        notes.append(
            f"fitted on few answers: {len(p)} on val, and with fewer than {FEW_ANSWERS[name]} such a map may make "
            "probabilities worse"
        )
    clipped = n_clipped(p)
    if name != "isotonic" and clipped:
        notes.append(f"{clipped} of {len(p)} answers on val lie beyond [{CLIP}, {1 - CLIP}] and were clipped")
    if parameters.get(("slope", 0), 0.0) < 0:
        notes.append("the slope is negative: on val higher p_ac went with fewer accepted attempts, and the map says so")
    if parameters.get(("inverse_temperature", 0), 1.0) == 0:
        notes.append("1 / T is 0: on val no temperature does better than 0.5 for every attempt")
    if name == "beta" and 0.0 in (parameters["a", 0], parameters["b", 0]):
        notes.append("a or b is held at 0, since the free fit would let the map fall")
    return notes


_FITS: Mapping[str, Callable[[FloatArray, FloatArray], Parameters]] = {
    "platt": _fit_platt,
    "beta": _fit_beta,
    "temperature": _fit_temperature,
    "isotonic": _fit_isotonic,
}
