"""The engine: one judge's judgments for the attempts in its scope, asking only for what is not stored.

A judge is a backend with settings. Backends that are asked call by call (litellm, embedded) go through the checkpoint:
the requests are rendered and hashed, what is answered is looked up, the rest is asked. Backends that answer at once
(recorded, baseline) cost nothing and are read or computed anew each time.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.judging.answer import Judgment
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
from judge_pipeline.judging.batches.store import BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import read_judgments
from judge_pipeline.judging.failures import Failure, JudgingError
from judge_pipeline.judging.interruptible import run_interruptibly
from judge_pipeline.judging.judging_context import FAILURE_COLUMNS, JudgingContext, JudgingResult
from judge_pipeline.judging.ladder import Task
from judge_pipeline.judging.money import Budget, ContestSpending
from judge_pipeline.judging.outputs import outputs_and_total
from judge_pipeline.judging.pacing.pace import Pace, provider_of
from judge_pipeline.judging.pacing.shared_window import SharedWindow, window_of
from judge_pipeline.judging.pilot import pilot
from judge_pipeline.judging.plan import plan_prepared, price_of
from judge_pipeline.judging.prepared import AskedSettings, Prepared, Settings, prepare
from judge_pipeline.judging.progress import Progress
from judge_pipeline.judging.verification import in_scope
from judge_pipeline.settings import BaselineJudge, Batch, EmbeddedJudge, LitellmJudge, Rates, RecordedJudge
from judge_pipeline.tables import JUDGE_OUTPUTS

__all__ = ["FAILURE_COLUMNS", "JudgingContext", "JudgingResult", "judge_requests"]


def judge_requests(
    judge_name: str, settings: Settings, requests: pd.DataFrame, *, checkpoint: Checkpoint, context: JudgingContext
) -> JudgingResult:
    """The judge's judgments of the attempts in its scope; what is stored is not asked for again.

    Args:
        judge_name: the judge's name in judges.yaml.
        settings: its settings.
        requests: table ``judge_requests`` of the contest. Pass all of it: the scope is taken here, and the baseline
            reads the text of the train split from it.
        checkpoint: the store of what is answered.
        context: the rest.

    Returns:
        Judgments and failures: every attempt in scope is in exactly one of the two. Whether the table may be accepted
        (eq. 9) is for :func:`judge_pipeline.judging.verification.verify`.

    Raises:
        JudgingError: nothing can be judged at all: a recorded file or a prompt template is missing or wrong, the
            baseline has nothing to learn from, an attempt is in ``requests`` more than once, the checkpoint cannot be
            used, a model without a price is to be asked under a ceiling.
        BaseException: what interrupts the caller's thread; what was answered by then is kept.
    """
    _refuse_twins(judge_name, requests)
    scope = in_scope(requests, settings.scope)
    if isinstance(settings, RecordedJudge):
        return _recorded(judge_name, settings, scope, context)
    if isinstance(settings, BaselineJudge):
        return _baseline(judge_name, settings, requests, scope, context)
    return _asked(judge_name, settings, scope, checkpoint, context, requests["attempt_id"])


def _refuse_twins(judge: str, requests: pd.DataFrame) -> None:
    ids = requests["attempt_id"]
    twins = sorted(set(ids[ids.duplicated()]))
    if twins:
        shown = ", ".join(twins[:5]) + (", ..." if len(twins) > 5 else "")
        raise JudgingError(
            f"judge {judge}: {len(twins)} attempt ids are in judge_requests more than once: {shown}. An answer belongs "
            "to one attempt: make the table anew, with each attempt once"
        )


def _recorded(judge: str, settings: RecordedJudge, scope: pd.DataFrame, context: JudgingContext) -> JudgingResult:
    from judge_pipeline.judging.backends.recorded_backend import read_recorded

    recorded = read_recorded(settings, context.contest_folder)
    rows, failures = [], []
    for attempt_id in scope["attempt_id"]:
        if attempt_id in recorded.answers:
            answer = recorded.answers[attempt_id]
            rows.append(_row(judge, attempt_id, answer | {"model": answer["model"] or settings.model}))
        else:
            missing = Failure("no_record", f"{settings.file} has no row for it; add one, or narrow the judge's scope")
            failures.append((attempt_id, Failed(recorded.failures.get(attempt_id, missing), 0)))
    further = sorted(({*recorded.answers, *recorded.failures}) - set(scope["attempt_id"]))
    notes = (
        (f"{settings.file}: {len(further)} rows are for attempts outside the scope, such as {', '.join(further[:5])}",)
        if further
        else ()
    )
    return JudgingResult(judge, _outputs(rows), _failures(failures), len(scope), notes=notes)


def _baseline(
    judge: str, settings: BaselineJudge, requests: pd.DataFrame, scope: pd.DataFrame, context: JudgingContext
) -> JudgingResult:
    from judge_pipeline.judging.backends.baseline_backend import predict_baseline

    if context.training is None:
        raise JudgingError(f"judge {judge}: the baseline needs the labels of the train split, and was given none")
    rows = [
        _row(
            judge,
            prediction.attempt_id,
            {
                "p_ac": prediction.p_ac,
                "rationale": prediction.rationale,
                "model": "tfidf-logistic-regression",
                "request_hash": prediction.request_hash,
            },
        )
        for prediction in predict_baseline(settings, requests, scope, context.training, context.seed)
    ]
    return JudgingResult(judge, _outputs(rows), _failures([]), len(scope))


def _asked(
    judge: str, settings: AskedSettings, scope: pd.DataFrame, checkpoint: Checkpoint, context: JudgingContext,
    of_contest: pd.Series,
) -> JudgingResult:  # fmt: skip
    prepared = prepare(judge, settings, scope, context.prompts_dir, checkpoint)
    judgments = read_judgments(checkpoint, judge, prepared.all_hashes)
    chosen = None if context.limit is None else pilot(scope, context.limit, context.seed)
    store = BatchStore(checkpoint)
    batched = isinstance(settings, LitellmJudge) and uses_batches(judge, settings, store)
    if batched and context.only_collect:
        chosen = in_batches_or_answered(judge, prepared, {prepared.all_hashes[slot] for slot in judgments.slots}, store)
    to_ask = prepared.unanswered(judgments.slots, chosen)
    waiting = store.waiting(judge, to_ask) if batched else {}
    planned = plan_prepared(judge, settings, prepared, judgments, to_ask, checkpoint, waiting)
    if context.planned is not None:
        context.planned(planned)
    without_key = _without_key(judge, settings, context.environment) if to_ask else None
    notes: tuple[str, ...] = ()
    failed: dict[str, Failed] = {}
    batches = Advanced(direct=[prepared.task(hash_) for hash_ in to_ask])
    if without_key is not None:
        failed = dict.fromkeys(to_ask, Failed(without_key, 0))
        batches = Advanced()
    elif isinstance(settings, LitellmJudge) and batched:
        batches = _advanced(judge, settings, prepared, to_ask, checkpoint, context, of_contest)
        failed, notes = batches.failed, tuple(batches.notes)
    if batches.direct:
        run_id = uuid.uuid4().hex
        budget = _budget(judge, settings, run_id, checkpoint, context, of_contest)
        backend, notes_of = _backend(settings, context)
        failed = failed | _ask(judge, settings, batches.direct, backend, checkpoint, context, run_id, budget)
        notes += notes_of()
    notes += _unanswered_repeats(prepared, failed)
    now = [hash_ for hash_ in to_ask if hash_ not in failed]
    judgments += read_judgments(checkpoint, judge, now).at(np.array([prepared.slots[h] for h in now], dtype="int64"))
    outputs, spent = outputs_and_total(checkpoint, judge, prepared, judgments)
    return JudgingResult(
        judge,
        outputs,
        _failures([(a, failed[h]) for a, h in prepared.hash_of.items() if h in failed] if failed else []),
        n_in_scope=len(scope),
        n_from_checkpoint=planned.n_stored,
        n_asked=batches.n_submitted + sum(_was_asked(task, failed) for task in batches.direct),
        n_calls=spent.n_calls,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        cost_usd=spent.cost_usd,
        seconds=spent.seconds,
        notes=notes,
        plan=planned,
        pilot=chosen,
        waiting=batches.open_batches,
        n_waiting=len(batches.waiting),
        n_submitted=batches.n_submitted,
    )


def _without_key(judge: str, settings: AskedSettings, environment: Mapping[str, str]) -> Failure | None:
    """Why the judge cannot be asked: its key is not set, or holds what no header can carry. Its value is not shown."""
    name = settings.missing_key(environment)
    if name is not None:
        return Failure("authentication", f"set {name} to the provider's key: judge {judge} cannot be asked without it")
    name = settings.api_key_env if isinstance(settings, LitellmJudge) else None
    if name is None or re.fullmatch(r"[!-~]+", environment[name]):
        return None
    words = "holds a blank, a line break or a letter outside ASCII, which no key does: set it again"
    return Failure("authentication", f"{name}, the key of judge {judge}, {words}")


def _was_asked(task: Task, failed: Mapping[str, Failed]) -> bool:
    return task.request_hash not in failed or failed[task.request_hash].n_tries > len(task.earlier)


def _advanced(
    judge: str, settings: LitellmJudge, prepared: Prepared, to_ask: Sequence[str], checkpoint: Checkpoint,
    context: JudgingContext, of_contest: pd.Series,
) -> Advanced:  # fmt: skip
    """How far the judge's batches are after they were brought forward."""
    from judge_pipeline.judging.backends.direct_backend import DirectBackend
    from judge_pipeline.judging.backends.litellm_backend import LitellmBackend
    from judge_pipeline.judging.backends.litellm_batches import BatchApi

    store = BatchStore(checkpoint)
    if not to_ask and not store.batches(judge=judge, only_open=True):
        return Advanced()
    run_id = uuid.uuid4().hex
    budget = _budget(judge, settings, run_id, checkpoint, context, of_contest, settings.batch)
    backend = DirectBackend if settings.transport == "direct" else LitellmBackend
    how = BatchManner(
        context.contest,
        settings,
        BatchApi.of(settings, context.environment),
        backend.of(settings, context.environment),
        price_of(settings),
        _manner(judge, settings, checkpoint, context, run_id, budget),
        context.only_collect,
    )
    return advance(how, store, to_ask, prepared.task)


def _backend(settings: AskedSettings, context: JudgingContext) -> tuple[AskedBackend, Callable[[], tuple[str, ...]]]:
    if isinstance(settings, EmbeddedJudge):
        from judge_pipeline.judging.backends.embedded_backend import EmbeddedBackend

        embedded = EmbeddedBackend(settings)
        return embedded, lambda: ()
    if settings.transport == "direct":
        from judge_pipeline.judging.backends.direct_backend import DirectBackend

        return DirectBackend.of(settings, context.environment), lambda: ()
    from judge_pipeline.judging.backends.litellm_backend import LitellmBackend

    backend = LitellmBackend.of(settings, context.environment)
    return backend, lambda: backend.notes


def _pace(settings: AskedSettings, checkpoint: Checkpoint, context: JudgingContext) -> Pace | None:
    """What gives calls their turns; None where nothing limits the provider."""
    provider = provider_of(settings) if isinstance(settings, LitellmJudge) else None
    if provider is None or provider not in context.providers:
        return None
    return Pace(checkpoint, provider, context.providers[provider], context.timing, settings.limits.max_in_flight)


def _window(
    settings: AskedSettings, checkpoint: Checkpoint, context: JudgingContext
) -> AbstractAsyncContextManager[SharedWindow | None]:
    """The calls that all who ask the judge's provider may have under way; None for a model in this process."""
    if not isinstance(settings, LitellmJudge):
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
    of_contest: pd.Series, batch: Batch | None = None,
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
    contest = ContestSpending(checkpoint, frozenset(of_contest), judge, contest=context.contest)
    return Budget(context.ceilings, price, context.spending, contest, run_id, checkpoint.longest_answer(judge))


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
        answer_model=Judgment,
        limits=settings.limits,
        repair_max_output_tokens=settings.repair_max_output_tokens if isinstance(settings, LitellmJudge) else None,
        timing=context.timing,
        rng=random.Random(f"{context.seed}:{judge}"),
        scrubber=Scrubber(context.environment, settings.api_key_env if isinstance(settings, LitellmJudge) else None),
        budget=budget,
        pace=_pace(settings, checkpoint, context),
    )


def _row(judge: str, attempt_id: str, values: Mapping[str, Any]) -> dict[str, Any]:
    empty = dict.fromkeys(JUDGE_OUTPUTS.column_names)
    kept = {name: value for name, value in values.items() if name in empty}
    return empty | {"n_tries": 0} | kept | {"attempt_id": attempt_id, "judge": judge}


def _outputs(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return JUDGE_OUTPUTS.conform(rows)


def _failures(failed: list[tuple[str, Failed]]) -> pd.DataFrame:
    rows = [(attempt_id, f.failure.failure_class, f.failure.text, f.n_tries) for attempt_id, f in failed]
    return pd.DataFrame(rows, columns=list(FAILURE_COLUMNS)).astype({"n_tries": "int64"})
