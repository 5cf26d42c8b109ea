"""Any provider, or any OpenAI-compatible server, through litellm."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from judge_pipeline.judging.answer import Judgment, json_schema
from judge_pipeline.judging.backends.base import Reply, words_of
from judge_pipeline.judging.backends.closing_threads import ClosingThreads
from judge_pipeline.judging.backends.message_bodies import message_bodies
from judge_pipeline.judging.failures import CallFailedError, Failure
from judge_pipeline.judging.request import Call, Message, ReadImage, canonical_json, no_images
from judge_pipeline.settings import LitellmJudge, Price

if TYPE_CHECKING:
    from judge_pipeline.judging.backends.litellm_connections import KnownReplies

NO_KEY = "no-key-needed"
"""Sent to a server of one's own that needs no key: without it, OPENAI_API_KEY would be sent there."""

_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")

_ANY_PRICE = {"input_cost_per_token": 1.0, "output_cost_per_token": 1.0}
"""Given to litellm where its own price is not wanted: any price saves the search through its tables, an eighth of its
time (a price of 0 would start another search, for why it is 0). What it makes of it is not read."""


def with_answer_limit(parameters: Mapping[str, Any], max_output_tokens: int | None) -> dict[str, Any]:
    """The parameters, with their answer limit replaced where another is given."""
    if max_output_tokens is None:
        return dict(parameters)
    name = next((name for name in _LIMIT_NAMES if name in parameters), _LIMIT_NAMES[0])
    return {**parameters, name: max_output_tokens}


def litellm_call(
    settings: LitellmJudge, messages: tuple[Message, ...], answer_model: type[BaseModel] | None = Judgment
) -> Call:
    """The call that asks this judge with these messages, through either transport. Does not load litellm.

    ``answer_model`` gives the schema; None: the judge states its answer in a form of its own.

    The transport is no part of it: both send the same body. Only whether a schema is sent cannot be left open on the
    direct path, which has nobody to ask, and is said: no, unless the settings say yes.
    """
    send_schema = bool(settings.send_schema) if settings.transport == "direct" else settings.send_schema
    return Call(
        model=settings.model,
        base_url=settings.base_url,
        parameters=settings.sent_parameters(),
        messages=messages,
        schema=None if send_schema is False or answer_model is None else json_schema(answer_model),
        send_schema=send_schema if answer_model is not None else False,
    )


@dataclass(frozen=True, slots=True)
class _Sendable:
    """What of a call's parameters the model takes, and whether litellm is to say what the call cost."""

    kept: Mapping[str, Any]
    dropped: Mapping[str, Any]
    sends_schema: bool
    is_priced: bool


class LitellmBackend:
    """Asks through litellm. The key is read once from the environment, passed on, and neither kept nor logged."""

    def __init__(
        self, api_key: str | None, price: Price | None, timeout_seconds: float, read_image: ReadImage = no_images
    ) -> None:
        self._api_key = api_key
        self._read_image = read_image
        self._price = price
        self._timeout_seconds = timeout_seconds
        self._sendable: dict[str, _Sendable] = {}
        self._replies: KnownReplies | None = None
        self.notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, settings: LitellmJudge, environment: Mapping[str, str], read_image: ReadImage = no_images
    ) -> LitellmBackend:
        """The backend of a judge, with the key that its settings name."""
        key = environment.get(settings.api_key_env) if settings.api_key_env else None
        if key is None and settings.base_url is not None:
            key = NO_KEY
        return cls(key, settings.price, settings.limits.timeout_seconds, read_image)

    async def open(self) -> None:
        """Load litellm, in a thread, so that the event loop can be cancelled meanwhile."""
        from judge_pipeline.judging.backends.litellm_client import load_litellm

        asyncio.get_running_loop().set_default_executor(ClosingThreads())
        await asyncio.to_thread(load_litellm)
        from judge_pipeline.judging.backends.litellm_connections import KnownReplies

        self._replies = KnownReplies()

    async def close(self) -> None:
        """Close litellm's connections."""
        from judge_pipeline.judging.backends.litellm_client import close_clients

        await close_clients()

    async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        """One try; see ``AskedBackend.ask``."""
        from judge_pipeline.judging.backends.litellm_client import complete, finish_reason_of, request_id_of, usage_of

        sendable = self._prepare(call)
        arguments, sent = self._arguments(call, sendable, further, max_output_tokens)
        arguments |= {"timeout": self._timeout_seconds}
        if not sendable.is_priced:
            arguments |= _ANY_PRICE
        if call.base_url is not None:
            arguments["base_url"] = call.base_url
        if self._api_key is not None:
            arguments["api_key"] = self._api_key
        reply = await complete(**arguments)
        choice = reply.choices[0]
        tokens_in, tokens_out, tokens_reasoning = usage_of(reply)
        request_id = request_id_of(reply)
        assert self._replies is not None  # opened before the first call
        said, asked = (choice.message.content, tokens_in, tokens_out), (call.messages, further)
        self._replies.refuse_repeated(request_id, repr(said), repr(asked))
        return Reply(
            text=choice.message.content,
            finish_reason=finish_reason_of(choice),
            refusal=words_of(getattr(choice.message, "refusal", None)),
            model=words_of(reply.model),
            provider_request_id=request_id,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            tokens_reasoning=tokens_reasoning,
            cost_usd=self._cost(reply, sendable, tokens_in, tokens_out),
            sent=sent,
        )

    def body(
        self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The body that a try would send to an OpenAI-style provider, and what ``Reply.sent`` would say of it.

        Raises:
            CallFailedError: litellm does not know the model's provider, or the bytes of an image are not there.
        """
        from judge_pipeline.judging.backends.litellm_client import openai_body

        arguments, sent = self._arguments(call, self._prepare(call), further, max_output_tokens)
        return openai_body(arguments), sent

    def _arguments(
        self, call: Call, sendable: _Sendable, further: tuple[Message, ...], max_output_tokens: int | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What litellm is given to ask the call, without where and by whom; and what ``Reply.sent`` says of it."""
        parameters = with_answer_limit(sendable.kept, max_output_tokens)
        arguments = parameters | {
            "model": call.model,
            "messages": message_bodies((*call.messages, *further), self._read_image),
        }
        if sendable.sends_schema:
            arguments["response_format"] = response_format(call.schema)
        return arguments, {"parameters": parameters, "dropped": sendable.dropped, "schema": sendable.sends_schema}

    def _prepare(self, call: Call) -> _Sendable:
        """What of the call can be sent to its model, found out once."""
        key = canonical_json([call.model, call.base_url, call.parameters, call.schema is None, call.send_schema])
        if key not in self._sendable:
            self._sendable[key] = self._find_sendable(call)
            dropped = self._sendable[key].dropped
            if dropped:
                shown = ", ".join(f"{name}={value!r}" for name, value in dropped.items())
                self.notes = (*self.notes, f"{call.model} does not take {shown}: not sent")
        return self._sendable[key]

    def _find_sendable(self, call: Call) -> _Sendable:
        from judge_pipeline.judging.backends.litellm_client import load_litellm

        litellm = load_litellm()
        try:
            model, provider, _, _ = litellm.get_llm_provider(call.model, api_base=call.base_url)
        except Exception as error:  # noqa: BLE001  a model name that litellm cannot place
            raise CallFailedError(
                Failure(
                    "configuration",
                    f"litellm does not know the provider of {call.model!r} ({error}); write it as provider/model, for "
                    "example openai/gpt-4.1",
                )
            ) from None
        dropped = {
            name: value for name, value in call.parameters.items() if not _takes(litellm, model, provider, name, value)
        }
        kept = {name: value for name, value in call.parameters.items() if name not in dropped}
        supported = bool(litellm.supports_response_schema(model=model, custom_llm_provider=provider))
        sends_schema = call.schema is not None and (supported if call.send_schema is None else call.send_schema)
        return _Sendable(kept, dropped, sends_schema, self._is_priced(call, provider))

    def _is_priced(self, call: Call, provider: str) -> bool:
        """Whether litellm knows what the model costs.

        A server of one's own costs what the settings say: litellm would take the price of whatever model the reply
        names.
        """
        from judge_pipeline.judging.listed_models import listed_price

        if self._price is not None:
            return False
        is_own_server = call.base_url is not None and provider == "openai"
        return not is_own_server or listed_price(call.model) is not None

    def _cost(self, reply: Any, sendable: _Sendable, tokens_in: int | None, tokens_out: int | None) -> float | None:
        if tokens_in is None or tokens_out is None:
            return None
        if self._price is not None:
            return self._price.cost_usd(tokens_in, tokens_out)
        if not sendable.is_priced:
            return None
        cost = (getattr(reply, "_hidden_params", None) or {}).get("response_cost")
        return None if cost is None else float(cost)


def _takes(litellm: Any, model: str, provider: str, name: str, value: Any) -> bool:
    """Whether the model takes the parameter with this value: gpt-5 takes a temperature, but not 0."""
    try:
        litellm.get_optional_params(model=model, custom_llm_provider=provider, drop_params=False, **{name: value})
    except litellm.UnsupportedParamsError:
        return False
    return True


def response_format(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The schema as OpenAI's dialect wraps it; a copy of one's own."""
    own = copy.deepcopy(schema)  # providers' adapters change it in place
    return {"type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": own}}
