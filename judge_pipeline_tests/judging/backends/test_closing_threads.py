"""A coroutine made in a thread is awaited as ever, or closed: never left to be warned of."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import pytest

from judge_pipeline.judging.backends.closing_threads import ClosingThreads


async def seven() -> int:
    await asyncio.sleep(0)
    return 7


def cancelled_meanwhile(executor: Executor, make: Callable[[], Coroutine[Any, Any, int]]) -> list[str]:
    """What Python warns of when a task is cancelled while its coroutine is being made in a thread."""
    made = threading.Event()

    def slowly() -> Coroutine[Any, Any, int]:
        time.sleep(0.1)
        coroutine = make()
        made.set()
        return coroutine

    async def main() -> None:
        asyncio.get_running_loop().set_default_executor(executor)

        async def call() -> int:
            return await (await asyncio.get_running_loop().run_in_executor(None, slowly))

        task = asyncio.create_task(call())
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(made.wait)

    with warnings.catch_warnings(record=True) as seen:
        # Files that tests before this one left to the garbage collector may be warned of here, too.
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.simplefilter("always", RuntimeWarning)
        asyncio.run(main())
        gc.collect()
    return [str(warning.message) for warning in seen]


@pytest.mark.slow
def test_a_coroutine_that_nobody_awaits_is_closed_where_python_would_warn() -> None:
    assert cancelled_meanwhile(ThreadPoolExecutor(), seven) == ["coroutine 'seven' was never awaited"]
    assert cancelled_meanwhile(ClosingThreads(), seven) == []


def test_other_coroutines_and_results_come_through() -> None:
    async def broken() -> None:
        raise ValueError("no")

    async def main() -> tuple[int, int, bool]:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ClosingThreads())
        made = await loop.run_in_executor(None, seven)
        with pytest.raises(ValueError, match="no"):
            await (await loop.run_in_executor(None, broken))
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)
        return await made, await asyncio.to_thread(lambda: 3), asyncio.iscoroutine(made)

    assert asyncio.run(main()) == (7, 3, True)


def test_a_coroutine_under_way_is_cancelled_through_it() -> None:
    cleaned_up = []

    async def long() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            cleaned_up.append(True)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ClosingThreads())

        async def call() -> None:
            await (await loop.run_in_executor(None, long))

        task = asyncio.create_task(call())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert cleaned_up == [True]
