"""Records or the checkpoint are locked, the checkpoint's server is gone; and the clock is set while nothing runs."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from judge_pipeline.cli.main import cli
from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, build_definitions
from judge_pipeline.judging.checkpoint import opening
from judge_pipeline.judging.checkpoint.lock import held_in_store
from judge_pipeline.judging.checkpoint.rescue import commands_to_bring_in
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.interruptible import SECONDS_TO_STOP
from judge_pipeline.judging.pacing.window_store import LEASE_SECONDS
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.workspace import CHECKPOINT_URL
from judge_pipeline.tables import JUDGE_OUTPUTS
from judge_pipeline_tests.judging.conftest import Behaviour, valid
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.postgresql import PostgresqlServer, running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

SECONDS_GONE = float(os.environ.get("JUDGE_PIPELINE_GONE_SECONDS", "2"))
"""How long the checkpoint's server is gone; 61 shows that a minute is outlasted."""

SECONDS_LOCKED = max(7.0, SECONDS_GONE)
"""How long the checkpoint's file is locked: longer than SQLite's drivers wait of their own accord (5 s)."""


class Read:
    """A contest that was read, its judge at a loopback provider."""

    def __init__(self, folder: Path, provider: Any) -> None:
        self.contest = MiniContest(folder / "home").lay(2, 2)
        judge = {
            "backend": "litellm", "model": "openai/m", "base_url": provider.url, "transport": "direct",
            "limits": {"max_in_flight": 1},
        }  # fmt: skip
        judges = self.contest.home / "assets_config" / "judges.yaml"
        judges.write_text(yaml.safe_dump({"judges": {"asked": judge}}))
        self.workspace = Workspace.find({}, self.contest.home)
        self.instance = open_instance(self.workspace)
        assert self.run(READ_CONTEST) is None

    def run(self, job: str, *judge: str) -> str | None:
        return run_job(build_definitions(self.workspace), self.instance, job, "mini", *judge).error

    def n_judged(self) -> int:
        return len(store_of(self.workspace).read(JUDGE_OUTPUTS, "mini", "asked"))


class Outage:
    """A server that is stopped in the middle of a call at the provider, and starts again by itself after so long."""

    def __init__(self, server: PostgresqlServer, seconds: float) -> None:
        self.began = self.ended = float("-inf")
        self._gone = server.gone()
        self._seconds = seconds
        self._over = threading.Event()

    def begin(self) -> Behaviour:
        """Stop the server; a valid answer, which cannot be written down now."""
        self._gone.__enter__()
        self.began = time.monotonic()
        threading.Timer(self._seconds, self._end).start()
        return valid()

    def wait_for_the_end(self) -> None:
        """Return when the server is there again."""
        assert self._over.wait(60)

    def _end(self) -> None:
        self.ended = time.monotonic()
        self._gone.__exit__(None, None, None)
        self._over.set()


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresqlServer]:
    """A server that may be stopped: no other test uses it."""
    with running_server() as started:
        yield started


@pytest.fixture
def read(tmp_path: Path, provider: Any) -> Iterator[Read]:
    made = Read(tmp_path, provider)
    with made.instance:
        yield made


@contextmanager
def locked(file: Path, seconds: float | None = None) -> Iterator[None]:
    """Another connection holds the database for itself, for so long, or until the block ends."""
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with sqlite3.connect(file, timeout=30, isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            held.set()
            over.wait(seconds)
            other.execute("ROLLBACK")
        other.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(30)
    try:
        yield
    finally:
        if seconds is None:
            over.set()
        holder.join()


def test_a_checkpoint_that_is_locked_for_a_while_is_waited_for(read: Read, provider: Any) -> None:
    assert opening.BUSY_TIMEOUT_SECONDS >= 90, "a lock of a minute is waited for, with room"
    checkpoint = read.workspace.out_dir / "checkpoint.sqlite"
    holders: list[Any] = []

    def behave(request: Any, n: int) -> Behaviour:
        if n == 1:
            holders.append(locked(checkpoint, SECONDS_LOCKED))
            holders[0].__enter__()
        return valid()

    provider.behave = behave
    began = time.monotonic()
    assert read.run(JUDGE_CONTEST, "asked") is None
    holders[0].__exit__(None, None, None)
    assert time.monotonic() - began >= SECONDS_LOCKED
    assert len(provider.requests) == read.n_judged(), "and nothing is asked twice"


def test_a_database_that_is_gone_for_too_long_loses_no_answer(
    read: Read, provider: Any, server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run stops, since nothing more could be kept; what had come back is in a file that the error names."""
    url = server.new_database()
    monkeypatch.setenv(CHECKPOINT_URL, url)
    monkeypatch.setattr(opening, "GONE_SECONDS", 1.0)
    away = server.gone()

    def behave(request: Any, n: int) -> Behaviour:
        if n == 2:
            away.__enter__()
        return valid()

    provider.behave = behave
    error = read.run(JUDGE_CONTEST, "asked")
    assert error is not None and "the checkpoint cannot be written" in error
    assert server.password not in error
    away.__exit__(None, None, None)
    n_before = len(provider.requests)
    rescued = re.search(r"sqlite:///(\S+/checkpoint\.rescued-\S+?\.sqlite)", error)
    assert rescued is not None, error
    copied = CliRunner().invoke(cli, ["checkpoint", "copy", f"sqlite:///{rescued[1]}", url])
    assert copied.exit_code == 0, copied.output
    shutil.rmtree(Path(rescued[1]).parent)
    provider.behave = lambda request, n: valid()
    assert read.run(JUDGE_CONTEST, "asked") is None
    assert n_before >= 3
    assert len(provider.requests) - read.n_judged() <= 1, "what was in flight, and nothing that had come back"


def test_a_database_that_is_gone_for_a_while_is_waited_for(
    read: Read, provider: Any, server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHECKPOINT_URL, server.new_database())
    outage = Outage(server, SECONDS_GONE)
    provider.behave = lambda request, n: outage.begin() if n == 2 else valid()
    assert read.run(JUDGE_CONTEST, "asked") is None
    outage.wait_for_the_end()
    assert len(provider.requests) == read.n_judged() > 3, "and nothing is asked twice"


def test_judges_that_share_a_window_outlast_their_database(
    provider: Any, server: PostgresqlServer, context: JudgingContext, loopback_judge: Any, make_requests: Any
) -> None:
    """The server is gone for longer than a share of the window lasts, with the locks, in the middle of many calls."""
    assert opening.GONE_SECONDS >= 90, "a server that is gone for a minute is waited for, with room"
    url, outage = server.new_database(), Outage(server, max(SECONDS_GONE, LEASE_SECONDS + 0.5))
    provider.behave = lambda request, n: outage.begin() if n == 30 else Behaviour(body=valid().body, delay=0.03)
    at_once = {"max_in_flight": 6}
    results: dict[str, int] = {}

    def judge(name: str, seed: int) -> None:
        settings = loopback_judge(limits=at_once, parameters={"seed": seed}, transport="direct")
        with held_in_store(url, name, lambda: pytest.fail("nobody else asks")), closing(Checkpoint(url)) as checkpoint:
            found = judge_requests(name, settings, make_requests(60), checkpoint=checkpoint, context=context)
            results[name] = len(found.outputs)

    Checkpoint(url).longest_answer("a")  # makes the tables
    threads = [threading.Thread(target=judge, args=(name, seed)) for seed, name in enumerate("ab")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    outage.wait_for_the_end()
    assert results == {"a": 60, "b": 60}
    asked = Counter((request.body["seed"], request.text) for request in provider.requests)
    assert len(asked) == 120 and set(asked.values()) == {1}, "nothing is asked twice"
    assert provider.most_at_once <= 6
    meanwhile = [r for r in provider.requests if outage.began + LEASE_SECONDS < r.at < outage.ended]
    assert not meanwhile, "what nobody could keep is not asked for"


def test_a_run_that_waits_for_its_database_can_be_cancelled(
    provider: Any, server: PostgresqlServer, context: JudgingContext, loopback_judge: Any, make_requests: Any
) -> None:
    away = server.gone()
    cancelled: list[float] = []

    def cancel() -> None:
        cancelled.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def behave(request: Any, n: int) -> Behaviour:
        if n == 5:
            away.__enter__()
            threading.Timer(1.5, cancel).start()
        return valid()

    provider.behave = behave
    before, url = commands_to_bring_in(), server.new_database()
    judge, requests = loopback_judge(transport="direct"), make_requests(20)
    with closing(Checkpoint(url)) as checkpoint:
        with pytest.raises(KeyboardInterrupt):
            judge_requests("j", judge, requests, checkpoint=checkpoint, context=context)
        assert time.monotonic() - cancelled[0] < SECONDS_TO_STOP
        away.__exit__(None, None, None)
        assert 6 <= len(provider.requests) < 20
        rescued = re.search(r"sqlite:///\S+", "".join(commands_to_bring_in()[len(before) :]))
        assert rescued is not None, "what had come back is kept"
        copied = CliRunner().invoke(cli, ["checkpoint", "copy", rescued[0], url])
        assert copied.exit_code == 0, copied.output
        shutil.rmtree(Path(rescued[0].removeprefix("sqlite:///")).parent)
        provider.behave = lambda request, n: valid()
        judge_requests("j", judge, requests, checkpoint=checkpoint, context=context)
    assert 20 <= len(provider.requests) <= 20 + judge.limits.max_in_flight, "only what was in flight may be asked twice"


def test_records_of_runs_that_are_locked_cost_a_run_and_no_answer(read: Read, provider: Any) -> None:
    """Dagster waits 5 s for its records of runs; the command says so in words, and the next one asks for the rest."""
    records = read.workspace.out_dir / "dagster" / "history" / "runs.db"
    command = [sys.executable, "-m", "judge_pipeline.cli.main", "run", str(read.contest.folder), "--judges", "asked"]
    with locked(records):
        ended = subprocess.run(command, cwd=read.contest.home, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr, ended.stderr
    assert "Dagster's records of runs" in ended.stderr and "database is locked" in ended.stderr
    assert read.run(JUDGE_CONTEST, "asked") is None
    assert len(provider.requests) == read.n_judged()


def test_a_clock_that_is_set_between_two_runs_asks_nothing_again(read: Read, provider: Any) -> None:
    if shutil.which("faketime") is None:
        pytest.skip("no faketime on this machine, to set a process's clock with")
    assert read.run(JUDGE_CONTEST, "asked") is None
    before = store_of(read.workspace).path(JUDGE_OUTPUTS, "mini", "asked").read_bytes()
    n_asked = len(provider.requests)
    script = (
        "from judge_pipeline.definitions import JUDGE_CONTEST, build_definitions\n"
        "from judge_pipeline.orchestration.instance import open_instance\n"
        "from judge_pipeline.orchestration.runs import run_job\n"
        "from judge_pipeline.settings import Workspace\n"
        "workspace = Workspace.find()\n"
        "with open_instance(workspace) as instance:\n"
        "    outcome = run_job(build_definitions(workspace), instance, JUDGE_CONTEST, 'mini', 'asked')\n"
        "assert outcome.error is None, outcome.error\n"
    )
    for jump in ("-3d", "+400d"):
        command = ["faketime", "-f", jump, sys.executable, "-c", script]
        ended = subprocess.run(command, cwd=read.contest.home, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
        assert len(provider.requests) == n_asked
        assert store_of(read.workspace).path(JUDGE_OUTPUTS, "mini", "asked").read_bytes() == before
