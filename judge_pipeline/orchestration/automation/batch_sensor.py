"""The sensor that asks after batches at providers, and starts the run that collects what has ended."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from judge_pipeline.orchestration.automation.stuck_batches import read_watches, stuck, stuck_message, watched, written
from judge_pipeline.orchestration.judging_run import COLLECT_TAG, SENSOR
from judge_pipeline.orchestration.open_batches import batches_of, look_at_batches
from judge_pipeline.orchestration.partitions import CONTESTS
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.automation import NotifySettings
from judge_pipeline.settings.secrets_file import key_environment
from judge_pipeline.settings.yaml_file import SettingsError

if TYPE_CHECKING:
    from judge_pipeline.judging.batches.store import BatchRow

SECONDS_BETWEEN_LOOKS = 60
"""How often the sensor asks (at most): batches take minutes to a day."""

MOST_COLLECTIONS = 5
"""Runs that the sensor starts for one batch; what they cannot collect needs a person."""

_SECONDS_UNTIL_SETTLED = 240.0


def batch_sensor(workspace: Workspace, job: str) -> dg.SensorDefinition:
    """The sensor; it runs by itself, and does nothing while no batch is open.

    Args:
        workspace: whose batches.
        job: the job that judges one contest by one judge.
    """

    @dg.sensor(
        name=SENSOR,
        job_name=job,
        minimum_interval_seconds=SECONDS_BETWEEN_LOOKS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Asks providers whether open batches have ended; starts the run that collects their answers. Tells "
        "of batches that have not moved for notify.batch_hours (automation.yaml).",
    )
    def collect_batches(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        if not batches_of(workspace):
            return dg.SensorResult(skip_reason="no batch is open", cursor="{}")
        seen = look_at_batches(workspace)
        cursor, told = tell_of_stuck(
            [each.row for each in seen], context.cursor, workspace.automation().notify, key_environment(), time.time()
        )
        for line in told:
            context.log.warning(line)
        known = set(context.instance.get_dynamic_partitions(str(CONTESTS.name)))
        rows = [each.row for each in seen if each.problem is None and each.row.contest in known]
        requests = [request for row in rows if (request := _request(row)) is not None]
        if requests:
            return dg.SensorResult(run_requests=requests, cursor=cursor)
        words = [f"{each.row.judge}, {each.row.contest}: {_in_words(each.row, each.problem)}" for each in seen]
        return dg.SensorResult(skip_reason="; ".join([*told, *words]), cursor=cursor)

    return collect_batches


def tell_of_stuck(
    rows: Sequence[BatchRow], cursor: str | None, settings: NotifySettings, environment: Mapping[str, str], now: float
) -> tuple[str, list[str]]:
    """Tell people of batches that have not moved for too long, each time that this has passed.

    Args:
        rows: the open batches.
        cursor: what the last look remembered.
        settings: section ``notify`` of automation.yaml.
        environment: where addresses are read.
        now: in seconds since 1970.

    Returns:
        What is to be remembered, and what is to be logged.
    """
    watches = watched(read_watches(cursor), rows, now)
    found = stuck(rows, watches, settings.batch_hours, now)
    if not found:
        return written(watches), []
    from judge_pipeline.orchestration.automation.sending import Channel, NotSentError, channels

    lines: list[str] = []
    try:
        ways = channels(settings, environment)
    except SettingsError as error:
        ways, lines = [], [str(error)]
    log = Channel("log", lambda message: lines.extend(message.text.splitlines()[1:]))
    for way in (log, *ways):
        new = [one for one in found if watches[one.row.token].told.get(way.name, 0) < one.n_periods]
        if not new:
            continue
        try:
            way.send(stuck_message(new, with_words=settings.words))
        except NotSentError as error:
            lines.append(f"{way.name}: {error}" + ("" if error.refused else "; tried again at the next look"))
            if not error.refused:
                continue
        watches |= {one.row.token: watches[one.row.token].told_by(way.name, one.n_periods) for one in new}
    return written(watches), lines


def _request(row: BatchRow) -> dg.RunRequest | None:
    """The run that collects a batch that has ended, or settles one that a dead process left half submitted.

    Its key changes with each run that set out to collect it: one that failed is followed by another.
    """
    from judge_pipeline.judging.backends.litellm_batches import ENDED

    if row.n_collections >= MOST_COLLECTIONS:
        return None
    has_ended = row.state == "submitted" and row.status in ENDED
    if not has_ended and (row.state == "submitted" or row.seconds_since_creating() < _SECONDS_UNTIL_SETTLED):
        return None
    return dg.RunRequest(
        run_key=f"{row.token}:{row.state}:{row.n_collections}",
        partition_key=dg.MultiPartitionKey({"contest": row.contest, "judge": row.judge}),
        tags={COLLECT_TAG: row.token},
    )


def _in_words(row: BatchRow, problem: str | None) -> str:
    if problem is not None:
        return problem
    if row.n_collections >= MOST_COLLECTIONS:
        return f"{MOST_COLLECTIONS} runs could not collect it; see their logs, then 'judge-pipeline batches'"
    state = row.status or row.state if row.state == "submitted" else row.state
    return f"{state}, {row.n_completed or 0} of {row.n_requests} done"
