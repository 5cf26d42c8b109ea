"""What a backend that is asked call by call must be able to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from judge_pipeline.judging.request import Call, Message

_WORDS_CHARS = 1000


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider returned for one try.

    Attributes:
        text: the content; None where there was none.
        finish_reason: why the model stopped, in OpenAI's words.
        refusal: the model's own words of refusal, where the provider marks them.
        model: the model that answered, as the provider named it.
        provider_request_id: the provider's id of the reply.
        tokens_in: prompt tokens; None where the provider does not say.
        tokens_out: answer tokens, thinking included.
        tokens_reasoning: of those, tokens of thinking.
        cost_usd: US dollars; None where the model has no known price.
        sent: the parameters that were really sent, and under ``dropped`` those that were not.
    """

    text: str | None
    finish_reason: str | None
    refusal: str | None = None
    model: str | None = None
    provider_request_id: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost_usd: float | None = None
    sent: Mapping[str, Any] = field(default_factory=dict)


def words_of(value: Any) -> str | None:
    """A name or a refusal as text, in whatever form a provider gives it; None where it gives none."""
    return value if isinstance(value, str) else repr(value)[:_WORDS_CHARS] if value else None


class AskedBackend(Protocol):
    """A backend that is asked call by call."""

    async def open(self) -> None:
        """Get ready; called once, before the first call, and not where nothing is asked.

        Raises:
            JudgingError: it cannot be asked at all.
        """

    async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        """One try.

        Args:
            call: what is asked.
            further: messages after the call's own: a wrong answer and what was wrong with it.
            max_output_tokens: replaces the call's own answer limit where it is given.

        Raises:
            CallFailedError: the try failed, with its class.
        """

    async def close(self) -> None:
        """Let go of connections and servers; called also after a failure."""
