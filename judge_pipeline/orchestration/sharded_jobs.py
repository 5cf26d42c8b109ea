"""Jobs that ask one judge in shards, so that one judge's work on one contest or preference set spreads over workers.

The first step cuts what is to be asked into shards, and each shard is a step: with the multiprocess executor a process
of its own, with Celery a task that any worker takes. The judge's table is made afterwards by the ordinary job, which
the sensor ``make_tables_after_shards`` starts, or the command line.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from judge_pipeline.orchestration.automation.living import COMMAND_LINE, STARTED_BY_TAG
from judge_pipeline.orchestration.executors import EXECUTOR, configured_executor
from judge_pipeline.orchestration.judging_run import AFTER_SHARDS_TAG, LIMIT_TAG
from judge_pipeline.orchestration.partitions import contest_by_judge, judge_of, set_by_judge
from judge_pipeline.orchestration.sharded_judging import Dimension, ask_shard, cut, to_ask
from judge_pipeline.settings.judge_parts import MOST_SHARDS

SENSOR = "make_tables_after_shards"
"""The sensor that starts the ordinary job once all shards have asked."""

SHARD_EXECUTOR = "JUDGE_PIPELINE_SHARD_EXECUTOR"
"""Environment variable that names the executor of these jobs alone; see ``executors``."""

SHARDED = {"judge_contest": "judge_contest_in_shards", "judge_preference_set": "judge_preference_set_in_shards"}
"""The ordinary job -> the one that asks in shards before it."""

CUT = "cut_into_shards"
"""The step that cuts."""

_CRASHES_SURVIVED = 2

_RESOURCES = {"workspace", "progress", "spending"}


class ShardsConfig(dg.Config):
    """How a run is cut."""

    shards: int | None = Field(
        default=None, ge=1, le=MOST_SHARDS, description="Into how many shards; null: as judges.yaml says of the judge"
    )


@dg.op(name=CUT, out=dg.DynamicOut(dg.Nothing), required_resource_keys=_RESOURCES)
def cut_into_shards(context: dg.OpExecutionContext, config: ShardsConfig) -> Iterator[dg.DynamicOutput[None]]:
    """Cut what the judge is to be asked into shards; none where all of it is answered."""
    asked = to_ask(context, *_asked_about(context), judge_of(context))
    of = config.shards or asked.settings.shards
    for number, n in cut(context, asked, of).items():
        yield dg.DynamicOutput(None, mapping_key=f"shard_{number}_of_{of}", metadata={"requests": n})


# A process that was killed is started anew: it asks for what its shard has left.
@dg.op(
    name="ask_shard",
    ins={"shard": dg.In(dg.Nothing)},
    out=dg.Out(dg.Nothing),
    required_resource_keys=_RESOURCES,
    retry_policy=dg.RetryPolicy(max_retries=_CRASHES_SURVIVED),
)
def ask_one_shard(context: dg.OpExecutionContext) -> None:
    """Ask for what is in one shard and not stored."""
    from judge_pipeline.judging.sharding import Shard

    found = re.fullmatch(r"shard_(\d+)_of_(\d+)", context.get_mapping_key() or "")
    if found is None:
        raise dg.Failure("this step is no shard of a run", allow_retries=False)
    shard = Shard(int(found[1]), int(found[2]), context.run_id.replace("-", ""))
    asked = to_ask(context, *_asked_about(context), judge_of(context), shard)
    context.add_output_metadata(ask_shard(context, asked, shard))


def sharded_jobs(contest_judges: Sequence[str], set_judges: Sequence[str]) -> list[dg.JobDefinition]:
    """The jobs, for the judges of contests and those of preference sets."""
    executor = shard_executor()
    of_contest, of_set = SHARDED.values()
    return [
        _job(of_contest, contest_by_judge(contest_judges), executor, "contest"),
        _job(of_set, set_by_judge(set_judges), executor, "preference set"),
    ]


def _job(
    name: str, partitions: dg.MultiPartitionsDefinition, executor: dg.ExecutorDefinition, what: str
) -> dg.JobDefinition:
    @dg.job(
        name=name,
        partitions_def=partitions,
        executor_def=executor,
        description=f"One judge asked about one large {what} in shards, side by side; its table is made afterwards.",
    )
    def sharded() -> None:
        cut_into_shards().map(ask_one_shard)

    return sharded


def shard_executor(environment: Mapping[str, str] = os.environ) -> dg.ExecutorDefinition:
    """The executor of sharded jobs: a process a step, unless one is named for them, or for all jobs.

    Raises:
        SettingsError: there is no such executor, or its packages or its broker are missing.
    """
    name = environment.get(SHARD_EXECUTOR) or environment.get(EXECUTOR) or "multiprocess"
    return configured_executor({**environment, EXECUTOR: name})


def _asked_about(context: dg.OpExecutionContext) -> tuple[Dimension, str]:
    key = context.partition_key
    keys = key.keys_by_dimension if isinstance(key, dg.MultiPartitionKey) else {}
    of: Dimension = "contest" if "contest" in keys else "preference_set"
    return of, keys[of]


def after_shards_sensor(sharded: Sequence[dg.JobDefinition], ordinary: Sequence[Any]) -> dg.SensorDefinition:
    """The sensor; it runs by itself, and does nothing while no sharded run ends.

    Args:
        sharded: the jobs of :func:`sharded_jobs`.
        ordinary: the jobs that make the tables.
    """

    @dg.run_status_sensor(
        run_status=dg.DagsterRunStatus.SUCCESS,
        name=SENSOR,
        monitored_jobs=list(sharded),
        request_jobs=list(ordinary),
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Starts the run that makes a judge's table once all its shards have asked; it asks no judge.",
    )
    def make_tables_after_shards(context: dg.RunStatusSensorContext) -> dg.RunRequest | dg.SkipReason:
        run = context.dagster_run
        if run.tags.get(STARTED_BY_TAG) == COMMAND_LINE:
            return dg.SkipReason("the command line makes the table itself")
        job = next(ordinary for ordinary, sharded in SHARDED.items() if sharded == run.job_name)
        prefix = "dagster/partition/"
        keys = {tag.removeprefix(prefix): value for tag, value in run.tags.items() if tag.startswith(prefix)}
        passed_on = {tag: run.tags[tag] for tag in (LIMIT_TAG,) if tag in run.tags}
        return dg.RunRequest(
            run_key=run.run_id,
            job_name=job,
            partition_key=dg.MultiPartitionKey(keys),
            tags={AFTER_SHARDS_TAG: run.run_id, **passed_on},
        )

    return make_tables_after_shards
