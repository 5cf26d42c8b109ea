"""Runs as tasks of workers on other machines, as ``deploy/dagster.yaml`` asks for.

dagster-celery's launcher believes that a worker which began a run is at it for ever. This one asks the worker: a run
whose worker is gone is found within a look of Dagster's run monitoring, and started again elsewhere by its run retries.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import dagster as dg
from celery.exceptions import DuplicateTaskNameWarning
from dagster._core.launcher import CheckRunHealthResult, LaunchRunContext, WorkerStatus
from dagster._serdes import ConfigurableClassData
from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tags import DAGSTER_CELERY_TASK_ID_TAG

from judge_pipeline.orchestration.automation.living import has_died, with_own_process
from judge_pipeline.orchestration.celery_settings import QUEUES, celery_settings

_RUNNING = CheckRunHealthResult(WorkerStatus.RUNNING)
_LOOKS = 3
_SECONDS_A_LOOK = 2.0


class WorkerLauncher(CeleryRunLauncher):
    """Starts runs on the workers of the broker in the environment; it has no configuration of its own."""

    @classmethod
    def config_type(cls) -> dict[str, Any]:
        """None: the environment says it."""
        return {}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData, config_value: Mapping[str, Any]) -> WorkerLauncher:
        """The launcher of the environment.

        Raises:
            SettingsError: the environment names no broker.
        """
        settings = celery_settings(os.environ)
        return cls(
            default_queue=QUEUES["runs"],
            broker=os.environ[settings.broker_env],
            backend=os.environ[settings.results_env],
            config_source=dict(settings.options),
            inst_data=inst_data,
        )

    def launch_run(self, context: LaunchRunContext) -> None:
        """Give a run to the workers."""
        run = context.dagster_run
        if changed := with_own_process(run.tags):
            self._instance.add_run_tags(run.run_id, changed)
        with _without_advice():
            super().launch_run(context)

    def terminate(self, run_id: str) -> bool:
        """Cancel the run: its task is taken from the queue, or its process is ended. What was answered is kept."""
        run = self._instance.get_run_by_id(run_id)
        if run is None or run.is_finished or DAGSTER_CELERY_TASK_ID_TAG not in run.tags:
            return False
        # Said before it is done: a run that has ended otherwise would be taken for one whose worker is gone.
        self._instance.report_run_canceling(run)
        self.celery.AsyncResult(run.tags[DAGSTER_CELERY_TASK_ID_TAG]).revoke(terminate=True)
        self._instance.report_run_canceled(run)
        return True

    def get_run_worker_debug_info(self, run: dg.DagsterRun, include_container_logs: bool | None = True) -> str | None:
        """Which worker took the run; None where none did."""
        if DAGSTER_CELERY_TASK_ID_TAG not in run.tags:
            return None
        said: str | None = super().get_run_worker_debug_info(run, include_container_logs)
        return said

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """Whether the run's worker is at it; one that answers none of three calls is gone.

        A task that has ended is at nothing, whatever it came to: of the run, which is not marked as ended, it could not
        note the end, since Dagster's database was away. A run that was made within another process has no worker; it
        lives with that, as far as can be seen from here.
        """
        if DAGSTER_CELERY_TASK_ID_TAG not in run.tags:
            gone = has_died(run.tags)
            return CheckRunHealthResult(WorkerStatus.FAILED, "the process that made it is gone") if gone else _RUNNING
        found = super().check_run_worker_health(run)
        if found.status == WorkerStatus.SUCCESS:
            return CheckRunHealthResult(WorkerStatus.FAILED, "its task has ended, and could not note how the run did")
        if found.status != WorkerStatus.RUNNING:
            return found
        told = self.celery.AsyncResult(run.tags[DAGSTER_CELERY_TASK_ID_TAG]).info
        worker = told.get("hostname") if isinstance(told, dict) else None
        if worker is None or self._answers(str(worker)):
            return found
        return CheckRunHealthResult(WorkerStatus.FAILED, f"worker {worker}, which had begun the run, does not answer")

    def _answers(self, worker: str) -> bool:
        return any(self.celery.control.ping(destination=[worker], timeout=_SECONDS_A_LOOK) for _ in range(_LOOKS))


@contextmanager
def _without_advice() -> Iterator[None]:
    """Keep Celery from warning that dagster-celery names its task anew with each run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DuplicateTaskNameWarning)
        yield
