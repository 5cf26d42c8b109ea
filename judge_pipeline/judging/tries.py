"""What one try leaves, however it was made: the reply without keys, read strictly, and its row for the checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from judge_pipeline.judging.answer import Answer
from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.backends.secrets import Scrubber
from judge_pipeline.judging.checkpoint.store import CallRow, StoredJudgment
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.question import Reader
from judge_pipeline.judging.request import canonical_json

_REPLY_TEXTS = ("text", "finish_reason", "refusal", "model", "provider_request_id")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a try asked.

    Attributes:
        request_hash: identity of the call.
        attempt_id: the attempt for which it was asked.
        repeat_index: from 0.
        re_ask: the validation errors that it carried; None where it was no re-ask.
    """

    request_hash: str
    attempt_id: str
    repeat_index: int
    re_ask: str | None


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


def read_reply(reply: Reply, read: Reader, scrubber: Scrubber) -> Answer[BaseModel] | Failure:
    """The answer that the reply (without keys) holds, or why it holds none."""
    if reply.refusal:
        outcome: Answer[BaseModel] | Failure = Failure("refusal", f"the model declined: {reply.refusal[:200]!r}")
    else:
        outcome = read(reply.text, reply.finish_reason)
    if isinstance(outcome, Failure):  # what is escaped in the reply may be spelt out in the error
        return Failure(outcome.failure_class, scrubber.error(outcome.text))
    return outcome


def rows_of(
    asked: Asked,
    circumstances: Circumstances,
    reply: Reply | None,
    outcome: Answer[BaseModel] | Failure,
    scrubber: Scrubber,
) -> tuple[CallRow, StoredJudgment | None]:
    """The try as the checkpoint keeps it, and the judgment where it brought one."""
    by = circumstances
    failure = outcome if isinstance(outcome, Failure) else None
    got = reply or Reply(None, None)
    call = CallRow(
        judge=by.judge,
        request_hash=asked.request_hash,
        attempt_id=asked.attempt_id,
        repeat_index=asked.repeat_index,
        run_id=by.run_id,
        try_number=by.number,
        started_at=by.started_at,
        latency_ms=by.latency_ms,
        tokens_in=got.tokens_in,
        tokens_out=got.tokens_out,
        tokens_reasoning=got.tokens_reasoning,
        cost_usd=got.cost_usd,
        finish_reason=got.finish_reason,
        model=got.model,
        provider_request_id=got.provider_request_id,
        sent=canonical_json(got.sent) if got.sent else None,
        re_ask=asked.re_ask,
        raw_text=got.text if got.text is not None else got.refusal,
        error_class=failure.failure_class if failure else None,
        error_text=scrubber.error(failure.text) if failure else None,
    )
    if isinstance(outcome, Failure):
        return call, None
    answer = _scrubbed(outcome.value.model_dump(mode="json"), scrubber)
    again = None if asked.re_ask is None else f"asked again ({asked.re_ask[:200]})"
    repair = "; ".join(filter(None, (again, outcome.repair))) or None
    judgment = StoredJudgment(by.judge, asked.request_hash, asked.attempt_id, answer, repair, got.model, by.latency_ms)
    return call, judgment


def _scrubbed(value: Any, scrubber: Scrubber) -> Any:
    """The answer with keys blanked in its texts, however deep."""
    if isinstance(value, dict):
        return {key: _scrubbed(item, scrubber) for key, item in value.items()}
    if isinstance(value, list):
        return [_scrubbed(item, scrubber) for item in value]
    return scrubber.answer(value) if isinstance(value, str) else value
