"""Agreement between the judges of a panel (paper 1, Table V, VI-A6, VI-A9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.agreement_figures import AgreementFigures, Key
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.cocreation.rating_figures import RatingFigures
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, Weights, replicate
from judge_pipeline.statistics.intervals import estimate_with_interval
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import JUDGE_AGREEMENT

Figures = AgreementFigures | RatingFigures


def judge_agreement(
    predictions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, panel: Sequence[str] | None = None
) -> pd.DataFrame:
    """Agreement of the judges on test (paper 1, Table V, and what stands beside it); the table ``judge_agreement``.

    Only labelled attempts take part; the rest are counted. On decisions at each judge's own t*, over the attempts that
    every judge of the panel answered: ``cohen``, ``raw_agreement``, ``prevalence_index`` and ``bias_index`` for each
    pair; ``judge_mean_cohen``, ``raw_agreement`` and ``prevalence`` for each judge; ``mean_cohen``, ``fleiss``,
    ``raw_agreement`` and ``prevalence`` for the panel. Allowing gaps, for each pair, judge (the mean of its pairs) and
    the panel: ``rating_figures.STATISTICS``, on scores where the predictions have their columns.

    Args:
        predictions: as for ``judge_metrics``.
        seed: seed of the bootstrap; the resamples are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind each interval.
        panel: the judges J; all by default.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    parts = {(part.rated, index): part for index, part in enumerate(_parts(judged, judged.panel(panel)))}

    def statistics(weights: Weights) -> dict[tuple[tuple[str, int], Key], FloatArray]:
        return {
            (name, key): values for name, part in parts.items() for key, values in part.replicates(weights[0]).items()
        }

    replicates = replicate(judged.resamples(n_resamples, seed), statistics, n_observations=len(judged.splits["test"].y))
    rows = []
    for name, part in parts.items():
        for key, value in part.points().items():
            estimate = _estimate(judged, part, key, value, replicates.get((name, key)))
            statistic, first, second = key
            judges = {"judge_1": first, "judge_2": second}
            rows.append({"statistic": statistic, "rated": part.rated, **judges, **estimate.to_row()})
    return JUDGE_AGREEMENT.conform(rows)


def _parts(judged: JudgedAttempts, panel: tuple[str, ...]) -> list[Figures]:
    """The figures on decisions, with and without gaps, on each score that the predictions have, and on p_ac."""
    test = judged.splits["test"]
    columns = [judged.judges.index(name) for name in panel]
    complete = AgreementFigures.of(judged, panel)
    return [
        complete,
        RatingFigures.of_decisions(test, panel, columns, complete.limits, complete.no_threshold_reason),
        *(RatingFigures.of_scores(test, score, panel, columns) for score in test.scores),
        RatingFigures.of_probabilities(test, panel, columns),
    ]


def _estimate(judged: JudgedAttempts, part: Figures, key: Key, value: float, replicates: FloatArray | None) -> Estimate:
    size = part.size(*key)
    if np.isnan(value) or replicates is None:
        return Estimate.undefined(part.undefined_reason(*key), size.n, size.n_left_out)
    notes = [] if judged.cluster_note is None else [judged.cluster_note]
    return estimate_with_interval(
        value,
        replicates,
        n=size.n,
        n_left_out=size.n_left_out,
        n_clusters=size.n_clusters,
        warnings=[*part.warnings(*key), *notes],
    )
