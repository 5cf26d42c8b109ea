"""A webhook and a mail server on loopback, for tests of what is sent to people."""

from __future__ import annotations

import base64
import json
import socketserver
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from judge_pipeline_tests.loopback import serving


@dataclass
class Webhook:
    """What a webhook got, and what it answers."""

    url: str = ""
    got: list[dict[str, Any]] = field(default_factory=list)
    tries: int = 0
    status: int = 200
    location: str | None = None
    refuses: str | None = None

    def answer(self, body: dict[str, Any]) -> int:
        self.tries += 1
        status = 400 if self.refuses is not None and self.refuses in body["text"] else self.status
        if status == 200:
            self.got.append(body)
        return status


@contextmanager
def webhook() -> Iterator[Webhook]:
    """A webhook that listens while the block runs."""
    state = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            self.send_response(state.answer(json.loads(self.rfile.read(length))))
            if state.location is not None:
                self.send_header("Location", state.location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/services/T000/secret-of-the-hook"
    with serving(server):
        yield state


@dataclass
class MailServer:
    """What a mail server got, and how it behaves.

    Attributes:
        port: where it listens.
        mails: recipients, and the message as it came.
        logins: user and password, and whether the line was encrypted then.
        offers_starttls: whether it offers to encrypt.
        password: the password that it takes; None: any.
        answers_data: its answer to a message.
    """

    port: int = 0
    mails: list[tuple[list[str], str]] = field(default_factory=list)
    logins: list[tuple[str, str, bool]] = field(default_factory=list)
    offers_starttls: bool = True
    password: str | None = None
    answers_data: str = "250 taken"


@contextmanager
def mail_server(certificate: ssl.SSLContext | None) -> Iterator[MailServer]:
    """A mail server that listens while the block runs, with what it encrypts with."""
    state = MailServer(offers_starttls=certificate is not None)

    class Handler(socketserver.StreamRequestHandler):
        encrypted = False

        def say(self, line: str) -> None:
            self.wfile.write(line.encode() + b"\r\n")
            self.wfile.flush()

        def hear(self) -> str:
            return self.rfile.readline().decode().rstrip("\r\n")

        def handle(self) -> None:
            self.say("220 loopback")
            recipients: list[str] = []
            while line := self.hear():
                verb = line[:4].upper()
                if verb == "EHLO":
                    offers = ["STARTTLS"] if state.offers_starttls and not self.encrypted else []
                    lines = ["loopback", *offers, "AUTH PLAIN"]
                    for i, each in enumerate(lines):
                        self.say(f"250{'-' if i < len(lines) - 1 else ' '}{each}")
                elif verb == "STAR":
                    assert certificate is not None
                    self.say("220 go on")
                    secured = certificate.wrap_socket(self.connection, server_side=True)
                    self.rfile, self.wfile = secured.makefile("rb"), secured.makefile("wb")
                    self.encrypted = True
                elif verb == "AUTH":
                    _, user, password = base64.b64decode(line.split()[-1]).decode().split("\0")
                    state.logins.append((user, password, self.encrypted))
                    taken = state.password in (None, password)
                    self.say("235 welcome" if taken else f"535 wrong password {password}")
                elif verb == "RCPT":
                    recipients.append(line.partition("<")[2].partition(">")[0])
                    self.say("250 ok")
                elif verb == "DATA":
                    self.say("354 go on")
                    message = list(iter(self.hear, "."))
                    if state.answers_data.startswith("250"):
                        state.mails.append((recipients, "\n".join(message)))
                    self.say(state.answers_data)
                elif verb == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 ok")

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that goes away is no matter."""

    server = Server(("127.0.0.1", 0), Handler)
    state.port = int(server.server_address[1])
    with serving(server):
        yield state


@dataclass
class Dripping:
    """A server that sends a byte now and then, for ever.

    Attributes:
        port: where it listens.
        begins: what it sends at once.
        gone: one of each connection, set once the other side has ended it.
    """

    port: int = 0
    begins: bytes = b""
    gone: list[threading.Event] = field(default_factory=list)


@contextmanager
def dripping() -> Iterator[Dripping]:
    """A server whose reply never ends."""
    state = Dripping()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            gone = threading.Event()
            state.gone.append(gone)
            with suppress(OSError):
                self.request.sendall(state.begins)
                while True:
                    self.request.sendall(b"2")
                    time.sleep(0.02)
            gone.set()

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    state.port = int(server.server_address[1])
    with serving(server):
        yield state
