"""Requests and tokens a minute at one provider, shared through the checkpoint by all who ask it on one host."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from judge_pipeline.judging.money import CHARS_PER_TOKEN, TOKENS_OUT_GUESS
from judge_pipeline.judging.pacing.limits import Timing
from judge_pipeline.settings import LitellmJudge, Rates, RewardJudge

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.store import Checkpoint


_SHORTEST_BOUND = 100
_ASKING_AT_ONCE = 4
"""So many turns, or so many times the calls that this judge may have in flight, can honestly be waited for: by other
judges and processes, too, and by calls whose tokens were underestimated. A longer queue is from before a clock was set
back."""

_STALE_SECONDS = 5.0
"""A turn that took longer to get was waited for while the store was gone, and dates from before that."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A call's turn at the provider.

    Attributes:
        tokens: what it was estimated to take, in and out.
    """

    tokens: float


class Pace:
    """Gives calls their turns, evenly spaced: no minute holds more requests or tokens than the rates, plus one call.

    A call's turn comes 60 / requests_per_minute seconds after the one before it, or as long after it as the tokens of
    the one before take at tokens_per_minute, whichever is later. Tokens are estimated (the answer as the mean of those
    seen) and put right when the reply says what they were.
    """

    def __init__(
        self, checkpoint: Checkpoint, provider: str, rates: Rates, timing: Timing, max_in_flight: int = 1
    ) -> None:
        """``max_in_flight`` calls of the judge may wait for their turns at once."""
        self._checkpoint = checkpoint
        self._provider = provider
        self._rates = rates
        self._timing = timing
        self._longest_queue = max(_SHORTEST_BOUND, _ASKING_AT_ONCE * max_in_flight)
        self._answers, self._answer_tokens = 1, float(TOKENS_OUT_GUESS)

    async def wait_for_turn(self, prompt_chars: int) -> Turn:
        """Return when the call may be made."""
        turn = Turn(prompt_chars / CHARS_PER_TOKEN + self._answer_tokens / self._answers)
        seconds = self._seconds(turn.tokens)
        now, start = await self._take(seconds)
        while self._timing.wall() - now > _STALE_SECONDS:
            now, start = await self._take(seconds)
        if start > now:
            await self._timing.sleep(start - now)
        return turn

    async def _take(self, seconds: float) -> tuple[float, float]:
        """The time now, and when the turn is that was taken."""
        now = self._timing.wall()
        take = self._checkpoint.take_turn
        return now, await asyncio.to_thread(take, self._provider, now, seconds, self._longest_queue)

    async def put_right(self, turn: Turn, tokens_in: int | None, tokens_out: int | None) -> None:
        """The reply has said what the call took: later turns move by the difference."""
        if tokens_in is None or tokens_out is None or self._rates.tokens_per_minute is None:
            return
        self._answers, self._answer_tokens = self._answers + 1, self._answer_tokens + tokens_out
        difference = self._seconds(tokens_in + tokens_out) - self._seconds(turn.tokens)
        if difference:
            await asyncio.to_thread(self._checkpoint.move_turns, self._provider, difference)

    def _seconds(self, tokens: float) -> float:
        requests, of_tokens = self._rates.requests_per_minute, self._rates.tokens_per_minute
        return max(60.0 / requests if requests else 0.0, 60.0 * tokens / of_tokens if of_tokens else 0.0)


def provider_of(settings: LitellmJudge | RewardJudge) -> str:
    """The judge's provider: as named, else the host and port of its base URL, else the first part of the model."""
    if settings.provider is not None:
        return settings.provider
    return urlsplit(settings.base_url).netloc if settings.base_url else settings.model.partition("/")[0]
