"""Agreement figures on decisions that need complete items (Table V), as functions of cluster weights.

Those that allow gaps are in ``rating_figures``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.cocreation.judge_figures import JudgeFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.statistics import agreement
from judge_pipeline.statistics.agreement import DecisionCounts, judge_pairs
from judge_pipeline.statistics.score_counts import FloatArray

Key = tuple[str, str | None, str | None]
"""(statistic, judge_1, judge_2) of the table ``judge_agreement``."""


@dataclass(frozen=True, slots=True)
class Size:
    """What a figure rests on: items, attempts of test left out, and trajectories that hold the items."""

    n: int
    n_left_out: int
    n_clusters: int


@dataclass(frozen=True)
class AgreementFigures:
    """A panel's accept/reject decisions at each judge's t* on the test attempts that all its judges answered.

    Attributes:
        judges: the panel, in alphabetical order.
        rated: what is rated.
        limits: t* of each judge, shape (J,), NaN where there is none.
        no_threshold_reason: why some judge decides nothing, where that is so.
        counts: the decisions, summed by cluster; None where no figure can exist.
        decisions: accepted or not, shape (items, J); no rows where some judge has no threshold.
        n_items: items that take part.
        n_left_out: attempts of test that do not.
        n_clusters: trajectories that hold an item.
        no_figure_reason: why no figure can exist, where none can.
    """

    judges: tuple[str, ...]
    limits: FloatArray
    no_threshold_reason: str | None
    counts: DecisionCounts | None
    decisions: NDArray[np.bool_]
    n_items: int
    n_left_out: int
    n_clusters: int
    no_figure_reason: str | None
    rated: str = "decision"

    @classmethod
    def of(cls, judged: JudgedAttempts, panel: tuple[str, ...]) -> AgreementFigures:
        """The decisions of ``panel`` on the test split of ``judged``."""
        val, test = judged.splits["val"], judged.splits["test"]
        columns = [judged.judges.index(name) for name in panel]
        chosen = {name: JudgeFigures.of(val, test, i).threshold for name, i in zip(panel, columns, strict=True)}
        limits = np.array([np.nan if t is None else t.value for t in chosen.values()])
        without = [name for name, threshold in chosen.items() if threshold is None]
        complete = ~np.isnan(test.y) & ~np.isnan(test.p[:, columns]).any(axis=1)
        n_items = int(complete.sum())
        no_threshold = None
        if without:
            no_threshold = f"no threshold could be chosen on val for {', '.join(without)}, so there are no decisions"
        reason = no_threshold
        if len(panel) < 2:
            reason = f"agreement needs two judges; the panel has {len(panel)}"
        elif no_threshold is None and not n_items:
            reason = "no labelled attempt of test was answered by every judge of the panel"
        decisions = test.p[complete][:, columns] >= limits
        cluster = test.cluster[complete]
        return cls(
            judges=panel,
            limits=limits,
            no_threshold_reason=no_threshold,
            counts=None if reason else DecisionCounts(decisions, cluster, test.n_clusters),
            decisions=decisions,
            n_items=n_items,
            n_left_out=len(test.y) - n_items,
            n_clusters=len(np.unique(cluster)),
            no_figure_reason=reason,
        )

    def points(self) -> dict[Key, float]:
        """Every figure, NaN where undefined; a mean is over the pairs that have a kappa."""
        pairs = judge_pairs(len(self.judges))
        if self.counts is None:
            names: list[Key] = [(name, self.judges[i], self.judges[j]) for name in _OF_PAIRS for i, j in pairs]
            names += [(name, judge, None) for name in _OF_JUDGES for judge in self.judges]
            names += [(name, None, None) for name in _OF_ALL]
            return dict.fromkeys(names, np.nan)
        return {key: float(values[0]) for key, values in self.replicates(None).items()}

    def replicates(self, weights: FloatArray | None) -> dict[Key, FloatArray]:
        """Every figure under cluster weights (R, clusters), shape (R,).

        A mean stays over the pairs that have a kappa on the data as they are; where one of these loses it in a
        resample, so does the mean.
        """
        if self.counts is None:
            return {}
        tables = self.counts.pair_tables(weights)
        by_pair = {name: figure(tables) for name, figure in _OF_PAIRS.items()}
        prevalence = self.counts.accepted_shares(weights)
        defined = self._defined_pairs()
        pairs = judge_pairs(len(self.judges))
        figures: dict[Key, FloatArray] = {}
        for name, values in by_pair.items():
            for index, (i, j) in enumerate(pairs):
                figures[name, self.judges[i], self.judges[j]] = values[:, index]
        for place, judge in enumerate(self.judges):
            own = np.array([place in pair for pair in pairs])
            figures["judge_mean_cohen", judge, None] = row_means(by_pair["cohen"][:, own & defined])
            figures["raw_agreement", judge, None] = row_means(by_pair["raw_agreement"][:, own])
            figures["prevalence", judge, None] = prevalence[:, place]
        figures["mean_cohen", None, None] = row_means(by_pair["cohen"][:, defined])
        levels = self.counts.level_weights(weights)
        figures["fleiss", None, None] = agreement.fleiss_of_counts(self.counts.level_counts, levels)
        everyone = agreement.mean_pair_agreement_of_counts(self.counts.level_counts, levels)
        figures["raw_agreement", None, None] = everyone
        figures["prevalence", None, None] = row_means(prevalence)
        return figures

    def size(self, statistic: str, first: str | None, second: str | None) -> Size:
        """The items behind a figure: the same for all."""
        del statistic, first, second
        return Size(self.n_items, self.n_left_out, self.n_clusters)

    def undefined_reason(self, statistic: str, first: str | None, second: str | None) -> str:
        """Why the point estimate does not exist."""
        if self.no_figure_reason is not None:
            return self.no_figure_reason
        if statistic == "cohen":
            return f"{agreement.ONE_LABEL} ({self._label_of(first)}); raw agreement is 1"
        if statistic in ("mean_cohen", "judge_mean_cohen"):
            return f"no pair{'' if first is None else f' of {first}'} has a kappa: each is 0/0"
        return f"{agreement.ONE_LABEL} ({self._label_of(self.judges[0])}); raw agreement is 1"

    def warnings(self, statistic: str, first: str | None, second: str | None) -> list[str]:
        """What to know about a point estimate that exists."""
        if statistic == "cohen":
            constant = [name for name in (first, second) if name is not None and self._is_constant(name)]
            return [f"{name} decides the same on every item, so kappa is 0 by construction" for name in constant]
        if statistic in ("mean_cohen", "judge_mean_cohen"):
            own = [first is None or self.judges.index(first) in pair for pair in judge_pairs(len(self.judges))]
            return mean_warnings(np.array(own), self._defined_pairs(), "kappa (0/0)")
        return []

    def _defined_pairs(self) -> NDArray[np.bool_]:
        """Which pairs have a kappa on the data as they are: all but those of two judges with one same decision."""
        share = self.decisions.mean(axis=0)
        return np.array([not (share[i] == share[j] and share[i] in (0, 1)) for i, j in judge_pairs(len(self.judges))])

    def _is_constant(self, name: str) -> bool:
        column = self.decisions[:, self.judges.index(name)]
        return bool(column.all() or not column.any())

    def _label_of(self, name: str | None) -> str:
        if name is None:
            return "one label"
        return "accept" if self.decisions[:, self.judges.index(name)].all() else "reject"


def mean_warnings(own: NDArray[np.bool_], defined: NDArray[np.bool_], lacking: str) -> list[str]:
    """What to know about a mean over the pairs ``own`` of which only some are ``defined``, both of shape (pairs,)."""
    missing = int((own & ~defined).sum())
    return [f"{missing} of {own.sum()} pairs have no {lacking} and are left out of the mean"] if missing else []


def row_means(values: FloatArray) -> FloatArray:
    """Means of the rows, shape (R, M) -> (R,); NaN where there is no column."""
    if values.shape[1] == 0:
        return np.full(len(values), np.nan)
    means: FloatArray = values.mean(axis=1)
    return means


_OF_PAIRS = {
    "cohen": agreement.cohen_of_tables,
    "raw_agreement": agreement.raw_agreement_of_tables,
    "prevalence_index": agreement.prevalence_index_of_tables,
    "bias_index": agreement.bias_index_of_tables,
}
_OF_JUDGES = ("judge_mean_cohen", "raw_agreement", "prevalence")
_OF_ALL = ("mean_cohen", "fleiss", "raw_agreement", "prevalence")
