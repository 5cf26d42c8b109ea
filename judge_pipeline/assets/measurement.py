"""Group judges, further: scores, calibration maps, panels, and acceptance rates from judges and few labels."""

from __future__ import annotations

from typing import Any

import dagster as dg

from judge_pipeline.orchestration.partitions import contest_of
from judge_pipeline.orchestration.resources import WorkspaceResource
from judge_pipeline.orchestration.table_asset import FAULT, Check, Made, table_asset
from judge_pipeline.tables import (
    ACCEPTANCE_RATES,
    JUDGE_CALIBRATION,
    JUDGE_CALIBRATION_MAPS,
    JUDGE_COVERAGE,
    JUDGE_PANEL_WEIGHTS,
    JUDGE_PANELS,
    JUDGE_SCORES,
    PREDICTIONS,
)

GROUP = "judges"
_FIGURES = ("cocreation/judge_figures.py", "cocreation/judged_attempts.py", "statistics")


@table_asset(
    JUDGE_SCORES,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_COVERAGE),
    rooms=("cocreation/judge_scores.py", "cocreation/rating_figures.py", *_FIGURES),
    kinds=("numpy", "parquet"),
)
def judge_scores(context: dg.AssetExecutionContext, predictions: Any, judge_coverage: Any) -> Made:
    """ROC-AUC and rank correlation of s_algo and s_robust with the verdict, on test."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.judge_scores import judge_scores as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(predictions, seed=settings.seed, n_resamples=settings.resamples)
    return Made(flag_unverified(rows, judge_coverage, [[judge] for judge in rows["judge"]]))


@table_asset(
    JUDGE_CALIBRATION_MAPS,
    group=GROUP,
    inputs=(PREDICTIONS,),
    rooms=("cocreation/calibrated.py", *_FIGURES),
    kinds=("scikitlearn", "parquet"),
    checks=(
        Check(
            "fitted_on_val_alone",
            "Fitted again without train and test, every map is the same",
            remedy=FAULT,
            blocking=True,
        ),
    ),
)
def judge_calibration_maps(context: dg.AssetExecutionContext, predictions: Any) -> Made:
    """Platt, beta, temperature and isotonic maps of each judge, fitted on the labels of val."""
    from judge_pipeline.cocreation.calibrated import calibration_maps, maps_that_saw_more_than_val

    rows = calibration_maps(predictions)
    unfitted = rows.loc[rows["value"].isna(), ["judge", "map"]].drop_duplicates()
    return Made(
        rows,
        {"maps_not_fitted": len(unfitted)},
        {"fitted_on_val_alone": maps_that_saw_more_than_val(rows, predictions)},
    )


@table_asset(
    JUDGE_CALIBRATION,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_CALIBRATION_MAPS, JUDGE_COVERAGE),
    rooms=("cocreation/calibrated.py", *_FIGURES),
    kinds=("numpy", "parquet"),
)
def judge_calibration(
    context: dg.AssetExecutionContext, predictions: Any, judge_calibration_maps: Any, judge_coverage: Any
) -> Made:
    """Each judge's probabilities on test before and after each map, and the paired change."""
    from judge_pipeline.cocreation.calibrated import judge_calibration as build
    from judge_pipeline.cocreation.coverage import flag_unverified

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(predictions, judge_calibration_maps, seed=settings.seed, n_resamples=settings.resamples)
    return Made(flag_unverified(rows, judge_coverage, [[judge] for judge in rows["judge"]]))


@table_asset(
    JUDGE_PANEL_WEIGHTS,
    group=GROUP,
    inputs=(PREDICTIONS,),
    rooms=("cocreation/panels.py", *_FIGURES),
    kinds=("numpy", "parquet"),
    checks=(
        Check(
            "fitted_on_val_alone",
            "Fitted again without train and test, the stacker is the same",
            remedy=FAULT,
            blocking=True,
        ),
    ),
)
def judge_panel_weights(context: dg.AssetExecutionContext, predictions: Any) -> Made:
    """The stacker of the panel's judges, fitted on the labels of val."""
    from judge_pipeline.cocreation.panels import panel_weights, weights_that_saw_more_than_val

    panel = _panel(context, predictions)
    rows = panel_weights(predictions, panel=panel)
    return Made(
        rows,
        {"panel": ", ".join(panel) or "none"},
        {"fitted_on_val_alone": weights_that_saw_more_than_val(rows, predictions)},
    )


@table_asset(
    JUDGE_PANELS,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_PANEL_WEIGHTS, JUDGE_COVERAGE),
    rooms=("cocreation/panels.py", *_FIGURES),
    kinds=("numpy", "parquet"),
)
def judge_panels(
    context: dg.AssetExecutionContext, predictions: Any, judge_panel_weights: Any, judge_coverage: Any
) -> Made:
    """The panel as one judge (mean, median, logit mean, stacker), and against the judge that is best on val."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.panels import judge_panels as build

    settings = context.resources.workspace.contest(contest_of(context))
    panel = _panel(context, predictions)
    rows = build(predictions, judge_panel_weights, seed=settings.seed, n_resamples=settings.resamples, panel=panel)
    return Made(flag_unverified(rows, judge_coverage, [panel] * len(rows)), {"panel": ", ".join(panel) or "none"})


@table_asset(
    ACCEPTANCE_RATES,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_COVERAGE),
    rooms=("cocreation/acceptance_rates.py", *_FIGURES),
    kinds=("numpy", "parquet"),
)
def acceptance_rates(context: dg.AssetExecutionContext, predictions: Any, judge_coverage: Any) -> Made:
    """What share of attempts is accepted, from a judge's answers and the labels of val, beside what all labels say."""
    from judge_pipeline.cocreation.acceptance_rates import acceptance_rates as build
    from judge_pipeline.cocreation.coverage import flag_unverified

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(predictions, seed=settings.seed, n_resamples=settings.resamples)
    return Made(flag_unverified(rows, judge_coverage, [[judge] for judge in rows["judge"]]))


def _panel(context: dg.AssetExecutionContext, predictions: Any) -> list[str]:
    """The judges of the panel J that have answered."""
    workspace: WorkspaceResource = context.resources.workspace
    return list(workspace.panel(predictions["judge"].unique()))


ASSETS = [judge_scores, judge_calibration_maps, judge_calibration, judge_panel_weights, judge_panels, acceptance_rates]
