"""An OpenAI-compatible server on loopback that answers every chat completion after a fixed time.

Lean on purpose: it shares the machine with what it measures. It prints its port and runs until its input is closed.

    python benchmarks/loopback_server.py LATENCY_MS
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading

ANSWER = {"p_ac": 0.25, "s_algo": 3, "s_robust": 2, "rationale": "misses n = 0"}

_BODY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": json.dumps(ANSWER)}}
        ],
        "usage": {"prompt_tokens": 700, "completion_tokens": 30, "total_tokens": 730},
    }
).encode()
_REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)


class Connection(asyncio.Protocol):
    """One kept-alive connection; requests on it come one after another."""

    def __init__(self, latency_seconds: float) -> None:
        self._latency_seconds = latency_seconds
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each whole request."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self._received) < end + 4 + length:
                return
            self._received = self._received[end + 4 + length :]
            asyncio.get_running_loop().call_later(self._latency_seconds, self._transport.write, _REPLY)


async def serve(latency_seconds: float) -> None:
    """Serve until standard input is closed, that is, until the one who started it is gone."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    server = await loop.create_server(lambda: Connection(latency_seconds), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)

    def wait_for_the_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]) / 1000.0))
