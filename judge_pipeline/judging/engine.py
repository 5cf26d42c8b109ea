"""The engine: one judge's judgments for the attempts in its scope, asking only for what is not stored.

A judge is a backend with settings. Backends that are asked call by call (litellm, embedded) go through the checkpoint:
the requests are rendered and hashed, what is answered is looked up, the rest is asked. Backends that answer at once
(recorded, baseline) cost nothing and are read or computed anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from judge_pipeline.judging.asking import Failed
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.failures import Failure, JudgingError
from judge_pipeline.judging.judging_context import FAILURE_COLUMNS, JudgingContext, JudgingResult
from judge_pipeline.judging.outputs import outputs_and_total
from judge_pipeline.judging.prepared import AskedSettings, Settings
from judge_pipeline.judging.question import ATTEMPT
from judge_pipeline.judging.row_asking import ask_rows
from judge_pipeline.judging.verification import in_scope
from judge_pipeline.settings import BaselineJudge, RecordedJudge
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
    whole = frozenset(of_contest)
    asked = ask_rows(judge, settings, ATTEMPT, scope, checkpoint=checkpoint, context=context, of_whole=whole)
    prepared, failed = asked.prepared, asked.failed
    outputs, spent = outputs_and_total(checkpoint, judge, prepared, asked.judgments)
    return JudgingResult(
        judge,
        outputs,
        _failures([(a, failed[h]) for a, h in prepared.hash_of.items() if h in failed] if failed else []),
        n_in_scope=len(scope),
        n_from_checkpoint=asked.plan.n_stored,
        n_asked=asked.n_asked,
        n_calls=spent.n_calls,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        cost_usd=spent.cost_usd,
        seconds=spent.seconds,
        notes=asked.notes,
        plan=asked.plan,
        pilot=asked.pilot,
        waiting=asked.open_batches,
        n_waiting=asked.n_waiting,
        n_submitted=asked.n_submitted,
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
