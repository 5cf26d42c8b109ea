"""The cluster bootstrap: whole trajectories are drawn with replacement, the same draws for every judge.

A draw is a vector of weights, how often each cluster was drawn, and every statistic is computed under many such
vectors at once. Attempts of one trajectory resemble each other; drawing attempts singly would make intervals too
narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.statistics.score_counts import FloatArray

N_RESAMPLES = 2000
"""Resamples behind every interval, unless a caller says otherwise."""

BLOCK_ELEMENTS = 1 << 18
"""Weights held at once (2 MB): few enough for the processor's cache, enough to make each call worth while."""

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


def _draw(rng: np.random.Generator, n_rows: int, n_clusters: int) -> FloatArray:
    """How often each cluster is drawn in each of ``n_rows`` resamples; rows sum to ``n_clusters``."""
    if n_clusters == 0:
        return np.zeros((n_rows, 0))
    drawn: NDArray[np.int64] = rng.integers(0, n_clusters, size=(n_rows, n_clusters))
    drawn += np.arange(n_rows)[:, None] * n_clusters
    counts = np.bincount(drawn.ravel(), minlength=n_rows * n_clusters)
    return counts.reshape(n_rows, n_clusters).astype(np.float64)
