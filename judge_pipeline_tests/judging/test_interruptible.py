"""The caller's thread can be interrupted, and answers its own calls."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable

import pytest

from judge_pipeline.judging.interruptible import run_interruptibly


def test_events_arrive_in_order_in_the_callers_thread() -> None:
    seen: list[tuple[int, int]] = []

    async def work(send: Callable[[int], None]) -> str:
        for n in range(5):
            send(n)
            await asyncio.sleep(0)
        return "done"

    result = run_interruptibly(work, lambda n: seen.append((n, threading.get_ident())))
    assert result == "done"
    assert seen == [(n, threading.get_ident()) for n in range(5)]


def test_what_the_coroutine_raises_is_raised() -> None:
    async def work(send: Callable[[int], None]) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_interruptibly(work, lambda event: None)


def test_it_works_inside_a_running_loop() -> None:
    async def work(send: Callable[[int], None]) -> int:
        return 7

    async def notebook() -> int:
        return run_interruptibly(work, lambda event: None)

    assert asyncio.run(notebook()) == 7


def cleaned_up_after(interrupt: Callable[[], None]) -> bool:
    cleaned = threading.Event()

    async def work(send: Callable[[int], None]) -> None:
        send(1)
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            cleaned.set()

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_interruptibly(work, lambda event: interrupt())
    assert time.monotonic() - started < 5
    return cleaned.is_set()


def test_an_exception_in_the_callback_cancels_and_cleans_up() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    assert cleaned_up_after(interrupt)


def test_a_signal_cancels_and_cleans_up() -> None:
    def interrupt() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

    assert cleaned_up_after(interrupt)
