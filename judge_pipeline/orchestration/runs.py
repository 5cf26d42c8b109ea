"""Running the graph for one contest from code: the same jobs, assets and instance as the UI's.

Jobs of their own, since the tables before and after judging are partitioned by contest, the judgments by contest and
judge, and what is over all contests by nothing. A judge that fails does not stop the others: what comes after reads the
judges that are verified.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import dagster as dg


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
) -> JobOutcome:
    """Run a job for a contest, for a contest and judge, or over all contests (None), in this process.

    ``tags`` are further ones of the run. With ``of``, ``contest`` names a preference set.

    Raises:
        KeyboardInterrupt: the process was told to stop (Ctrl-C, SIGTERM) while the job ran. Dagster makes it a failure
            of the step; it is meant for the whole command.
    """
    both = None if contest is None or judge is None else dg.MultiPartitionKey({of: contest, "judge": judge})
    key = contest if both is None else both
    with _without_advice():
        result = definitions.resolve_job_def(job).execute_in_process(
            instance=instance,
            partition_key=key,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            tags={"judge_pipeline/started_by": "command line", **tags},
        )
    if _interrupted(result):
        raise KeyboardInterrupt
    error = None if result.success else _why(result)
    return JobOutcome(result.run_id, error, _failed_checks(result), _waiting(result))


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


def _interrupted(result: dg.ExecuteInProcessResult) -> bool:
    failed = [event.step_failure_data.error for event in result.all_events if event.is_step_failure]
    return any(e is not None and e.cls_name == dg.DagsterExecutionInterruptedError.__name__ for e in failed)


def _why(result: dg.ExecuteInProcessResult) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            if data.user_failure_data is not None and data.user_failure_data.description:
                return str(data.user_failure_data.description)
            error = data.error
            while error is not None and error.cause is not None:
                error = error.cause
            if error is not None:
                return str(error.message).strip()
    return "the run failed before any step; its log in the UI says why"


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
