"""Group anchors: the same attempts asked again by schedule, and whether a judge's figures drift. Asking costs money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.launch_forms import AnchorForm, switched_off_in_a_backfill
from judge_pipeline.orchestration.partitions import any_judge_of_the_contest, contest_by_judge, contest_of, judge_of
from judge_pipeline.orchestration.table_asset import Check, Made, NotMade, table_asset
from judge_pipeline.tables import (
    ANCHOR_FIGURES,
    ANCHOR_RUNS,
    ATTEMPTS,
    JUDGE_COVERAGE,
    JUDGE_REQUESTS,
    SPLIT_ASSIGNMENTS,
)

GROUP = "anchors"
_COMPARISON = (
    "cocreation/agreement_figures.py",
    "cocreation/anchor_figures.py",
    "cocreation/comparisons.py",
    "cocreation/difference_rows.py",
    "cocreation/judge_figures.py",
    "cocreation/judged_attempts.py",
    "cocreation/run_comparison.py",
    "cocreation/two_runs.py",
    "statistics",
)


def anchor_runs_asset(judges: Sequence[str], configuration_sha256: str) -> dg.AssetsDefinition:
    """The asset ``anchor_runs`` over contest x judge."""

    @table_asset(
        ANCHOR_RUNS,
        group=GROUP,
        inputs=(JUDGE_REQUESTS, ATTEMPTS, SPLIT_ASSIGNMENTS),
        partitions_def=contest_by_judge(judges),
        rooms=("judging", *_COMPARISON),
        kinds=("litellm", "parquet"),
        further_code_version=configuration_sha256[:16],
        resources=("spending", "launch"),
        form=AnchorForm,
        may_wait=True,
        checks=(
            Check(
                "all_answered",
                "Every attempt of the anchor set has an answer in this period",
                remedy="launch anchor again with the same period: only what is missing is asked for",
                warns=True,
            ),
            Check(
                "no_drift",
                "The judge's figures have not changed since its first period beyond chance",
                remedy="compare the periods' models and prompts (judge_versions); do not pool this judge's figures "
                "across the change",
            ),
        ),
    )
    def anchor_runs(
        context: dg.AssetExecutionContext, judge_requests: Any, attempts: Any, splits: Any
    ) -> Made | NotMade:
        """Asks the judge about the anchor set anew in each period, and keeps the earlier ones. Costs money."""
        from judge_pipeline.cocreation.splits import with_splits
        from judge_pipeline.orchestration.anchor_run import ask_anchor

        if why := switched_off_in_a_backfill(context, judge_of(context)):
            return NotMade(why)
        training = with_splits(attempts, splits)
        return ask_anchor(context, contest_of(context), judge_of(context), judge_requests, training)

    return anchor_runs


@table_asset(
    ANCHOR_FIGURES,
    group=GROUP,
    inputs=(ATTEMPTS, JUDGE_COVERAGE),
    deps=[dg.AssetDep("anchor_runs", partition_mapping=any_judge_of_the_contest())],
    rooms=_COMPARISON,
    kinds=("numpy", "parquet"),
    checks=(
        Check(
            "no_drift",
            "No judge's figures have changed since its first period beyond chance",
            remedy="compare the periods' models and prompts (judge_versions); do not pool this judge's figures "
            "across the change",
        ),
    ),
)
def anchor_figures(context: dg.AssetExecutionContext, attempts: Any, judge_coverage: Any) -> Made:
    """Each period's figures and their paired change since the first; empty where no anchor set was asked."""
    import pandas as pd

    from judge_pipeline.cocreation.anchor_figures import anchor_figures as build
    from judge_pipeline.orchestration.anchor_run import stored_anchor_runs
    from judge_pipeline.report.anchor_words import drifted

    contest = contest_of(context)
    settings = context.resources.workspace.contest(contest)
    parts = [part for part in stored_anchor_runs(context.resources.workspace.workspace(), contest) if len(part)]
    runs = pd.concat(parts, ignore_index=True) if parts else ANCHOR_RUNS.empty()
    rows = build(runs, attempts, seed=settings.seed, n_resamples=settings.resamples)
    return Made(rows, {"periods": int(runs["period"].nunique())}, {"no_drift": drifted(rows)})


def assets(judges: Sequence[str], configuration_sha256: str) -> list[dg.AssetsDefinition]:
    """The group's assets for the judges that judges.yaml lists."""
    return [anchor_runs_asset(judges, configuration_sha256), anchor_figures]
