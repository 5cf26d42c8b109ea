"""Group canaries: whether judges can be talked round by what they judge. Asking costs money: no other job does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.launch_forms import CanaryForm, switched_off_in_a_backfill
from judge_pipeline.orchestration.partitions import any_judge_of_the_contest, contest_by_judge, contest_of, judge_of
from judge_pipeline.orchestration.table_asset import Check, Made, NotMade, table_asset
from judge_pipeline.tables import (
    ATTEMPTS,
    JUDGE_CANARIES,
    JUDGE_CANARY_EFFECTS,
    JUDGE_METRICS,
    JUDGE_REQUESTS,
    SPLIT_ASSIGNMENTS,
)

GROUP = "canaries"


def judge_canaries_asset(judges: Sequence[str], configuration_sha256: str) -> dg.AssetsDefinition:
    """The asset ``judge_canaries`` over contest x judge."""

    @table_asset(
        JUDGE_CANARIES,
        group=GROUP,
        inputs=(JUDGE_REQUESTS, ATTEMPTS, SPLIT_ASSIGNMENTS),
        partitions_def=contest_by_judge(judges),
        rooms=("judging", "cocreation/canaries.py", "ingest/planting.py", "ingest/comments.py"),
        kinds=("litellm", "parquet"),
        further_code_version=configuration_sha256[:16],
        resources=("spending", "launch"),
        form=CanaryForm,
        may_wait=True,
        checks=(
            Check(
                "all_answered",
                "Every attempt, as it is and with each text planted, has an answer",
                remedy="launch canary again for this partition: only what is missing is asked for",
                warns=True,
            ),
        ),
    )
    def judge_canaries(
        context: dg.AssetExecutionContext, judge_requests: Any, attempts: Any, splits: Any
    ) -> Made | NotMade:
        """Asks the judge, and costs money: the command ``judge-pipeline canary`` shows how much before it does."""
        from judge_pipeline.cocreation.splits import with_splits
        from judge_pipeline.orchestration.canary_run import ask_canaries

        if why := switched_off_in_a_backfill(context, judge_of(context)):
            return NotMade(why)
        training = with_splits(attempts, splits)
        return ask_canaries(context, contest_of(context), judge_of(context), judge_requests, training)

    return judge_canaries


@table_asset(
    JUDGE_CANARY_EFFECTS,
    group=GROUP,
    inputs=(JUDGE_REQUESTS, ATTEMPTS, SPLIT_ASSIGNMENTS, JUDGE_METRICS),
    deps=[dg.AssetDep("judge_canaries", partition_mapping=any_judge_of_the_contest())],
    rooms=("cocreation/canary_effects.py", "statistics"),
    kinds=("numpy", "parquet"),
    checks=(
        Check(
            "not_talked_round",
            "No planted text moves a judge where it asks to, beyond the control",
            remedy="do not rank people by this judge; try another prompt or model, and see judge_canary_effects "
            "for what moves it",
            warns=True,
        ),
    ),
)
def judge_canary_effects(
    context: dg.AssetExecutionContext, judge_requests: Any, attempts: Any, splits: Any, judge_metrics: Any
) -> Made:
    """From the judges' canaries that are there; empty where none were asked for. Asks nothing."""
    import pandas as pd

    from judge_pipeline.cocreation.canary_effects import canary_effects
    from judge_pipeline.cocreation.splits import with_splits
    from judge_pipeline.orchestration.canary_run import stored_canaries
    from judge_pipeline.report.canary_words import talked_round

    contest = contest_of(context)
    workspace = context.resources.workspace.workspace()
    settings = context.resources.workspace.contest(contest)
    tables = dict(stored_canaries(workspace, contest))
    training = with_splits(attempts, splits)
    chosen = judge_metrics[judge_metrics["metric"] == "threshold"]
    rows = canary_effects(
        pd.concat([JUDGE_CANARIES.empty(), *tables.values()], ignore_index=True) if tables else JUDGE_CANARIES.empty(),
        attempts,
        {judge: None if pd.isna(t) else float(t) for judge, t in zip(chosen["judge"], chosen["value"], strict=True)},
        _stale(context, contest, tables, judge_requests, training),
        seed=settings.seed,
        n_resamples=settings.resamples,
    )
    return Made(
        rows, {"judges": ", ".join(tables) or "none: nobody was asked"}, {"not_talked_round": talked_round(rows)}
    )


def _stale(
    context: dg.AssetExecutionContext, contest: str, tables: dict[str, Any], requests: Any, training: Any
) -> dict[str, str]:
    """Judge -> what to say where its canaries answer other requests than today's."""
    from judge_pipeline.cocreation.canaries import only
    from judge_pipeline.orchestration.judging_run import current_requests

    resource = context.resources.workspace
    known = resource.workspace().judges().names("cocreation")
    said = {}
    for judge, rows in tables.items():
        asked = dict(rows.dropna(subset="request_hash_clean")[["attempt_id", "request_hash_clean"]].to_numpy())
        if judge not in known:
            said[judge] = "the judge is in judges.yaml no more"
            continue
        current = current_requests(resource, contest, [judge], only(requests, list(asked)), training)[judge]
        if any(current.hashes.get(attempt_id) != hash_ for attempt_id, hash_ in asked.items()):
            said[judge] = "stale: asked about other requests, or under another prompt or model, than today's"
    return said


def assets(judges: Sequence[str], configuration_sha256: str) -> list[dg.AssetsDefinition]:
    """The group's assets for the judges that judges.yaml lists."""
    return [judge_canaries_asset(judges, configuration_sha256), judge_canary_effects]
