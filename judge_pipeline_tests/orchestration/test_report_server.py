"""The server of reports: what it gives, what it refuses, and that a browser runs nothing that a page smuggles in."""

from __future__ import annotations

import http.client
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.orchestration.report_server import policy_of, report_server, serve_in_background, served_file
from judge_pipeline_tests.browser import chromium

PAGE = '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; img-src data:"><p>Report</p>'


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a report in it, and what must not be reached beside it."""
    out = tmp_path_factory.mktemp("served")
    report = out / "reports" / "mini" / "cocreation_report.html"
    report.parent.mkdir(parents=True)
    report.write_text(PAGE, encoding="utf-8")
    (report.parent / "index.html").write_text("<p>The list</p><script>document.title = 'run'</script>", "utf-8")
    (report.parent / "plotly.js").write_text("1;", encoding="utf-8")
    (report.parent / ".part.html").write_text("half", encoding="utf-8")
    (report.parent / "checkpoint.sqlite").write_text("secret", encoding="utf-8")
    (out / "secret.html").write_text("secret", encoding="utf-8")
    (out / "reports-other").mkdir()
    (out / "reports-other" / "secret.html").write_text("secret", encoding="utf-8")
    (report.parent / "link.html").symlink_to(out / "secret.html")
    (report.parent / "folder").symlink_to(out, target_is_directory=True)
    (report.parent / "loop").symlink_to("loop")
    return out


@pytest.fixture(scope="module")
def port(out: Path) -> Iterator[int]:
    server = report_server(out / "reports", 0, "https://judges.example.org/reports")
    serve_in_background(server)
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def ask(port: int, path: str, method: str = "GET", host: str | None = None) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=host is not None)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        reply = connection.getresponse()
        return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()
    finally:
        connection.close()


def test_a_report_comes_with_its_own_policy_and_strict_headers(port: int) -> None:
    status, headers, body = ask(port, "/mini/cocreation_report.html?x=1")
    assert (status, body.decode()) == (200, PAGE)
    assert headers["content-security-policy"] == "default-src 'none'; img-src data:; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "python" not in headers["server"].lower()


def test_a_folder_is_its_index_and_a_head_has_no_body(port: int) -> None:
    assert b"The list" in ask(port, "/mini/")[2]
    status, headers, body = ask(port, "/mini", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 0
    assert ask(port, "/mini/plotly.js")[1]["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.html",
        "/mini/../../secret.html",
        "/%2e%2e/secret.html",
        "/mini/%2e%2e%2f%2e%2e%2fsecret.html",
        "/..%5csecret.html",
        "//secret.html",
        "/mini/link.html",
        "/mini/folder/secret.html",
        "/mini/loop/secret.html",
        "/../reports-other/secret.html",
        "/mini/.part.html",
        "/mini/checkpoint.sqlite",
        "/mini/cocreation_report.html%00.js",
        "/mini/%ff.html",
        "/nothing.html",
        "/",
    ],
)
def test_nothing_besides_is_reached(port: int, path: str) -> None:
    status, _, body = ask(port, path)
    assert status == 404
    assert b"report_contest" in body and b"secret" not in body


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:3001", "127.0.0.1.evil.example", "", "localhost@evil", "[", "127.0.0.1]", "[::1"],
)
def test_a_name_that_was_rebound_to_this_machine_reads_nothing(port: int, host: str) -> None:
    status, _, body = ask(port, "/mini/cocreation_report.html", host=host)
    assert status == 421
    assert b"reports_url" in body and b"Report</p>" not in body


@pytest.mark.parametrize("host", ["localhost:3001", "LOCALHOST", "[::1]:3001", "judges.example.org"])
def test_names_of_this_machine_and_of_the_proxy_are_answered(port: int, host: str) -> None:
    assert ask(port, "/mini/cocreation_report.html", host=host)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_it_only_reads(port: int, method: str) -> None:
    assert ask(port, "/mini/cocreation_report.html", method)[0] == 501


def test_it_listens_on_loopback_alone_and_says_that_a_port_is_taken(port: int, out: Path) -> None:
    with pytest.raises(OSError, match="in use"):
        report_server(out, port)
    server = report_server(out, 0)
    assert server.socket.getsockname()[0] == "127.0.0.1"
    assert server.socket.family == socket.AF_INET
    server.server_close()


@pytest.mark.slow
def test_a_page_without_a_policy_runs_nothing_and_nobody_frames_one(port: int) -> None:
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{port}/mini/")
        assert page.title() == ""
        page.set_content(f"<iframe src='http://127.0.0.1:{port}/mini/cocreation_report.html'></iframe>")
        page.wait_for_timeout(500)
        assert all("Report" not in frame.content() for frame in page.frames[1:])


@given(
    target=st.text(max_size=60) | st.lists(st.sampled_from(["..", ".", "mini", "link.html", "folder", "secret.html"]))
)
def test_no_target_leads_outside(out: Path, target: str | list[str]) -> None:
    path = target if isinstance(target, str) else "/".join(target)
    for given_path in (path, quote(path, safe="/")):
        try:
            found = served_file(out / "reports", f"/{given_path}")
        except (FileNotFoundError, ValueError):
            continue
        assert found.is_relative_to((out / "reports").resolve())
        assert found.suffix in (".html", ".js")


@given(st.binary(max_size=200))
def test_a_policy_is_one_line_that_ends_with_who_may_frame(policy: bytes) -> None:
    head = b'<meta http-equiv="Content-Security-Policy" content="' + policy + b'">'
    said = policy_of(head)
    assert said.endswith("; frame-ancestors 'none'")
    assert said.isascii() and "\n" not in said and "\r" not in said


def test_a_folder_that_is_made_later_is_served_then(tmp_path: Path) -> None:
    folder = tmp_path / "reports"
    with pytest.raises(FileNotFoundError):
        served_file(folder, "/a.html")
    folder.mkdir()
    (folder / "a.html").write_text("a", encoding="utf-8")
    assert served_file(folder, "/a.html") == folder / "a.html"
    os.truncate(folder / "a.html", 0)
    shutil.rmtree(folder)
