"""Which requests the UI's webserver answers: its own pages' and programs', none that a page elsewhere sends.

Dagster's webserver takes mutations by GET and in forms, and asks of no request where it comes from: any page that is
open in a browser beside the UI could start runs, and spend money. A browser says which page sends a request (Origin,
Sec-Fetch-Site) in headers that no page can set; programs send none of them, and are answered.
"""

from __future__ import annotations

from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from judge_pipeline.orchestration.own_addresses import OwnAddresses

_READING = ("GET", "HEAD")
_BODIES = ("application/json", "application/graphql")
"""What a page elsewhere cannot send without asking first, which is refused."""

_HEADERS = {"X-Frame-Options": "SAMEORIGIN", "Cross-Origin-Resource-Policy": "same-origin"}
"""No page elsewhere may frame the UI, and have somebody click in it, or take in what it serves."""

_REMEDY = (
    "Behind a proxy, name the address that people open in assets_config/automation.yaml, links: {ui_url: ...}, or in "
    "JUDGE_PIPELINE_UI_URL, and start the UI anew."
)


class RequestGuard:
    """An ASGI application around another one, to which it passes on what ``refusal`` has nothing against."""

    def __init__(self, app: ASGIApp, addresses: OwnAddresses) -> None:
        self._app = app
        self._addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or let one connection or the server's life go on."""
        refused = None if scope["type"] == "lifespan" else refusal(scope, self._addresses)
        if refused is None:
            await self._app(scope, receive, _guarded(send) if scope["type"] == "http" else send)
        elif scope["type"] == "http":
            status, words = refused
            answer = PlainTextResponse(f"{status.value} {status.phrase}\n\n{words}\n", status)
            await answer(scope, receive, _guarded(send))
        else:
            await WebSocketClose(1008)(scope, receive, send)


def _guarded(send: Send) -> Send:
    async def send_guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_HEADERS)
        await send(message)

    return send_guarded


def refusal(scope: Scope, addresses: OwnAddresses) -> tuple[HTTPStatus, str] | None:
    """Why a request is not answered, in words; null where it is.

    Args:
        scope: of a request, or of a websocket that is to be opened.
        addresses: of this server.
    """
    request = HTTPConnection(scope)
    hosts = request.headers.getlist("host")
    if not addresses.has(hosts):
        return HTTPStatus.MISDIRECTED_REQUEST, f"The UI is served under its own names alone. {_REMEDY}"
    if _is_from_elsewhere(request, hosts[0], addresses):
        return HTTPStatus.FORBIDDEN, f"A page elsewhere sent this; the UI answers its own pages alone. {_REMEDY}"
    return _refused_way(request) if scope["type"] == "http" else None


def _is_from_elsewhere(request: HTTPConnection, host: str, addresses: OwnAddresses) -> bool:
    headers = request.headers
    changes = request.scope.get("method", "GET") not in _READING
    stated = headers.getlist("origin") or (headers.getlist("referer") if changes else [])
    if not all(addresses.is_origin(page, host) for page in stated):
        return True
    if request.scope["type"] == "websocket":  # always with an Origin; browsers differ in what else they say
        return False
    is_link = (
        not changes and headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    )
    return headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_link


def _refused_way(request: HTTPConnection) -> tuple[HTTPStatus, str] | None:
    """Ways in which a page elsewhere can send a mutation with a browser that does not say where it comes from."""
    if not request.scope["path"].strip().endswith("/graphql"):
        return None
    if request.scope["method"] in _READING:
        # What asks for a page gets Dagster's form for queries, and nothing is executed.
        if "query" in request.query_params and "text/html" not in request.headers.get("accept", ""):
            return HTTPStatus.METHOD_NOT_ALLOWED, "Send GraphQL by POST, as application/json."
    elif request.headers.get("content-type", "").split(";")[0].strip().lower() not in _BODIES:
        return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send GraphQL as application/json."
    return None
