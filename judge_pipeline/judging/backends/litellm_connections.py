"""litellm's connections, on which no reply may be taken for another request's.

litellm makes its pools itself, for all providers from one class. It has no setting for that class, and hands a session
that it is given on to some providers only, so another class is put in its place.
"""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakSet

from judge_pipeline.judging.backends.pooled_http import broken
from judge_pipeline.judging.backends.stale_replies import QuietConnector, RepeatedReplies

_EACH_ONCE: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
"""Event loops in which each call has a connection of its own: litellm's pools are a loop's, and so is a backend."""


class KnownReplies:
    """What a backend's server has replied, so that a reply that it sends twice is not used."""

    def __init__(self) -> None:
        self._replies = RepeatedReplies()
        self._had_repeated = False

    def refuse_repeated(self, reply_id: str | None, content: str, asked: str) -> None:
        """Raise where the reply came before; from then on each call in this event loop has a connection of its own.

        What a provider keeps, and gives out again for the same request, is refused the first time only.

        Args:
            reply_id: None where it has none.
            content: what the reply says.
            asked: the messages that it answers.

        Raises:
            CallFailedError: the reply is another request's.
        """
        if not self._replies.is_repeated(reply_id, content.encode("utf-8", "replace"), asked):
            return
        if self._had_repeated and self._replies.first_answered(reply_id, asked):
            return
        self._had_repeated = True
        _EACH_ONCE.add(asyncio.get_running_loop())
        raise broken(
            f"the server sent the reply {reply_id!r} a second time, in the place of another: it is not used, and "
            "further calls get a connection each"
        )


class _Connector(QuietConnector):
    """Gives out no connection a second time once a server has sent a reply twice."""

    async def _get(self, *args: Any, **kwargs: Any) -> Any:
        while (connection := await super()._get(*args, **kwargs)) is not None and self._loop in _EACH_ONCE:
            connection.close()
        return connection


def guard_connections() -> None:
    """Let litellm make its pools from a class that gives out no connection on which something came unasked."""
    from litellm.llms.custom_httpx import http_handler

    http_handler.TCPConnector = _Connector
