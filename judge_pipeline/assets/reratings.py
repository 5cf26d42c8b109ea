"""People beside judges: agreement on the attempts that people judged again (``judge-pipeline rerate``)."""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import contest_of
from judge_pipeline.orchestration.table_asset import Made, table_asset
from judge_pipeline.tables import ATTEMPTS, JUDGE_COVERAGE, JUDGE_METRICS, PREDICTIONS, RERATING_AGREEMENT


@table_asset(
    RERATING_AGREEMENT,
    group="judges",
    inputs=(PREDICTIONS, ATTEMPTS, JUDGE_METRICS, JUDGE_COVERAGE),
    rooms=("cocreation/rerating_agreement.py", "statistics"),
    kinds=("numpy", "parquet"),
)
def rerating_agreement(
    context: dg.AssetExecutionContext, predictions: Any, attempts: Any, judge_metrics: Any, judge_coverage: Any
) -> Made:
    """From the sheets that were read back; empty where none was. Asks nobody."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.rerating_agreement import rerating_agreement as build
    from judge_pipeline.orchestration.reratings import stored_reratings, thresholds_of

    contest = contest_of(context)
    settings = context.resources.workspace.contest(contest)
    said = stored_reratings(context.resources.workspace.workspace(), contest)
    rows = build(
        said,
        predictions,
        attempts,
        thresholds_of(judge_metrics),
        seed=settings.seed,
        n_resamples=settings.resamples,
    )
    flagged = flag_unverified(
        rows, judge_coverage, [[other] if isinstance(other, str) else [] for other in rows["other"]]
    )
    return Made(flagged, {"raters": int(said["rater"].nunique()), "answers": len(said)})


ASSETS = [rerating_agreement]
