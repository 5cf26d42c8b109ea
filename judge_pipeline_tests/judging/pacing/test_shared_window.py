"""One window of calls in flight for all judges of a process, and for processes that share a store."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import PROVIDER_WINDOWS, WINDOW_SHARES
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.pacing.pace import provider_of
from judge_pipeline.judging.pacing.shared_window import SharedWindow, window_of
from judge_pipeline.judging.pacing.window import News
from judge_pipeline.judging.pacing.window_store import LEASE_SECONDS, WindowStore
from judge_pipeline.settings import LitellmJudge
from judge_pipeline_tests.forks import Fork, Forks


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """All of this holds over both."""
    return str(request.param)


@pytest.fixture
def transport() -> str:
    return "direct"


JUDGES = """
import sys, time
from pathlib import Path
import pandas as pd
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.settings import LitellmJudge
name, settings, requests, url, prompts, go = sys.argv[1:]
context = JudgingContext({}, Path("."), Path(prompts))
table = pd.read_parquet(requests)
print("ready", flush=True)
while not Path(go).exists():
    time.sleep(0.005)
result = judge_requests(
    name, LitellmJudge.model_validate_json(settings), table, checkpoint=Checkpoint(url), context=context
)
print(len(result.outputs), len(result.failures))
"""

HOLDS = """
import asyncio, sys
from judge_pipeline.judging.pacing.shared_window import window_of
async def hold():
    async with window_of(sys.argv[1], "p", 6) as window:
        for n in range(int(sys.argv[2])):
            await window.acquire()
        print("held", flush=True)
        await asyncio.sleep(120)
asyncio.run(hold())
"""


class Judging:
    """Judges in processes of their own, all begun at once; they are told apart in what they send by their seed."""

    def __init__(self, forks: Forks, store_url: str, prompts: Path, folder: Path) -> None:
        self._forks, self._url, self._prompts, self._folder = forks, store_url, prompts, folder

    def __call__(self, names: str, settings: LitellmJudge, requests: pd.DataFrame) -> None:
        """Run one for each name over all requests, to the end."""
        table, go = self._folder / "requests.parquet", self._folder / "go"
        requests.to_parquet(table)
        started = []
        try:
            for seed, name in enumerate(names):
                own = settings.model_copy(update={"parameters": {"seed": seed}}).model_dump_json()
                arguments = (name, own, str(table), self._url, str(self._prompts), str(go))
                started.append(self._forks.start(JUDGES, *arguments, out=self._folder / f"{name}.txt"))
            _wait_for("ready\n", started)
            go.touch()
            assert [process.wait(60) for process in started] == [0] * len(started)
        finally:
            for process in started:
                process.kill()
        assert [process.printed() for process in started] == [f"ready\n{len(requests)} 0\n"] * len(started)


def _wait_for(printed: str, processes: list[Fork]) -> None:
    until = time.monotonic() + 60
    while any(process.printed() != printed for process in processes):
        assert time.monotonic() < until and all(process.poll() is None for process in processes)
        time.sleep(0.01)


@pytest.fixture
def judging(forks: Forks, store_url: str, context: JudgingContext, tmp_path: Path) -> Judging:
    return Judging(forks, store_url, context.prompts_dir, tmp_path)


@pytest.mark.slow
def test_two_processes_together_never_pass_the_window_and_both_get_on(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, judging: Judging
) -> None:
    provider.behave = lambda request, n: faults.Behaviour(body=faults.valid().body, delay=_delay(provider))
    judging("ab", loopback_judge(limits={"max_in_flight": 6}), make_requests(150))
    assert len(provider.requests) == 300
    assert provider.most_at_once <= 6
    seeds = [request.body["seed"] for request in provider.requests]
    both = max(seeds.index(seed) for seed in (0, 1)) + 60  # both are at it, and have shared anew a few times
    together = seeds[both : both + 100]
    assert min(together.count(seed) for seed in (0, 1)) > 25
    at = [request.at for request in provider.requests[both:]]
    assert len(at) / (at[-1] - at[0]) > 0.4 * 6 / 0.05  # and the window is used


def _delay(provider: Any) -> float:
    """Seconds that an answer takes: long while one of the two processes has yet to begin, as on a busy machine."""
    return 0.05 if {request.body["seed"] for request in provider.requests} == {0, 1} else 0.5


@pytest.mark.slow
def test_a_process_is_not_asking_while_another_was_told_to_wait(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, judging: Judging
) -> None:
    told: list[float] = []

    def behave(request: Any, n: int) -> Any:
        asked = [each.body["seed"] for each in provider.requests]
        if not told and request.body["seed"] == 0 and min(asked.count(0), asked.count(1)) >= 10:
            told.append(request.at)
            return faults.error(429, "slow down", "rate_limit_exceeded", Retry_After="3")
        return faults.Behaviour(body=faults.valid().body, delay=_delay(provider))

    provider.behave = behave
    judging("ab", loopback_judge(limits={"max_in_flight": 6}), make_requests(250))
    assert len(provider.requests) == 501
    (at,) = told
    known = 0.5  # seconds until all know: a tenth, but for a busy machine
    assert not [r.at - at for r in provider.requests if at + known < r.at < at + 3.0]
    after = [request.body["seed"] for request in provider.requests if request.at >= at + 3.0]
    assert {0, 1} <= set(after)


@pytest.mark.slow
def test_a_process_that_begins_later_waits_as_well(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    settings = loopback_judge()
    store = WindowStore(checkpoint.url)
    store.renew(provider_of(settings), "another", News(1, 1, 4, closed_until=store.now() + 2.0))
    store.give_back(provider_of(settings), "another", News(0, 0, 4))
    store.close()
    began = time.monotonic()
    result = judge_requests("j", settings, make_requests(1), checkpoint=checkpoint, context=context)
    assert len(result.outputs) == 1
    assert provider.requests[0].at - began > 1.5


@pytest.mark.slow
def test_a_killed_process_s_share_comes_back(store_url: str, forks: Forks, tmp_path: Path) -> None:
    holder = forks.start(HOLDS, store_url, "5", out=tmp_path / "holder.txt")
    try:
        _wait_for("held\n", [holder])
        got, seconds = asyncio.run(_calls_after_kill(store_url, holder.pid))
    finally:
        holder.kill()
    assert got == 1  # while the other is alive it holds its five, however long they take
    assert seconds < LEASE_SECONDS + 3.0


async def _calls_after_kill(url: str, pid: int) -> tuple[int, float]:
    started: list[int] = []
    async with window_of(url, "p", 6) as window:

        async def call(number: int) -> None:
            await window.acquire()
            started.append(number)

        calls = [asyncio.create_task(call(n)) for n in range(6)]
        await asyncio.sleep(3.0)
        before = len(started)
        os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        async with asyncio.timeout(30):
            await asyncio.gather(*calls)
        seconds = time.monotonic() - killed
        for _ in calls:
            window.release()
    return before, seconds


def test_what_is_given_back_is_another_s_at_once(store_url: str) -> None:
    async def twice() -> float:
        async with window_of(store_url, "p", 3) as window:
            for _ in range(3):
                await window.acquire()
            for _ in range(3):
                window.release()
        began = time.monotonic()
        async with window_of(store_url, "p", 3) as window, asyncio.timeout(10):
            for _ in range(3):
                await window.acquire()
        return time.monotonic() - began

    assert asyncio.run(twice()) < 1.0


@pytest.mark.slow
def test_judges_of_one_process_share_a_window_across_their_threads(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    provider.behave = lambda request, n: faults.Behaviour(body=faults.valid().body, delay=0.02)
    results: list[int] = []

    def judge(name: str, seed: int) -> None:
        settings = loopback_judge(limits={"max_in_flight": 4}, parameters={"seed": seed})
        found = judge_requests(name, settings, make_requests(40), checkpoint=checkpoint, context=context)
        results.append(len(found.outputs))

    threads = [threading.Thread(target=judge, args=(name, seed)) for seed, name in enumerate("abc")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [40, 40, 40]
    assert provider.most_at_once <= 4


@pytest.mark.slow
def test_one_judge_s_retry_after_stops_all_judges_of_the_process(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    told: list[float] = []

    def behave(request: Any, n: int) -> Any:
        if n == 20:
            told.append(request.at)
            return faults.error(429, "slow down", "rate_limit_exceeded", Retry_After="1")
        return faults.Behaviour(body=faults.valid().body, delay=0.02)

    provider.behave = behave

    def judge(name: str, seed: int) -> None:
        settings = loopback_judge(parameters={"seed": seed})
        judge_requests(name, settings, make_requests(30), checkpoint=checkpoint, context=context)

    threads = [threading.Thread(target=judge, args=(name, seed)) for seed, name in enumerate("ab")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(provider.requests) == 61
    assert not [r for r in provider.requests if told[0] + 0.1 < r.at < told[0] + 1.0]


@pytest.mark.slow
def test_a_rate_limit_narrows_the_window_for_all_and_replies_widen_it(store_url: str) -> None:
    async def run() -> list[int]:
        counts = []
        async with window_of(store_url, "p", 16) as window:
            counts.append(await _started(window, 20))
            for _ in range(16):
                window.release()
            window.rate_limited(time.monotonic(), None)
            await asyncio.sleep(0.5)
            counts.append(await _started(window, 20))
            for _ in range(500):
                window.succeeded()
            await asyncio.sleep(1.5)
            counts.append(await _started(window, 20))
        return counts

    assert asyncio.run(run()) == [16, 8, 8]  # and once it has widened, sixteen in all


async def _started(window: SharedWindow, n: int) -> int:
    """How many of n calls may start soon."""
    calls = [asyncio.create_task(window.acquire()) for _ in range(n)]
    await asyncio.sleep(0.3)
    started = [call for call in calls if call.done()]
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    return len(started)


def test_a_call_that_is_cancelled_while_it_waits_takes_nobody_s_place(store_url: str) -> None:
    async def run() -> None:
        async with window_of(store_url, "p", 1) as window, asyncio.timeout(20):
            for _ in range(50):
                await window.acquire()
                waiting = [asyncio.create_task(window.acquire()) for _ in range(3)]
                await asyncio.sleep(0)
                waiting[0].cancel()
                window.release()  # the second's turn has come, in the same moment as it is cancelled
                waiting[1].cancel()
                await asyncio.gather(*waiting[:2], return_exceptions=True)
                await waiting[2]
                window.release()

    asyncio.run(run())


def test_a_store_that_cannot_be_used_is_an_error_and_no_hang(tmp_path: Path) -> None:
    broken = tmp_path / "c.sqlite"
    broken.write_text("no database, " * 200, encoding="utf-8")

    async def run() -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(window_of(f"sqlite:///{broken}", "p", 1))

    for _ in range(2):
        with pytest.raises(JudgingError, match="cannot be opened: file is not a database"):
            asyncio.run(run())


@pytest.mark.slow
def test_a_provider_s_own_maximum_holds_for_all_its_judges(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext,
) -> None:  # fmt: skip
    from dataclasses import replace

    from judge_pipeline.settings import Rates

    provider.behave = lambda request, n: faults.Behaviour(body=faults.valid().body, delay=0.02)
    settings = loopback_judge(limits={"max_in_flight": 8})
    rates = {provider_of(settings): Rates(max_in_flight=2)}
    judge_requests("j", settings, make_requests(20), checkpoint=checkpoint, context=replace(context, providers=rates))
    assert provider.most_at_once == 2


def test_what_was_written_before_a_clock_was_set_back_holds_nobody_up(checkpoint: Checkpoint) -> None:
    with checkpoint.writing() as connection:
        ahead = {"provider": "p", "calls": 1.0}
        day = time.time() + 86_400.0
        connection.execute(
            sa.insert(PROVIDER_WINDOWS).values(**ahead, narrowed_at=day, closed_until=day, renewed_at=day)
        )
        share = {"provider": "p", "process": "killed", "calls": 6, "wanted": 6, "maximum": 6, "expires_at": day}
        connection.execute(sa.insert(WINDOW_SHARES).values(**share))

    async def one_call() -> None:
        async with asyncio.timeout(5), window_of(checkpoint.url, "p", 6) as window:
            await window.acquire()
            window.release()

    asyncio.run(one_call())
