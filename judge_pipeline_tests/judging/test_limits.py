"""Waits and the window of calls in flight."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.limits import InFlight, Timing, wait_before_try
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


def test_the_first_call_goes_alone_and_its_reply_opens_the_window(clock: Any) -> None:
    async def run() -> list[int]:
        window = InFlight(5, Timing(clock.monotonic, clock.sleep))
        started: list[int] = []

        async def call(number: int) -> None:
            await window.acquire()
            started.append(number)

        tasks = [asyncio.create_task(call(n)) for n in range(8)]
        await asyncio.sleep(0.01)
        counts = [len(started)]
        await window.succeeded()
        await asyncio.sleep(0.01)
        counts.append(len(started))
        for _ in range(5):
            await window.release()
        await asyncio.gather(*tasks)
        counts.append(len(started))
        return counts

    assert asyncio.run(run()) == [1, 5, 8]


def test_a_rate_limit_halves_the_window_once_for_calls_that_were_under_way_together(clock: Any) -> None:
    async def run() -> list[float]:
        window = InFlight(16, Timing(clock.monotonic, clock.sleep))
        started = await window.acquire()
        await window.succeeded()
        clock.now += 1
        window.rate_limited(started + 0.5, None)
        windows = [window.window]
        window.rate_limited(started + 0.6, None)  # was under way already
        windows.append(window.window)
        window.rate_limited(clock.now + 0.1, None)
        windows.append(window.window)
        await window.succeeded()
        windows.append(window.window)
        return windows

    assert asyncio.run(run()) == [8.0, 8.0, 4.0, 4.25]


def test_nothing_starts_while_the_provider_asked_to_wait(clock: Any) -> None:
    async def run() -> tuple[float, list[float]]:
        window = InFlight(2, Timing(clock.monotonic, clock.sleep))
        started = await window.acquire()
        window.rate_limited(started, 30.0)
        await window.release()
        return await window.acquire(), clock.slept

    at, slept = asyncio.run(run())
    assert at >= 30.0
    assert slept == [30.0]
