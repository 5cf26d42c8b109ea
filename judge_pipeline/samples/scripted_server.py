"""A small OpenAI-compatible server on loopback that answers by a script: what stands in for a provider of models."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted-judge"
"""What it calls itself in every reply."""

_LOOPBACK = "127.0.0.1"
_CHARS_PER_TOKEN = 4

Answer = Callable[[Mapping[str, Any]], str]
"""The body of a chat completion -> the text of the answer; a ValueError is told as a request that is wrong."""


class ScriptedServer:
    """The server; it listens while it is entered (:func:`serving`).

    Attributes:
        url: its base URL.
        bodies: every request's body, in the order in which they came.
    """

    def __init__(self, answer: Answer, port: int = 0) -> None:
        self.bodies: list[Mapping[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.bodies.append(body)
                status, reply = _reply(answer, body)
                content = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Says nothing."""

        self._server = _QuietServer((_LOOPBACK, port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """What settings name as base_url."""
        return f"http://{_LOOPBACK}:{self._server.server_port}/v1"

    def start(self) -> None:
        """Listen."""
        self._thread.start()

    def stop(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is gone, as a run that was killed, is no error of the server's."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(answer: Answer, port: int = 0) -> Iterator[ScriptedServer]:
    """A server that listens on the port, or on a free one, until the end.

    Raises:
        OSError: the port is taken.
    """
    server = ScriptedServer(answer, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _reply(answer: Answer, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    try:
        text = answer(body)
    except ValueError as error:
        return 400, {"error": {"message": str(error), "type": "invalid_request_error", "code": None}}
    shown = sum(len(message["content"]) for message in body["messages"])
    tokens = {"prompt_tokens": shown // _CHARS_PER_TOKEN, "completion_tokens": len(text) // _CHARS_PER_TOKEN}
    message = {"role": "assistant", "content": text}
    return 200, {
        "id": "scripted", "object": "chat.completion", "created": 0, "model": MODEL,
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": tokens | {"total_tokens": sum(tokens.values())},
    }  # fmt: skip
