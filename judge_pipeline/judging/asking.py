"""Asks a backend for answers that are not stored yet: bounded tries, one re-ask, every try written down.

The ladder of one attempt: a try; where it can heal, further tries after a wait; where the answer is invalid, one
re-ask that carries the validation errors; then the answer, or a failure with its class. What every attempt would meet
(a refused key, an unknown model, a spent quota) stops the asking for all, and so does a provider that fails attempt
after attempt (:mod:`judge_pipeline.judging.circuit`).
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from judge_pipeline.judging.answer import Answer
from judge_pipeline.judging.backends.base import AskedBackend, Reply
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.checkpoint.lock import wait_until_held
from judge_pipeline.judging.checkpoint.store import Checkpoint, Record, utc_now
from judge_pipeline.judging.checkpoint.writer import Writer
from judge_pipeline.judging.circuit import Circuit
from judge_pipeline.judging.failures import HEALING, STOPPING, CallFailedError, Failure, FailureClass
from judge_pipeline.judging.garbage import old_objects_left_alone
from judge_pipeline.judging.ladder import Attempt, Task, Tried
from judge_pipeline.judging.money import Budget, Reserved
from judge_pipeline.judging.pacing.limits import LONGEST_RETRY_AFTER_SECONDS, InFlight, Timing, wait_before_try
from judge_pipeline.judging.pacing.pace import Pace, Turn
from judge_pipeline.judging.pacing.shared_window import SharedWindow
from judge_pipeline.judging.progress import Progress
from judge_pipeline.judging.tries import Circumstances, read_reply, rows_of, without_keys
from judge_pipeline.settings import Limits

REJECTIONS_THAT_STOP = 3
"""So many requests rejected as malformed, and none answered, mean that the settings are wrong, not the attempts."""

_WORKERS_PER_CALL = 4
"""Attempts that may be waiting for their next try, for each call that may be under way."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a task has no answer, and after how many tries."""

    failure: Failure
    n_tries: int


@dataclass(frozen=True)
class Manner:
    """How a judge is asked.

    Attributes:
        judge: its name.
        run_id: this asking, for the rows of its calls.
        limits: tries, waits, calls in flight.
        repair_max_output_tokens: answer limit of a try that follows a truncated or invalid answer.
        timing: clock and sleep.
        rng: draws the jitter of waits.
        scrubber: blanks keys in whatever is kept.
        budget: sets money aside before each call; None where there is no ceiling, or calls cost nothing.
        pace: gives calls their turns at the provider; None where its rates are not limited.
        window: calls that all judges of the provider may have under way; None where nobody else asks the model.
    """

    judge: str
    run_id: str
    limits: Limits
    repair_max_output_tokens: int | None
    timing: Timing
    rng: random.Random
    scrubber: Scrubber
    budget: Budget | None = None
    pace: Pace | None = None
    window: SharedWindow | None = None


class Asking:
    """One asking of one judge."""

    def __init__(
        self, manner: Manner, backend: AskedBackend, checkpoint: Checkpoint, report: Callable[[Progress], None]
    ) -> None:
        self._manner = manner
        self._backend = backend
        self._checkpoint = checkpoint
        self._report = report
        self._waiting: deque[Task] = deque()
        self._looked_up: deque[Task] = deque()
        self._failed: dict[str, Failed] = {}
        self._failures: Counter[FailureClass] = Counter()
        self._tried_again: Counter[FailureClass] = Counter()
        self._done = 0
        self._total = 0
        self._cost_usd = 0.0
        self._stopped: Failure | None = None
        self._rejections = 0
        self._got_replies = False
        self._circuit = Circuit(manner.limits)
        self._unsaved: list[asyncio.Future[None]] = []

    async def run(self, tasks: Sequence[Task]) -> dict[str, Failed]:
        """Ask for every task's answer; each is committed to the checkpoint before it counts.

        Returns:
            Request hash -> failure, for the tasks that have no answer in the end.

        Raises:
            JudgingError: the backend cannot be asked at all.
            asyncio.CancelledError: cancelled; what was answered is kept, calls under way are written down as such.
        """
        self._total = len(tasks)
        self._began = self._manner.timing.monotonic()
        self._in_flight = InFlight(self._manner.limits.max_in_flight, self._manner.window)
        self._writer = Writer(self._checkpoint, self._manner.limits.save_every)
        self._waiting = deque(tasks)
        self._looking_up = asyncio.Lock()
        try:
            await self._backend.open()
            with old_objects_left_alone():
                await self._cancellable(self._ask_for_all(len(tasks)), stop=True)
        except BaseExceptionGroup as failed:
            await self._close_writer()  # so that what is under way is written, too, before anyone is told where it is
            raise (self._writer.error() or failed.exceptions[0]) from failed
        finally:
            await self._close_writer()
            await self._backend.close()
        if (error := self._writer.error()) is not None:
            raise error
        return self._failed

    async def _ask_for_all(self, n: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(n, _WORKERS_PER_CALL * self._manner.limits.max_in_flight)):
                group.create_task(self._work())

    async def _close_writer(self) -> None:
        await self._cancellable(asyncio.to_thread(self._writer.close), stop=False)

    async def _cancellable(self, work: Coroutine[Any, Any, None], stop: bool) -> None:
        """Do the work; who is cancelled meanwhile waits for a store that is gone no longer, so that the work ends soon.

        ``stop`` says whether the work itself is cancelled, too.
        """
        task = asyncio.ensure_future(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            self._checkpoint.wait_no_more()
            if stop:
                task.cancel()
            await task
            raise

    async def _work(self) -> None:
        while (task := await self._next()) is not None:
            failed = Failed(self._stopped, 0) if self._stopped else await self._answer(task)
            if failed is None:
                self._done += 1
                self._circuit.answered()
            else:
                self._failed[task.request_hash] = failed
                self._failures[failed.failure.failure_class] += 1
                if failed.n_tries > len(task.earlier) and self._stopped is None:
                    self._stopped = self._circuit.failed(failed.failure)
            self._tell()

    def _tell(self) -> None:
        seconds = self._manner.timing.monotonic() - self._began
        self._report(
            Progress(
                self._done, len(self._failed), self._total, self._cost_usd, seconds, dict(self._failures),
                dict(self._tried_again),
            )
        )  # fmt: skip

    async def _next(self) -> Task | None:
        """The next task that nobody has answered: another process may have, since this one began.

        They are looked up a window at a time: one by one, it would take as long as a direct call. It is done in a
        thread, since a store that is gone is waited for, and calls under way must not run into their time-out.
        """
        if not self._looked_up:
            async with self._looking_up:  # who comes meanwhile goes on with what is found
                while not self._looked_up and self._waiting:
                    window = min(len(self._waiting), self._manner.limits.max_in_flight)
                    tasks = [self._waiting.popleft() for _ in range(window)]
                    answered = await asyncio.to_thread(self._answered_among, [task.request_hash for task in tasks])
                    self._looked_up.extend(task for task in tasks if task.request_hash not in answered)
                    self._done += len(answered)
        return self._looked_up.popleft() if self._looked_up else None

    def _answered_among(self, hashes: Sequence[str]) -> set[str]:
        wait_until_held(self._checkpoint)
        return self._checkpoint.answered_among(self._manner.judge, hashes)

    def _stop_where_all_would_fail(self, failure: Failure) -> None:
        """Stop after a call that shows that every further one would fail; before the next one may start."""
        self._rejections += failure.failure_class == "rejected"
        settings_are_wrong = self._rejections >= REJECTIONS_THAT_STOP and not self._got_replies
        if failure.failure_class in STOPPING or settings_are_wrong:
            self._stopped = self._stopped or failure

    async def _answer(self, task: Task) -> Failed | None:
        """Climb the ladder for one task; None where it is answered."""
        manner, number = self._manner, len(task.earlier)
        attempt = Attempt.begin(task, manner.repair_max_output_tokens)
        while True:
            tried = await self._try(attempt, number + 1)
            number += tried.was_asked
            failure = tried.failure
            if failure is None:
                return None
            last = number == manner.limits.max_tries or (tried.retry_after or 0.0) > LONGEST_RETRY_AFTER_SECONDS
            if last or self._stopped or failure.failure_class in STOPPING:
                return Failed(failure, number)
            if attempt.may_be_re_asked(failure):
                self._note_another_try(failure)
                attempt.re_ask(failure, manner.repair_max_output_tokens)
            elif failure.failure_class in HEALING:
                self._note_another_try(failure)
                if failure.failure_class == "truncated":
                    attempt.answer_limit = manner.repair_max_output_tokens
                await manner.timing.sleep(wait_before_try(manner.limits, number, tried.retry_after, manner.rng))
            else:
                return Failed(failure, number)

    def _note_another_try(self, failure: Failure) -> None:
        self._tried_again[failure.failure_class] += 1
        self._tell()  # where a provider refuses all, this is all that there is to see

    async def _try(self, attempt: Attempt, number: int) -> Tried:
        """One call, written down; or none, where the asking has stopped meanwhile."""
        manner = self._manner
        reply, retry_after = None, None
        await self._in_flight.acquire()
        turn = await self._turn(attempt)
        reserved = await self._set_aside(attempt)
        if self._stopped is not None:
            await self._give_back(reserved)
            self._in_flight.release()
            return Tried(self._stopped, was_asked=False)
        started, started_at = manner.timing.monotonic(), utc_now()
        outcome: Answer[BaseModel] | Failure = Failure("cancelled", "cancelled while the call was under way")
        try:
            async with asyncio.timeout(manner.limits.timeout_seconds):
                asked = await self._backend.ask(attempt.call, attempt.further, attempt.answer_limit)
                reply = without_keys(asked, manner.scrubber)
            self._got_replies = True
            outcome = read_reply(reply, attempt.task.read, manner.scrubber)
            self._in_flight.succeeded()
        except TimeoutError:
            outcome = Failure("infrastructure", f"no answer within {manner.limits.timeout_seconds:g} s")
        except CallFailedError as error:
            retry_after = error.retry_after_seconds
            outcome = Failure(error.failure.failure_class, manner.scrubber.error(error.failure.text))
            if outcome.failure_class == "rate_limit":
                self._in_flight.rate_limited(started, retry_after)
        except Exception as error:
            outcome = Failure("infrastructure", manner.scrubber.error(f"{type(error).__name__}: {error}"))
            raise  # a defect of the backend, not of this attempt
        finally:
            latency_ms = max(0.0, (manner.timing.monotonic() - started) * 1000.0)
            by = Circumstances(manner.judge, manner.run_id, number, started_at, latency_ms)
            self._cost_usd += (reply and reply.cost_usd) or 0.0
            rows = rows_of(attempt.asked(), by, reply, outcome, manner.scrubber)
            written = self._writer.submit(Record(attempt.request, *rows))
            if isinstance(outcome, Failure):
                self._stop_where_all_would_fail(outcome)
            try:
                await self._saved(written)
            finally:
                await self._settle(reserved, turn, reply, outcome)
                self._in_flight.release()
        if manner.limits.sleep_seconds:
            await manner.timing.sleep(manner.limits.sleep_seconds)
        attempt.last_reply = reply
        return Tried(outcome if isinstance(outcome, Failure) else None, retry_after)

    async def _saved(self, written: asyncio.Future[None]) -> None:
        """Wait for the commit before the next call may start, so that a kill wastes at most the calls in flight.

        Where calls are written down together (``save_every``), nobody waits, and a failed commit is raised later.
        """
        if self._manner.limits.save_every == 1:
            await asyncio.shield(written)
            return
        ended = [future for future in self._unsaved if future.done()]
        self._unsaved = [future for future in self._unsaved if not future.done()] + [written]
        for future in ended:
            future.result()

    async def _turn(self, attempt: Attempt) -> Turn | None:
        """The call's turn at the provider, once it has come."""
        if self._manner.pace is None or self._stopped is not None:
            return None
        try:
            return await self._manner.pace.wait_for_turn(attempt.prompt_chars())
        except BaseException:  # cancelled meanwhile
            self._in_flight.release()
            raise

    async def _set_aside(self, attempt: Attempt) -> Reserved | None:
        """Money for the next call; asking stops where it would pass a ceiling."""
        if self._manner.budget is None or self._stopped is not None:
            return None
        try:
            found = await self._manner.budget.reserve(attempt.prompt_chars(), attempt.longest_answer())
        except BaseException:  # cancelled while it waited for others' calls to end
            self._in_flight.release()
            raise
        if isinstance(found, Failure):
            self._stopped = self._stopped or found
            return None
        return found

    async def _give_back(self, reserved: Reserved | None) -> None:
        if reserved is not None and self._manner.budget is not None:
            await self._manner.budget.settle(reserved, 0.0, None)

    async def _settle(self, reserved: Reserved | None, turn: Turn | None, reply: Reply | None, outcome: object) -> None:
        got = reply or Reply(None, None)
        if turn is not None and self._manner.pace is not None:
            await self._manner.pace.put_right(turn, got.tokens_in, got.tokens_out)
        if reserved is None or self._manner.budget is None:
            return
        failure_class = outcome.failure_class if isinstance(outcome, Failure) else None
        await self._manner.budget.settle(reserved, got.cost_usd, failure_class, got.tokens_in, got.tokens_out)
