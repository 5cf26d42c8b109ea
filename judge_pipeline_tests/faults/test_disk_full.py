"""The disk fills up: before anything is made, and while a judge answers. A real, small disk."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster._core.launcher import WorkerStatus

from judge_pipeline.definitions import JUDGE_CONTEST, build_definitions
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.run_launcher import LocalLauncher
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import JUDGE_OUTPUTS, JUDGE_REQUESTS
from judge_pipeline_tests.judging.conftest import Behaviour, valid
from judge_pipeline_tests.mini_contest import MiniContest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

DISK_BYTES = 24 << 20
FULL = ("No space left on device", "disk is full", "disk I/O error")
"""How the operating system and SQLite say it."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own, empty."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no 'mount' on this machine")
    if mounted.returncode != 0:
        pytest.skip(f"a disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Filling:
    """A file that takes all the space there is."""

    def __init__(self, disk: Path) -> None:
        self.file = disk / "filling"

    def fill(self, leave: int = 0) -> None:
        with self.file.open("ab", buffering=0) as file:
            size = 1 << 20
            while size >= 512:
                try:
                    if file.write(b"\0" * size) < size:
                        size //= 2
                except OSError:
                    size //= 2
            file.truncate(max(0, self.file.stat().st_size - leave))

    def free(self) -> None:
        self.file.unlink(missing_ok=True)


@pytest.fixture
def contest(tmp_path: Path, provider: Any) -> MiniContest:
    mini = MiniContest(tmp_path / "home").lay(3, 2)
    judge = {
        "backend": "litellm", "model": "openai/m", "base_url": provider.url, "transport": "direct",
        "limits": {"max_in_flight": 1},
    }  # fmt: skip
    (mini.home / "assets_config" / "judges.yaml").write_text(yaml.safe_dump({"judges": {"asked": judge}}))
    return mini


def command(contest: MiniContest, disk: Path, *arguments: str) -> tuple[int, str]:
    """The command in a process of its own, its output on the small disk: exit code and what it said."""
    environment = os.environ | {"JUDGE_PIPELINE_HOME": str(contest.home), "JUDGE_PIPELINE_OUT": str(disk / "out")}
    whole = [sys.executable, "-m", "judge_pipeline.cli.main", *arguments]
    ended = subprocess.run(whole, env=environment, capture_output=True, text=True, check=False, cwd=contest.home)
    return ended.returncode, ended.stdout + ended.stderr


def test_a_full_disk_fails_with_words_and_with_space_again_only_the_rest_is_asked(
    contest: MiniContest, disk: Path, provider: Any
) -> None:
    filling = Filling(disk)
    filling.fill()
    code, said = command(contest, disk, "run", str(contest.folder), "--judges", "asked", "--dry-run")
    assert (code, "Traceback" in said) == (1, False), said
    assert any(words in said for words in FULL), said

    filling.free()
    code, said = command(contest, disk, "run", str(contest.folder), "--judges", "asked", "--dry-run")
    assert code == 0, said
    answered: list[str] = []

    def behave(request: Any, n: int) -> Behaviour:
        if n == 3:
            filling.fill()
        answered.append(str(request.body["messages"]))
        return valid()

    provider.behave = behave
    code, said = command(contest, disk, "run", str(contest.folder), "--judges", "asked")
    assert (code, "Traceback" in said) == (1, False), said
    assert any(words in said for words in FULL), said
    n_before = len(answered)

    filling.free()
    provider.behave = lambda request, n: answered.append(str(request.body["messages"])) or valid()
    workspace = Workspace.find({"JUDGE_PIPELINE_HOME": str(contest.home), "JUDGE_PIPELINE_OUT": str(disk / "out")})
    rescued = re.search(r"sqlite:///(\S+/checkpoint\.rescued-\S+?\.sqlite)", said.replace("\n", ""))
    assert rescued is not None, said
    code, said = command(contest, disk, "checkpoint", "copy", f"sqlite:///{rescued[1]}", workspace.checkpoint_url)
    assert code == 0, said
    shutil.rmtree(Path(rescued[1]).parent)
    requests = store_of(workspace).read(JUDGE_REQUESTS, "mini")
    with open_instance(workspace) as instance:
        outcome = run_job(build_definitions(workspace), instance, JUDGE_CONTEST, "mini", "asked")
        assert outcome.error is None
        left = [run for run in instance.get_runs() if not run.is_finished]
        found = {LocalLauncher().check_run_worker_health(run).status for run in left}
        assert found <= {WorkerStatus.FAILED}, "no run stands started for ever: the UI's daemon marks it as failed"
    judged = store_of(workspace).read(JUDGE_OUTPUTS, "mini", "asked")
    assert sorted(judged["attempt_id"]) == sorted(requests["attempt_id"])
    assert n_before >= 4
    assert len(answered) - len(set(answered)) <= 1, "what was in flight, and nothing that had come back"
    with closing(Checkpoint(workspace.checkpoint_url)) as checkpoint:
        assert len(checkpoint.answered("asked", judged["request_hash"])) == len(requests)
