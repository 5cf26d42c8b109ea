"""The ordinal scores s_algo and s_robust against the verdict (paper 1, eq. 8, VI-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.judge_figures import class_clusters, rare_class_note
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts, SplitArrays
from judge_pipeline.cocreation.rating_figures import N_SCORES
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics import rank_correlation
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import FEWEST_CLUSTERS, estimate_with_interval
from judge_pipeline.statistics.ratings import sums_by_cluster
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import JUDGE_SCORES

_METRICS = {
    "roc_auc": rank_correlation.roc_auc_of_tables,
    "spearman": rank_correlation.spearman_of_tables,
    "kendall_tau_b": rank_correlation.kendall_tau_b_of_tables,
}


def judge_scores(
    predictions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, panel: Sequence[str] | None = None
) -> pd.DataFrame:
    """ROC-AUC and rank correlation of each judge's scores with the verdict on test; the table ``judge_scores``.

    Args:
        predictions: as for ``judge_metrics``, with s_algo and s_robust where they are known; a score without a column
            has no row.
        seed: seed of the bootstrap; the resamples are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind each interval.
        panel: the judges to report; all by default.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    test = judged.splits["test"]
    scores = {
        (name, score): _ScoredAttempts.of(test, score, judged.judges.index(name))
        for name in judged.panel(panel)
        for score in test.scores
    }

    def statistics(weights: Weights) -> dict[tuple[str, str, str], FloatArray]:
        return {
            (name, score, metric): figure(scored.tables(weights[0]))
            for (name, score), scored in scores.items()
            for metric, figure in _METRICS.items()
        }

    replicates = replicate(judged.resamples(n_resamples, seed), statistics, n_observations=len(test.y))
    rows = []
    for (name, score), scored in scores.items():
        notes = judged.notes(judged.judges.index(name), "test")
        for metric in _METRICS:
            estimate = scored.estimate(metric, replicates[name, score, metric], notes)
            rows.append({"judge": name, "score": score, "metric": metric, **estimate.to_row()})
    return JUDGE_SCORES.conform(rows)


@dataclass(frozen=True)
class _ScoredAttempts:
    """One judge's score on the labelled attempts of test, as counts by cluster.

    Attributes:
        score: which score.
        sums: attempts by verdict (rejected, accepted) and score, shape (clusters, 2 x N_SCORES).
        n_attempts: attempts of test.
        n_clusters: trajectories that hold a scored attempt.
        classes: those that hold a rejected one, and an accepted one.
    """

    score: str
    sums: FloatArray
    n_attempts: int
    n_clusters: int
    classes: tuple[int, int]

    @classmethod
    def of(cls, test: SplitArrays, score: str, judge: int) -> _ScoredAttempts:
        given = test.scores[score][:, judge]
        scored = test.usable(judge) & ~np.isnan(given)
        cell = (test.y[scored] * N_SCORES + given[scored] - 1).astype(np.int64)
        cluster = test.cluster[scored]
        cells = (cell[:, None] == np.arange(2 * N_SCORES)).astype(np.float64)
        sums, classes = sums_by_cluster(cells, cluster, test.n_clusters), class_clusters(test.y[scored], cluster)
        return cls(score, sums, len(test.y), len(np.unique(cluster)), classes)

    def tables(self, weights: FloatArray | None = None) -> FloatArray:
        """Verdict by score under cluster weights (R, clusters); shape (R, 2, N_SCORES)."""
        sums = self.sums.sum(axis=0, keepdims=True) if weights is None else weights @ self.sums
        return sums.reshape(len(sums), 2, N_SCORES)

    def estimate(self, metric: str, replicates: FloatArray, notes: list[str]) -> Estimate:
        """The figure ``metric`` with its interval, or why it does not exist."""
        table = self.tables()
        n = int(table.sum())
        value = float(_METRICS[metric](table)[0])
        if np.isnan(value):
            return Estimate.undefined(self._undefined_reason(table[0]), n, self.n_attempts - n)
        rarer = min(self.classes)
        return estimate_with_interval(
            value,
            replicates,
            n=n,
            n_left_out=self.n_attempts - n,
            n_clusters=rarer if rarer < FEWEST_CLUSTERS else self.n_clusters,
            warnings=[*rare_class_note(self.classes, self.n_clusters), *notes],
        )

    def _undefined_reason(self, table: FloatArray) -> str:
        rejected, accepted = table.sum(axis=1)
        if rejected + accepted == 0:
            return f"no attempt of test has both a label and a {self.score} by this judge"
        if not rejected or not accepted:
            of = "y = 1" if accepted else "y = 0"
            return f"only one class: all {rejected + accepted:g} attempts with a {self.score} are {of}"
        return f"0/0: all {rejected + accepted:g} attempts have the same {self.score}"
