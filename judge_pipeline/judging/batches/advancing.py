"""A judge asked through its provider's batch interface: what has ended is collected, what is left is submitted.

A run neither waits for a batch nor asks again what is in one: it brings open batches forward, submits the rest, and
ends. What a batch answered badly, or not at all, climbs the same ladder as elsewhere, a rung a batch (or, by setting,
directly). A run that only collects asks nothing that was not in a batch before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judge_pipeline.judging.answer import Judgment
from judge_pipeline.judging.asking import Failed, Manner
from judge_pipeline.judging.backends.litellm_batches import BatchApi
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.batches.collecting import Collecting
from judge_pipeline.judging.batches.patience import PASSING, Patience
from judge_pipeline.judging.batches.store import BatchRow, BatchStore, TakenError
from judge_pipeline.judging.batches.submitting import Bodies, Submitting
from judge_pipeline.judging.failures import CallFailedError, Failure
from judge_pipeline.judging.interruptible import run_interruptibly
from judge_pipeline.judging.ladder import Task
from judge_pipeline.judging.pacing.limits import Timing
from judge_pipeline.judging.plan import price_of
from judge_pipeline.judging.question import Reader, reader_of
from judge_pipeline.settings import LitellmJudge, Price

if TYPE_CHECKING:
    from judge_pipeline.judging.prepared import Prepared


@dataclass(frozen=True)
class BatchManner:
    """How a judge's batches are brought forward.

    Attributes:
        contest: whose requests are submitted.
        settings: the judge's; without ``batch`` nothing is submitted, and what waits is collected all the same.
        api: the provider's batch interface.
        bodies: says what a request's body is.
        price: of the model, at its full price; None where it is unknown.
        manner: how the judge is asked: limits, keys, and the budget of what is submitted.
        read: how an answer is read: the same for all requests of the judge and ``contest``.
        only_collect: submit nothing that was not in a batch before.
    """

    contest: str
    settings: LitellmJudge
    api: BatchApi
    bodies: Bodies
    price: Price | None
    manner: Manner
    read: Reader
    only_collect: bool = False


@dataclass
class Advanced:
    """How far a judge's batches are after a run has brought them forward.

    Attributes:
        failed: request hash -> why it has no answer and waits for none.
        waiting: request hash -> token of the open batch that it is in.
        open_batches: the open batches that hold any of the requests.
        direct: what is to be asked at once.
        n_submitted: requests that this run has submitted.
        notes: what a person should know.
    """

    failed: dict[str, Failed] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    open_batches: tuple[BatchRow, ...] = ()
    direct: list[Task] = field(default_factory=list)
    n_submitted: int = 0
    notes: list[str] = field(default_factory=list)


def uses_batches(judge: str, settings: LitellmJudge, store: BatchStore) -> bool:
    """Whether the judge is asked in batches, or has any open from a time when it was."""
    return settings.batch is not None or bool(store.batches(judge=judge, only_open=True))


def in_batches_or_answered(
    judge: str, prepared: Prepared, answered: set[str], store: BatchStore
) -> frozenset[str] | None:
    """The attempts that a run that only collects is for; None where they are all.

    Args:
        judge: the judge.
        prepared: its requests of today.
        answered: request hashes that have an answer.
        store: the batches.
    """
    left = [hash_ for hash_ in prepared.hash_of.values() if hash_ not in answered]
    known = answered | store.latest(judge, left).keys() | store.waiting(judge, left).keys()
    chosen = frozenset(attempt for attempt, hash_ in prepared.hash_of.items() if hash_ in known)
    return None if len(chosen) == len(prepared.hash_of) else chosen


def advance(how: BatchManner, store: BatchStore, to_ask: Sequence[str], task_of: Callable[[str], Task]) -> Advanced:
    """Bring the judge's batches forward: collect, then submit what is neither answered nor in an open batch.

    Args:
        how: the judge and its provider.
        store: the batches.
        to_ask: request hashes that had no answer when the run began.
        task_of: the task that gets the answer of one.

    Raises:
        BaseException: what interrupts the caller's thread. Whatever was sent by then is found by the next run.
    """
    return run_interruptibly(lambda _report: _advance(how, store, to_ask, task_of), lambda _event: None)


async def _advance(
    how: BatchManner, store: BatchStore, to_ask: Sequence[str], task_of: Callable[[str], Task]
) -> Advanced:
    judge, settings, manner = how.manner.judge, how.settings, how.manner
    patience = Patience(settings.limits, manner.timing, manner.rng)
    done = Advanced()
    await how.api.open()
    before = store.waiting(judge, to_ask)
    collecting = Collecting(judge, settings, store, how.api, how.price, how.read, manner.scrubber, patience)
    collected = await collecting.bring_forward(how.contest)
    wanted = set(to_ask)
    done.failed = {hash_: failed for hash_, failed in collected.failed.items() if hash_ in wanted}
    done.notes = collected.notes
    again, new = _left(how, store, to_ask, task_of, done, before)
    if settings.batch is None or settings.batch.re_ask == "directly":
        done.direct, again = again, []
    if settings.batch is None:
        done.direct, new = [*done.direct, *new], []
    tasks = [*again, *new]
    if settings.batch is not None and tasks:
        submitting = Submitting(
            judge, how.contest, settings, settings.batch, store, how.api, how.bodies, manner.budget, patience
        )
        submitted = await submitting.submit(tasks)
        done.failed |= submitted.failed
        done.n_submitted = submitted.n_requests
    done.waiting = store.waiting(judge, to_ask)
    tokens = set(done.waiting.values())
    done.open_batches = tuple(row for row in store.batches(judge=judge, only_open=True) if row.token in tokens)
    return done


def _left(
    how: BatchManner,
    store: BatchStore,
    to_ask: Sequence[str],
    task_of: Callable[[str], Task],
    done: Advanced,
    before: Mapping[str, str],
) -> tuple[list[Task], list[Task]]:
    """What is to be asked now: further tries of what batches left without an answer, and new requests.

    ``before`` are the requests that waited when the run began: where their batch turns out never to have been started,
    they are new again, which a run that only collects leaves to the next one.
    """
    judge = how.manner.judge
    answered = store.checkpoint.answered_among(judge, to_ask)
    waiting = store.waiting(judge, to_ask)
    free = [h for h in to_ask if h not in answered and h not in waiting and h not in done.failed]
    latest = store.latest(judge, free)
    undecided = {hash_: row for hash_, row in latest.items() if row.outcome in ("again", "re-ask")}
    earlier = store.earlier_tries(judge, undecided)
    again = [replace(task_of(hash_), earlier=earlier[hash_]) for hash_ in free if hash_ in undecided]
    new = [hash_ for hash_ in free if hash_ not in undecided]
    if not how.only_collect:
        return again, [task_of(hash_) for hash_ in new]
    ended = store.earlier_tries(judge, {hash_: latest[hash_] for hash_ in new if hash_ in latest})
    for hash_ in new:
        tries = ended.get(hash_, ())
        if tries:
            done.failed[hash_] = Failed(tries[-1].failure, len(tries))
        elif hash_ in before:
            words = "its batch was never started; run the judge again to ask for it"
            done.failed[hash_] = Failed(Failure("infrastructure", words), 0)
    return again, []


@dataclass(frozen=True)
class Seen:
    """An open batch as it is now.

    Attributes:
        row: the batch; as it was last seen, where the provider does not say.
        problem: why it could not be looked at, or what became of it, in words; None where there is nothing to say.
        may_pass: whether a later look may do without the problem.
    """

    row: BatchRow
    problem: str | None = None
    may_pass: bool = False


def look_at(
    judge: str, settings: LitellmJudge, environment: Mapping[str, str], store: BatchStore, rows: Sequence[BatchRow]
) -> list[Seen]:
    """Ask the provider once after each of the judge's open batches, and write down what it says. Collects nothing."""
    return _each(judge, settings, environment, store, rows, _look)


def cancel(
    judge: str, settings: LitellmJudge, environment: Mapping[str, str], store: BatchStore, rows: Sequence[BatchRow]
) -> list[Seen]:
    """Ask the provider to stop each of the judge's open batches; ``problem`` says what became of it.

    Whoever calls holds the lock of the contest and judge.
    """
    return _each(judge, settings, environment, store, rows, _cancel)


_Step = Callable[[Collecting, BatchRow], Coroutine[Any, Any, Seen]]


def _each(
    judge: str,
    settings: LitellmJudge,
    environment: Mapping[str, str],
    store: BatchStore,
    rows: Sequence[BatchRow],
    step: _Step,
) -> list[Seen]:
    missing = settings.missing_key(environment)
    if missing:
        return [Seen(row, f"set {missing} to the provider's key to ask after it") for row in rows]
    api = BatchApi.of(settings, environment)
    scrubber = Scrubber(environment, settings.api_key_env)
    once = settings.limits.model_copy(update={"max_tries": 1})
    patience = Patience(once, Timing(), random.Random(judge))
    collecting = Collecting(judge, settings, store, api, price_of(settings), reader_of(Judgment), scrubber, patience)

    async def all_of_them() -> list[Seen]:
        await api.open()
        seen = []
        for row in rows:
            if row.base_url != settings.base_url:
                seen.append(Seen(row, "it was submitted to another base_url"))
                continue
            try:
                seen.append(await step(collecting, row))
            except CallFailedError as error:
                store.note(row.token, error=error.failure.text)
                failure = error.failure
                may_pass = failure.failure_class in PASSING
                seen.append(Seen(row, f"{failure.failure_class}: {failure.text}", may_pass))
            except TakenError:
                seen.append(Seen(row, "another process has taken it on"))
        return seen

    return run_interruptibly(lambda _report: all_of_them(), lambda _event: None)


async def _look(collecting: Collecting, row: BatchRow) -> Seen:
    return Seen(await collecting.look(row))


async def _cancel(collecting: Collecting, row: BatchRow) -> Seen:
    return Seen(row, await collecting.cancel(row))
