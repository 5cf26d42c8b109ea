"""The sensor that asks after batches at providers, and starts the run that collects what has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg

from judge_pipeline.orchestration.judging_run import COLLECT_TAG, SENSOR
from judge_pipeline.orchestration.open_batches import batches_of, look_at_batches
from judge_pipeline.orchestration.partitions import CONTESTS
from judge_pipeline.settings import Workspace

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
        description="Asks providers after open batches; starts the run that collects what has ended.",
    )
    def collect_batches(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        if not batches_of(workspace):
            return dg.SkipReason("no batch is open")
        seen = look_at_batches(workspace)
        known = set(context.instance.get_dynamic_partitions(str(CONTESTS.name)))
        rows = [each.row for each in seen if each.problem is None and each.row.contest in known]
        requests = [request for row in rows if (request := _request(row)) is not None]
        if requests:
            return dg.SensorResult(run_requests=requests)
        words = [f"{each.row.judge}, {each.row.contest}: {_in_words(each.row, each.problem)}" for each in seen]
        return dg.SkipReason("; ".join(words))

    return collect_batches


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
