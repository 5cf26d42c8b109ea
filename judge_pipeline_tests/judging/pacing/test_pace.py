"""Rates a minute: kept in one process, and by several that share the store."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.pacing.limits import Timing
from judge_pipeline.judging.pacing.pace import Pace, provider_of
from judge_pipeline.settings import JudgesFile, LitellmJudge, Rates
from judge_pipeline_tests.forks import Forks


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """All of this holds over both."""
    return str(request.param)


def paced(checkpoint: Checkpoint, clock: Any, rates: Rates, n: int, tokens: Any = None) -> list[float]:
    """When each of n calls started, on the test's clock."""
    pace = Pace(checkpoint, "p", rates, Timing(clock.monotonic, clock.sleep, clock.monotonic))
    starts = []

    async def all_calls() -> None:
        for i in range(n):
            turn = await pace.wait_for_turn(350)
            starts.append(clock.now)
            if tokens is not None:
                await pace.put_right(turn, 100, tokens(i) - 100)

    asyncio.run(all_calls())
    return starts


def test_a_queue_from_before_a_clock_was_set_back_is_dropped_and_that_is_said_once(
    checkpoint: Checkpoint, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint.take_turn("p", 1e9 + 86_400.0, 1.0)
    assert checkpoint.take_turn("p", 1e9, 1.0) == pytest.approx(1e9, abs=1e-3)
    assert checkpoint.take_turn("p", 1e9, 1.0) == pytest.approx(1e9 + 1.0, abs=1e-3)
    checkpoint.move_turns("p", 900.0)  # as long a queue as calls under way can make
    assert checkpoint.take_turn("p", 1e9, 1.0) == pytest.approx(1e9 + 902.0, abs=1e-3)
    assert checkpoint.take_turn("p", 2e9, 1.0) == pytest.approx(2e9, abs=1e-3)  # the clock was set ahead
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("the next turn at provider p stood 86401 s ahead; calls under way make a queue of 1000 s")
    assert said.endswith("from before a clock was set back. The queue is dropped, and turns begin now")


@pytest.mark.parametrize("jump", [-86_400.0, -3600.0, -1800.0, -30.0, 3600.0])
def test_a_clock_that_is_set_while_calls_wait_holds_nobody_up(checkpoint: Checkpoint, clock: Any, jump: float) -> None:
    """60 requests a minute, 8 in flight: a queue can be 100 s long, and longer nobody waits, wherever the clock is."""
    wall = {"ahead": 1e9}
    timing = Timing(clock.monotonic, clock.sleep, lambda: clock.now + wall["ahead"])
    pace = Pace(checkpoint, "p", Rates(requests_per_minute=60), timing, max_in_flight=8)

    async def calls(n: int) -> None:
        for _ in range(n):
            await pace.wait_for_turn(350)

    asyncio.run(calls(10))
    clock.slept.clear()
    wall["ahead"] += jump
    asyncio.run(calls(10))
    assert max(clock.slept) <= 100.0
    assert sum(clock.slept[1:]) == pytest.approx(9.0, abs=1.0)  # and the rate is kept


def test_requests_a_minute_are_spaced_evenly(checkpoint: Checkpoint, clock: Any) -> None:
    starts = paced(checkpoint, clock, Rates(requests_per_minute=120), 10)
    assert starts == pytest.approx([i * 0.5 for i in range(10)])


def test_tokens_a_minute_are_kept_as_replies_say_what_they_were(checkpoint: Checkpoint, clock: Any) -> None:
    rng = random.Random(5)
    took = [rng.randint(200, 3000) for _ in range(120)]
    starts = paced(checkpoint, clock, Rates(tokens_per_minute=20_000), 120, lambda i: took[i])
    for i, start in enumerate(starts):
        in_a_minute = [took[j] for j in range(i, 120) if starts[j] < start + 60]
        assert sum(in_a_minute[:-1]) <= 20_000 * 1.01
    assert sum(took[:-1]) / (starts[-1] / 60) > 19_000  # and used


def test_idle_time_saves_up_no_turns(checkpoint: Checkpoint, clock: Any) -> None:
    assert paced(checkpoint, clock, Rates(requests_per_minute=60), 2) == pytest.approx([0, 1])
    clock.now = 1000.0
    assert paced(checkpoint, clock, Rates(requests_per_minute=60), 3) == pytest.approx([1000, 1001, 1002])


@pytest.mark.slow
def test_processes_share_turns_through_the_store(checkpoint: Checkpoint, forks: Forks, tmp_path: Path) -> None:
    code = (
        "import sys, time; from judge_pipeline.judging.checkpoint.store import Checkpoint\n"
        "store = Checkpoint(sys.argv[1])\n"
        "print(*(store.take_turn('p', time.time(), 10.0) for _ in range(20)))"
    )
    checkpoint.take_turn("p", time.time(), 10.0)
    started = [forks.start(code, checkpoint.url, out=tmp_path / f"{n}") for n in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    turns = sorted(float(turn) for process in started for turn in process.printed().split())
    assert len(turns) == 60
    assert [b - a for a, b in itertools.pairwise(turns)] == pytest.approx([10.0] * 59, abs=0.01)
    assert checkpoint.take_turn("another", 5.0, 10.0) == 5.0


def test_a_turn_from_before_the_store_was_gone_is_given_up(
    checkpoint: Checkpoint, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the calls that waited for a minute would all start at once."""
    take_turn, waits = checkpoint.take_turn, [60.0]

    def take_late(*turn: Any) -> float:
        start = take_turn(*turn)
        clock.now += waits.pop() if waits else 0.0
        return start

    monkeypatch.setattr(checkpoint, "take_turn", take_late)
    starts = paced(checkpoint, clock, Rates(requests_per_minute=60), 3)
    assert starts == pytest.approx([60.0, 61.0, 62.0])


@pytest.mark.slow
def test_the_engine_keeps_the_rate(
    provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext
) -> None:
    settings = loopback_judge(limits={"max_in_flight": 16})
    rates = {provider_of(settings): Rates(requests_per_minute=1200)}
    judge_requests(
        "loopback", settings, make_requests(21), checkpoint=checkpoint, context=replace(context, providers=rates)
    )
    at = sorted(request.at for request in provider.requests)
    assert len(at) == 21 and at[-1] - at[0] > 20 * 0.05 * 0.9


def test_a_judge_s_provider() -> None:
    def provider(**values: Any) -> str:
        return provider_of(LitellmJudge(backend="litellm", **values))

    assert provider(model="openai/gpt") == "openai"
    assert provider(model="openai/x", base_url="http://127.0.0.1:8000/v1") == "127.0.0.1:8000"
    assert provider(model="openai/x", provider="mine") == "mine"
    judge = {"backend": "litellm", "model": "a/b", "provider": "mine"}
    with pytest.raises(ValueError, match="not under 'providers'"):
        JudgesFile.model_validate({"judges": {"j": judge}})
    JudgesFile.model_validate({"judges": {"j": judge}, "providers": {"mine": {"requests_per_minute": 1}}})


def test_save_every_writes_all_in_the_end_in_fewer_commits(
    provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    commits = []
    record = checkpoint.record
    monkeypatch.setattr(checkpoint, "record", lambda records: (commits.append(len(records)), record(records)))
    settings = loopback_judge(limits={"max_in_flight": 2, "save_every": 10})
    result = judge_requests("loopback", settings, make_requests(25), checkpoint=checkpoint, context=context)
    assert len(result.outputs) == 25 == sum(commits) and result.failures.empty
    assert all(n >= 10 for n in commits[:-1])
    assert len(CALLS.columns) and result.n_calls == 25


def test_a_commit_that_fails_under_save_every_is_raised(
    loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(records: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(checkpoint, "record", fail)
    settings = loopback_judge(limits={"save_every": 10})
    with pytest.raises(Exception, match="disk full"):
        judge_requests("loopback", settings, make_requests(5), checkpoint=checkpoint, context=context)
