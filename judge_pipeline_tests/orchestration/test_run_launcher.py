from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._core.events import EngineEventData
from dagster._core.launcher import DefaultRunLauncher, LaunchRunContext, WorkerStatus
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._core.test_utils import create_run_for_test

from judge_pipeline.orchestration.automation.living import (
    COMMAND_LINE,
    PROCESS_TAG,
    STARTED_BY_TAG,
    is_living,
    process_tag,
)
from judge_pipeline.orchestration.run_launcher import LocalLauncher

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="processes are looked for in /proc")

OF_THIS_MACHINE = {GRPC_INFO_TAG: '{"host": "localhost", "socket": "/nowhere/dagster.sock"}'}


@contextmanager
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits to be killed; nobody asks how it ended before the block does."""
    waiting = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        yield waiting
    finally:
        waiting.kill()
        waiting.communicate()


def state_of(number: int) -> str:
    return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def test_a_run_that_two_daemons_took_from_the_queue_is_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []

    def start(self: object, context: LaunchRunContext) -> None:
        started.append(context.dagster_run.run_id)
        if len(started) == 1:
            raise DagsterUserCodeUnreachableError

    monkeypatch.setattr(DefaultRunLauncher, "launch_run", start)
    launchers = [LocalLauncher(), LocalLauncher()]
    with dg.DagsterInstance.ephemeral() as instance:
        for launcher in launchers:
            launcher.register_instance(instance)
        run = create_run_for_test(instance, status=dg.DagsterRunStatus.STARTING)
        with pytest.raises(DagsterUserCodeUnreachableError):
            launchers[0].launch_run(LaunchRunContext(run, workspace=None))
        for launcher in launchers:
            launcher.launch_run(LaunchRunContext(run, workspace=None))
        assert started == [run.run_id] * 2, "once more after the server could not be reached, and then no more"
        made = instance.get_run_by_id(run.run_id)
        assert made is not None
        again = create_run_for_test(instance, status=dg.DagsterRunStatus.STARTING, tags=made.tags)
        launchers[1].launch_run(LaunchRunContext(again, workspace=None))
        assert started[2:] == [again.run_id], "a run that is made again has the tags of the first"


def test_a_run_that_two_daemons_asked_for_is_started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both looked for one with the key before either had made it. What people make again has the same tags."""
    started: list[str] = []
    monkeypatch.setattr(DefaultRunLauncher, "launch_run", lambda _, context: started.append(context.dagster_run.run_id))
    launcher = LocalLauncher()
    key = {"dagster/run_key": "read-c1-1f", "dagster/sensor_name": "watch_contests"}
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        first, second = (create_run_for_test(instance, tags=key | {"dagster/tick": tick}) for tick in "12")
        again = create_run_for_test(instance, tags=second.tags, parent_run_id=first.run_id, root_run_id=first.run_id)
        copied = create_run_for_test(instance, tags=first.tags)
        other = create_run_for_test(instance, tags=key | {"dagster/run_key": "read-c1-2f", "dagster/tick": "3"})
        for run in (first, second, again, copied, other):
            launcher.launch_run(LaunchRunContext(run, workspace=None))
        assert started == [run.run_id for run in (first, again, copied, other)]
        assert instance.get_run_by_id(second.run_id) is None


def test_a_commands_run_that_is_made_again_in_the_ui_is_not_taken_to_live_in_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has the tags of the first, whose process is gone."""
    monkeypatch.setattr(DefaultRunLauncher, "launch_run", lambda _, context: None)
    launcher = LocalLauncher()
    tags = {STARTED_BY_TAG: COMMAND_LINE, PROCESS_TAG: f"{process_tag()[PROCESS_TAG].rpartition(':')[0]}:1"}
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        first, again = (create_run_for_test(instance, tags=tags) for _ in range(2))
        launcher.launch_run(LaunchRunContext(again, workspace=None))
        made = instance.get_run_by_id(again.run_id)
        assert made is not None
        assert launcher.check_run_worker_health(first).status == WorkerStatus.FAILED
        assert launcher.check_run_worker_health(made).status == WorkerStatus.RUNNING
        assert is_living(made.tags)


@pytest.mark.parametrize("said", [True, False, None])
def test_a_run_lives_as_long_as_its_process_whatever_its_server_says(
    said: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One whose watch over runs has ended takes each to live, one that was reloaded knows none that came before."""
    launcher = LocalLauncher()
    monkeypatch.setattr(launcher, "_server_says", lambda run_id: said)
    with dg.DagsterInstance.ephemeral() as instance, process() as running:
        launcher.register_instance(instance)
        run = create_run_for_test(instance, status=dg.DagsterRunStatus.STARTED, tags=OF_THIS_MACHINE)
        instance.report_engine_event("Started process for run.", run, EngineEventData.in_process(running.pid))
        assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING
        running.kill()
        deadline = time.monotonic() + 60
        while state_of(running.pid) != "Z":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        found = launcher.check_run_worker_health(run)
        assert found.status == WorkerStatus.FAILED
        assert found.msg == "its process is gone; run it again: what was answered is kept"
        running.wait()
        assert launcher.check_run_worker_health(run).status == WorkerStatus.FAILED


def test_a_run_that_another_machine_started_is_taken_to_live_while_that_does_not_answer() -> None:
    launcher = LocalLauncher()
    tags = {GRPC_INFO_TAG: '{"host": "127.0.0.1", "port": 1}'}
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        run = create_run_for_test(instance, status=dg.DagsterRunStatus.STARTED, tags=tags)
        assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING
