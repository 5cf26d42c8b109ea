"""Money: a ceiling that asking stops before. What is spent comes from the calls; what is under way is estimated."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_pipeline.judging.failures import Failure, FailureClass
from judge_pipeline.settings import Ceilings, Price

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.request import Message
    from judge_pipeline.judging.shard_spending import ShardSpending

CHARS_PER_TOKEN = 3.5
"""Taken for the estimate of prompt tokens; code and English come out near it, other scripts lower."""

TOKENS_PER_IMAGE = 1200
"""Taken for an image. Providers count by size: a screenshot of 1280 x 720 is some 1,100 tokens by OpenAI's rule for
GPT-4o (85, and 170 for each of six tiles), some 1,230 by Anthropic's (width x height / 750); larger ones are shrunk to
at most about 1,600."""

TOKENS_OUT_GUESS = 150
"""Answer tokens taken where this judge has no stored calls to go by; thinking can be many times more."""

NEVER_BILLED: frozenset[FailureClass] = frozenset(
    {"rate_limit", "quota", "authentication", "configuration", "rejected", "too_long", "no_record", "ceiling"}
)
"""Classes of calls that a provider refused before it worked. Any other call without a known cost may have been billed,
and counts at its estimate."""

_SECONDS_BETWEEN_LOOKS = 1.0
_SECONDS_BETWEEN_NEWS = 1.0


def chars_of(messages: Iterable[Message]) -> int:
    """The characters of messages, an image counted as so many that the estimate comes out at its tokens."""
    return sum(
        len(message.content) + sum(len(i.label) + round(TOKENS_PER_IMAGE * CHARS_PER_TOKEN) for i in message.images)
        for message in messages
    )


@dataclass(slots=True)
class RunSpending:
    """What one run has spent so far, over all judges that it asks: one command, or one run in the UI.

    Where the steps of a run are processes of their own, each has one of these, and they tell each other
    (:class:`~judge_pipeline.judging.shard_spending.ShardSpending`).

    Attributes:
        usd: US dollars, calls of unknown cost at their estimate.
        drawn: tells it from all others; processes that are forked afterwards have the same.
    """

    usd: float = 0.0
    drawn: str = field(default_factory=lambda: uuid.uuid4().hex)

    def process(self) -> str:
        """A name of what this process spends in the run."""
        return f"{self.drawn}-{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Reserved:
    """Money set aside for a call that is under way.

    Attributes:
        usd: its estimated cost.
        tokens_in: the prompt tokens that it rests on.
    """

    usd: float
    tokens_in: float


class ContestSpending:
    """What all judges' calls for a contest's attempts have cost, from the rows of all runs but one's own.

    Other processes' calls are seen within a second after they are written down; those under way there are not.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        attempt_ids: Container[str],
        judge: str,
        clock: Callable[[], float] = time.monotonic,
        contest: str | None = None,
    ) -> None:
        """``contest`` is the contest's name, for what is set aside for its batches; None leaves batches out."""
        self._checkpoint = checkpoint
        self._contest = contest
        self._set_aside_usd = 0.0
        self._attempt_ids = attempt_ids
        self._judge = judge
        self._clock = clock
        self._looked_at = float("-inf")
        self._last_call_id = 0
        self._usd = 0.0
        self._of_unknown_cost = 0

    def usd(self, own_run_id: str, estimate_usd: float) -> float:
        """US dollars so far; this judge's calls of unknown cost that may have been billed count at the estimate.

        Left out are calls whose asking is ``own_run_id``, or begins so, as those of all shards of a run do.
        """
        if self.is_due():
            self.look(own_run_id)
        return self._usd + self._set_aside_usd + self._of_unknown_cost * estimate_usd

    def is_due(self) -> bool:
        """Whether the next look at the store is due."""
        return self._clock() - self._looked_at >= _SECONDS_BETWEEN_LOOKS

    def look(self, own_run_id: str) -> None:
        """See what was written down since the last look; a store that is gone is waited for."""
        self._checkpoint.again(lambda: self._read_on(own_run_id))
        self._looked_at = self._clock()

    def _read_on(self, own_run_id: str) -> None:
        for call_id, attempt_id, judge, run_id, cost_usd, error_class in self._checkpoint.costs(self._last_call_id):
            self._last_call_id = call_id
            if attempt_id not in self._attempt_ids or run_id.startswith(own_run_id):
                continue
            self._usd += cost_usd or 0.0
            self._of_unknown_cost += cost_usd is None and judge == self._judge and error_class not in NEVER_BILLED
        if self._contest is not None:
            from judge_pipeline.judging.batches.store import BatchStore

            self._set_aside_usd = BatchStore(self._checkpoint).set_aside_usd(self._contest)

    def look_again(self) -> None:
        """See what was written down just now, too."""
        self._looked_at = float("-inf")


class Budget:
    """Sets money aside before each call, so that spent and under way together stay below the ceilings.

    A call's estimate is its price for the prompt's characters and for as many answer tokens as it may have: its limit
    where it has one, else the longest answer seen. Where prompts turn out to have more tokens than estimated, later
    estimates are raised in proportion.

    Where others spend beside it (``others``: shards, or steps of the run in other processes), what they have spent and
    have under way counts, too. It waits for its own calls to end, not for theirs: near a ceiling it may stop a little
    early, never late.
    """

    def __init__(
        self,
        ceilings: Ceilings,
        price: Price,
        run: RunSpending,
        contest: ContestSpending,
        run_id: str,
        longest_answer: int | None = None,
        others: ShardSpending | None = None,
        *,
        beside_steps: bool = False,
    ) -> None:
        """``run_id`` is that of this asking's calls, or of all shards of the run.

        With ``beside_steps`` the others are other steps of the run. All that this process spends in the run is told
        them; and their calls are none of this asking's, so that the contest's spending counts them already.
        """
        self._ceilings = ceilings
        self._price = price
        self._run = run
        self._contest = contest
        self._run_id = run_id
        self._longest_answer = longest_answer or TOKENS_OUT_GUESS
        self._tokens_per_estimate = 1.0
        self._own_usd = 0.0
        self._under_way: list[Reserved] = []
        self._changed = asyncio.Condition()
        self._others = others
        self._beside_steps = beside_steps
        self._told_at = float("-inf")

    async def reserve(self, prompt_chars: int, answer_limit: int | None) -> Reserved | Failure:
        """Set a call's estimated cost aside; waits for calls under way where they decide whether there is room.

        Returns:
            What was set aside; or a failure of class ``ceiling`` where the call would pass a ceiling.
        """
        async with self._changed:
            while True:
                if self._ceilings.contest is not None and self._contest.is_due():
                    await asyncio.to_thread(self._contest.look, self._run_id)
                usd = self._estimated_usd(prompt_chars, answer_limit)
                failure = self._over(usd, others_usd=await self._others_usd(usd))
                if failure is None:
                    reserved = Reserved(usd, prompt_chars / CHARS_PER_TOKEN)
                    self._under_way.append(reserved)
                    return reserved
                await self._others_usd(0.0)
                if not self._under_way:
                    return failure
                await self._changed.wait()

    async def settle(
        self,
        reserved: Reserved,
        cost_usd: float | None,
        failure_class: FailureClass | None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
    ) -> None:
        """The call has ended: count what it cost, and let others look whether there is room now."""
        async with self._changed:
            self._under_way.remove(reserved)
            if cost_usd is None:
                cost_usd = 0.0 if failure_class in NEVER_BILLED else reserved.usd
            self._own_usd += cost_usd
            self._run.usd += cost_usd
            self._longest_answer = max(self._longest_answer, tokens_out or 0)
            if tokens_in and reserved.tokens_in:
                self._tokens_per_estimate = max(self._tokens_per_estimate, tokens_in / reserved.tokens_in)
            if not self._under_way or time.monotonic() - self._told_at >= _SECONDS_BETWEEN_NEWS:
                await self._others_usd(0.0)
            self._changed.notify_all()

    async def _others_usd(self, usd: float) -> float:
        """Tell the others what is spent and under way here, and ``usd`` more; what they have."""
        if self._others is None:
            return 0.0
        self._told_at = time.monotonic()
        spent = self._run.usd if self._beside_steps else self._own_usd
        own = spent + sum(reserved.usd for reserved in self._under_way) + usd
        return await asyncio.to_thread(self._others.others_usd, own)

    def set_aside_whole(self, asks: Sequence[tuple[int, int | None]]) -> tuple[list[float], Failure | None]:
        """Set a batch's estimated cost aside at once; no call of this budget may be under way.

        It counts as spent in this run; in the contest it does so from the row of ``batches`` (``ContestSpending``).

        Args:
            asks: prompt characters and answer limit of each request.

        Returns:
            The estimates of the first requests, as many as fit below the ceilings together; and, where they are not
            all, a failure of class ``ceiling``.
        """
        self._contest.look_again()
        prices: list[float] = []
        total = 0.0
        failure: Failure | None = None
        for prompt_chars, answer_limit in asks:
            usd = self._estimated_usd(prompt_chars, answer_limit)
            failure = self._over(usd, set_aside_usd=total)
            if failure is not None:
                break
            prices.append(usd)
            total += usd
        self._run.usd += total
        return prices, failure

    def give_back_whole(self, usd: float) -> None:
        """The batch was not submitted."""
        self._run.usd -= usd

    def _estimated_usd(self, prompt_chars: int, answer_limit: int | None) -> float:
        tokens_in = prompt_chars / CHARS_PER_TOKEN * self._tokens_per_estimate
        return self._price.cost_usd(round(tokens_in), self._longest_answer if answer_limit is None else answer_limit)

    def _over(self, usd: float, set_aside_usd: float = 0.0, others_usd: float = 0.0) -> Failure | None:
        under_way = sum(reserved.usd for reserved in self._under_way) + set_aside_usd
        if self._ceilings.run is not None:
            spent = self._run.usd + others_usd
            if spent + under_way + usd > self._ceilings.run:
                return _ceiling("run", self._ceilings.run, spent, usd, "run again to go on, or raise it")
        if self._ceilings.contest is not None:
            of_shards = 0.0 if self._beside_steps else others_usd
            spent = self._own_usd + of_shards + self._contest.usd(self._run_id, usd)
            if spent + under_way + usd > self._ceilings.contest:
                return _ceiling("contest", self._ceilings.contest, spent, usd, "raise it and run again to go on")
        return None


def _ceiling(name: str, ceiling: float, spent: float, next_usd: float, remedy: str) -> Failure:
    return Failure(
        "ceiling",
        f"the {name}'s ceiling of {ceiling:.4f} USD (ceiling_usd: {name}, in judges.yaml) would be passed: {spent:.4f} "
        f"USD are spent and the next call may cost {next_usd:.4f}; what was answered is kept: {remedy}",
    )
