"""The agreement figures of a panel as functions of cluster weights, and why any of them may not exist."""

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


@dataclass(frozen=True)
class AgreementFigures:
    """A panel's accept/reject decisions at each judge's t* on the test attempts that all its judges answered.

    Attributes:
        judges: the panel, in alphabetical order.
        counts: the decisions, summed by cluster; None where no figure can exist.
        decisions: accepted or not, shape (items, J); no rows where some judge has no threshold.
        n_items: items that take part.
        n_left_out: attempts of test that do not.
        n_clusters: trajectories that hold an item.
        no_figure_reason: why no figure can exist, where none can.
    """

    judges: tuple[str, ...]
    counts: DecisionCounts | None
    decisions: NDArray[np.bool_]
    n_items: int
    n_left_out: int
    n_clusters: int
    no_figure_reason: str | None

    @classmethod
    def of(cls, judged: JudgedAttempts, panel: tuple[str, ...]) -> AgreementFigures:
        """The decisions of ``panel`` on the test split of ``judged``."""
        val, test = judged.splits["val"], judged.splits["test"]
        columns = [judged.judges.index(name) for name in panel]
        chosen = {name: JudgeFigures.of(val, test, i).threshold for name, i in zip(panel, columns, strict=True)}
        limits = [np.nan if t is None else t.value for t in chosen.values()]
        without = [name for name, threshold in chosen.items() if threshold is None]
        complete = ~np.isnan(test.y) & ~np.isnan(test.p[:, columns]).any(axis=1)
        n_items = int(complete.sum())
        reason = None
        if len(panel) < 2:
            reason = f"agreement needs two judges; the panel has {len(panel)}"
        elif without:
            reason = f"no threshold could be chosen on val for {', '.join(without)}, so there are no decisions"
        elif not n_items:
            reason = "no labelled attempt of test was answered by every judge of the panel"
        decisions = test.p[complete][:, columns] >= np.array(limits)
        cluster = test.cluster[complete]
        return cls(
            judges=panel,
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
            names: list[Key] = [("cohen", self.judges[i], self.judges[j]) for i, j in pairs]
            names += [("raw_agreement", self.judges[i], self.judges[j]) for i, j in pairs]
            names += [("judge_mean_cohen", name, None) for name in self.judges]
            names += [(statistic, None, None) for statistic in ("mean_cohen", "fleiss", "raw_agreement")]
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
        kappa = agreement.cohen_of_tables(tables)
        raw = agreement.raw_agreement_of_tables(tables)
        defined = self._defined_pairs()
        pairs = judge_pairs(len(self.judges))
        figures: dict[Key, FloatArray] = {}
        for index, (i, j) in enumerate(pairs):
            figures["cohen", self.judges[i], self.judges[j]] = kappa[:, index]
        for index, (i, j) in enumerate(pairs):
            figures["raw_agreement", self.judges[i], self.judges[j]] = raw[:, index]
        for place, name in enumerate(self.judges):
            own = np.array([place in pair for pair in pairs])
            figures["judge_mean_cohen", name, None] = _row_means(kappa[:, own & defined])
        figures["mean_cohen", None, None] = _row_means(kappa[:, defined])
        levels = self.counts.level_weights(weights)
        figures["fleiss", None, None] = agreement.fleiss_of_counts(self.counts.level_counts, levels)
        everyone = agreement.mean_pair_agreement_of_counts(self.counts.level_counts, levels)
        figures["raw_agreement", None, None] = everyone
        return figures

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
            missing = int((np.array(own) & ~self._defined_pairs()).sum())
            return (
                [f"{missing} of {sum(own)} pairs have no kappa (0/0) and are left out of the mean"] if missing else []
            )
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


def _row_means(values: FloatArray) -> FloatArray:
    if values.shape[1] == 0:
        return np.full(len(values), np.nan)
    means: FloatArray = values.mean(axis=1)
    return means
