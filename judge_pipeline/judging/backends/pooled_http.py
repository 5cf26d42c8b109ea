"""POST of JSON to one server through one pool of connections, and what a server's answer must be to be a reply at all.

It follows no redirect (a key would travel with it), and uses no proxy of the environment. A key is sent as a header,
and neither kept elsewhere nor logged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge_pipeline.judging.backends.provider_errors import classify, status_of_code
from judge_pipeline.judging.failures import CallFailedError, Failure

if TYPE_CHECKING:
    import aiohttp

    from judge_pipeline.judging.backends.stale_replies import RepeatedReplies

LARGEST_REPLY_BYTES = 8_000_000
"""A longer reply is no answer to a question whose answer fits in a page."""

_KEEP_ALIVE_SECONDS = 4.0  # under the 5 s after which uvicorn, hence vLLM, closes an idle connection
_SHOWN_CHARS = 1500
_REPLY_ID = re.compile(rb'"id"\s*:\s*"([^"\\]{1,200})"')


class PooledHttp:
    """One URL and its connections. A reply that came before, by its id and bytes, is another request's and not used."""

    def __init__(self, url: str, api_key: str | None, max_in_flight: int, *, reuse: bool = True) -> None:
        """``reuse``: whether connections serve several requests; of no use where replies have no ids."""
        self._url = url
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._max_in_flight = max_in_flight
        self._reuse = reuse
        self._session: aiohttp.ClientSession | None = None
        self._distrusted: aiohttp.ClientSession | None = None
        self._replies: RepeatedReplies | None = None

    async def open(self) -> None:
        """Make the pool of connections."""
        from judge_pipeline.judging.backends.stale_replies import RepeatedReplies

        self._replies = RepeatedReplies()
        self._session = self._new_session(self._reuse)

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

    async def post(self, body: Mapping[str, Any]) -> tuple[bytes, Mapping[str, str]]:
        """The body and headers of the reply, of a status that means success.

        Raises:
            CallFailedError: no reply came, another status, or a reply that came before.
        """
        status, headers, content = await self._post(json.dumps(body).encode("ascii"))
        if not 200 <= status < 300:
            raise refused(status, headers, content)
        self._refuse_repeated(content)
        return content, headers

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

    def _refuse_repeated(self, content: bytes) -> None:
        """Raise where the reply was sent before: it is another request's. From then on each call has a connection."""
        assert self._replies is not None  # opened before the first call
        reply_id = _id_of(content)
        if not self._replies.is_repeated(reply_id, content):
            return
        if self._distrusted is None:
            self._distrusted, self._session = self._session, self._new_session(reuse=False)
        raise broken(
            f"the server sent the reply {reply_id!r} a second time, in the place of another: it is not used, and "
            "further calls get a connection each"
        )


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """The server's id of the request, where a header says it."""
    return headers.get("x-request-id") or headers.get("request-id")


def refused(status: int, headers: Mapping[str, str], content: bytes) -> CallFailedError:
    """The failure that an answer means whose status does not mean success."""
    if 300 <= status < 400 and "location" in headers:
        words = f"HTTP {status}: the server sends on to {headers['location']!r}; set base_url to where it is"
        return CallFailedError(Failure("configuration", words))
    return classify(status, f"HTTP {status}: {_error_text(content)}", headers)


def broken(words: str) -> CallFailedError:
    """The failure of a reply that is none."""
    return CallFailedError(Failure("infrastructure", words))


def json_reply(content: bytes) -> Any:
    """The JSON that a reply is.

    Raises:
        CallFailedError: it is not JSON, gives a name two values, or is an error that came under a status of success.
    """
    try:
        whole = json.loads(content, object_pairs_hook=_without_unequal_twins)
    except _UnequalTwinsError as twins:
        raise broken(f"the provider's reply gives {str(twins)!r} twice, with different values") from None
    except (ValueError, RecursionError):
        shown = content[:200].decode("utf-8", "replace")
        raise broken(f"the provider's reply is not JSON: {shown!r}") from None
    error = whole.get("error") if isinstance(whole, dict) else None
    if error:  # some servers report an upstream's failure under status 200
        codes = (error.get("code"), error.get("type")) if isinstance(error, dict) else ()
        raise classify(status_of_code(*codes), _error_text(content))
    return whole


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, unpacked; an endless one is given up."""
    pieces, size = [], 0
    async for piece in response.content.iter_any():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_REPLY_BYTES:
            response.close()
            raise broken(f"the reply is longer than {LARGEST_REPLY_BYTES} bytes")
    return b"".join(pieces)


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


class _UnequalTwinsError(ValueError):
    pass


def _without_unequal_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        for key, value in pairs:
            if value != whole[key]:
                raise _UnequalTwinsError(key)
    return whole
