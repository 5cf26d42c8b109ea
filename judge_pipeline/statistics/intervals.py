"""95% intervals and tests from the replicates of a cluster bootstrap, made for few clusters as well as for many.

The interval is the expanded percentile interval (Hesterberg 2015): quantiles of the replicates, taken further out than
2.5% and 97.5% by as much as a t interval of that many clusters is wider than a normal one. With many clusters the two
are the same, so one rule serves every n. ``benchmarks/coverage.py`` measures how often it holds the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.score_counts import FloatArray

FEW_CLUSTERS = 50
"""Below this many clusters every figure says that its interval was expanded and what it then covers."""

_NO_95_INTERVAL = "give no 95% interval"

FEWEST_CLUSTERS = 5
"""Below this many clusters the expanded tail lies beyond what 2,000 resamples reach: the ends are the extremes."""

FEWEST_RESAMPLES = 40
"""Below this many resamples 2.5% of them are less than one: they give no 95% interval, whatever the clusters."""

ROUNDING = 1e-12
"""Differences below this are floating-point noise."""

TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval from replicates.

    Attributes:
        low: its lower end, or None where no replicate is defined.
        high: its upper end.
        n_undefined: resamples that left the statistic undefined, and were skipped.
        n_resamples: all resamples.
    """

    low: float | None
    high: float | None
    n_undefined: int
    n_resamples: int


def expanded_tail(n_clusters: int, tail: float = TAIL) -> float:
    """The quantile of the replicates that stands for ``tail``: Phi(root(n / (n - 1)) x the t quantile of n - 1).

    0.0150 for 18 clusters, 0.0212 for 50, 0.0240 for 200, towards 0.025. The bootstrap's variance is too small by the
    factor (n - 1) / n, and the normal quantiles that percentiles stand for ignore that the variance is estimated.

    Raises:
        ValueError: fewer than two clusters.
    """
    from scipy.special import ndtr, stdtrit

    if n_clusters < 2:
        raise ValueError(f"an interval needs two clusters; there are {n_clusters}")
    return float(ndtr(math.sqrt(n_clusters / (n_clusters - 1)) * stdtrit(n_clusters - 1, tail)))


def bootstrap_interval(replicates: FloatArray, n_clusters: int, *, on_grid: bool = False) -> Interval:
    """The expanded percentile interval of the replicates that are defined.

    Args:
        replicates: shape (resamples,), NaN where the resample leaves the statistic undefined.
        n_clusters: clusters behind the statistic, at least two.
        on_grid: take a replicate that occurred instead of interpolating between two: for thresholds, which lie on a
            grid.
    """
    defined = replicates[~np.isnan(replicates)]
    n_undefined = len(replicates) - len(defined)
    if not len(defined):
        return Interval(None, None, n_undefined, len(replicates))
    tail = expanded_tail(n_clusters)
    low, high = np.quantile(defined, [tail, 1 - tail], method="inverted_cdf" if on_grid else "linear")
    return Interval(float(low), float(high), n_undefined, len(replicates))


def recentred(replicates: FloatArray, value: float, low: float = -np.inf, high: float = np.inf) -> FloatArray:
    """The replicates moved so that their mean is ``value``, none outside [low, high].

    For figures that repeated rows shift, above all calibration errors: resampling adds its own scatter to every bin,
    so uncorrected replicates of a small error may all lie above it.
    """
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        return replicates
    moved: FloatArray = np.clip(replicates - (defined.mean() - value), low, high)
    return moved


def two_sided_p(replicates: FloatArray, n_clusters: int) -> float | None:
    """The p-value of "the figure is 0", by inverting ``bootstrap_interval``: below 0.05 where that leaves out 0.

    With B defined replicates, q is the smaller of (1 + number <= 0) / (B + 1) and (1 + number >= 0) / (B + 1). For
    many clusters p is 2 q; in general it is twice the t tail of n - 1 that the expansion maps to q. At most 1; never
    0: with B = 2,000 at least 0.001, and more with few clusters. None without a defined replicate or a second cluster.
    """
    from scipy.special import ndtri, stdtr

    defined = replicates[~np.isnan(replicates)]
    if n_clusters < 2 or not len(defined):
        return None
    at_most = 1 + int((defined <= ROUNDING).sum())
    at_least = 1 + int((defined >= -ROUNDING).sum())
    share = min(at_most, at_least) / (len(defined) + 1)
    if share >= 0.5:
        return 1.0
    return float(2 * stdtr(n_clusters - 1, ndtri(share) * math.sqrt((n_clusters - 1) / n_clusters)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's (1979) step-down correction for looking at all of ``p_values``; in their order, each at most 1."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    running = 0.0
    for rank, place in enumerate(order):
        running = max(running, (len(order) - rank) * p_values[place])
        corrected[place] = min(running, 1.0)
    return [float(p) for p in corrected]


def standard_error(replicates: FloatArray, n_clusters: int) -> float | None:
    """The bootstrap standard error, times root(n / (n - 1)); None without two defined replicates and two clusters."""
    defined = replicates[~np.isnan(replicates)]
    if n_clusters < 2 or len(defined) < 2:
        return None
    return float(defined.std(ddof=1)) * math.sqrt(n_clusters / (n_clusters - 1))


def estimate_with_interval(
    value: float,
    replicates: FloatArray,
    *,
    n: int,
    n_left_out: int,
    n_clusters: int,
    warnings: Sequence[str] = (),
    on_grid: bool = False,
) -> Estimate:
    """The estimate of a defined value with its interval, and in ``reason`` what weakens either.

    Args:
        value: the point estimate.
        replicates: the same figure under every resample.
        n: observations behind the value.
        n_left_out: observations offered and not used.
        n_clusters: clusters that hold these observations.
        warnings: what else is to be said about the value.
        on_grid: as for ``bootstrap_interval``.
    """
    notes = list(warnings)
    if n_clusters < 2:
        notes.append("no interval: a single cluster cannot be resampled")
        return Estimate(value, n, n_left_out, None, "; ".join(notes))
    interval = bootstrap_interval(replicates, n_clusters, on_grid=on_grid)
    n_defined = len(replicates) - interval.n_undefined
    if n_clusters < FEWEST_CLUSTERS:
        notes.append(
            f"{n_clusters} clusters: fewer than {FEWEST_CLUSTERS} {_NO_95_INTERVAL}, so its ends are the least and "
            "the greatest value of all resamples, and it may well be too narrow"
        )
    elif 0 < n_defined < (needed := 1 / expanded_tail(n_clusters)):
        notes.append(
            f"{n_defined} resamples with a value {_NO_95_INTERVAL} of {n_clusters} clusters: its ends lie beyond "
            f"them, and these are about their least and greatest. Ask for at least {math.ceil(needed):,}, better 2,000"
        )
    elif n_clusters < FEW_CLUSTERS:
        notes.append(
            f"{n_clusters} clusters: with fewer than {FEW_CLUSTERS}, percentile intervals are too narrow, so this one "
            "is expanded by t quantiles (simulated with 18 and 50, it covers 93 to 96%)"
        )
    if interval.n_undefined:
        notes.append(f"undefined in {interval.n_undefined} of {interval.n_resamples} resamples, which were skipped")
    if n_defined < 2 or interval.low is None or interval.high is None:
        notes.append(f"no interval: {'undefined in every resample' if not n_defined else 'one resample gives none'}")
        return Estimate(value, n, n_left_out, None, "; ".join(notes))
    if interval.high - interval.low < ROUNDING:
        notes.append("the interval has no width: every resample gives the same value")
    elif not interval.low - ROUNDING <= value <= interval.high + ROUNDING:
        notes.append("the value lies outside its interval: resampling itself shifts this figure")
    return Estimate(value, n, n_left_out, (interval.low, interval.high), "; ".join(notes) or None)


def has_95_interval(estimate: Estimate) -> bool:
    """Whether there is an interval that may be read as one of 95%; the extremes of too few clusters may not."""
    return estimate.ci95 is not None and _NO_95_INTERVAL not in (estimate.reason or "")
