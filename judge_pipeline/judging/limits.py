"""How hard a provider is asked: calls in flight, waits between tries. The limiter is ours; litellm's is off."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from judge_pipeline.settings import Limits

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
    """How many calls may be under way at once: additive increase, multiplicative decrease.

    The first call goes alone, so that a refused key or an unknown model costs one call. After the first reply the
    window opens to its maximum; a rate limit halves it and, where the provider named a wait, closes it for that long;
    each success then widens it by 1 / window.
    """

    def __init__(self, maximum: int, timing: Timing) -> None:
        self.window = 1.0
        self._maximum = maximum
        self._timing = timing
        self._under_way = 0
        self._probing = True
        self._closed_until = 0.0
        self._narrowed_at = float("-inf")
        self._changed = asyncio.Condition()

    async def acquire(self) -> float:
        """Wait until a further call may start; returns when it starts, on the monotonic clock."""
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self._under_way < int(self.window))
                wait = self._closed_until - self._timing.monotonic()
                if wait <= 0:
                    self._under_way += 1
                    self._wake_one()
                    return self._timing.monotonic()
            await self._timing.sleep(wait)

    async def release(self) -> None:
        """A call has ended, in whatever way."""
        async with self._changed:
            self._under_way -= 1
            self._wake_one()

    async def succeeded(self) -> None:
        """The provider replied."""
        async with self._changed:
            self.window = self._maximum if self._probing else min(self._maximum, self.window + 1.0 / self.window)
            self._probing = False
            self._wake_one()

    def rate_limited(self, started: float, retry_after_seconds: float | None) -> None:
        """The provider said of a call that started then that it is asked too often.

        Calls that were under way when the window was last halved say nothing new, and do not halve it again.
        """
        self._probing = False
        if started > self._narrowed_at:
            self.window = max(1.0, self.window / 2.0)
            self._narrowed_at = self._timing.monotonic()
        if retry_after_seconds is not None:
            self._closed_until = max(self._closed_until, self._timing.monotonic() + retry_after_seconds)

    def _wake_one(self) -> None:
        """One waiter is enough: it wakes the next where there is room. Waking all costs much with many waiting."""
        if self._under_way < int(self.window):
            self._changed.notify(1)
