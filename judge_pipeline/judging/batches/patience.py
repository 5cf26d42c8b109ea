"""Calls of a batch interface that may be made again: bounded tries, as for a judge's other calls."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from judge_pipeline.judging.failures import CallFailedError, FailureClass
from judge_pipeline.judging.pacing.limits import LONGEST_RETRY_AFTER_SECONDS, Timing, wait_before_try
from judge_pipeline.settings import Limits

T = TypeVar("T")

PASSING: frozenset[FailureClass] = frozenset({"infrastructure", "rate_limit"})
"""Classes of failures that a later call may do without."""


@dataclass(frozen=True)
class Patience:
    """How often, and after which waits, a call is made again.

    Attributes:
        limits: the judge's.
        timing: clock and sleep.
        rng: draws the jitter of waits.
    """

    limits: Limits
    timing: Timing
    rng: random.Random

    async def call(self, call: Callable[[], Awaitable[T]], again: frozenset[FailureClass] = PASSING) -> T:
        """What the call returns, after further tries where it failed in one of the classes ``again``.

        Raises:
            CallFailedError: the last try failed, or failed in a way that waiting does not heal.
        """
        for number in range(1, self.limits.max_tries + 1):
            try:
                return await call()
            except CallFailedError as error:
                too_long = (error.retry_after_seconds or 0.0) > LONGEST_RETRY_AFTER_SECONDS
                if number == self.limits.max_tries or too_long or error.failure.failure_class not in again:
                    raise
                await self.timing.sleep(wait_before_try(self.limits, number, error.retry_after_seconds, self.rng))
        raise AssertionError  # max_tries is at least 1
