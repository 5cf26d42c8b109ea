"""Running the graph for one contest from code: the same jobs, assets and instance as the UI's.

Jobs of their own, since the tables before and after judging are partitioned by contest, the judgments by contest and
judge, and what is over all contests by nothing. A judge that fails does not stop the others: what comes after reads the
judges that are verified.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import dagster as dg
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from judge_pipeline.orchestration.automation.living import COMMAND_LINE, STARTED_BY_TAG, process_tag

_TERMINATED = "received termination signal"
"""What an executor of several processes says when the run was told to stop; its steps fail for whatever reason then."""

_FOLDERS = frozenset({dg.AssetKey("contest_folder"), dg.AssetKey("preference_folder")})

Result = dg.ExecuteInProcessResult | dg.JobExecutionResult


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How one job's run ended.

    Attributes:
        run_id: the run in the instance, to be found in the UI.
        error: why it failed, in words; None where it succeeded.
        failed_checks: ``asset: check: description`` for each asset check that did not pass.
        waiting: what the run left an asset waiting for, in words; None where it waits for nothing.
    """

    run_id: str
    error: str | None
    failed_checks: tuple[str, ...] = ()
    waiting: str | None = None


def run_job(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    job: str,
    contest: str | None,
    judge: str | None = None,
    tags: Mapping[str, str] = MappingProxyType({}),
    *,
    of: Literal["contest", "preference_set"] = "contest",
    only: Collection[str] | None = None,
) -> JobOutcome:
    """Run a job for a contest, for a contest and judge, or over all contests (None), in this process.

    ``tags`` are further ones of the run. With ``of``, ``contest`` names a preference set. With ``only``, of the job's
    assets these alone are made; the others must be there.

    Raises:
        KeyboardInterrupt: the process was told to stop (Ctrl-C, SIGTERM) while the job ran. Dagster makes it a failure
            of the step; it is meant for the whole command.
    """
    both = None if contest is None or judge is None else dg.MultiPartitionKey({of: contest, "judge": judge})
    key = contest if both is None else both
    resolved = definitions.resolve_job_def(job)
    if contest is not None:
        _note_first_look(instance, resolved, contest)
    with _without_advice():
        result = resolved.execute_in_process(
            instance=instance,
            partition_key=key,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={STARTED_BY_TAG: COMMAND_LINE, **process_tag(), **tags},
            asset_selection=None if only is None else [dg.AssetKey(name) for name in sorted(only)],
        )
    if _interrupted(result):
        raise KeyboardInterrupt
    error = None if result.success else _why(result)
    return JobOutcome(result.run_id, error, _failed_checks(result), _waiting(result))


def _note_first_look(instance: dg.DagsterInstance, job: dg.JobDefinition, folder: str) -> None:
    """Note that the folder was there before it is read first, by a job that does.

    Dagster marks what was made from a folder that has changed only where the folder was observed before it was read.
    Where the UI runs, a sensor has; a command has not.
    """
    graph = job.asset_layer.asset_graph
    parents = {parent for key in job.asset_layer.selected_asset_keys for parent in graph.get(key).parent_keys}
    for asset in parents & _FOLDERS:
        wanted = dg.AssetRecordsFilter(asset_key=asset, asset_partitions=[folder])
        if not instance.fetch_observations(wanted, limit=1).records:
            tags = {DATA_VERSION_TAG: "not looked at"}
            instance.report_runless_asset_event(
                dg.AssetObservation(asset, partition=folder, tags=tags, description="new")
            )


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """How the processes of a run make its job anew.

    Attributes:
        module: a module that they can import.
        function: its function that returns the job.
        arguments: what it is given; ``job`` is the job's name.
    """

    module: str
    function: str
    arguments: Mapping[str, str]


def run_sharded_job(
    rebuilt: Reconstruction,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    name: str,
    judge: str,
    shards: int,
    tags: Mapping[str, str] = MappingProxyType({}),
    *,
    of: Literal["contest", "preference_set"] = "contest",
) -> JobOutcome:
    """Run a job that asks in shards (``sharded_jobs``), its steps in processes of their own; makes no table.

    Args:
        rebuilt: how these make the job.
        definitions: the graph, as it is in this process.
        instance: where the run is kept.
        name: the contest or preference set.
        judge: the judge.
        shards: into how many.
        tags: further ones of the run.
        of: what ``name`` names.

    Raises:
        KeyboardInterrupt: the process was told to stop while the job ran; the processes have stopped.
    """
    from judge_pipeline.orchestration.sharded_jobs import CUT

    job = dg.build_reconstructable_job(rebuilt.module, rebuilt.function, reconstructable_kwargs=dict(rebuilt.arguments))
    here = definitions.resolve_job_def(rebuilt.arguments["job"])
    partitions = here.partitions_def
    assert isinstance(partitions, dg.MultiPartitionsDefinition)
    partition = partitions.get_tags_for_partition_key(dg.MultiPartitionKey({of: name, "judge": judge}))
    config = {
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        "ops": {CUT: {"config": {"shards": shards}}},
    }
    if here.executor_def.name == dg.multiprocess_executor.name:
        # One process imports what all need and the others are forked from it: seconds less for each of them.
        config["execution"] = {"config": {"start_method": {"forkserver": {"preload_modules": [rebuilt.module]}}}}
    tags = {**partition, STARTED_BY_TAG: COMMAND_LINE, **process_tag(), **tags}
    with dg.execute_job(job, instance, run_config=config, tags=tags) as result:
        if _interrupted(result) or any(_TERMINATED in (event.message or "") for event in result.all_events):
            raise KeyboardInterrupt
        return JobOutcome(result.run_id, None if result.success else _why(result))


@contextmanager
def _without_advice() -> Iterator[None]:
    """Keep Dagster from warning that an asset that was not made has no checks, and that what follows goes on: it is
    skipped."""
    logger = logging.getLogger("dagster._core.execution.plan.active")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _interrupted(result: Result) -> bool:
    failed = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return any(e is not None and e.cls_name == dg.DagsterExecutionInterruptedError.__name__ for e in failed)


def _why(result: Result) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            if data.user_failure_data is not None and data.user_failure_data.description:
                return str(data.user_failure_data.description)
            error = data.error
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                return _of_error(str(error.message))
    for event in result.all_events:
        if event.is_job_failure and event.job_failure_data.error is not None:
            said = " ".join(str(event.job_failure_data.error.message).split())
            return f"{said[:500]} (the run's log in the UI has all of it)"
    return "the run failed before any step; its log in the UI says why"


def _of_error(message: str) -> str:
    said = message.strip()
    if not said.startswith("psycopg2."):  # the driver of Dagster's database; the checkpoint's is another
        return said
    first = said.splitlines()[0].partition(": ")[2]
    return (
        f"Dagster's database did not take what the run had to note ({first}); once its server is back, run it again: "
        "what was answered is kept"
    )


def _waiting(result: dg.ExecuteInProcessResult) -> str | None:
    """What the observations of assets that were not made say (``table_asset.NotMade``)."""
    observed = [e.asset_observation_data.asset_observation for e in result.all_events if e.is_asset_observation]
    return "; ".join(o.description for o in observed if o.description) or None


def _failed_checks(result: dg.ExecuteInProcessResult) -> tuple[str, ...]:
    evaluations = result.get_asset_check_evaluations()
    return tuple(
        f"{e.asset_key.to_user_string()}: {e.check_name}: {e.description or 'failed'}"
        for e in evaluations
        if not e.passed
    )
