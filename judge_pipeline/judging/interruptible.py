"""Runs a coroutine in a thread of its own, so that the caller's thread can be interrupted and answers its own calls.

A run is cancelled by an exception in the caller's thread (a signal, Dagster's interrupt), which asyncio in that same
thread may swallow in the middle of a callback. Here the caller only waits, and whatever interrupts it cancels the
coroutine cleanly. It works inside a running event loop (a notebook), too.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Generic, TypeVar

SECONDS_TO_STOP = 20.0
"""How long an interrupted caller waits for calls under way to be cancelled and written down."""

_POLL_SECONDS = 0.5

T = TypeVar("T")
E = TypeVar("E")


def run_interruptibly(
    make: Callable[[Callable[[E], None]], Coroutine[Any, Any, T]], on_event: Callable[[E], None]
) -> T:
    """The coroutine's result.

    Args:
        make: makes the coroutine, given a function by which it may send events.
        on_event: called in this thread for each event; what it raises cancels the coroutine and is raised on.
    """
    job: _Job[T, E] = _Job(make)
    job.thread.start()
    try:
        job.deliver(on_event)
    except BaseException:
        job.cancel()
        raise
    return job.result()


class _Job(Generic[T, E]):
    def __init__(self, make: Callable[[Callable[[E], None]], Coroutine[Any, Any, T]]) -> None:
        self.thread = threading.Thread(target=self._run, name="judging", daemon=True)
        self._make = make
        self._events: queue.SimpleQueue[E | None] = queue.SimpleQueue()
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[T] | None = None
        self._cancelled = False

    def deliver(self, on_event: Callable[[E], None]) -> None:
        """Pass events on until the coroutine has ended."""
        while True:
            try:
                event = self._events.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                continue  # back to the interpreter now and then, where a signal can be seen
            if event is None:
                return
            on_event(event)

    def cancel(self) -> None:
        """Cancel the coroutine, and wait until it has cleaned up."""
        self._cancelled = True
        if self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # the loop has closed: the coroutine has ended already
                self._loop.call_soon_threadsafe(self._task.cancel)
        self.thread.join(SECONDS_TO_STOP)

    def result(self) -> T:
        """What the coroutine returned; raises what it raised."""
        self.thread.join()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _run(self) -> None:
        try:
            with asyncio.Runner() as runner:
                self._results.append(runner.run(self._main()))
        except BaseException as error:  # noqa: BLE001  raised on in the caller's thread by result()
            self._error = error
        finally:
            self._events.put(None)

    async def _main(self) -> T:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        if self._cancelled:  # before there was a task to cancel
            raise asyncio.CancelledError
        return await self._make(self._events.put)
