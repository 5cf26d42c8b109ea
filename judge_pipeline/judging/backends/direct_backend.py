"""An OpenAI-compatible server asked straight over HTTP, through one pool of connections.

It sends the body that litellm would send and reads the reply as strictly, at about a sixth of the processor time a
call. It speaks one dialect, follows no redirect (a key would travel with it), and uses no proxy of the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_pipeline.judging.backends.base import Reply, words_of
from judge_pipeline.judging.backends.litellm_backend import response_format, with_answer_limit
from judge_pipeline.judging.backends.litellm_client import are_counts, count_of
from judge_pipeline.judging.backends.message_bodies import message_bodies
from judge_pipeline.judging.backends.pooled_http import PooledHttp, broken, json_reply, request_id_of
from judge_pipeline.judging.request import Call, Message, ReadImage, no_images
from judge_pipeline.settings import LitellmJudge, Price


class DirectBackend:
    """Asks one server. The key is read once from the environment, sent as a header, and neither kept nor logged."""

    def __init__(
        self, base_url: str, api_key: str | None, price: Price | None, max_in_flight: int,
        read_image: ReadImage = no_images,
    ) -> None:  # fmt: skip
        url = base_url.rstrip("/") + "/chat/completions"
        self._http = PooledHttp(url, api_key, max_in_flight)
        self._price = price
        self._read_image = read_image

    @classmethod
    def of(
        cls, settings: LitellmJudge, environment: Mapping[str, str], read_image: ReadImage = no_images
    ) -> DirectBackend:
        """The backend of a judge whose transport is direct, with the key that its settings name."""
        from judge_pipeline.judging.listed_models import listed_price

        assert settings.base_url is not None  # the settings see to it
        key = environment.get(settings.api_key_env) if settings.api_key_env else None
        price = settings.price or listed_price(settings.model)
        return cls(settings.base_url, key, price, settings.limits.max_in_flight, read_image)

    async def open(self) -> None:
        """Make the pool of connections."""
        await self._http.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        """One try; see ``AskedBackend.ask``."""
        body, sent = self.body(call, further, max_output_tokens)
        content, headers = await self._http.post(body)
        return reply_of(content, request_id_of(headers), self._price, sent)

    def body(
        self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The body that a try sends, and what ``Reply.sent`` says of it.

        Raises:
            CallFailedError: the bytes of an image are not there.
        """
        parameters = with_answer_limit(call.parameters, max_output_tokens)
        sends_schema = bool(call.send_schema)
        body = _flat(parameters) | {
            "model": call.model.removeprefix("openai/"),
            "messages": message_bodies((*call.messages, *further), self._read_image),
        }
        if sends_schema:
            body["response_format"] = response_format(call.schema)
        return body, {"parameters": parameters, "dropped": {}, "schema": sends_schema}


def reply_of(content: bytes, request_id: str | None, price: Price | None, sent: Mapping[str, Any]) -> Reply:
    """The reply that a chat completion's body (of a status that means success) holds, read strictly.

    Raises:
        CallFailedError: it is no chat completion, holds several different choices, or reports an error.
    """
    whole = _object(content)
    choice = _choice(whole)
    message = choice["message"]
    tokens_in, tokens_out, tokens_reasoning = _usage(whole.get("usage"), message.get("content"))
    cost_usd = None
    if price is not None and tokens_in is not None and tokens_out is not None:
        cost_usd = price.cost_usd(tokens_in, tokens_out)
    return Reply(
        text=message.get("content"),
        finish_reason=_text(choice.get("finish_reason")),
        refusal=words_of(message.get("refusal")),
        model=words_of(whole.get("model")),
        provider_request_id=request_id or words_of(whole.get("id")),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        tokens_reasoning=tokens_reasoning,
        cost_usd=cost_usd,
        sent=sent,
    )


def _flat(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as the body holds them: what stands in ``extra_body`` stands beside the rest."""
    flat = dict(parameters)
    extra = flat.pop("extra_body", None)
    return flat | extra if isinstance(extra, dict) else flat


def _object(content: bytes) -> dict[str, Any]:
    whole = json_reply(content)
    if not isinstance(whole, dict):
        raise broken("the provider's reply is not a JSON object")
    return whole


def _choice(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The one choice, or the first of several that say the same."""
    choices = whole.get("choices")
    if not isinstance(choices, list) or not choices:
        raise broken("the provider's reply holds no choices")
    if not all(isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices):
        raise broken("the provider's reply holds a choice without a message")
    messages = [choice["message"] for choice in choices]
    if not all(message.get("content") is None or isinstance(message["content"], str) for message in messages):
        raise broken("the provider's reply holds content that is not text")
    told = {
        (message.get("content"), repr(choice.get("finish_reason")), repr(message.get("refusal")))
        for choice, message in zip(choices, messages, strict=True)
    }
    if len(told) > 1:
        raise broken(f"the provider's reply holds {len(choices)} different choices where one was asked")
    first: dict[str, Any] = choices[0]
    return first


def _usage(usage: Any, text: Any) -> tuple[int | None, int | None, int | None]:
    """Tokens in, out, and of those thinking; None where unknown or no count."""
    if not isinstance(usage, dict):
        return None, None, None
    tokens_in, tokens_out = count_of(usage.get("prompt_tokens")), count_of(usage.get("completion_tokens"))
    if not are_counts(tokens_in, tokens_out, text):
        return None, None, None
    details = usage.get("completion_tokens_details")
    return tokens_in, tokens_out, count_of(details.get("reasoning_tokens")) if isinstance(details, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
