"""Asks a reward model behind an HTTP scoring endpoint of vLLM or TEI, and makes a choice of its scores.

The choice is arithmetic: the higher score wins, a difference up to the margin is a tie. A model that scores each
response alone gives the mirrored choice in the other order, as far as its server gives equal texts equal scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge_pipeline.judging.backends.base import Reply, words_of
from judge_pipeline.judging.backends.litellm_client import count_of
from judge_pipeline.judging.backends.pooled_http import PooledHttp, json_reply, request_id_of
from judge_pipeline.judging.backends.reward_scores import n_scores, request_bodies, scores_in
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.request import Call, Message, canonical_json
from judge_pipeline.settings import Price, RewardJudge
from judge_pipeline.settings.reward_judge import PATHS, RewardProtocol

FIRST, SECOND = "response: first", "response: second"
"""Roles of the messages that hold the responses, as they are shown."""

_CONTEXT_ROLES = ("system", "user")


def reward_call(settings: RewardJudge, messages: tuple[Message, ...]) -> Call:
    """The call that scores these messages: the context, then the two responses.

    Raises:
        JudgingError: the template does not end with one part for each response, or has none before them.
    """
    roles = [message.role for message in messages]
    if roles[-2:] != [FIRST, SECOND] or not roles[:-2] or not set(roles[:-2]) <= set(_CONTEXT_ROLES):
        raise JudgingError(
            f"the prompt template of a reward judge has parts --- system --- or --- user ---, then --- {FIRST} --- and "
            f"--- {SECOND} ---; it has: {', '.join(roles) or 'none'}"
        )
    parameters = {
        "protocol": settings.protocol,
        "kind": settings.kind,
        "send_as": settings.sent_as(),
        "tie_margin": settings.tie_margin,
        "neutral_score": settings.neutral_score,
        "log_odds": settings.log_odds,
        "truncate": settings.truncate,
    }
    # Blank lines at its end come of the template's conditions, and would stand in the model's text.
    context = tuple(Message(message.role, message.content.rstrip("\n")) for message in messages[:-2])
    sent = (*context, *messages[-2:])
    return Call(model=settings.model, base_url=settings.base_url, parameters=parameters, messages=sent)


class RewardBackend:
    """Asks one server. The key is read once from the environment, sent as a header, and neither kept nor logged."""

    def __init__(
        self, base_url: str, protocol: RewardProtocol, api_key: str | None, price: Price | None, max_in_flight: int
    ) -> None:
        # TEI's replies have no ids, by which one that came a second time could be known: a connection each.
        reuse = not protocol.startswith("tei_")
        self._http = PooledHttp(base_url.rstrip("/") + PATHS[protocol], api_key, max_in_flight, reuse=reuse)
        self._protocol = protocol
        self._price = price

    @classmethod
    def of(cls, settings: RewardJudge, environment: Mapping[str, str]) -> RewardBackend:
        """The backend of a judge, with the key that its settings name."""
        key = environment.get(settings.api_key_env) if settings.api_key_env else None
        return cls(settings.base_url, settings.protocol, key, settings.price, settings.limits.max_in_flight)

    async def open(self) -> None:
        """Make the pool of connections."""
        await self._http.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        """One try; see ``AskedBackend.ask``. A reward model is not told what was wrong, and writes no tokens.

        Returns:
            A reply whose text is the JSON object {choice: A (the first), B or tie, score_first, score_second, p_first}.
        """
        context = [(message.role, message.content) for message in call.messages[:-2]]
        responses = [message.content for message in call.messages[-2:]]
        scores: list[float] = []
        told: list[_Told] = []
        for body in request_bodies(call.parameters, call.model, context, responses):
            content, headers = await self._http.post(body)
            scores += scores_in(self._protocol, content, n_scores(call.parameters))
            told.append(_told(self._protocol, content, headers))
        tokens_in = _sum([each.tokens_in for each in told])
        cost_usd = None if self._price is None or tokens_in is None else self._price.cost_usd(tokens_in, 0)
        return Reply(
            text=canonical_json(choice_of(call.parameters, scores)),
            finish_reason="stop",
            model=next((each.model for each in told if each.model), None),
            provider_request_id=", ".join(each.request_id for each in told if each.request_id) or None,
            tokens_in=tokens_in,
            tokens_out=None if tokens_in is None else 0,
            cost_usd=cost_usd,
            sent={"parameters": call.parameters, "dropped": {}, "schema": False},
        )


def choice_of(parameters: Mapping[str, Any], scores: Sequence[float]) -> dict[str, Any]:
    """The choice that the scores mean.

    Args:
        parameters: of the call: kind, tie_margin, neutral_score, log_odds.
        scores: of the first and of the second response; pairwise: one, high for the first.

    Returns:
        choice (A: the first, B, tie), score_first and score_second (None where the pair has one score) and p_first: the
        probability that the first is preferred, 1 / (1 + exp(-margin)), where the margin is a log-odds; else None.
    """
    is_scalar = parameters["kind"] == "scalar"
    margin = scores[0] - scores[1] if is_scalar else scores[0] - parameters["neutral_score"]
    is_tie = abs(margin) <= parameters["tie_margin"]
    return {
        "choice": "tie" if is_tie else "A" if margin > 0 else "B",
        "score_first": scores[0] if is_scalar else None,
        "score_second": scores[1] if is_scalar else None,
        "p_first": _logistic(margin) if parameters["log_odds"] else None,
    }


def _logistic(margin: float) -> float:
    odds = math.exp(-abs(margin))  # never overflows
    return 1.0 / (1.0 + odds) if margin >= 0 else odds / (1.0 + odds)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a reply says beside its scores."""

    model: str | None
    request_id: str | None
    tokens_in: int | None


def _told(protocol: str, content: bytes, headers: Mapping[str, str]) -> _Told:
    if protocol.startswith("tei_"):
        tokens = headers.get("x-compute-tokens", "")
        return _Told(None, request_id_of(headers), count_of(int(tokens)) if tokens.isdecimal() else None)
    whole = json_reply(content)
    usage = whole.get("usage")
    tokens_in = count_of(usage.get("prompt_tokens")) if isinstance(usage, dict) else None
    return _Told(words_of(whole.get("model")), request_id_of(headers) or words_of(whole.get("id")), tokens_in or None)


def _sum(counts: Sequence[int | None]) -> int | None:
    """The sum; None where one is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
