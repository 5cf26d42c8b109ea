"""Threads in which litellm makes its calls' coroutines: those that nobody comes to await are closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class ClosingThreads(ThreadPoolExecutor):
    """Threads for an event loop in which litellm is asked.

    litellm makes each call's coroutine in a thread. Where the call is cancelled meanwhile nobody awaits it, and Python
    warns of that; here it is closed.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the function in a thread; a coroutine that it makes is closed when nobody holds it any more."""
        return super().submit(_closing, fn, *args, **kwargs)


def _closing(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    made = fn(*args, **kwargs)
    return _Closing(made) if asyncio.iscoroutine(made) else made


class _Closing(Coroutine[Any, Any, Any]):
    """A coroutine that is closed, if it was never awaited, instead of being warned of."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield from self._coroutine.__await__())

    def send(self, value: Any) -> Any:
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()

    def __del__(self) -> None:
        self._coroutine.close()
