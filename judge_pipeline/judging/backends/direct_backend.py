"""An OpenAI-compatible server asked straight over HTTP, through one pool of connections.

It sends the body that litellm would send and reads the reply as strictly, at about a sixth of the processor time a
call. It speaks one dialect, follows no redirect (a key would travel with it), and uses no proxy of the environment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge_pipeline.judging.backends.base import Reply, words_of
from judge_pipeline.judging.backends.litellm_backend import response_format, with_answer_limit
from judge_pipeline.judging.backends.litellm_client import are_counts, count_of
from judge_pipeline.judging.backends.provider_errors import classify, status_of_code
from judge_pipeline.judging.failures import CallFailedError, Failure
from judge_pipeline.judging.request import Call, Message
from judge_pipeline.settings import LitellmJudge, Price

if TYPE_CHECKING:
    import aiohttp

    from judge_pipeline.judging.backends.stale_replies import RepeatedReplies

LARGEST_REPLY_BYTES = 8_000_000
"""A longer reply is no answer to a question whose answer fits in a page."""

_KEEP_ALIVE_SECONDS = 4.0  # under the 5 s after which uvicorn, hence vLLM, closes an idle connection
_SHOWN_CHARS = 1500
_REPLY_ID = re.compile(rb'"id"\s*:\s*"([^"\\]{1,200})"')


class DirectBackend:
    """Asks one server. The key is read once from the environment, sent as a header, and neither kept nor logged."""

    def __init__(self, base_url: str, api_key: str | None, price: Price | None, max_in_flight: int) -> None:
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._price = price
        self._max_in_flight = max_in_flight
        self._session: aiohttp.ClientSession | None = None
        self._distrusted: aiohttp.ClientSession | None = None
        self._replies: RepeatedReplies | None = None

    @classmethod
    def of(cls, settings: LitellmJudge, environment: Mapping[str, str]) -> DirectBackend:
        """The backend of a judge whose transport is direct, with the key that its settings name."""
        from judge_pipeline.judging.plan import listed_price

        assert settings.base_url is not None  # the settings see to it
        key = environment.get(settings.api_key_env) if settings.api_key_env else None
        price = settings.price or listed_price(settings.model)
        return cls(settings.base_url, key, price, settings.limits.max_in_flight)

    async def open(self) -> None:
        """Make the pool of connections."""
        from judge_pipeline.judging.backends.stale_replies import RepeatedReplies

        self._replies = RepeatedReplies()
        self._session = self._new_session(reuse=True)

    def _new_session(self, reuse: bool) -> aiohttp.ClientSession:
        import aiohttp

        from judge_pipeline.judging.backends.stale_replies import QuietConnector

        kept = {"keepalive_timeout": _KEEP_ALIVE_SECONDS} if reuse else {"force_close": True}
        return aiohttp.ClientSession(
            connector=QuietConnector(limit=self._max_in_flight, **kept),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # the one who asks keeps the time
            headers=self._headers,
            trust_env=False,
        )

    async def close(self) -> None:
        """Close the connections."""
        for session in (self._session, self._distrusted):
            if session is not None:
                await session.close()

    async def ask(self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None) -> Reply:
        """One try; see ``AskedBackend.ask``."""
        body, sent = self.body(call, further, max_output_tokens)
        status, headers, content = await self._post(json.dumps(body).encode("ascii"))
        if not 200 <= status < 300:
            raise refused(status, headers, content)
        self._refuse_repeated(content)
        return reply_of(content, headers.get("x-request-id") or headers.get("request-id"), self._price, sent)

    def _refuse_repeated(self, content: bytes) -> None:
        """Raise where the reply was sent before: it is another request's. From then on each call has a connection."""
        assert self._replies is not None  # opened before the first call
        reply_id = _id_of(content)
        if not self._replies.is_repeated(reply_id, content):
            return
        if self._distrusted is None:
            self._distrusted, self._session = self._session, self._new_session(reuse=False)
        raise _broken(
            f"the server sent the reply {reply_id!r} a second time, in the place of another: it is not used, and "
            "further calls get a connection each"
        )

    def body(
        self, call: Call, further: tuple[Message, ...], max_output_tokens: int | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The body that a try sends, and what ``Reply.sent`` says of it."""
        parameters = with_answer_limit(call.parameters, max_output_tokens)
        sends_schema = bool(call.send_schema)
        body = _flat(parameters) | {
            "model": call.model.removeprefix("openai/"),
            "messages": [{"role": m.role, "content": m.content} for m in (*call.messages, *further)],
        }
        if sends_schema:
            body["response_format"] = response_format(call.schema)
        return body, {"parameters": parameters, "dropped": {}, "schema": sends_schema}

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the server's reply."""
        import aiohttp

        assert self._session is not None  # opened before the first call
        try:
            async with self._session.post(self._url, data=body, allow_redirects=False) as response:
                return response.status, response.headers, await _read(response)
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise  # the caller's clock
            raise CallFailedError(Failure("infrastructure", f"{type(error).__name__}: {error}")) from None


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


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, unpacked; an endless one is given up."""
    pieces, size = [], 0
    async for piece in response.content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_REPLY_BYTES:
            response.close()
            raise _broken(f"the reply is longer than {LARGEST_REPLY_BYTES} bytes")
    return b"".join(pieces)


def refused(status: int, headers: Mapping[str, str], content: bytes) -> CallFailedError:
    """The failure that an answer means whose status does not mean success."""
    if 300 <= status < 400 and "location" in headers:
        words = f"HTTP {status}: the server sends on to {headers['location']!r}; set base_url to where it is"
        return CallFailedError(Failure("configuration", words))
    return classify(status, f"HTTP {status}: {_error_text(content)}", headers)


def _error_text(content: bytes) -> str:
    """What an error's body says: message and code in OpenAI's form, else its beginning."""
    text = content[: 4 * _SHOWN_CHARS].decode("utf-8", "replace")
    try:
        error = json.loads(content)["error"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return text
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        code = error.get("code") or error.get("type")
        return f"({code}) {error['message']}" if code else str(error["message"])
    return text


def _id_of(content: bytes) -> str | None:
    found = _REPLY_ID.search(content)
    return found[1].decode("utf-8", "replace") if found else None


def _object(content: bytes) -> dict[str, Any]:
    try:
        whole = json.loads(content, object_pairs_hook=_without_unequal_twins)
    except _UnequalTwinsError as twins:
        raise _broken(f"the provider's reply gives {str(twins)!r} twice, with different values") from None
    except (ValueError, RecursionError):
        shown = content[:200].decode("utf-8", "replace")
        raise _broken(f"the provider's reply is not JSON: {shown!r}") from None
    if not isinstance(whole, dict):
        raise _broken("the provider's reply is not a JSON object")
    error = whole.get("error")
    if error:  # some servers report an upstream's failure under status 200
        codes = (error.get("code"), error.get("type")) if isinstance(error, dict) else ()
        raise classify(status_of_code(*codes), _error_text(content))
    return whole


class _UnequalTwinsError(ValueError):
    pass


def _without_unequal_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        for key, value in pairs:
            if value != whole[key]:
                raise _UnequalTwinsError(key)
    return whole


def _choice(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The one choice, or the first of several that say the same."""
    choices = whole.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _broken("the provider's reply holds no choices")
    if not all(isinstance(choice, dict) and isinstance(choice.get("message"), dict) for choice in choices):
        raise _broken("the provider's reply holds a choice without a message")
    messages = [choice["message"] for choice in choices]
    if not all(message.get("content") is None or isinstance(message["content"], str) for message in messages):
        raise _broken("the provider's reply holds content that is not text")
    told = {
        (message.get("content"), repr(choice.get("finish_reason")), repr(message.get("refusal")))
        for choice, message in zip(choices, messages, strict=True)
    }
    if len(told) > 1:
        raise _broken(f"the provider's reply holds {len(choices)} different choices where one was asked")
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


def _broken(words: str) -> CallFailedError:
    return CallFailedError(Failure("infrastructure", words))
