"""Agreement figures that allow gaps: on decisions, on the ordinal scores and on p_ac, as functions of cluster weights.

An attempt takes part where two judges of the panel rated it, a pair's figure is on what both rated. Each statistic has
a value for each pair, for each judge (the mean of its pairs) and for the panel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.cocreation.agreement_figures import Key, Size, mean_warnings, row_means
from judge_pipeline.cocreation.judged_attempts import SplitArrays
from judge_pipeline.statistics import agreement, gwet, krippendorff
from judge_pipeline.statistics.agreement import judge_pairs
from judge_pipeline.statistics.krippendorff import MeasuredRatings
from judge_pipeline.statistics.ratings import MISSING, RatingCounts
from judge_pipeline.statistics.score_counts import FloatArray

N_SCORES = 5
"""Ordinal scores go from 1 to this (paper 1, eq. 8)."""

Statistics = Callable[[FloatArray | None], dict[str, tuple[FloatArray | None, FloatArray]]]
"""From cluster weights (R, clusters) to each statistic's value for the panel, shape (R,), and for pairs, (R, pairs).

None for the panel says that it is the mean of the pairs.
"""

_MEANS = ("cohen_linear", "cohen_quadratic")


@dataclass(frozen=True)
class RatingFigures:
    """A panel's ratings of the labelled attempts of test.

    Attributes:
        rated: what is rated: decision, s_algo, s_robust or p_ac.
        judges: the panel, in alphabetical order.
        names: the statistics.
        statistics: how they are computed; None where no figure can exist.
        values: the ratings, shape (items, J), NaN where there is none.
        cluster: trajectory of each item, shape (items,).
        n_attempts: attempts of test, with or without label.
        no_figure_reason: why no figure can exist, where none can.
    """

    rated: str
    judges: tuple[str, ...]
    names: tuple[str, ...]
    statistics: Statistics | None
    values: FloatArray
    cluster: NDArray[np.int64]
    n_attempts: int
    no_figure_reason: str | None

    @classmethod
    def of_decisions(
        cls, test: SplitArrays, panel: Sequence[str], columns: Sequence[int], limits: FloatArray, reason: str | None
    ) -> RatingFigures:
        """Accept (1) or reject (0) at each judge's t*, which are ``limits``; ``reason`` says why one has none."""
        p = test.p[:, columns]
        decisions = np.where(np.isnan(p), np.nan, p >= limits)
        return cls._of(test, "decision", panel, decisions, _decision_statistics, 2, reason)

    @classmethod
    def of_scores(cls, test: SplitArrays, score: str, panel: Sequence[str], columns: Sequence[int]) -> RatingFigures:
        """The judges' ``score``, s_algo or s_robust."""
        return cls._of(test, score, panel, test.scores[score][:, columns] - 1, _score_statistics, N_SCORES, None)

    @classmethod
    def of_probabilities(cls, test: SplitArrays, panel: Sequence[str], columns: Sequence[int]) -> RatingFigures:
        """The judges' p_ac."""
        return cls._of(test, "p_ac", panel, test.p[:, columns], None, 0, None)

    @classmethod
    def _of(
        cls,
        test: SplitArrays,
        rated: str,
        panel: Sequence[str],
        values: FloatArray,
        of_counts: Callable[[RatingCounts, FloatArray | None], dict[str, tuple[FloatArray | None, FloatArray]]] | None,
        n_labels: int,
        reason: str | None,
    ) -> RatingFigures:
        items = ~np.isnan(test.y) & (test.cluster >= 0) & ~np.isnan(values).all(axis=1)
        values, cluster = values[items], test.cluster[items]
        if len(panel) < 2:
            reason = f"agreement needs two judges; the panel has {len(panel)}"
        statistics: Statistics | None = None
        if reason is None and of_counts is None:
            measured = MeasuredRatings(values, cluster, test.n_clusters)
            statistics = lambda weights: _measured_statistics(measured, weights)  # noqa: E731
        elif reason is None and of_counts is not None:
            codes = np.where(np.isnan(values), MISSING, np.nan_to_num(values)).astype(np.int64)
            counts = RatingCounts(codes, n_labels, cluster, test.n_clusters)
            statistics = lambda weights: of_counts(counts, weights)  # noqa: E731
        return cls(rated, tuple(panel), STATISTICS[rated], statistics, values, cluster, len(test.y), reason)

    def points(self) -> dict[Key, float]:
        """Every figure, NaN where undefined; a judge's figure is the mean of its pairs that have one."""
        if self.statistics is None:
            pairs = [(self.judges[i], self.judges[j]) for i, j in judge_pairs(len(self.judges))]
            of_whom = [*pairs, *((name, None) for name in self.judges), (None, None)]
            return {(name, *judges): np.nan for name in self.names for judges in of_whom}
        return {key: float(values[0]) for key, values in self.replicates(None).items()}

    def replicates(self, weights: FloatArray | None) -> dict[Key, FloatArray]:
        """Every figure under cluster weights (R, clusters), shape (R,); a mean stays over the pairs of the point."""
        if self.statistics is None:
            return {}
        figures: dict[Key, FloatArray] = {}
        pairs = judge_pairs(len(self.judges))
        for name, (overall, by_pair) in self.statistics(weights).items():
            defined = self._defined_pairs[name]
            for place, (i, j) in enumerate(pairs):
                figures[name, self.judges[i], self.judges[j]] = by_pair[:, place]
            for place, judge in enumerate(self.judges):
                figures[name, judge, None] = row_means(by_pair[:, self._pairs_of(place) & defined])
            figures[name, None, None] = row_means(by_pair[:, defined]) if overall is None else overall
        return figures

    def size(self, statistic: str, first: str | None, second: str | None) -> Size:
        """The items behind a figure."""
        del statistic
        taking_part = self._items(first, second)
        n = int(taking_part.sum())
        return Size(n, self.n_attempts - n, len(np.unique(self.cluster[taking_part])))

    def undefined_reason(self, statistic: str, first: str | None, second: str | None) -> str:
        """Why the point estimate does not exist."""
        if self.no_figure_reason is not None:
            return self.no_figure_reason
        if not self._items(first, second).any():
            who = "two judges of the panel" if first is None else f"{first} and {second or 'another judge'}"
            return f"no labelled attempt of test has a {self.rated} of {who}"
        if second is None and (first is not None or statistic in _MEANS):
            return f"no pair{'' if first is None else f' of {first}'} has this figure: each is 0/0"
        return krippendorff.NO_VARIATION if statistic.startswith("krippendorff") else agreement.ONE_LABEL

    def warnings(self, statistic: str, first: str | None, second: str | None) -> list[str]:
        """What to know about a point estimate that exists."""
        if second is None and (first is not None or statistic in _MEANS):
            own = (
                np.ones(len(judge_pairs(len(self.judges))), dtype=bool)
                if first is None
                else self._pairs_of(self.judges.index(first))
            )
            return mean_warnings(own, self._defined_pairs[statistic], "value")
        if second is None or statistic not in _MEANS:
            return []
        both = self._items(first, second)
        constant = [name for name in (first, second) if name is not None and self._is_constant(name, both)]
        return [f"{name} gives every item the same {self.rated}, so kappa is 0 by construction" for name in constant]

    def _items(self, first: str | None, second: str | None) -> NDArray[np.bool_]:
        """The items that both rated, that the first and another rated, or that any two rated; shape (items,)."""
        given = ~np.isnan(self.values)
        several: NDArray[np.bool_] = given.sum(axis=1) >= 2
        for name in (first, second):
            if name is not None:
                several &= given[:, self.judges.index(name)]
        return several

    def _pairs_of(self, judge: int) -> NDArray[np.bool_]:
        return np.array([judge in pair for pair in judge_pairs(len(self.judges))], dtype=bool)

    @cached_property
    def _defined_pairs(self) -> dict[str, NDArray[np.bool_]]:
        """For each statistic, which pairs have it on the data as they are."""
        figures = {} if self.statistics is None else self.statistics(None)
        return {name: ~np.isnan(by_pair[0]) for name, (_, by_pair) in figures.items()}

    def _is_constant(self, name: str, items: NDArray[np.bool_]) -> bool:
        column = self.values[items, self.judges.index(name)]
        return bool((column == column[0]).all())


def _decision_statistics(
    counts: RatingCounts, weights: FloatArray | None
) -> dict[str, tuple[FloatArray | None, FloatArray]]:
    tables = counts.pair_tables(weights)
    alpha = krippendorff.alpha_of_coincidences
    return {
        "gwet_ac1": (gwet.ac1_of_items(counts.items(weights)), gwet.ac1_of_tables(tables)),
        "krippendorff_nominal": (
            alpha(counts.coincidences(weights), "nominal"),
            alpha(_coincidences_of(tables), "nominal"),
        ),
    }


def _score_statistics(
    counts: RatingCounts, weights: FloatArray | None
) -> dict[str, tuple[FloatArray | None, FloatArray]]:
    tables = counts.pair_tables(weights)
    of_all, of_pairs = counts.coincidences(weights), _coincidences_of(tables)
    alpha = krippendorff.alpha_of_coincidences
    return {
        "cohen_linear": (None, agreement.weighted_cohen_of_tables(tables, 1)),
        "cohen_quadratic": (None, agreement.weighted_cohen_of_tables(tables, 2)),
        "raw_agreement": (
            gwet.raw_agreement_of_items(counts.items(weights)),
            agreement.raw_agreement_of_tables(tables),
        ),
        "krippendorff_ordinal": (alpha(of_all, "ordinal"), alpha(of_pairs, "ordinal")),
        "krippendorff_interval": (alpha(of_all, "interval"), alpha(of_pairs, "interval")),
    }


def _measured_statistics(
    measured: MeasuredRatings, weights: FloatArray | None
) -> dict[str, tuple[FloatArray | None, FloatArray]]:
    alpha, difference = measured.alpha(weights), measured.mean_abs_difference(weights)
    return {
        "krippendorff_interval": (alpha[:, 0], alpha[:, 1:]),
        "mean_abs_difference": (difference[:, 0], difference[:, 1:]),
    }


def _coincidences_of(tables: FloatArray) -> FloatArray:
    """The coincidence matrices of two raters, from their tables; each item is the pair in both orders."""
    return tables + np.swapaxes(tables, -1, -2)


STATISTICS = {
    "decision": ("gwet_ac1", "krippendorff_nominal"),
    "s_algo": ("cohen_linear", "cohen_quadratic", "raw_agreement", "krippendorff_ordinal", "krippendorff_interval"),
    "s_robust": ("cohen_linear", "cohen_quadratic", "raw_agreement", "krippendorff_ordinal", "krippendorff_interval"),
    "p_ac": ("krippendorff_interval", "mean_abs_difference"),
}
"""For each thing that is rated, the statistics that allow gaps."""
