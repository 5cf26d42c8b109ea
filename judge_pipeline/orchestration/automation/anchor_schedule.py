"""The schedule that asks the anchor sets again. Off until somebody switches it on: each tick costs money."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import dagster as dg

from judge_pipeline.orchestration.anchor_run import PERIOD_TAG
from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.partitions import CONTESTS
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

CRON = "0 3 * * 1"
"""Mondays at 03:00 UTC."""


def anchor_schedule(workspace: Workspace, job: str) -> dg.ScheduleDefinition:
    """The schedule ``ask_anchor_sets``: a run for each contest with an anchor set and each judge that can be asked.

    Args:
        workspace: whose contests and judges.
        job: the job that asks one judge about one contest's anchor set.
    """

    loaded = frozenset(workspace.judges().names("cocreation"))  # those for which there are partitions

    @dg.schedule(
        name="ask_anchor_sets",
        job_name=job,
        cron_schedule=CRON,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Asks the judges about each contest's anchor set again, to see whether they drift. Costs money.",
    )
    def ask_anchor_sets(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        known = set(context.instance.get_dynamic_partitions(str(CONTESTS.name)))
        period = context.scheduled_execution_time.date().isoformat()
        asked = [
            dg.RunRequest(
                run_key=f"{contest}|{judge}|{period}",
                partition_key=dg.MultiPartitionKey({"contest": contest, "judge": judge}),
                tags={PERIOD_TAG: period},
            )
            for contest, judge in _askings(workspace, context.log.warning)
            if contest in known and judge in loaded
        ]
        return asked or dg.SkipReason("no contest that was read has the setting anchor, or no judge can be asked")

    return ask_anchor_sets


def _askings(workspace: Workspace, warn: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    judges = workspace.judges()
    asked = [
        name
        for name in judges.names("cocreation")
        if judges.get(name).enabled
        and judges.get(name).backend in ("litellm", "embedded")
        and judges.get(name).missing_key(key_environment()) is None
    ]
    for contest, folder in contest_folders(workspace).items():
        try:
            has_anchor = workspace.contest(folder).anchor is not None
        except SettingsError as error:  # of this contest: the others are asked
            warn(f"the anchor set of {contest} is not asked about: {error}")
            continue
        if has_anchor:
            yield from ((contest, judge) for judge in asked)
