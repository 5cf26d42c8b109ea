"""Serving ``<out>/reports/`` to a browser on this machine: read only, on loopback, nothing besides.

Reports hold what people wrote, so: names of other hosts are refused (a page elsewhere cannot rebind its name to this
address and read them), no other site may frame or embed them, nothing is kept in a cache, no file outside the folder
is reached by ``..`` or by a link, and a page runs only the scripts that its own policy names by their hash.
"""

from __future__ import annotations

import html
import re
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from judge_pipeline.orchestration.own_addresses import LOOPBACK, OwnAddresses
from judge_pipeline.orchestration.whole_files import as_object

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".csv": "text/csv; charset=utf-8",
    ".tex": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
}
"""Endings of files that are served, and as what."""

_SECONDS_OF_SILENCE = 30
_HEAD_BYTES = 16_384
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]{1,8000})">')
_NOTHING = "default-src 'none'"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class _RefusedError(Exception):
    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


def report_server(folder: Path, port: int, public: str | None = None) -> ThreadingHTTPServer:
    """A server of the folder on loopback, bound and not yet serving (``serve_in_background``).

    Args:
        folder: what is served; it may be made later.
        port: where; 0 takes a free one (``server_address``).
        public: the address that people open where a proxy stands before it.

    Raises:
        OSError: the port is taken, or may not be had.
    """
    own = OwnAddresses.of(LOOPBACK, public)

    class Handler(_Handler):
        root, addresses = folder, own

    server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    server.daemon_threads = True
    return server


def serve_in_background(server: ThreadingHTTPServer) -> threading.Thread:
    """Serve until the process ends, or the server is shut down."""
    thread = threading.Thread(target=server.serve_forever, name="reports", daemon=True)
    thread.start()
    return thread


def served_file(folder: Path, target: str) -> Path:
    """The file that a request's target names; ``index.html`` for a folder.

    Raises:
        FileNotFoundError: there is none, it lies outside the folder, is hidden, or of a kind that is not served.
    """
    parts = [part for part in unquote(urlsplit(target).path, errors="strict").split("/") if part]
    if any(part.startswith(".") or re.search(r"[\x00-\x1f\\]", part) for part in parts):
        raise FileNotFoundError(target)
    root = _without_links(folder)
    path = root
    for part in parts:
        path = path / part
    path = _without_links(path)
    if path.is_dir():
        path = _without_links(path / "index.html")
    if not (path.is_relative_to(root) and path.suffix in KINDS and path.is_file()):
        raise FileNotFoundError(target)
    return path


def _without_links(path: Path) -> Path:
    """Where it leads; an object store has no links."""
    return path.resolve() if as_object(path) is None else path


def policy_of(head: bytes) -> str:
    """The policy that a page states for itself; one that allows nothing where it states none.

    Args:
        head: the page's first bytes.
    """
    found = _POLICY.search(head)
    own = html.unescape(found[1].decode("utf-8", "replace")) if found else _NOTHING
    kept = own if "\n" not in own and "\r" not in own and own.isascii() else _NOTHING
    return f"{kept.rstrip('; ')}; frame-ancestors 'none'"


class _Handler(BaseHTTPRequestHandler):
    root: Path
    addresses: OwnAddresses
    timeout = _SECONDS_OF_SILENCE
    server_version, sys_version = "judge-pipeline", ""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        try:
            self._check_host()
            path = self._found()
            data = path.read_bytes()
            policy = policy_of(data[:_HEAD_BYTES] if path.suffix == ".html" else b"")
            self._send_head(HTTPStatus.OK, KINDS[path.suffix], len(data), policy)
            if with_body:
                self.wfile.write(data)
        except _RefusedError as refused:
            self._say(refused.status, str(refused), with_body=with_body)
        except OSError:
            # The browser went away, or the file did: a report may be made anew at any time.
            self.close_connection = True

    def _check_host(self) -> None:
        if not self.addresses.has(self.headers.get_all("Host", [])):
            raise _RefusedError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "Reports are served under the names of this machine alone. Behind a proxy, name its address in "
                "assets_config/automation.yaml, links: {reports_url: ...}, and start judge-pipeline ui anew.",
            )

    def _found(self) -> Path:
        try:
            return served_file(self.root, self.path)
        except (OSError, ValueError, RuntimeError):  # the last of a link to itself, before Python 3.13
            raise _RefusedError(
                HTTPStatus.NOT_FOUND,
                "There is no such page. It is made by the job report_contest, report_preference_set or "
                "report_criteria, and removed when somebody withdraws.",
            ) from None

    def _say(self, status: HTTPStatus, words: str, *, with_body: bool) -> None:
        body = f"{status.value} {status.phrase}\n\n{words}\n".encode()
        self._send_head(status, "text/plain; charset=utf-8", len(body), _NOTHING)
        if with_body:
            self.wfile.write(body)

    def _send_head(self, status: HTTPStatus, kind: str, size: int, policy: str) -> None:
        self.send_response(status)
        headers = {**_HEADERS, "Content-Type": kind, "Content-Length": str(size), "Content-Security-Policy": policy}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing: who looked at which report is nobody's business."""
