"""Group judges: judgments, and the judges as measurement instruments (paper 1, IV-B, V-B1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from judge_pipeline.assets import measurement
from judge_pipeline.orchestration.partitions import any_judge_of_the_contest, contest_by_judge, contest_of, judge_of
from judge_pipeline.orchestration.resources import WorkspaceResource
from judge_pipeline.orchestration.table_asset import FAULT, Check, Made, NotMade, table_asset
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_AGREEMENT,
    JUDGE_COVERAGE,
    JUDGE_CURVES,
    JUDGE_DIFFERENCES,
    JUDGE_METRICS,
    JUDGE_OUTPUTS,
    JUDGE_REPEATS,
    JUDGE_REQUESTS,
    PREDICTIONS,
    PREDICTIONS_WIDE,
    SPLIT_ASSIGNMENTS,
)

GROUP = "judges"
_EVALUATION = (
    "cocreation/agreement_figures.py",
    "cocreation/comparisons.py",
    "cocreation/evaluation.py",
    "cocreation/judge_agreement.py",
    "cocreation/judge_curves.py",
    "cocreation/judge_differences.py",
    "cocreation/judge_figures.py",
    "cocreation/judged_attempts.py",
    "cocreation/rating_figures.py",
    "statistics",
)


def judge_outputs_asset(judges: Sequence[str], configuration_sha256: str) -> dg.AssetsDefinition:
    """The asset ``judge_outputs`` over contest x judge; what the configuration says is part of its code version."""

    @table_asset(
        JUDGE_OUTPUTS,
        group=GROUP,
        inputs=(JUDGE_REQUESTS, ATTEMPTS, SPLIT_ASSIGNMENTS),
        partitions_def=contest_by_judge(judges),
        rooms=("judging",),
        kinds=("litellm", "parquet"),
        further_code_version=configuration_sha256[:16],
        resources=("spending", "launch"),
        may_wait=True,
        checks=(
            Check(
                "verified",
                "Every attempt in scope once, p_ac within [0, 1], no error (eq. 9)",
                remedy="launch judge_contest again for this partition: only the rest is asked for, without a limit "
                "where this was a pilot",
                warns=True,
            ),
        ),
    )
    def judge_outputs(
        context: dg.AssetExecutionContext, judge_requests: Any, attempts: Any, splits: Any
    ) -> Made | NotMade:
        """Asks only for what the checkpoint does not hold; fails, and names attempts and reasons, where eq. 9 fails."""
        from judge_pipeline.cocreation.splits import with_splits
        from judge_pipeline.orchestration.judging_run import judge_contest
        from judge_pipeline.orchestration.launch_forms import switched_off_in_a_backfill

        if why := switched_off_in_a_backfill(context, judge_of(context)):
            return NotMade(why)
        labelled = with_splits(attempts, splits)
        return judge_contest(context, contest_of(context), judge_of(context), judge_requests, labelled)

    return judge_outputs


def judge_repeats_asset(judges: Sequence[str], configuration_sha256: str) -> dg.AssetsDefinition:
    """The asset ``judge_repeats`` over contest x judge."""

    @table_asset(
        JUDGE_REPEATS,
        group=GROUP,
        inputs=(JUDGE_REQUESTS,),
        deps=["judge_outputs"],
        partitions_def=contest_by_judge(judges),
        rooms=("judging/repeats.py",),
        further_code_version=configuration_sha256[:16],
        checks=(
            Check(
                "all_answered",
                "Every repeat has a valid answer",
                remedy="launch judge_contest again for this partition: only what is missing is asked for",
                warns=True,
            ),
        ),
    )
    def judge_repeats(context: dg.AssetExecutionContext, judge_requests: Any) -> Made:
        """From the stored answers; empty for a judge that is asked once (setting ``repeats``). Asks nothing."""
        from judge_pipeline.orchestration.judging_run import repeats_of

        rows = repeats_of(context.resources.workspace.workspace(), judge_of(context), judge_requests)
        missing = int((rows["n_repeats"] - rows["n_answered"]).sum())
        return Made(rows, {}, {"all_answered": [f"{missing} repeats have no valid answer"] if missing else []})

    return judge_repeats


@table_asset(
    JUDGE_COVERAGE,
    group=GROUP,
    inputs=(JUDGE_REQUESTS, ATTEMPTS, SPLIT_ASSIGNMENTS),
    deps=[dg.AssetDep("judge_outputs", partition_mapping=any_judge_of_the_contest())],
    rooms=("cocreation/coverage.py", "judging/answer_rates.py"),
    checks=(
        Check(
            "a_judge_is_verified",
            "At least one judge's table is verified",
            remedy="launch judge_contest for a judge; judge_coverage says of each why it did not judge",
            warns=True,
        ),
        Check(
            "min_coverage",
            "Every judge that figures rest on has judged min_coverage of its scope",
            remedy="launch judge_contest again for the judges named, then report_contest: only the rest is asked for",
        ),
        Check(
            "none_stale",
            "No judge's table answers other requests than today's",
            remedy="launch judge_contest for the judges named: only what changed is asked, at its price",
            warns=True,
        ),
        Check(
            "none_damaged",
            "Every judge's table can be read",
            remedy="launch judge_contest for the judges named: the table is made anew from stored answers",
            warns=True,
        ),
    ),
)
def judge_coverage(context: dg.AssetExecutionContext, judge_requests: Any, attempts: Any, splits: Any) -> Made:
    """Reads the judges' tables that are there, and says of each judge whether its table may be used."""
    from judge_pipeline.cocreation.coverage import below_min_coverage
    from judge_pipeline.cocreation.coverage import judge_coverage as build
    from judge_pipeline.cocreation.splits import with_splits
    from judge_pipeline.orchestration.judging_run import ASKED_BACKENDS, answer_rates_of, current_requests

    contest = contest_of(context)
    workspace: WorkspaceResource = context.resources.workspace
    facts, outputs = workspace.judge_facts(contest), {}
    damaged: dict[str, str] = {}
    for judge in context.resources.store.parts(JUDGE_OUTPUTS, contest):
        try:
            outputs[judge] = context.resources.store.read(JUDGE_OUTPUTS, contest, judge)
        except TableError as error:
            damaged[judge] = str(error)
    looked_up = [judge.name for judge in facts if judge.name in outputs or judge.backend in ASKED_BACKENDS]
    current = current_requests(workspace, contest, looked_up, judge_requests, with_splits(attempts, splits))
    rows = build(facts, judge_requests, outputs, current, damaged, answer_rates_of(workspace, current))
    counts = {str(status): int(n) for status, n in rows["status"].value_counts().items()}
    stale = rows.loc[rows["status"] == "stale", ["judge", "reason"]].to_numpy().tolist()
    return Made(
        rows,
        {f"judges_{status.replace(' ', '_')}": n for status, n in counts.items()},
        {
            "a_judge_is_verified": [] if counts.get("verified") else ["no judge's table is verified yet"],
            "min_coverage": below_min_coverage(rows, workspace.contest(contest).min_coverage),
            "none_stale": [f"{judge}: {reason}" for judge, reason in stale],
            "none_damaged": [f"{judge}: {reason}" for judge, reason in damaged.items()],
        },
    )


@table_asset(
    PREDICTIONS,
    group=GROUP,
    inputs=(ATTEMPTS, SPLIT_ASSIGNMENTS, JUDGE_COVERAGE),
    rooms=("cocreation/predictions.py",),
    checks=(
        Check(
            "joins_complete",
            "Every accepted judgment found its attempt",
            remedy="launch read_contest and judge_contest again: tables of two states of the folder lie side by side",
            blocking=True,
        ),
    ),
)
def predictions(context: dg.AssetExecutionContext, attempts: Any, splits: Any, judge_coverage: Any) -> Made:
    """Judges whose tables are verified (or accepted under a lower min_coverage, and flagged so) are in it."""
    from judge_pipeline.cocreation.coverage import usable
    from judge_pipeline.cocreation.predictions import predictions as build
    from judge_pipeline.cocreation.predictions import unjoined

    names = usable(judge_coverage)
    contest = contest_of(context)
    outputs = {judge: context.resources.store.read(JUDGE_OUTPUTS, contest, judge) for judge in names}
    rows = build(attempts, splits, outputs)
    return Made(rows, {"judges": ", ".join(names) or "none"}, {"joins_complete": unjoined(rows, outputs)})


@table_asset(
    PREDICTIONS_WIDE,
    group=GROUP,
    inputs=(ATTEMPTS, SPLIT_ASSIGNMENTS, PREDICTIONS),
    rooms=("cocreation/predictions.py",),
)
def predictions_wide(context: dg.AssetExecutionContext, attempts: Any, splits: Any, predictions: Any) -> Made:
    """For plots and other tools."""
    from judge_pipeline.cocreation.predictions import predictions_wide as build

    return Made(build(attempts, splits, predictions))


@table_asset(
    JUDGE_METRICS,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_COVERAGE),
    rooms=_EVALUATION,
    kinds=("numpy", "parquet"),
    figures=True,
    checks=(
        Check(
            "threshold_from_val",
            "Chosen again without train and test, every t* is the same",
            remedy=FAULT,
            blocking=True,
        ),
    ),
)
def judge_metrics(context: dg.AssetExecutionContext, predictions: Any, judge_coverage: Any) -> Made:
    """Figures on test, the threshold from val; intervals by cluster bootstrap over trajectories, paired."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.evaluation import judge_metrics as build
    from judge_pipeline.cocreation.evaluation import thresholds_that_saw_more_than_val

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(predictions, seed=settings.seed, n_resamples=settings.resamples)
    return Made(
        flag_unverified(rows, judge_coverage, [[judge] for judge in rows["judge"]]),
        {"seed": settings.seed, "resamples": settings.resamples},
        {"threshold_from_val": thresholds_that_saw_more_than_val(rows, predictions)},
    )


@table_asset(
    JUDGE_AGREEMENT,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_COVERAGE),
    rooms=_EVALUATION,
    kinds=("numpy", "parquet"),
    figures=True,
)
def judge_agreement(context: dg.AssetExecutionContext, predictions: Any, judge_coverage: Any) -> Made:
    """Among the judges of the panel that have answered, over the test items that all of them answered."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.judge_agreement import judge_agreement as build

    workspace: WorkspaceResource = context.resources.workspace
    settings = workspace.contest(contest_of(context))
    panel = workspace.panel(predictions["judge"].unique())
    rows = build(predictions, seed=settings.seed, n_resamples=settings.resamples, panel=panel)
    pairs = rows[["judge_1", "judge_2"]].to_numpy().tolist()
    # What is not of a pair rests on the whole panel: a judge's mean is over its pairs with everyone.
    judges = [pair if isinstance(pair[1], str) else panel for pair in pairs]
    return Made(flag_unverified(rows, judge_coverage, judges), {"panel": ", ".join(panel) or "none"})


@table_asset(
    JUDGE_DIFFERENCES,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_COVERAGE),
    rooms=_EVALUATION,
    kinds=("numpy", "parquet"),
)
def judge_differences(context: dg.AssetExecutionContext, predictions: Any, judge_coverage: Any) -> Made:
    """Judges against each other on the same attempts, against chance and a constant; kappas of the panel against 0."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.judge_differences import judge_differences as build

    workspace: WorkspaceResource = context.resources.workspace
    settings = workspace.contest(contest_of(context))
    panel = workspace.panel(predictions["judge"].unique())
    rows = build(predictions, seed=settings.seed, n_resamples=settings.resamples, panel=panel)
    pairs = [[name for name in pair if isinstance(name, str)] for pair in rows[["judge_1", "judge_2"]].to_numpy()]
    flagged = flag_unverified(rows, judge_coverage, [pair or panel for pair in pairs])
    return Made(flagged, {"seed": settings.seed, "resamples": settings.resamples})


@table_asset(
    JUDGE_CURVES,
    group=GROUP,
    inputs=(PREDICTIONS, JUDGE_COVERAGE),
    rooms=_EVALUATION,
    kinds=("numpy", "parquet"),
    figures=True,
)
def judge_curves(context: dg.AssetExecutionContext, predictions: Any, judge_coverage: Any) -> Made:
    """The points behind the ROC, precision-recall, reliability and threshold figures, with their bands."""
    from judge_pipeline.cocreation.coverage import flag_unverified
    from judge_pipeline.cocreation.judge_curves import judge_curves as build

    settings = context.resources.workspace.contest(contest_of(context))
    rows = build(predictions, seed=settings.seed, n_resamples=settings.resamples)
    return Made(flag_unverified(rows, judge_coverage, [[judge] for judge in rows["judge"]]))


def assets(judges: Sequence[str], configuration_sha256: str) -> list[dg.AssetsDefinition]:
    """The group's assets for the judges that judges.yaml lists."""
    return [
        judge_outputs_asset(judges, configuration_sha256),
        judge_repeats_asset(judges, configuration_sha256),
        judge_coverage,
        predictions,
        predictions_wide,
        judge_metrics,
        judge_agreement,
        judge_differences,
        judge_curves,
        *measurement.ASSETS,
    ]
