"""Which requests the UI's webserver refuses, header by header; ``test_ui.py`` sends such from a browser."""

from __future__ import annotations

import asyncio
import socket
from typing import Any
from urllib.parse import quote

import pytest

from judge_pipeline.orchestration.own_addresses import OwnAddresses
from judge_pipeline.orchestration.request_guard import RequestGuard

HERE = "127.0.0.1:3000"
CHANGE = f"query={quote('mutation{launchRun}')}"
JSON = {"content-type": "application/json"}
LOCAL = OwnAddresses.of("127.0.0.1", None)
PROXIED = OwnAddresses.of("127.0.0.1", "https://judges.example.org/ui")
OPEN = OwnAddresses.of("0.0.0.0", None)


def answered(
    target: str = "/",
    headers: dict[str, str] | None = None,
    method: str = "GET",
    host: str | None = HERE,
    addresses: OwnAddresses = LOCAL,
    kind: str = "http",
) -> tuple[int, dict[str, str]]:
    """Status and headers that come back; 200 where the application was reached, or a websocket was let in."""
    path, _, query = target.partition("?")
    own = [] if host is None else [(b"host", host.encode())]
    scope: dict[str, Any] = {"type": kind, "path": path, "query_string": query.encode(), "scheme": "http"}
    scope["headers"] = own + [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    if kind == "http":
        scope["method"] = method
    sent: list[Any] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        accepted = {"type": "websocket.accept"}
        await send({"type": "http.response.start", "status": 200, "headers": []} if kind == "http" else accepted)

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("no body is waited for")

    asyncio.run(RequestGuard(app, addresses)(scope, receive, send))
    if kind == "websocket":
        return (200 if sent[0]["type"] == "websocket.accept" else 403), {}
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize("host", ["elsewhere.example", "127.0.0.1.elsewhere.example", "10.1.2.3:3000", "", None, "["])
def test_a_name_that_was_rebound_to_this_machine_is_refused(host: str | None) -> None:
    same = {"origin": f"http://{host}", "sec-fetch-site": "same-origin"}
    assert answered("/graphql", JSON | same, "POST", host)[0] == 421
    assert answered("/graphql", same, host=host, kind="websocket")[0] == 403


def test_a_second_host_hides_nothing() -> None:
    assert answered("/", {"host": "elsewhere.example"})[0] == 421


@pytest.mark.parametrize("host", ["localhost:3000", "LOCALHOST", "[::1]:3000", "127.0.0.1:8080"])
def test_this_machine_may_be_called_as_it_is_also_through_a_tunnel(host: str) -> None:
    own = {"origin": f"http://{host.lower()}", "sec-fetch-site": "same-origin"}
    assert answered("/graphql", JSON | own, "POST", host)[0] == 200
    assert answered("/graphql", own, host=host, kind="websocket")[0] == 200


def test_what_other_machines_reach_has_numbers_and_the_name_of_the_machine() -> None:
    for host in ("10.1.2.3:3000", "[fe80::1]:3000", f"{socket.gethostname()}:3000", HERE):
        assert answered(host=host, addresses=OPEN)[0] == 200
    assert answered(host="elsewhere.example:3000", addresses=OPEN)[0] == 421
    assert answered(host="ui.example.org", addresses=OwnAddresses.of("ui.example.org", None))[0] == 200


def test_a_proxy_is_known_by_the_settings_whether_or_not_it_passes_its_name_on() -> None:
    own = {"origin": "https://judges.example.org", "sec-fetch-site": "same-origin"}
    for host in (HERE, "judges.example.org"):
        assert answered("/graphql", JSON | own, "POST", host, PROXIED)[0] == 200
        assert answered("/graphql", own, host=host, addresses=PROXIED, kind="websocket")[0] == 200
    assert answered("/graphql", JSON | own, "POST")[0] == 403, "no setting names it"
    assert answered(host="judges.example.org")[0] == 421


@pytest.mark.parametrize(
    "page",
    [
        "http://elsewhere.example",
        "null",
        "file://",
        "http://127.0.0.1:3001",
        "http://127.0.0.1",
        "http://localhost:3000",
        "https://judges.example.org:444",
        "http://127.0.0.1:3000.elsewhere.example",
        "http://elsewhere.example@127.0.0.1:3000",
        "http://127.0.0.1:99999999",
    ],
)
def test_another_origin_is_refused_also_on_another_port_of_this_machine(page: str) -> None:
    for method in ("POST", "GET", "OPTIONS"):
        assert answered("/graphql", JSON | {"origin": page}, method, addresses=PROXIED)[0] == 403
    assert answered("/report_asset_materialization/attempts", {"origin": page}, "POST", addresses=PROXIED)[0] == 403
    assert answered("/report_asset_check/attempts", {"referer": f"{page}/x"}, "POST", addresses=PROXIED)[0] == 403
    assert answered("/graphql", {"origin": page}, addresses=PROXIED, kind="websocket")[0] == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_from_elsewhere_opens_a_page_and_nothing_is_embedded_or_changed(site: str) -> None:
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document", "accept": "text/html"}
    assert answered("/runs/1", link | {"referer": "http://elsewhere.example/"})[0] == 200
    assert answered("/runs/1", link, "POST")[0] == 403
    assert answered("/", link | {"sec-fetch-dest": "iframe"})[0] == 403
    assert answered("/logs/1", link | {"sec-fetch-dest": "script", "sec-fetch-mode": "no-cors"})[0] == 403


@pytest.mark.parametrize("path", ["/graphql", "/graphql\n", "/judges/graphql"])
def test_a_browser_that_says_nothing_has_no_way_that_needs_no_leave(path: str) -> None:
    assert answered(f"{path}?{CHANGE}", {"accept": "image/*"})[0] == 405
    for kind in ("text/plain", "text/plain; x=application/json", "application/x-www-form-urlencoded", ""):
        assert answered(f"{path}?{CHANGE}", {"content-type": kind}, "POST")[0] == 415
    assert answered(f"{path}?{CHANGE}", {}, "POST")[0] == 415


def test_programs_and_dagsters_own_form_for_queries_are_answered() -> None:
    assert answered("/graphql", JSON, "POST")[0] == 200
    assert answered("/graphql", {"content-type": "application/json; charset=utf-8"}, "POST")[0] == 200
    assert answered(f"/graphql?{CHANGE}", {"accept": "text/html"})[0] == 200
    assert answered("/report_asset_materialization/attempts", {}, "POST")[0] == 200
    assert answered("/graphql", kind="websocket")[0] == 200


@pytest.mark.parametrize("host", [HERE, "elsewhere.example"])
def test_nobody_frames_or_takes_in_what_is_served(host: str) -> None:
    headers = answered(host=host)[1]
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert headers["cross-origin-resource-policy"] == "same-origin"
