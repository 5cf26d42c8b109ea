"""One deadline over a whole exchange with another machine: the time-out of a socket begins anew with each byte."""

from __future__ import annotations

import smtplib
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

SOCKET_SECONDS = 10.0
"""How long one step of an exchange may be waited for."""


class Exchange:
    """The connections of one exchange, which can be cut from another thread."""

    def __init__(self) -> None:
        self._held: list[socket.socket] = []
        self._is_cut = False
        self._lock = threading.Lock()

    def connected(
        self, address: tuple[str, int], timeout: Any = SOCKET_SECONDS, source_address: Any = None
    ) -> socket.socket:
        """A connection, as ``socket.create_connection`` makes it; a copy is held by which it can be cut."""
        made = socket.create_connection(address, timeout, source_address)
        with self._lock:
            self._held.append(made.dup())
        if self._is_cut:  # the time was up while it was being made
            self.cut()
        return made

    def cut(self) -> None:
        """End every connection, also one that is being encrypted; whoever reads from it reads its end."""
        self._is_cut = True
        with self._lock:
            for held in self._held:
                with suppress(OSError):  # it has ended already
                    held.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the copies."""
        with self._lock:
            for held in self._held:
                held.close()
            self._held.clear()


def within(seconds: float, talk: Callable[[Exchange], None]) -> None:
    """Have an exchange, for so long at most, whatever the other side or the name's resolution does.

    Args:
        seconds: how long.
        talk: has it, over connections of the exchange.

    Raises:
        TimeoutError: it was not over by then; its connections are cut.
    """
    exchange, failed = Exchange(), list[BaseException]()

    def run() -> None:
        try:
            talk(exchange)
        except BaseException as error:  # noqa: BLE001 (handed to whoever waits)
            failed.append(error)
        finally:
            exchange.close()

    # Of its own and a daemon: a resolver that hangs can be left behind, and keeps no process from ending.
    talking = threading.Thread(target=run, name="exchange", daemon=True)
    talking.start()
    talking.join(seconds)
    if talking.is_alive():
        exchange.cut()
        raise TimeoutError(f"it was not over within {seconds:g} seconds")
    if failed:
        raise failed[0]


class _NoRedirect(HTTPRedirectHandler):
    """A webhook's address is a secret of one host; nothing is sent on to another."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Web(HTTPHandler, HTTPSHandler):
    """Opens both kinds of addresses over an exchange."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__()
        self._exchange = exchange

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(self._held(HTTPConnection), req)

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(self._held(HTTPSConnection), req, context=ssl.create_default_context())

    def _held(self, kind: Callable[..., HTTPConnection]) -> Any:
        def connection(host: str, **how: Any) -> HTTPConnection:
            made = kind(host, **how)
            made._create_connection = self._exchange.connected  # type: ignore[attr-defined]
            return made

        return connection


def http_opener(exchange: Exchange) -> OpenerDirector:
    """What opens addresses of http and https over an exchange, by the proxy of the environment, following nobody."""
    return build_opener(_NoRedirect(), _Web(exchange))


class _Smtp(smtplib.SMTP):
    def __init__(self, exchange: Exchange, *place: Any, **how: Any) -> None:
        self._exchange = exchange
        super().__init__(*place, **how)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        return self._exchange.connected((host, port), timeout)


class _SmtpOverTls(smtplib.SMTP_SSL, _Smtp):
    """Encrypted from the start: ``SMTP_SSL`` wraps the connection that ``_Smtp`` makes."""

    def __init__(self, exchange: Exchange, *place: Any, **how: Any) -> None:
        self._exchange = exchange
        smtplib.SMTP_SSL.__init__(self, *place, **how)


def mail_connection(exchange: Exchange, host: str, port: int, secure: ssl.SSLContext | None) -> smtplib.SMTP:
    """A connection to a mail server over an exchange; with ``secure``, encrypted from the start."""
    if secure is None:
        return _Smtp(exchange, host, port, timeout=SOCKET_SECONDS)
    return _SmtpOverTls(exchange, host, port, timeout=SOCKET_SECONDS, context=secure)
