"""Runs in processes of this machine, as dagster.yaml asks for, and whether they are still at work.

Where two daemons go on at once (two ``judge-pipeline ui`` over the same records), both may ask for a run, and take one
from the queue; it is started once.

Dagster's server of the graph notices when a run's process dies. Where the server dies with it (the machine is switched
off, everything is killed), or Dagster's database is away just then, its runs would stand "started" for ever, take
places in the queue and be waited for. Here Dagster's run monitoring asks after each, and marks as failed what nobody is
at.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from dagster import DagsterEventType, DagsterRun, RunsFilter
from dagster._core.launcher import CheckRunHealthResult, DefaultRunLauncher, LaunchRunContext, WorkerStatus
from dagster._core.storage.tags import GRPC_INFO_TAG, RUN_KEY_TAG, SENSOR_NAME_TAG, TICK_ID_TAG

from judge_pipeline.orchestration.automation.living import PROCESS_TAG, has_died, with_own_process
from judge_pipeline.orchestration.one_at_a_time import one_at_a_time

LAUNCHED_TAG = "judge_pipeline/launched"
"""Tag of a run whose process was started: its own id. A run that is made again takes the tags over."""

_RUNNING = CheckRunHealthResult(WorkerStatus.RUNNING)
_SECONDS_APART = 60.0
_SECONDS_TO_ANSWER = 10


class LocalLauncher(DefaultRunLauncher):
    """Dagster's default launcher, which starts a run once, and can say whether it is still at work."""

    def launch_run(self, context: LaunchRunContext) -> None:
        """Start the run's process, unless another daemon has; a run that another one asked for, too, is deleted.

        Dagster looks for a run with the key before it makes one: two daemons may look before either has made it.
        """
        run_id = context.dagster_run.run_id
        with one_at_a_time(Path(self._instance.root_directory) / "launching.lock", lambda: None):
            run = self._instance.get_run_by_id(run_id)
            if run is None or run.is_finished or run.tags.get(LAUNCHED_TAG) == run_id:
                return
            if self._is_asked_twice(run):
                self._instance.delete_run(run_id)
                return
            self._instance.add_run_tags(run_id, {LAUNCHED_TAG: run_id, **with_own_process(run.tags)})
        try:
            super().launch_run(context)
        except BaseException:
            self._instance.add_run_tags(run_id, {LAUNCHED_TAG: ""})  # Dagster may put it back into the queue
            raise

    def _is_asked_twice(self, run: DagsterRun) -> bool:
        """Whether a sensor's run with the same key, of another look, was started; what people make again is none."""
        if RUN_KEY_TAG not in run.tags or SENSOR_NAME_TAG not in run.tags or run.parent_run_id is not None:
            return False
        own = {tag: run.tags[tag] for tag in (RUN_KEY_TAG, SENSOR_NAME_TAG)}
        return any(
            other.tags.get(LAUNCHED_TAG) == other.run_id and other.tags.get(TICK_ID_TAG) != run.tags.get(TICK_ID_TAG)
            for other in self._instance.get_runs(RunsFilter(tags=own))
            if other.parent_run_id is None
        )

    @property
    def supports_check_run_worker_health(self) -> bool:
        """It does."""
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        """Whether a run that is marked as started is at work; where nobody can tell, it is taken to be.

        A run in the process of a command or of another run lives as long as that. One that a server of this machine
        started lives as long as its own process, whatever the server says: after a reload another one answers for it,
        which knows nothing of the run; and where Dagster's database was away when the process ended, the server takes
        the run to be at work for ever. A server of another machine is believed.
        """
        if run.tags.get(PROCESS_TAG):
            return _dead("the process that made it was killed") if has_died(run.tags) else _RUNNING
        if GRPC_INFO_TAG not in run.tags:
            return _RUNNING
        said = self._server_says(run.run_id)
        if json.loads(run.tags[GRPC_INFO_TAG]).get("socket") is None:
            return _dead("the server that had started it knows nothing of it") if said is False else _RUNNING
        number, noted_at = self._process_of(run)
        # Where the server has it, the number cannot be another's, and the clock may have been set since it was noted.
        lives = number is not None and _is_there(number) and (bool(said) or _began_before(number, noted_at))
        return _RUNNING if lives else _dead("its process is gone")

    def _server_says(self, run_id: str) -> bool | None:
        """Whether the server has the run; None where it does not answer."""
        from dagster._core.errors import DagsterUserCodeUnreachableError
        from dagster._grpc.types import CanCancelExecutionRequest, CanCancelExecutionResult
        from dagster_shared.serdes import deserialize_value

        client = self._get_grpc_client_for_termination(run_id)  # type: ignore[no-untyped-call]
        if client is None:
            return True
        try:
            said = client.can_cancel_execution(CanCancelExecutionRequest(run_id=run_id), timeout=_SECONDS_TO_ANSWER)
        except DagsterUserCodeUnreachableError:
            return None
        return deserialize_value(said, CanCancelExecutionResult).can_cancel

    def _process_of(self, run: DagsterRun) -> tuple[int | None, float]:
        """The number of the process that the run noted, and when it did; None where it noted none."""
        for entry in self._instance.all_logs(run.run_id, of_type=DagsterEventType.ENGINE_EVENT):
            event = entry.dagster_event
            pid = event.engine_event_data.metadata.get("pid") if event is not None else None
            if pid is not None and str(pid.value).isdecimal():
                return int(str(pid.value)), entry.timestamp
        return None, 0.0


def _dead(why: str) -> CheckRunHealthResult:
    return CheckRunHealthResult(WorkerStatus.FAILED, f"{why}; run it again: what was answered is kept")


def _is_there(number: int) -> bool:
    """Whether a process has the number and has not ended: one whose end nobody asked about is none any more."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _stat(number)[:1] != ["Z"]


def _began_before(number: int, noted_at: float) -> bool:
    """Whether the process began before the run noted it: numbers are given again."""
    fields = _stat(number)
    if not fields:
        return True  # no Linux: nothing more is known
    lines = Path("/proc/stat").read_text(encoding="utf-8").splitlines()
    booted = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
    return booted + int(fields[19]) / os.sysconf("SC_CLK_TCK") <= noted_at + _SECONDS_APART


def _stat(number: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing where there is none, or no Linux."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
