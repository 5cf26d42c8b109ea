"""Waits and the window of calls in flight."""

from __future__ import annotations

import asyncio
import random

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.pacing.limits import InFlight, wait_before_try
from judge_pipeline.settings import Limits


@given(st.integers(1, 100), st.floats(0, 30), st.floats(0, 120), st.one_of(st.none(), st.floats(0, 900)), st.integers())
def test_waits_are_bounded_and_never_undercut_what_the_provider_asked(
    failed: int, backoff: float, most: float, asked: float | None, seed: int
) -> None:
    limits = Limits(backoff_seconds=backoff, max_backoff_seconds=most)
    wait = wait_before_try(limits, failed, asked, random.Random(seed))
    own = min(most, backoff * 2 ** min(failed - 1, 60))
    assert wait >= max(own / 2, asked or 0.0) * (1 - 1e-12)
    assert wait <= max(own, (asked or 0.0) * 1.1) * (1 + 1e-12)


def test_waits_double() -> None:
    limits = Limits(backoff_seconds=1.0, max_backoff_seconds=100.0)
    rng = random.Random(0)
    means = [sum(wait_before_try(limits, n, None, rng) for _ in range(2000)) / 2000 for n in (1, 2, 3)]
    assert [round(mean / 0.75, 1) for mean in means] == [1.0, 2.0, 4.0]


async def begun(calls: InFlight, n: int) -> list[asyncio.Task[None]]:
    """n calls, those that may start started."""
    tasks = [asyncio.create_task(calls.acquire()) for _ in range(n)]
    await asyncio.sleep(0.01)
    return tasks


def test_the_first_call_goes_alone_and_its_reply_opens_the_way() -> None:
    async def run() -> list[int]:
        calls = InFlight(5)
        tasks = await begun(calls, 8)
        counts = [sum(task.done() for task in tasks)]
        calls.rate_limited(0.0, None)  # which is no reply yet
        await asyncio.sleep(0.01)
        counts.append(sum(task.done() for task in tasks))
        calls.succeeded()
        await asyncio.sleep(0.01)
        counts.append(sum(task.done() for task in tasks))
        for _ in range(5):
            calls.release()
        await asyncio.gather(*tasks)
        return counts

    assert asyncio.run(run()) == [1, 1, 5]


def test_calls_start_in_the_order_in_which_they_came_and_cancelled_ones_take_no_place() -> None:
    async def run() -> list[str]:
        calls = InFlight(1)
        order: list[str] = []

        async def call(name: str) -> None:
            await calls.acquire()
            order.append(name)

        tasks = [asyncio.create_task(call(name)) for name in "abcd"]
        await asyncio.sleep(0.01)
        tasks[1].cancel()
        calls.release()
        tasks[2].cancel()  # in the moment in which its turn comes
        await asyncio.sleep(0.01)
        return order

    assert asyncio.run(run()) == ["a", "d"]
