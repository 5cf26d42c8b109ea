"""litellm, kept on a short lead: loaded when first needed, offline, quiet, without retries of its own."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any

from judge_pipeline.judging.backends.provider_errors import classify, status_of_code
from judge_pipeline.judging.failures import CallFailedError, Failure

_MOST_TOKENS = 10**9

_ALWAYS = {"num_retries": 0, "max_retries": 0, "stream": False, "no-log": True}
"""Retrying is ours. no-log keeps calls from any logger that is hooked into litellm, whole; its turn_off_message_logging
would only blank their texts, and copies every reply to do so, a tenth of its time."""

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm", "openai", "httpcore")


@cache
def load_litellm() -> Any:
    """The litellm module (seconds of processor time at first)."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # otherwise it fetches its price table over the network
    import litellm

    from judge_pipeline.judging.backends.litellm_connections import guard_connections

    guard_connections()
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")  # they quote replies
    warnings.filterwarnings("ignore", message="Items? '.* `ReadOnly` qualifier")  # of its own types, for Gemini
    litellm.suppress_debug_info = True
    litellm.drop_params = False
    litellm.num_retries = None
    litellm.telemetry = False
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL + 1)  # its errors arrive as exceptions; its log lines may quote requests
        logger.propagate = False
    return litellm


async def complete(**arguments: Any) -> Any:
    """One chat completion.

    Raises:
        CallFailedError: the call failed, with its class; or the reply holds no choice, or several that differ.
    """
    litellm = load_litellm()
    from litellm._internal_context import internal_sub_call

    try:
        with internal_sub_call():  # it drafts no log entry, neither of answers nor of errors: a tenth of its time
            reply = await litellm.acompletion(**arguments, **_ALWAYS)
    except Exception as error:  # noqa: BLE001  whatever a provider's adapter raises is this try's failure
        raise failed_call(error) from None  # the original may quote the key
    choices = getattr(reply, "choices", None)
    if not choices:
        raise CallFailedError(Failure("infrastructure", "the provider's reply holds no choices"))
    if len({_told(choice) for choice in choices}) > 1:
        raise CallFailedError(
            Failure(
                "infrastructure", f"the provider's reply holds {len(choices)} different choices where one was asked"
            )
        )
    return reply


def openai_body(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The body of the request that a chat completion with these arguments would be, for a provider of OpenAI's dialect.

    litellm's own mapping of parameters and of messages, without its call.
    """
    litellm = load_litellm()
    parameters = dict(arguments)
    model, provider, _, _ = litellm.get_llm_provider(parameters.pop("model"))
    messages = parameters.pop("messages")
    mapped = litellm.get_optional_params(model=model, custom_llm_provider=provider, drop_params=False, **parameters)
    config = litellm.utils.ProviderConfigManager.get_provider_chat_config(
        model=model, provider=litellm.LlmProviders(provider)
    )
    body = config.transform_request(
        model=model, messages=messages, optional_params=mapped, litellm_params={}, headers={}
    )
    further = body.pop("extra_body", None)
    body = {name: value for name, value in body.items() if value is not None and name != "stream"}
    return body | further if further else body


def _told(choice: Any) -> tuple[Any, ...]:
    """What a choice says: choices that say the same are one."""
    message = choice.message
    return message.content, finish_reason_of(choice), repr(getattr(message, "refusal", None))


def finish_reason_of(choice: Any) -> str | None:
    """Why the model stopped, as the provider said; litellm puts "stop" in the place of what it does not know."""
    native = (getattr(choice, "provider_specific_fields", None) or {}).get("native_finish_reason")
    told = native if isinstance(native, str) else choice.finish_reason
    return told if isinstance(told, str) else None


def failed_call(error: Exception) -> CallFailedError:
    """What an exception of litellm's means, with its class."""
    litellm = load_litellm()
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, litellm.ContextWindowExceededError):
        return CallFailedError(Failure("too_long", text))
    if isinstance(error, litellm.ContentPolicyViolationError):
        return CallFailedError(Failure("refusal", text))
    if isinstance(error, litellm.UnsupportedParamsError) or "LLM Provider NOT provided" in text:
        return CallFailedError(Failure("configuration", text))
    status = getattr(error, "status_code", None)
    headers = getattr(error, "litellm_response_headers", None) or getattr(
        getattr(error, "response", None), "headers", None
    )
    body = getattr(error, "body", None)
    code = body.get("code") if isinstance(body, dict) else None
    if status == 422 and not headers and body is None:
        status = None  # litellm's word for an error that came under status 200 and without a code
    return classify(
        status if isinstance(status, int) else status_of_code(status),
        f"{text} ({code})" if code else text,
        dict(headers) if headers else None,
    )


async def close_clients() -> None:
    """Close the connections that litellm keeps for this event loop."""
    await load_litellm().close_litellm_async_clients()


def usage_of(reply: Any) -> tuple[int | None, int | None, int | None]:
    """Tokens in, out, and of those thinking; None where unknown.

    litellm writes 0 tokens where the provider gave none, and passes nonsense on: neither is a count.
    """
    usage = getattr(reply, "usage", None)
    tokens_in, tokens_out = (count_of(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens"))
    if not are_counts(tokens_in, tokens_out, reply.choices[0].message.content):
        return None, None, None
    details = getattr(usage, "completion_tokens_details", None)
    return tokens_in, tokens_out, count_of(getattr(details, "reasoning_tokens", None))


def are_counts(tokens_in: int | None, tokens_out: int | None, text: Any) -> bool:
    """Whether the tokens can be those of a call that brought the text: there is no prompt and no text of 0 tokens."""
    return bool(tokens_in) and tokens_out is not None and (tokens_out > 0 or not text)


def count_of(value: Any) -> int | None:
    """The value, if it can be a number of tokens."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if is_count else None


def request_id_of(reply: Any) -> str | None:
    """The provider's id of the request, else of the reply."""
    headers = (getattr(reply, "_hidden_params", None) or {}).get("additional_headers") or {}
    for name in ("llm_provider-x-request-id", "llm_provider-request-id"):
        if headers.get(name):
            return str(headers[name])
    return str(reply.id) if getattr(reply, "id", None) else None
