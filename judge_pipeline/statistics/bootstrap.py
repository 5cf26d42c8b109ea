"""The cluster bootstrap: whole trajectories are drawn with replacement, the same draws for every judge.

A draw is a vector of weights, how often each cluster was drawn, and every statistic is computed under many such
vectors at once. Attempts of one trajectory resemble each other; drawing attempts singly would make intervals too
narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.score_counts import FloatArray

N_RESAMPLES = 2000
"""Resamples behind every interval, unless a caller says otherwise."""

FEW_CLUSTERS = 50
"""Below this many clusters percentile intervals are too narrow, and every figure says so."""

BLOCK_ELEMENTS = 1 << 18
"""Weights held at once (2 MB): few enough for the processor's cache, enough to make each call worth while."""

ROUNDING = 1e-12
"""Differences below this are floating-point noise."""

Key = TypeVar("Key")
Weights = tuple[FloatArray, ...]


@dataclass(frozen=True)
class ClusterResamples:
    """A plan of resamples, the same each time it is run.

    Clusters come in strata (the test and the val split), each resampled within itself from a stream of its own: the
    draws of one stratum do not depend on the size of another.

    Attributes:
        n_clusters: how many clusters each stratum has.
        n_resamples: how many resamples.
        seed: a non-negative integer.
    """

    n_clusters: tuple[int, ...]
    n_resamples: int = N_RESAMPLES
    seed: int = 0

    def blocks(self, n_rows: int) -> Iterator[Weights]:
        """The resamples in blocks of at most ``n_rows``: for each stratum the weights, shape (rows, clusters).

        The draws are the same whatever the size of the blocks.
        """
        streams = [np.random.default_rng([self.seed, stratum]) for stratum in range(len(self.n_clusters))]
        for start in range(0, self.n_resamples, n_rows):
            rows = min(n_rows, self.n_resamples - start)
            yield tuple(_draw(rng, rows, size) for rng, size in zip(streams, self.n_clusters, strict=True))


def replicate(
    resamples: ClusterResamples,
    statistics: Callable[[Weights], Mapping[Key, FloatArray]],
    *,
    n_observations: int,
) -> dict[Key, FloatArray]:
    """Every statistic under every resample.

    Args:
        resamples: the plan.
        statistics: from the weights of a block, one array of shape (strata's clusters -> (rows,)) for each key.
        n_observations: the most observations that a statistic spreads the weights over; sets the size of the blocks.

    Returns:
        for each key its replicates, shape (n_resamples,), NaN where the resample leaves the statistic undefined.
    """
    width = max(n_observations, sum(resamples.n_clusters), 1)
    n_rows = int(np.clip(BLOCK_ELEMENTS // width, 1, resamples.n_resamples))
    parts: dict[Key, list[FloatArray]] = {}
    for weights in resamples.blocks(n_rows):
        for key, values in statistics(weights).items():
            parts.setdefault(key, []).append(values)
    return {key: np.concatenate(values) for key, values in parts.items()}


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% percentile interval.

    Attributes:
        low: the 2.5% quantile of the defined replicates, or None where there is none.
        high: the 97.5% quantile.
        n_undefined: resamples that left the statistic undefined, and were skipped.
        n_resamples: all resamples.
    """

    low: float | None
    high: float | None
    n_undefined: int
    n_resamples: int


def percentile_interval(replicates: FloatArray, *, on_grid: bool = False) -> Interval:
    """The percentile interval of the replicates that are defined.

    ``on_grid`` takes a replicate that occurred instead of interpolating between two: for thresholds, which lie on a
    grid.
    """
    defined = replicates[~np.isnan(replicates)]
    n_undefined = len(replicates) - len(defined)
    if not len(defined):
        return Interval(None, None, n_undefined, len(replicates))
    low, high = np.quantile(defined, [0.025, 0.975], method="inverted_cdf" if on_grid else "linear")
    return Interval(float(low), float(high), n_undefined, len(replicates))


def estimate_with_interval(
    value: float,
    interval: Interval,
    *,
    n: int,
    n_left_out: int,
    n_clusters: int,
    warnings: Sequence[str] = (),
) -> Estimate:
    """The estimate of a defined value with its interval, and in ``reason`` what weakens either.

    Args:
        value: the point estimate.
        interval: from its replicates.
        n: observations behind the value.
        n_left_out: observations offered and not used.
        n_clusters: clusters that hold these observations.
        warnings: what else is to be said about the value.
    """
    notes = list(warnings)
    ci95: tuple[float, float] | None = None
    if n_clusters < 2:
        notes.append("no interval: a single cluster cannot be resampled")
        return Estimate(value, n, n_left_out, None, "; ".join(notes))
    if n_clusters < FEW_CLUSTERS:
        notes.append(
            f"{n_clusters} clusters: with fewer than {FEW_CLUSTERS}, 95% percentile intervals are too narrow "
            "(of AUC they cover about 92%)"
        )
    if interval.n_undefined:
        notes.append(f"undefined in {interval.n_undefined} of {interval.n_resamples} resamples, which were skipped")
    if interval.low is None or interval.high is None:
        notes.append("no interval: undefined in every resample")
    else:
        ci95 = (interval.low, interval.high)
        if interval.high - interval.low < ROUNDING:
            notes.append("the interval has no width: every resample gives the same value")
        elif not interval.low - ROUNDING <= value <= interval.high + ROUNDING:
            notes.append("the value lies outside its percentile interval: resampling itself shifts this figure")
    return Estimate(value, n, n_left_out, ci95, "; ".join(notes) or None)


def _draw(rng: np.random.Generator, n_rows: int, n_clusters: int) -> FloatArray:
    """How often each cluster is drawn in each of ``n_rows`` resamples; rows sum to ``n_clusters``."""
    if n_clusters == 0:
        return np.zeros((n_rows, 0))
    drawn: NDArray[np.int64] = rng.integers(0, n_clusters, size=(n_rows, n_clusters))
    drawn += np.arange(n_rows)[:, None] * n_clusters
    counts = np.bincount(drawn.ravel(), minlength=n_rows * n_clusters)
    return counts.reshape(n_rows, n_clusters).astype(np.float64)
