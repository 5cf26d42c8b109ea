"""Agreement between the judges of a panel (paper 1, Table V, VI-A6, VI-A9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.agreement_figures import AgreementFigures
from judge_pipeline.cocreation.judged_attempts import JudgedAttempts
from judge_pipeline.estimate import Estimate
from judge_pipeline.statistics.bootstrap import N_RESAMPLES, estimate_with_interval, percentile_interval, replicate
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables import JUDGE_AGREEMENT


def judge_agreement(
    predictions: pd.DataFrame, *, seed: int, n_resamples: int = N_RESAMPLES, panel: Sequence[str] | None = None
) -> pd.DataFrame:
    """Agreement of the judges' decisions on test at their own t* (paper 1, Table V); the table ``judge_agreement``.

    Only labelled test attempts that every judge of the panel answered take part; the rest are counted. Rows: ``cohen``
    and ``raw_agreement`` for each pair, ``judge_mean_cohen`` for each judge, ``mean_cohen``, ``fleiss`` and
    ``raw_agreement`` (all pairs together) for the panel.

    Args:
        predictions: as for ``judge_metrics``.
        seed: seed of the bootstrap; the resamples are those of ``judge_metrics`` under the same seed.
        n_resamples: resamples behind each interval.
        panel: the judges J; all by default.

    Raises:
        PredictionError: the table fails ``check_predictions``, or a judge of ``panel`` has no row in it.
    """
    judged = JudgedAttempts.of(predictions)
    names = judged.panel(panel)
    agreement = AgreementFigures.of(judged, names)
    test = judged.splits["test"]
    replicates: dict[tuple[str, str | None, str | None], FloatArray] = {}
    if agreement.counts is not None:
        replicates = replicate(
            judged.resamples(n_resamples, seed),
            lambda weights: agreement.replicates(weights[0]),
            n_observations=len(test.y),
        )
    notes = [] if judged.cluster_note is None else [judged.cluster_note]
    rows = []
    for (statistic, first, second), value in agreement.points().items():
        key = (statistic, first, second)
        if np.isnan(value):
            reason = agreement.undefined_reason(*key)
            estimate = Estimate.undefined(reason, agreement.n_items, agreement.n_left_out)
        else:
            estimate = estimate_with_interval(
                value,
                percentile_interval(replicates[key]),
                n=agreement.n_items,
                n_left_out=agreement.n_left_out,
                n_clusters=agreement.n_clusters,
                warnings=[*agreement.warnings(*key), *notes],
            )
        rows.append(
            {"statistic": statistic, "rated": "decision", "judge_1": first, "judge_2": second, **estimate.to_row()}
        )
    return JUDGE_AGREEMENT.conform(rows)
