"""Asks a judge about the rows of a table, whatever is asked of them: only for what is not stored.

The one way to every model that is asked call by call: rows are rendered and hashed, what is answered is looked up, the
plan is told, and the rest is asked, in batches where the judge is so asked.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from judge_pipeline.judging.asking import Asking, Failed, Manner
from judge_pipeline.judging.backends.base import AskedBackend
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.batches.advancing import (
    Advanced,
    BatchManner,
    advance,
    in_batches_or_answered,
    uses_batches,
)
from judge_pipeline.judging.batches.store import BatchRow, BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import Judgments, read_judgments
from judge_pipeline.judging.failures import Failure, JudgingError
from judge_pipeline.judging.interruptible import run_interruptibly
from judge_pipeline.judging.judging_context import JudgingContext
from judge_pipeline.judging.ladder import Task
from judge_pipeline.judging.money import Budget, ContestSpending
from judge_pipeline.judging.pacing.pace import Pace, provider_of
from judge_pipeline.judging.pacing.shared_window import SharedWindow, window_of
from judge_pipeline.judging.plan import Plan, plan_prepared, price_of
from judge_pipeline.judging.prepared import AskedSettings, Prepared, prepare
from judge_pipeline.judging.progress import Progress
from judge_pipeline.judging.question import ATTEMPT, Question
from judge_pipeline.judging.re_reading import re_read_for_listeners
from judge_pipeline.judging.settled import last_failures, settled_failures
from judge_pipeline.judging.shard_spending import ShardSpending
from judge_pipeline.settings import Batch, EmbeddedJudge, LitellmJudge, Rates, RewardJudge


@dataclass(frozen=True)
class RowsAsked:
    """What came of asking a judge about rows.

    Attributes:
        prepared: the requests.
        judgments: stored answers to them, of earlier runs and of this one; a place is a slot of ``prepared``.
        failed: request hash -> why it has no answer, of those that were to be asked.
        plan: what was to be asked, before anything was.
        pilot: ids of the rows that a limit left to be asked; None where they are all.
        n_asked: distinct requests asked for in this run, or submitted.
        n_submitted: of those, submitted in a batch.
        n_waiting: requests that wait in open batches at the provider.
        open_batches: these batches.
        notes: what a person should know besides.
    """

    prepared: Prepared
    judgments: Judgments
    failed: Mapping[str, Failed]
    plan: Plan
    pilot: frozenset[str] | None
    n_asked: int
    n_submitted: int
    n_waiting: int
    open_batches: tuple[BatchRow, ...]
    notes: tuple[str, ...]


def ask_rows(
    judge: str,
    settings: AskedSettings,
    question: Question,
    rows: pd.DataFrame,
    *,
    checkpoint: Checkpoint,
    context: JudgingContext,
    of_whole: Container[str],
) -> RowsAsked:
    """Ask the judge about every row whose answer is not stored.

    Args:
        judge: the judge's name in judges.yaml.
        settings: its settings.
        question: what is asked of each row.
        rows: the rows in the judge's scope, each id once.
        checkpoint: the store of what is answered.
        context: the rest.
        of_whole: the ids whose calls a ceiling for the whole (``ceiling_usd: contest``) counts.

    Raises:
        JudgingError: nothing can be asked at all: a prompt template is missing or wrong, the checkpoint cannot be used,
            a model without a price is to be asked under a ceiling.
        BaseException: what interrupts the caller's thread; what was answered by then is kept.
    """
    prepared = prepare(judge, settings, rows, context.prompts_dir, checkpoint, question)
    judgments = read_judgments(checkpoint, judge, prepared.all_hashes)
    settled = settled_failures(checkpoint, judge, settings, prepared.all_hashes) if question.keeps_invalid else {}
    re_read_for_listeners(judge, prepared, judgments, checkpoint, settled)
    chosen = None if context.limit is None else question.choose(rows, context.limit, context.seed)
    if context.only_stored:
        chosen = _with_answers(prepared, {prepared.all_hashes[slot] for slot in judgments.slots} | settled.keys())
    store = BatchStore(checkpoint)
    batched = question is ATTEMPT and isinstance(settings, LitellmJudge) and uses_batches(judge, settings, store)
    if batched and context.only_collect:
        chosen = in_batches_or_answered(judge, prepared, {prepared.all_hashes[slot] for slot in judgments.slots}, store)
    to_ask = [hash_ for hash_ in prepared.unanswered(judgments.slots, chosen) if hash_ not in settled]
    if context.shard is not None:
        to_ask = context.shard.requests(prepared, to_ask)
    to_ask = [] if context.only_stored else to_ask
    waiting = store.waiting(judge, to_ask) if batched else {}
    planned = plan_prepared(judge, settings, prepared, judgments, to_ask, checkpoint, waiting, settled)
    if context.planned is not None:
        context.planned(planned)
    unasked = _why_unasked(judge, settings, context) if to_ask else None
    notes = (*_asked_at_once(settings, question), *_images_left_out(settings, prepared)) if to_ask else ()
    failed: dict[str, Failed] = {}
    batches = Advanced(direct=[prepared.task(hash_) for hash_ in to_ask])
    if unasked is not None:
        failed = dict.fromkeys(to_ask, Failed(unasked, 0))
        failed |= last_failures(checkpoint, judge, to_ask) if context.after_shards else {}
        batches = Advanced()
    elif isinstance(settings, LitellmJudge) and batched:
        batches = _advanced(judge, settings, question, prepared, to_ask, checkpoint, context, of_whole)
        failed, notes = batches.failed, (*notes, *batches.notes)
    if batches.direct:
        run_id = ("" if context.shard is None else context.shard.run_id) + uuid.uuid4().hex
        budget = _budget(judge, settings, run_id, checkpoint, context, of_whole)
        backend, notes_of = _backend(settings, question, context)
        failed = failed | _ask(judge, settings, batches.direct, backend, checkpoint, context, run_id, budget)
        notes += notes_of()
    notes += _unanswered_repeats(prepared, failed)
    now = [hash_ for hash_ in to_ask if hash_ not in failed]
    judgments += read_judgments(checkpoint, judge, now).at(np.array([prepared.slots[h] for h in now], dtype="int64"))
    return RowsAsked(
        prepared,
        judgments,
        settled | failed,
        planned,
        chosen,
        n_asked=batches.n_submitted + sum(_was_asked(task, failed) for task in batches.direct),
        n_submitted=batches.n_submitted,
        n_waiting=len(batches.waiting),
        open_batches=batches.open_batches,
        notes=notes,
    )


def plan_rows(
    judge: str, settings: AskedSettings, question: Question, rows: pd.DataFrame, checkpoint: Checkpoint,
    prompts_dir: Path, *, limit: int | None = None, seed: int = 0,
) -> Plan:  # fmt: skip
    """What :func:`ask_rows` would ask, given the same; nothing is asked.

    Raises:
        JudgingError: the prompt template is missing or wrong, or the checkpoint cannot be used.
    """
    return rows_to_ask(judge, settings, question, rows, checkpoint, prompts_dir, limit=limit, seed=seed)[2]


def rows_to_ask(
    judge: str, settings: AskedSettings, question: Question, rows: pd.DataFrame, checkpoint: Checkpoint,
    prompts_dir: Path, *, limit: int | None = None, seed: int = 0,
) -> tuple[Prepared, list[str], Plan]:  # fmt: skip
    """The requests, the hashes of those that :func:`ask_rows` would ask, and the same as a plan; nothing is asked.

    Raises:
        JudgingError: the prompt template is missing or wrong, or the checkpoint cannot be used.
    """
    prepared = prepare(judge, settings, rows, prompts_dir, checkpoint, question)
    stored = read_judgments(checkpoint, judge, prepared.all_hashes)
    settled = settled_failures(checkpoint, judge, settings, prepared.all_hashes) if question.keeps_invalid else {}
    chosen = None if limit is None else question.choose(rows, limit, seed)
    to_ask = [hash_ for hash_ in prepared.unanswered(stored.slots, chosen) if hash_ not in settled]
    plan = plan_prepared(judge, settings, prepared, stored, to_ask, checkpoint, settled=settled)
    return prepared, to_ask, plan


def _with_answers(prepared: Prepared, answered: Collection[str]) -> frozenset[str] | None:
    """The rows whose request was answered; None where they are all."""
    chosen = frozenset(id_ for id_, hash_ in prepared.hash_of.items() if hash_ in answered)
    return None if len(chosen) == len(prepared.hash_of) else chosen


def _why_unasked(judge: str, settings: AskedSettings, context: JudgingContext) -> Failure | None:
    """Why nothing is asked, though answers are missing; None where the judge can be asked."""
    if not context.may_ask():
        return Failure("not_stored", "no answer is stored, and nothing may be asked: JUDGE_PIPELINE_ASK is never")
    if context.after_shards:
        return Failure("not_stored", "no shard was asked for it, or its provider brought no answer; run again")
    return _without_key(judge, settings, context.environment)


def _without_key(judge: str, settings: AskedSettings, environment: Mapping[str, str]) -> Failure | None:
    """Why the judge cannot be asked: its key is not set, or holds what no header can carry. Its value is not shown."""
    name = settings.missing_key(environment)
    if name is not None:
        return Failure("authentication", f"set {name} to the provider's key: judge {judge} cannot be asked without it")
    name = _key_variable(settings)
    if name is None or re.fullmatch(r"[!-~]+", environment[name]):
        return None
    words = "holds a blank, a line break or a letter outside ASCII, which no key does: set it again"
    return Failure("authentication", f"{name}, the key of judge {judge}, {words}")


def _key_variable(settings: AskedSettings) -> str | None:
    """The environment variable that holds the judge's key; None for a model in this process."""
    return None if isinstance(settings, EmbeddedJudge) else settings.api_key_env


def _asked_at_once(settings: AskedSettings, question: Question) -> tuple[str, ...]:
    """That a judge which is asked in batches is asked otherwise here."""
    if question is ATTEMPT or not isinstance(settings, LitellmJudge) or settings.batch is None:
        return ()
    return (f"batch: only attempts of contests are asked in batches; question {question.name} is asked at full price",)


def _images_left_out(settings: AskedSettings, prepared: Prepared) -> tuple[str, ...]:
    """That a judge which takes no images is asked without those that there are."""
    n = prepared.n_without_their_images()
    if not n:
        return ()
    setting = " (takes_images in judges.yaml)" if isinstance(settings, LitellmJudge) else ""
    whole = len(prepared.attempt_ids)
    return (f"{n} of {whole} requests have screenshots that the judge is not shown: it takes no images{setting}",)


def _was_asked(task: Task, failed: Mapping[str, Failed]) -> bool:
    return task.request_hash not in failed or failed[task.request_hash].n_tries > len(task.earlier)


def _advanced(
    judge: str, settings: LitellmJudge, question: Question, prepared: Prepared, to_ask: Sequence[str],
    checkpoint: Checkpoint, context: JudgingContext, of_whole: Container[str],
) -> Advanced:  # fmt: skip
    """How far the judge's batches are after they were brought forward."""
    from judge_pipeline.judging.backends.direct_backend import DirectBackend
    from judge_pipeline.judging.backends.litellm_backend import LitellmBackend
    from judge_pipeline.judging.backends.litellm_batches import BatchApi

    store = BatchStore(checkpoint)
    if not to_ask and not store.batches(judge=judge, only_open=True):
        return Advanced()
    run_id = uuid.uuid4().hex
    budget = _budget(judge, settings, run_id, checkpoint, context, of_whole, settings.batch)
    backend = DirectBackend if settings.transport == "direct" else LitellmBackend
    how = BatchManner(
        context.contest,
        settings,
        BatchApi.of(settings, context.environment),
        backend.of(settings, context.environment, context.read_image),
        price_of(settings),
        _manner(judge, settings, checkpoint, context, run_id, budget),
        question.reader(settings, None),
        context.only_collect,
    )
    return advance(how, store, to_ask, prepared.task)


def _backend(
    settings: AskedSettings, question: Question, context: JudgingContext
) -> tuple[AskedBackend, Callable[[], tuple[str, ...]]]:
    if isinstance(settings, EmbeddedJudge):
        from judge_pipeline.judging.backends.embedded_backend import EmbeddedBackend

        embedded = EmbeddedBackend(settings, question.scoring)
        return embedded, lambda: ()
    if isinstance(settings, RewardJudge):
        from judge_pipeline.judging.backends.reward_backend import RewardBackend

        return RewardBackend.of(settings, context.environment), lambda: ()
    if settings.transport == "direct":
        from judge_pipeline.judging.backends.direct_backend import DirectBackend

        return DirectBackend.of(settings, context.environment, context.read_image), lambda: ()
    from judge_pipeline.judging.backends.litellm_backend import LitellmBackend

    backend = LitellmBackend.of(settings, context.environment, context.read_image)
    return backend, lambda: backend.notes


def _pace(settings: AskedSettings, checkpoint: Checkpoint, context: JudgingContext) -> Pace | None:
    """What gives calls their turns; None where nothing limits the provider."""
    provider = None if isinstance(settings, EmbeddedJudge) else provider_of(settings)
    if provider is None or provider not in context.providers:
        return None
    return Pace(checkpoint, provider, context.providers[provider], context.timing, settings.limits.max_in_flight)


def _window(
    settings: AskedSettings, checkpoint: Checkpoint, context: JudgingContext
) -> AbstractAsyncContextManager[SharedWindow | None]:
    """The calls that all who ask the judge's provider may have under way; None for a model in this process."""
    if isinstance(settings, EmbeddedJudge):
        return nullcontext()
    provider = provider_of(settings)
    most = context.providers.get(provider, Rates()).max_in_flight
    return window_of(checkpoint.url, provider, most or settings.limits.max_in_flight)


def _unanswered_repeats(prepared: Prepared, failed: Mapping[str, Failed]) -> tuple[str, ...]:
    """Further repeats do not decide on the table (eq. 9 counts judgments), but what is missing of them is said."""
    missing = [failed[hash_] for hash_ in failed if prepared.slots[hash_] >= len(prepared.attempt_ids)]
    if not missing:
        return ()
    first = missing[0].failure
    return (
        f"{len(missing)} further repeats have no answer (the first: {first.failure_class}: {first.text}); materialize "
        "again to ask only for them",
    )


def _budget(
    judge: str, settings: AskedSettings, run_id: str, checkpoint: Checkpoint, context: JudgingContext,
    of_whole: Container[str], batch: Batch | None = None,
) -> Budget | None:  # fmt: skip
    """What sets money aside, for calls or for a batch; None where there is no ceiling, or the model costs nothing.

    A batch whose model has a price has a budget without a ceiling, too: what is set aside for it is shown.
    """
    if isinstance(settings, EmbeddedJudge):
        return None
    price = price_of(settings)
    if not context.ceilings.is_set() and (batch is None or price is None):
        return None
    if price is None:
        raise JudgingError(
            f"judge {judge}: {settings.model} has no known price, and judges.yaml sets a ceiling (ceiling_usd): give "
            "the judge a price (both figures 0 for a server of your own), or take the ceiling away"
        )
    price = price.less(batch.discount) if batch is not None else price
    contest = ContestSpending(checkpoint, of_whole, judge, contest=context.contest)
    longest, shard = checkpoint.longest_answer(judge), context.shard
    if shard is None:
        spending, run = context.spending, context.run_of_steps
        steps = None if run is None else ShardSpending(checkpoint, run, spending.process())
        return Budget(context.ceilings, price, spending, contest, run_id, longest, steps, beside_steps=run is not None)
    others = ShardSpending(checkpoint, shard.run_id, run_id)
    return Budget(context.ceilings, price, context.spending, contest, shard.run_id, longest, others)


def _ask(
    judge: str, settings: AskedSettings, tasks: Sequence[Task], backend: AskedBackend, checkpoint: Checkpoint,
    context: JudgingContext, run_id: str, budget: Budget | None,
) -> dict[str, Failed]:  # fmt: skip
    manner = _manner(judge, settings, checkpoint, context, run_id, budget)

    async def ask(report: Callable[[Progress], None]) -> dict[str, Failed]:
        async with _window(settings, checkpoint, context) as window:
            return await Asking(replace(manner, window=window), backend, checkpoint, report).run(tasks)

    return run_interruptibly(ask, context.progress or _nobody)


def _nobody(progress: Progress) -> None:
    """Is told how far it is where the caller does not want to know."""


def _manner(
    judge: str, settings: AskedSettings, checkpoint: Checkpoint, context: JudgingContext, run_id: str,
    budget: Budget | None,
) -> Manner:  # fmt: skip
    return Manner(
        judge=judge,
        run_id=run_id,
        limits=settings.limits,
        repair_max_output_tokens=settings.repair_max_output_tokens if isinstance(settings, LitellmJudge) else None,
        timing=context.timing,
        rng=random.Random(f"{context.seed}:{judge}"),
        scrubber=Scrubber(context.environment, _key_variable(settings)),
        budget=budget,
        pace=_pace(settings, checkpoint, context),
    )
