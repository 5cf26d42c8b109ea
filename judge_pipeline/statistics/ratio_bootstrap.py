"""Figures that are sums of ratios of sums, all under the same resamples of clusters.

A share, a difference of two shares and the mean of several judges' shares are of this kind: sums over clusters are
taken once, and a resample is one product of its weights with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, ClusterResamples, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval, two_sided_p
from judge_pipeline.statistics.ratings import sums_by_cluster
from judge_pipeline.statistics.ratios import ratio
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

MANY_CLUSTERS = 4096
"""From how many clusters on it is looked whether they are alike."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Term:
    """``factor`` times the sum of ``numerator`` over that of ``denominator``; arrays of shape (observations,)."""

    numerator: ArrayLike
    denominator: ArrayLike
    factor: float = 1.0


Terms = Sequence[Term]
"""A figure: the sum of its terms."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Which observations are drawn together, and how often.

    Attributes:
        index: for each observation its cluster, from 0; shape (observations,).
        n: how many clusters.
        seed: seed of the resamples; the same seed and n give the same draws.
        n_resamples: how many.
    """

    index: IntArray
    n: int
    seed: int = 0
    n_resamples: int = N_RESAMPLES


@dataclass(frozen=True, slots=True)
class Replicated:
    """A figure and what it is under every resample.

    Attributes:
        value: the figure; NaN where a denominator is 0.
        replicates: shape (resamples,), NaN where undefined.
        n_clusters: clusters with an observation in any denominator.
    """

    value: float
    replicates: FloatArray
    n_clusters: int

    def estimate(self, *, n: int, n_left_out: int, undefined: str, warnings: Sequence[str] = ()) -> Estimate:
        """The figure as an estimate with its interval; ``undefined`` says why where there is no value."""
        if np.isnan(self.value):
            return Estimate.undefined("; ".join((undefined, *warnings)), n, n_left_out)
        return estimate_with_interval(
            self.value, self.replicates, n=n, n_left_out=n_left_out, n_clusters=self.n_clusters, warnings=warnings
        )

    def p_value(self, null: float = 0.0) -> float | None:
        """Two-sided p of "the figure is ``null``" (``intervals.two_sided_p``); None where it is undefined."""
        return None if np.isnan(self.value) else two_sided_p(self.replicates - null, self.n_clusters)


def replicated_ratios(figures: Mapping[Key, Terms], clusters: Clusters) -> dict[Key, Replicated]:
    """Every figure with its replicates, all under the same draws.

    Args:
        figures: key -> its terms. Arrays that are one object are summed once.
        clusters: how the observations are drawn.
    """
    if not figures:
        return {}
    columns: dict[int, int] = {}
    arrays: list[FloatArray] = []
    for term in (term for terms in figures.values() for term in terms):
        for array in (term.numerator, term.denominator):
            if id(array) not in columns:
                columns[id(array)] = len(arrays)
                arrays.append(np.asarray(array, np.float64))
    sums = sums_by_cluster(np.stack(arrays, axis=1), clusters.index, clusters.n)

    def under(totals: FloatArray) -> dict[Key, FloatArray]:
        return {key: _combined(terms, totals, columns) for key, terms in figures.items()}

    total = _totals(sums)

    def statistics(weights: Weights) -> dict[Key, FloatArray]:
        return under(total(weights[0]))

    values = under(sums.sum(axis=0, keepdims=True))
    plan = ClusterResamples((clusters.n,), clusters.n_resamples, clusters.seed)
    replicates = replicate(plan, statistics, n_observations=max(clusters.n, len(arrays)))
    found = {}
    for key, terms in figures.items():
        behind = [sums[:, columns[id(term.denominator)]] > 0 for term in terms]
        found[key] = Replicated(float(values[key][0]), replicates[key], int(np.logical_or.reduce(behind).sum()))
    return found


def _totals(sums: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """What weights (rows, clusters) make of the clusters' sums (clusters, columns): their weighted totals.

    Many pairs are alike: the same label, the same answers. Where there are many clusters of whole numbers, the weights
    of like ones are added up first, which gives the same totals, whole numbers too, from a much smaller product.
    """
    if len(sums) < MANY_CLUSTERS or (sums != np.rint(sums)).any():
        return lambda weights: np.asarray(weights @ sums, np.float64)
    kinds, kind = np.unique(sums, axis=0, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    starts = np.searchsorted(kind.ravel()[order], np.arange(len(kinds)))
    return lambda weights: np.asarray(np.add.reduceat(weights[:, order], starts, axis=1) @ kinds, np.float64)


def _combined(terms: Terms, totals: FloatArray, columns: Mapping[int, int]) -> FloatArray:
    parts = [
        term.factor * ratio(totals[:, columns[id(term.numerator)]], totals[:, columns[id(term.denominator)]])
        for term in terms
    ]
    return np.asarray(np.sum(parts, axis=0), np.float64)
