"""How hard a provider is asked: calls in flight, waits between tries. The limiter is ours; litellm's is off."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_pipeline.settings import Limits

if TYPE_CHECKING:
    from judge_pipeline.judging.pacing.shared_window import SharedWindow

LONGEST_RETRY_AFTER_SECONDS = 900.0
"""A longer wait than this is not sat out: a 429 that asks for it is a spent quota, and any other failure is final."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The clock and the sleep that judging uses; tests put their own in.

    Attributes:
        monotonic: seconds on a clock that never goes back.
        sleep: waits for some seconds.
        wall: seconds since 1970, the same for all processes of a host.
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wall: Callable[[], float] = time.time


def wait_before_try(limits: Limits, failed_tries: int, retry_after_seconds: float | None, rng: random.Random) -> float:
    """Seconds to wait after the ``failed_tries``-th failed try (from 1) before the next.

    Exponential with jitter: backoff * 2^(failed_tries - 1), at most max_backoff, times a uniform draw from
    [0.5, 1]. What the provider asked for (Retry-After) is never undercut; up to a tenth is added to it, so that
    waiting calls do not return all at once.
    """
    ceiling = min(limits.max_backoff_seconds, limits.backoff_seconds * 2.0 ** min(failed_tries - 1, 60))
    wait = ceiling * rng.uniform(0.5, 1.0)
    if retry_after_seconds is None:
        return wait
    return max(wait, retry_after_seconds * (1.0 + rng.uniform(0.0, 0.1)))


class InFlight:
    """How many calls of one asking may be under way at once, within what its provider's window allows.

    The first call goes alone, so that a refused key or an unknown model costs one call. After the first reply as many
    may follow as the judge's own limit allows, and as the window does that all judges of the provider share.
    """

    def __init__(self, maximum: int, shared: SharedWindow | None = None) -> None:
        """``shared`` is the provider's window; None for a model in this process, which nobody else asks."""
        self._maximum = maximum
        self._shared = shared
        self._limit = 1
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def acquire(self) -> None:
        """Wait until a further call may start.

        Raises:
            JudgingError: the window cannot be shared any more.
        """
        await self._acquire_own()
        if self._shared is not None:
            try:
                await self._shared.acquire()
            except BaseException:  # cancelled meanwhile
                self._release_own()
                raise

    def release(self) -> None:
        """A call has ended, in whatever way."""
        if self._shared is not None:
            self._shared.release()
        self._release_own()

    def succeeded(self) -> None:
        """The provider replied."""
        if self._shared is not None:
            self._shared.succeeded()
        if self._limit != self._maximum:
            self._limit = self._maximum
            self._let_start()

    def rate_limited(self, started: float, retry_after_seconds: float | None) -> None:
        """The provider said of a call that started then, on the monotonic clock, that it is asked too often."""
        if self._shared is not None:
            self._shared.rate_limited(started, retry_after_seconds)

    async def _acquire_own(self) -> None:
        if not self._waiting and self._under_way < self._limit:
            self._under_way += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except BaseException:  # cancelled meanwhile
            if turn.done() and not turn.cancelled():
                self._release_own()
            raise

    def _release_own(self) -> None:
        self._under_way -= 1
        self._let_start()

    def _let_start(self) -> None:
        while self._waiting and self._under_way < self._limit:
            turn = self._waiting.popleft()
            if not turn.done():  # else cancelled
                self._under_way += 1
                turn.set_result(None)
