"""What one try leaves, however it was made: the reply without keys, read strictly, and its row for the checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from judge_pipeline.judging.answer import Answer, parse_answer
from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.checkpoint import CallRow, Record, StoredJudgment
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.ladder import Attempt
from judge_pipeline.judging.request import canonical_json

_REPLY_TEXTS = ("text", "finish_reason", "refusal", "model", "provider_request_id")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Who asked, and when.

    Attributes:
        judge: the judge's name.
        run_id: the asking, or the batch, that the try belongs to.
        number: of the try, from 1.
        started_at: UTC, ISO 8601.
        latency_ms: how long it took; None for a line of a batch, which nobody times.
    """

    judge: str
    run_id: str
    number: int
    started_at: str
    latency_ms: float | None


def without_keys(reply: Reply, scrubber: Scrubber) -> Reply:
    """The reply with keys blanked in every text, before anything quotes or cuts it: a provider may echo them."""
    texts = {name: getattr(reply, name) for name in _REPLY_TEXTS}
    clean: dict[str, Any] = {name: text and scrubber.answer(text) for name, text in texts.items()}
    return reply if clean == texts else replace(reply, **clean)


def read_reply(reply: Reply, answer_model: type[BaseModel], scrubber: Scrubber) -> Answer[BaseModel] | Failure:
    """The answer that the reply (without keys) holds, or why it holds none."""
    if reply.refusal:
        outcome: Answer[BaseModel] | Failure = Failure("refusal", f"the model declined: {reply.refusal[:200]!r}")
    else:
        outcome = parse_answer(reply.text, reply.finish_reason, answer_model)
    if isinstance(outcome, Failure):  # what is escaped in the reply may be spelt out in the error
        return Failure(outcome.failure_class, scrubber.error(outcome.text))
    return outcome


def record_of(
    attempt: Attempt,
    circumstances: Circumstances,
    reply: Reply | None,
    outcome: Answer[BaseModel] | Failure,
    scrubber: Scrubber,
) -> Record:
    """The try as the checkpoint keeps it, with the judgment where it brought one."""
    by, task = circumstances, attempt.task
    failure = outcome if isinstance(outcome, Failure) else None
    got = reply or Reply(None, None)
    call = CallRow(
        judge=by.judge,
        request_hash=task.request_hash,
        attempt_id=task.attempt_id,
        repeat_index=attempt.call.repeat,
        run_id=by.run_id,
        try_number=by.number,
        started_at=by.started_at,
        latency_ms=by.latency_ms or 0.0,
        tokens_in=got.tokens_in,
        tokens_out=got.tokens_out,
        tokens_reasoning=got.tokens_reasoning,
        cost_usd=got.cost_usd,
        finish_reason=got.finish_reason,
        model=got.model,
        provider_request_id=got.provider_request_id,
        sent=canonical_json(got.sent) if got.sent else None,
        re_ask=attempt.re_asked_for,
        raw_text=got.text if got.text is not None else got.refusal,
        error_class=failure.failure_class if failure else None,
        error_text=scrubber.error(failure.text) if failure else None,
    )
    if isinstance(outcome, Failure):
        return Record(attempt.request, call)
    answer = {
        key: scrubber.answer(value) if isinstance(value, str) else value
        for key, value in outcome.value.model_dump(mode="json").items()
    }
    repair = "; ".join(filter(None, (attempt.re_ask_in_words(), outcome.repair))) or None
    judgment = StoredJudgment(by.judge, task.request_hash, task.attempt_id, answer, repair, got.model, by.latency_ms)
    return Record(attempt.request, call, judgment)
