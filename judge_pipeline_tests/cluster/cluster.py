"""A cluster on one machine: PostgreSQL, Redis, an S3-compatible server, and workers that are processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableJob, ReconstructableRepository
from dagster._core.launcher import LaunchRunContext

from judge_pipeline.definitions import build_definitions
from judge_pipeline.orchestration.instance import dagster_home
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.killing import kill_group

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass
class Worker:
    """A worker.

    Attributes:
        name: what runs' logs call it.
        process: of it; what it executes runs in are its children.
        log: what it said.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """SIGKILL the worker and all that it started, as when its machine goes."""
        kill_group(self.process.pid)
        self.process.wait()

    def stop(self) -> None:
        """End it, whatever state it is in."""
        if self.process.poll() is None:
            self.kill()


@dataclass
class Cluster:
    """A workspace whose runs go to workers.

    Attributes:
        home: the workspace.
        environment: what the environment of each of its processes says beside that of this one.
        folder: where workers have folders of their own, as machines have.
    """

    home: Path
    environment: Mapping[str, str]
    folder: Path
    workers: list[Worker] = field(default_factory=list)

    @property
    def workspace(self) -> Workspace:
        """The workspace, as this process sees it."""
        return Workspace.find({"JUDGE_PIPELINE_HOME": str(self.home), "JUDGE_PIPELINE_OUT": str(self.folder / "here")})

    @cached_property
    def definitions(self) -> dg.Definitions:
        """The graph."""
        return build_definitions(self.workspace)

    def start_worker(self, name: str, *options: str) -> Worker:
        """A worker with an output folder of its own: it shares with others what the store and the databases hold."""
        log = self.folder / f"{name}.log"
        own = {"JUDGE_PIPELINE_HOME": str(self.home), "JUDGE_PIPELINE_OUT": str(self.folder / name)}
        with log.open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "judge_pipeline.cli.main", "worker", "--name", name, *options],
                env={**os.environ, **self.environment, **own},
                cwd=CHECKOUT,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        worker = Worker(name, process, log)
        self.workers.append(worker)
        return worker

    def launch(self, instance: dg.DagsterInstance, job: str, *key: str) -> str:
        """Give a run to the workers; its id. ``key`` is a contest, or a contest and a judge."""
        definition = self.definitions.resolve_job_def(job)
        partition: Any = dg.MultiPartitionKey({"contest": key[0], "judge": key[1]}) if len(key) == 2 else key[0]
        repository = ReconstructableRepository.for_module("judge_pipeline.definitions", "defs", str(CHECKOUT))
        with instance:
            run = instance.create_run_for_job(
                definition,
                tags=definition.get_tags_for_partition_key(str(partition), selected_asset_keys=None),
                job_code_origin=ReconstructableJob(repository, job).get_python_origin(),
            )
        instance.run_launcher.launch_run(LaunchRunContext(dagster_run=run, workspace=None))
        return run.run_id

    def submit(self, instance: dg.DagsterInstance, job: str, *key: str) -> str:
        """Put a run into Dagster's queue, as the UI does; its id."""
        named = {"submitted": uuid.uuid4().hex}
        tags = {"dagster/partition": "|".join(key), **named}
        if len(key) == 2:
            tags |= {"dagster/partition/contest": key[0], "dagster/partition/judge": key[1]}
        of_job = ["--module-name", "judge_pipeline.definitions", "--job", job, "--tags", json.dumps(tags)]
        ended = subprocess.run(
            [sys.executable, "-m", "dagster", "job", "launch", *of_job],
            env=self._environment("daemon"),
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        (run,) = instance.get_runs(dg.RunsFilter(tags=named))
        return run.run_id

    @contextmanager
    def daemon(self) -> Iterator[None]:
        """Dagster's daemon, while the block runs."""
        with (self.folder / "daemon.log").open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "dagster._daemon", "run", "--module-name", "judge_pipeline.definitions"],
                env=self._environment("daemon"),
                cwd=CHECKOUT,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        try:
            yield
        finally:
            kill_group(process.pid)
            process.wait()

    def _environment(self, name: str) -> dict[str, str]:
        own = {"JUDGE_PIPELINE_HOME": str(self.home), "JUDGE_PIPELINE_OUT": str(self.folder / name)}
        workspace = Workspace.find(own)
        return {**os.environ, **self.environment, **own, "DAGSTER_HOME": str(dagster_home(workspace))}

    def stop(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.stop()

    def said(self) -> str:
        """What workers said, for a test that failed."""
        return "\n".join(f"--- {w.name}\n{w.log.read_text(errors='replace')[-3000:]}" for w in self.workers)


def wait_until(holds: Callable[[], bool], seconds: float, what: Callable[[], str] | str) -> None:
    """Wait for something.

    Raises:
        AssertionError: it did not come in time.
    """
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, what if isinstance(what, str) else what()
        time.sleep(0.2)


def ended(instance: dg.DagsterInstance, runs: Sequence[str]) -> bool:
    """Whether all runs are at an end."""
    found = [instance.get_run_by_id(run) for run in runs]
    return all(run is not None and run.is_finished for run in found)


def worker_of(instance: dg.DagsterInstance, run_id: str) -> str | None:
    """The worker that took the run, by the result that it left with the broker."""
    run = instance.get_run_by_id(run_id)
    assert run is not None
    launcher: Any = instance.run_launcher
    task = run.tags.get("dagster-celery/task_id")
    told = launcher.celery.backend.get_task_meta(task) if task else {}
    found = told.get("worker") or (told["result"].get("hostname") if isinstance(told.get("result"), dict) else None)
    return str(found).partition("@")[0] if found else None
