from __future__ import annotations

import dagster as dg
import pytest
from dagster._core.launcher import LaunchRunContext, WorkerStatus
from dagster._core.test_utils import create_run_for_test

pytest.importorskip("dagster_celery", reason="the packages of a cluster are not installed")

from dagster_celery.launcher import CeleryRunLauncher
from dagster_celery.tags import DAGSTER_CELERY_TASK_ID_TAG

from judge_pipeline.orchestration.automation.living import COMMAND_LINE, STARTED_BY_TAG, is_living, process_tag
from judge_pipeline.orchestration.celery_launcher import WorkerLauncher


@pytest.mark.parametrize(("state", "status"), [("SUCCESS", WorkerStatus.FAILED), ("STARTED", WorkerStatus.RUNNING)])
def test_a_run_whose_task_ended_without_noting_it_has_nobody_at_it(state: str, status: WorkerStatus) -> None:
    launcher = WorkerLauncher(default_queue="runs", broker="memory://", backend="cache+memory://")
    launcher.celery.backend.store_result(state, 0, state)
    with dg.DagsterInstance.ephemeral() as instance:
        tags = {DAGSTER_CELERY_TASK_ID_TAG: state}
        run = create_run_for_test(instance, status=dg.DagsterRunStatus.STARTED, tags=tags)
        assert launcher.check_run_worker_health(run).status == status


def test_a_commands_run_that_is_made_again_in_the_ui_is_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CeleryRunLauncher, "launch_run", lambda _, context: None)
    launcher = WorkerLauncher(default_queue="runs", broker="memory://", backend="cache+memory://")
    gone = {tag: f"{process.rpartition(':')[0]}:1" for tag, process in process_tag().items()}
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        run = create_run_for_test(instance, tags={STARTED_BY_TAG: COMMAND_LINE, **gone})
        launcher.launch_run(LaunchRunContext(run, workspace=None))
        made = instance.get_run_by_id(run.run_id)
        assert made is not None and is_living(made.tags) and not is_living(run.tags)
