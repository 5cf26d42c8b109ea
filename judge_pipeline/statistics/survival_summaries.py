"""Medians and restricted means of times to success, with model-based intervals and under a bootstrap's weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from judge_pipeline.statistics.ratios import Z95, ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray
from judge_pipeline.statistics.survival import KaplanMeier

_HALF = 0.5 + 1e-12
"""A share that is one half but for rounding counts as one half."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A figure of a Kaplan-Meier estimate: value and 95% interval, each None where it does not exist."""

    value: float | None
    low: float | None
    high: float | None


def median_time(curve: KaplanMeier) -> Summary:
    """The first time after which at most half are unsolved, with Brookmeyer and Crowley's interval.

    The interval's ends are the first times at which the lower and the upper end of the curve's band are at most one
    half. An end that the band never reaches is None, as is the value where more than half stay unsolved. Where the
    share is 0 there is no band, and its ends are taken to be 0 and not to exist.
    """
    low_band = np.where(curve.value == 0, 0.0, curve.ci95_low)
    ends = [_first_at_half(curve.turn, band) for band in (curve.value, low_band, curve.ci95_high)]
    return Summary(*ends)


def _first_at_half(turn: IntArray, share: FloatArray) -> float | None:
    at_most = np.flatnonzero(share <= _HALF)
    return float(turn[at_most[0]]) if len(at_most) else None


def restricted_mean(curve: KaplanMeier, horizon: float) -> Summary:
    """The area under the curve from 0 to ``horizon``: mean time unsolved within it.

    The standard error is Greenwood's: root of the sum over event times t <= horizon of (area from t to the horizon)^2
    d / (n (n - d)). The interval is normal, cut at 0 and the horizon. Beyond the last observation the curve is carried
    on flat: choose a horizon within it. Without an event the variance is 0 and there is no interval.
    """
    inside = curve.turn < horizon
    edges = np.append(curve.turn[inside], horizon).astype(np.float64)
    pieces = np.diff(edges) * curve.value[inside]
    mean = float(pieces.sum())
    after = np.cumsum(pieces[::-1])[::-1]
    n, d = curve.n_at_risk[inside].astype(np.float64), curve.n_events[inside].astype(np.float64)
    variance = float((after**2 * np.nan_to_num(ratio(d, n * (n - d)))).sum())
    if variance == 0:
        return Summary(mean, None, None)
    half = Z95 * math.sqrt(variance)
    return Summary(mean, max(mean - half, 0.0), min(mean + half, float(horizon)))


class WeightedTimes:
    """Times to success of one group, ready to be estimated under many vectors of clusters' weights.

    Args:
        time: whole times >= 0, shape (G,), G >= 1.
        event: whether success was observed at that time, shape (G,).
        cluster: for each trajectory the index of its weight, shape (G,).
        n_clusters: how many weights a vector has.
    """

    def __init__(self, time: ArrayLike, event: ArrayLike, cluster: ArrayLike, n_clusters: int) -> None:
        solved = np.asarray(event, np.bool_)
        self.time, place = np.unique(np.asarray(time, np.int64), return_inverse=True)
        rows, shape = np.asarray(cluster, np.int64), (n_clusters, len(self.time))
        self._ends = csr_matrix((np.ones(len(rows)), (rows, place)), shape=shape)
        self._events = csr_matrix((solved.astype(np.float64), (rows, place)), shape=shape)

    def survival(self, weights: FloatArray) -> FloatArray:
        """The Kaplan-Meier share after each of ``time``, shape (R, T), under weights (R, clusters).

        NaN in rows in which no trajectory of the group has weight. With weights of 1 it is ``kaplan_meier``'s.
        """
        ends, events = weights @ self._ends, weights @ self._events
        total = ends.sum(axis=1, keepdims=True)
        at_risk = total - np.cumsum(ends, axis=1) + ends
        share = np.cumprod(1 - np.nan_to_num(ratio(events, at_risk)), axis=1).astype(np.float64, copy=False)
        share[total[:, 0] == 0] = np.nan
        return share

    def medians(self, share: FloatArray) -> FloatArray:
        """The median time of each row of ``survival``; NaN where it is not reached."""
        reached = share <= _HALF
        found: FloatArray = self.time[np.argmax(reached, axis=1)].astype(np.float64)
        return np.where(reached.any(axis=1), found, np.nan)

    def restricted_means(self, share: FloatArray, horizon: float) -> FloatArray:
        """The area under each row of ``survival`` up to ``horizon``."""
        inside = self.time < horizon
        edges = np.append(self.time[inside], horizon).astype(np.float64)
        area: FloatArray = edges[0] * np.where(np.isnan(share[:, 0]), np.nan, 1.0) + share[:, inside] @ np.diff(edges)
        return area

    def shares_at(self, share: FloatArray, time: float) -> FloatArray:
        """The value of each row of ``survival`` at ``time``: 1 before the first of ``time``."""
        place = int(np.searchsorted(self.time, time, side="right"))
        unsolved: FloatArray = share[:, place - 1] if place else np.where(np.isnan(share[:, 0]), np.nan, 1.0)
        return unsolved

    def figures(self, weights: FloatArray, horizon: float) -> Mapping[str, FloatArray]:
        """``median``, ``restricted_mean`` and ``solved_by_horizon`` under each row of weights, shape (R,)."""
        share = self.survival(weights)
        return {
            "median": self.medians(share),
            "restricted_mean": self.restricted_means(share, horizon),
            "solved_by_horizon": 1 - self.shares_at(share, horizon),
        }
