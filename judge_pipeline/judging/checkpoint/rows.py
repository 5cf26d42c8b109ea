"""What goes into the checkpoint and comes out of it, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """The components of a request hash.

    Attributes:
        request_hash: the hash.
        template: name of the prompt template.
        template_sha256: its version.
        components: ``Call.components()`` as JSON text.
    """

    request_hash: str
    template: str
    template_sha256: str
    components: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """One try at a provider. Times in UTC (ISO 8601), latency in milliseconds (None for a line of a batch, which nobody
    times), money in US dollars."""

    judge: str
    request_hash: str
    attempt_id: str
    repeat_index: int
    run_id: str
    try_number: int
    started_at: str
    latency_ms: float | None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None
    model: str | None = None
    provider_request_id: str | None = None
    sent: str | None = None
    re_ask: str | None = None
    raw_text: str | None = None
    error_class: str | None = None
    error_text: str | None = None


@dataclass(frozen=True, slots=True)
class StoredJudgment:
    """One valid answer, as kept.

    Attributes:
        judge: judge name.
        request_hash: identity of the call.
        attempt_id: the attempt for which it was asked first.
        answer: the answer's fields.
        repair: how it was repaired, or None.
        model: the model that answered, as the provider named it.
        latency_ms: time of the answering try.
    """

    judge: str
    request_hash: str
    attempt_id: str
    answer: Mapping[str, Any]
    repair: str | None
    model: str | None
    latency_ms: float | None


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls for some requests took, from their rows.

    Attributes:
        n_calls: tries.
        tokens_in: prompt tokens; None where no call reported any.
        tokens_out: answer tokens, thinking included; None where no call reported any.
        cost_usd: US dollars; None where no call was priced.
        seconds: sum of the calls' latencies, as far as they were timed.
    """

    n_calls: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.n_calls + other.n_calls,
            _sum(self.tokens_in, other.tokens_in),
            _sum(self.tokens_out, other.tokens_out),
            _sum(self.cost_usd, other.cost_usd),
            self.seconds + other.seconds,
        )


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True)
class Record:
    """What one try leaves: its call row, the request it asked (None where it is kept already), and the judgment if it
    brought one."""

    request: StoredRequest | None
    call: CallRow
    judgment: StoredJudgment | None = None
