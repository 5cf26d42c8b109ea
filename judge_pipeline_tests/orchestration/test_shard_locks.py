"""Locks of shards: those of one cut ask side by side; another cut, and an unsharded asking, wait and are waited for."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.sharding import Shard
from judge_pipeline.orchestration.one_at_a_time import one_asking
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.workspace import CHECKPOINT_URL

FORKED = multiprocessing.get_context("fork")


def shard(number: int, of: int) -> Shard:
    return Shard(number, of, "0" * 32)


@pytest.fixture(params=["sqlite", "postgresql"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    if request.param == "postgresql":
        monkeypatch.setenv(CHECKPOINT_URL, request.getfixturevalue("postgresql_server").new_database())
    else:
        monkeypatch.delenv(CHECKPOINT_URL, raising=False)
    return replace(Workspace.find({}, tmp_path), out_dir=tmp_path / "var")


def _hold(workspace: Workspace, held: Shard | None, told: Any, until: Any) -> None:
    with one_asking(workspace, "mini", "j", lambda: told.put("waits"), held):
        told.put("held")
        until.wait(60)
    told.put("given back")


class Holder:
    """Another process that takes the lock, holds it until it is told, and says how far it is."""

    def __init__(self, workspace: Workspace, held: Shard | None) -> None:
        self._told, self._until = FORKED.Queue(), FORKED.Event()
        self.process = FORKED.Process(target=_hold, args=(workspace, held, self._told, self._until), daemon=True)
        self.process.start()

    def says(self, seconds: float = 20.0) -> str:
        return str(self._told.get(timeout=seconds))

    def let_go(self) -> None:
        self._until.set()

    def kill(self) -> None:
        os.kill(int(self.process.pid or 0), signal.SIGKILL)
        self.process.join()


@pytest.fixture
def holder(workspace: Workspace) -> Iterator[Callable[[Shard | None], Holder]]:
    started: list[Holder] = []

    def start(held: Shard | None) -> Holder:
        started.append(Holder(workspace, held))
        return started[-1]

    yield start
    for one in started:
        if one.process.is_alive():
            one.kill()


def test_shards_of_one_cut_ask_side_by_side_and_each_alone(holder: Any) -> None:
    first, second = holder(shard(1, 3)), holder(shard(2, 3))
    assert [first.says(), second.says()] == ["held", "held"]
    again = holder(shard(1, 3))
    assert again.says() == "waits"
    first.let_go()
    assert first.says() == "given back" and again.says() == "held"


@pytest.mark.slow
@pytest.mark.parametrize("other", [None, shard(1, 4)], ids=["unsharded", "another cut"])
def test_whoever_would_ask_the_same_otherwise_waits(holder: Any, other: Shard | None) -> None:
    first, second = holder(shard(1, 3)), holder(shard(2, 3))
    assert [first.says(), second.says()] == ["held", "held"]
    last = holder(other)
    assert last.says() == "waits"
    first.let_go()
    assert first.says() == "given back"
    time.sleep(0.5)
    second.kill()
    assert last.says() == "held"
    third = holder(shard(3, 3))
    assert third.says() == "waits"
    last.let_go()
    assert last.says() == "given back" and third.says() == "held"


@contextmanager
def _counted(state: Any, number: int, of: int) -> Iterator[None]:
    """Within, the shared counts are those of who asks now; they must never be of two cuts, or twice of one shard."""
    with state.get_lock():
        now = list(state)
        assert now[number] == 0, f"two ask {number} of {of}"
        assert all(n in (0, of) for n in now), f"{of} beside {now}"
        state[number] = of
    try:
        yield
    finally:
        with state.get_lock():
            state[number] = 0


def _ask_now_and_then(workspace: Workspace, seed: int, state: Any, done: Any) -> None:
    rng = random.Random(seed)
    for _ in range(12):
        of = rng.choice([1, 2, 3])
        held = None if of == 1 else shard(rng.randint(1, of), of)
        with one_asking(workspace, "mini", "j", lambda: None, held), _counted(state, held.number if held else 0, of):
            time.sleep(rng.random() * 0.01)
    done.put(seed)


@pytest.mark.slow
def test_no_two_ever_ask_the_same(workspace: Workspace) -> None:
    state, done = FORKED.Array("i", 5), FORKED.Queue()
    asking = [FORKED.Process(target=_ask_now_and_then, args=(workspace, n, state, done)) for n in range(5)]
    for process in asking:
        process.start()
    for process in asking:
        process.join(120)
    assert [process.exitcode for process in asking] == [0] * 5
    assert sorted(done.get(timeout=5) for _ in asking) == list(range(5))
