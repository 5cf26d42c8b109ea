"""``judge-pipeline ui`` with all its processes over a small contest, to be killed, starved and locked out."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import yaml
from dagster import DagsterEventType

from judge_pipeline.definitions import READ_CONTEST, build_definitions
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.judging.test_cancel_from_ui import _repository, ask, launch, wait_for
from judge_pipeline_tests.killing import command_of, kill_group, processes_of
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.served_ui import quick_instance_settings

CHECKOUT = Path(__file__).resolve().parents[2]


class RunningSystem:
    """A contest that was read, its judge at a provider, and the UI's processes.

    Attributes:
        home: the workspace's folder.
        url: where the UI is, while it runs.
        reports_url: where the reports are, while it runs.
        process: the command, while it runs.
    """

    def __init__(
        self, folder: Path, provider_url: str, variables: dict[str, str] | None = None, **instance_settings: Any
    ) -> None:
        self.contest = MiniContest(folder / "home").lay(3, 2)
        self.home = self.contest.home
        self.workspace = Workspace.find({}, self.home)
        self._variables = variables or {}
        judge = {
            "backend": "litellm", "model": "openai/slow", "base_url": provider_url, "transport": "direct",
            "limits": {"max_in_flight": 2, "timeout_seconds": 300, "max_tries": 1},
        }  # fmt: skip
        self._write("assets_config/judges.yaml", {"judges": {"slow": judge}})
        watch = {"contests": False, "preference_sets": False}
        self._write("assets_config/automation.yaml", {"watch": watch, "notify": {"interval_seconds": 1}})
        settings = quick_instance_settings()
        settings["run_monitoring"]["poll_interval_seconds"] = 2
        settings["concurrency"]["runs"]["max_concurrent_runs"] = 1
        self._write("dagster.yaml", settings | instance_settings)
        with open_instance(self.workspace) as instance:
            assert run_job(build_definitions(self.workspace), instance, READ_CONTEST, self.contest.name).error is None

    def _write(self, name: str, values: Any) -> None:
        (self.home / name).write_text(yaml.safe_dump(values), encoding="utf-8")

    @contextmanager
    def started(self) -> Iterator[None]:
        """The UI while the block runs; whatever is left of it then is killed."""
        with socket.socket() as free, socket.socket() as further:
            ports = []
            for each in (free, further):
                each.bind(("127.0.0.1", 0))
                ports.append(str(each.getsockname()[1]))
        options = ["ui", "--port", ports[0], "--reports-port", ports[1]]
        command = [sys.executable, "-m", "judge_pipeline.cli.main", *options]
        environment = os.environ | {"JUDGE_PIPELINE_HOME": str(self.home)} | self._variables
        with (self.home / "ui.log").open("ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        self.url = f"http://127.0.0.1:{ports[0]}"
        self.reports_url = f"http://127.0.0.1:{ports[1]}"
        try:
            wait_for(lambda: _repository(self.url) is not None, "the UI to load the graph")
            yield
        finally:
            self.kill_everything()

    def kill_everything(self) -> None:
        """SIGKILL to all of its processes."""
        kill_group(self.process.pid)
        self.process.wait(20)

    def kill(self, module: str) -> None:
        """SIGKILL to the process that runs a module (``quiet_dagster_daemon``, ``dagster_webserver``)."""
        ours = [pid for pid in processes_of(self.process.pid) if module in command_of(pid)]
        assert ours, f"no process of {module}"
        for pid in ours:
            os.kill(pid, signal.SIGKILL)

    def launch(self) -> str:
        """Start a run of the judge, as the UI does; its id."""
        return launch(self.url, "slow")

    def status(self, run: str) -> str:
        """What the UI says of the run."""
        return str(ask(self.url, f'{{runOrError(runId:"{run}"){{... on Run{{status}}}}}}')["runOrError"]["status"])

    def process_of(self, run: str) -> int:
        """The process of the run, as it noted it."""
        with open_instance(self.workspace) as instance:
            for entry in instance.all_logs(run, of_type=DagsterEventType.ENGINE_EVENT):
                event = entry.dagster_event
                if event is not None and "pid" in event.engine_event_data.metadata:
                    return int(str(event.engine_event_data.metadata["pid"].value))
        raise AssertionError(f"run {run} noted no process")

    def n_stored(self) -> int:
        """Judgments in the checkpoint."""
        with closing(sqlite3.connect(self.workspace.out_dir / "checkpoint.sqlite")) as file:
            return int(file.execute("SELECT count(*) FROM judgments").fetchone()[0])

    def reaches(self, run: str, status: str) -> None:
        """Wait until the run has the status."""
        wait_for(lambda: self.status(run) == status, f"run {run} to be {status}")
