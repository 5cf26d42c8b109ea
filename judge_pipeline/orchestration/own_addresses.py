"""Names under which a server of this machine is reached, so that a page elsewhere cannot pass for one of its own.

A page can have its own name lead to this machine (DNS rebinding), and is then of the same origin as what is served
here. What a browser still says truly is the name: it stands in the Host header.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
LOOPBACK_NAMES = frozenset({LOOPBACK, "localhost", "::1"})

_PORTS = {"http": 80, "https": 443}


def host_of(header: str) -> str | None:
    """The host that a Host header names, in small letters and without its port; null where it names none."""
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:  # half an IPv6 address
        return None


def origin_of(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address; None where no page has it (``null``, ``file:``, a user's name in it)."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    return parts.scheme, parts.hostname, _PORTS[parts.scheme] if port is None else port


def is_loopback(host: str) -> bool:
    """Whether this machine alone reaches what listens there."""
    name = host.strip("[]").lower()
    return ip_address(name).is_loopback if _is_number(name) else name == "localhost"


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class OwnAddresses:
    """What a server may be called.

    Attributes:
        names: hosts, in small letters.
        numbers: any IP address is a name of it, too: a page's name can be made to lead anywhere, its number cannot.
        public: the address that people open where a proxy stands before it.
    """

    names: frozenset[str]
    numbers: bool = False
    public: str | None = None

    @classmethod
    def of(cls, host: str, public: str | None) -> OwnAddresses:
        """The addresses of a server.

        Args:
            host: what it listens on. Where other machines reach that, they may call it by its number, or by this
                machine's name.
            public: the address that people open where a proxy stands before it.
        """
        place = origin_of(public) if public else None
        names = LOOPBACK_NAMES | {host.strip("[]").lower()} | ({place[1]} if place else set())
        if is_loopback(host):
            return cls(names, public=public)
        return cls(names | {socket.gethostname().lower()}, numbers=True, public=public)

    def has(self, host_headers: Sequence[str]) -> bool:
        """Whether a request's Host headers, of which there must be one, name this server."""
        host = host_of(host_headers[0]) if len(host_headers) == 1 else None
        return host is not None and (host in self.names or (self.numbers and _is_number(host)))

    def is_origin(self, address: str, host_header: str) -> bool:
        """Whether a page at the address is one of this server's own, as a request with that Host header has it."""
        own = {origin_of(f"{scheme}://{host_header}") for scheme in _PORTS} | {origin_of(self.public or "")}
        place = origin_of(address)
        return place is not None and place in own
