"""Replies that belong to another request: what a server left on a connection, or sends a second time.

HTTP/1.1 tells which reply belongs to which request by their order alone. A server or proxy that sends one too many
shifts all that follow on that connection by one, and answers would stand under the wrong attempts.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any

import aiohttp

_IDS_REMEMBERED = 1000


class QuietConnector(aiohttp.TCPConnector):
    """A pool that gives out no connection on which something arrived that nobody had asked for."""

    async def _get(self, *args: Any, **kwargs: Any) -> Any:
        # aiohttp looks whether a connection is to be closed when it is put back, and not again when it is taken.
        while (connection := await super()._get(*args, **kwargs)) is not None:
            try:
                # What has arrived is read before that is asked: after a busy while, the next pass reads, and this goes
                # on before it does; the pass after that one comes behind it.
                for _ in range(2):
                    await asyncio.sleep(0)
            except BaseException:
                connection.close()
                raise
            if connection.protocol is not None and not connection.protocol.should_close:
                return connection
            connection.close()
        return None


class RepeatedReplies:
    """Knows a reply that came before: the same id and the same bytes, of a server that gives each reply its own id."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def is_repeated(self, reply_id: str | None, content: bytes, asked: str = "") -> bool:
        """Whether the reply to what was asked is a repeated one; it is remembered (the last thousand are).

        A server that has given one id only may give it to all replies, and is not judged by it: where its first reply
        of all comes a second time, and is the next that is seen, it is taken for an answer.
        """
        if reply_id is None:
            return False
        told = hash(content)
        before = self._seen.get(reply_id)
        if before is not None:
            return before[0] == told and len(self._seen) > 1
        self._seen[reply_id] = told, hash(asked)
        if len(self._seen) > _IDS_REMEMBERED:
            self._seen.popitem(last=False)
        return False

    def first_answered(self, reply_id: str | None, asked: str) -> bool:
        """Whether the reply of that id was an answer to the same when it came first."""
        return reply_id is not None and self._seen.get(reply_id, (0, 0))[1] == hash(asked)
