"""What ``judge-pipeline ui`` warns of before it starts Dagster."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judge_pipeline.cli.main import cli
from judge_pipeline.orchestration import dagster_ui, report_server
from judge_pipeline.orchestration.links import reports_url, ui_url
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.mini_contest import MiniContest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A workspace whose UI is not started. Its reports' port is given back: other tests need ports that nobody has."""
    served: list[ThreadingHTTPServer] = []
    monkeypatch.setattr(report_server, "serve_in_background", served.append)
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(tmp_path))
    monkeypatch.setenv("JUDGE_PIPELINE_UI_URL", "http://ui.test")
    monkeypatch.setenv("JUDGE_PIPELINE_REPORTS_URL", "http://reports.test")
    monkeypatch.delenv("JUDGE_PIPELINE_OUT", raising=False)
    monkeypatch.setattr(dagster_ui, "run_dagster_ui", lambda *_: None)
    (tmp_path / "var").mkdir(mode=0o700)
    MiniContest(tmp_path).lay(1, 1)
    yield tmp_path
    for server in served:
        server.server_close()


def start(*options: str) -> Result:
    port, reports_port = free_ports()
    return CliRunner().invoke(cli, ["ui", "--port", port, "--reports-port", reports_port, *options])


def free_ports() -> tuple[str, str]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as another:
        return str(one.getsockname()[1]), str(another.getsockname()[1])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "judges.example.org"])
def test_an_address_that_other_machines_reach_is_warned_of(home: Path, host: str) -> None:
    shown = start("--host", host)
    assert shown.exit_code == 0, shown.output
    assert f"Warning: the UI asks nobody for a password, and {host} is reached" in shown.stderr


@pytest.mark.parametrize("options", [(), ("--host", "127.0.0.1"), ("--host", "localhost"), ("--host", "::1")])
def test_loopback_which_is_the_default_is_not(home: Path, options: tuple[str, ...]) -> None:
    shown = start(*options)
    assert shown.exit_code == 0, shown.output
    assert "Warning" not in shown.stderr


@pytest.mark.skipif(os.name != "posix", reason="rights of others are those of POSIX")
def test_results_that_everybody_can_read_are_warned_of(home: Path) -> None:
    (home / "var").chmod(0o755)
    assert f"'chmod -R o-rwx {home / 'var'}' closes it" in start().stderr


def test_ports_that_are_the_same_are_refused_at_once(home: Path) -> None:
    shown = start("--port", "1", "--reports-port", "1")
    assert shown.exit_code == 2 and "1 is the UI's own port (--port)" in shown.stderr and shown.stdout == ""
    shown = CliRunner().invoke(cli, ["ui", "--port", "65535"])
    assert shown.exit_code == 0 and "65534" in shown.output, "the last port has none after it"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0.0.0.0"])
def test_a_port_that_another_program_has_is_refused_before_anything_starts(home: Path, host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = start("--host", host, "--port", str(port))
    assert shown.exit_code == 1 and shown.stdout == ""
    assert f"cannot listen on port {port} of {host}" in shown.stderr and "ui --port " in shown.stderr
    assert start("--host", host, "--port", str(port)).exit_code == 0, "it is free again"


def test_where_reports_are_served_is_noted_for_runs_of_a_terminal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JUDGE_PIPELINE_UI_URL", "JUDGE_PIPELINE_REPORTS_URL"):
        monkeypatch.setenv(name, "")  # what the command sets is taken back after the test
        monkeypatch.delenv(name)
    port, reports_port = free_ports()
    shown = CliRunner().invoke(cli, ["ui", "--port", port, "--reports-port", reports_port])
    assert shown.exit_code == 0, shown.output
    workspace = Workspace.find()
    assert reports_url(workspace, {}) == f"http://127.0.0.1:{reports_port}"
    assert ui_url(workspace, {}) == f"http://127.0.0.1:{port}"
