"""``judge-pipeline ui`` over a workspace, as a process of its own: for tests, measurements and screenshots."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from judge_pipeline_tests.killing import kill_group

_CHECKOUT = Path(__file__).resolve().parent.parent
_SECONDS_TO_START = 300


@contextmanager
def served_ui(home: Path, out: Path | None = None, *, reports_port: int | None = None) -> Iterator[tuple[str, str]]:
    """The addresses of the UI and of the reports, once the graph is loaded; all its processes are killed at the end.

    Args:
        home: the workspace.
        out: where it writes; ``var`` in it where it is not given.
        reports_port: where reports are served; a free port where it is not given.
    """
    port, reports = _free_port(), reports_port or _free_port()
    command = [
        sys.executable,
        "-m",
        "judge_pipeline.cli.main",
        "ui",
        "--port",
        str(port),
        "--reports-port",
        str(reports),
    ]
    where = out or home / "var"
    where.mkdir(parents=True, exist_ok=True)
    log = where / "ui.log"
    environment = os.environ | {"JUDGE_PIPELINE_HOME": str(home), "JUDGE_PIPELINE_OUT": str(where)}
    with log.open("wb") as said:
        server = subprocess.Popen(command, env=environment, stdout=said, stderr=said, start_new_session=True)
    try:
        deadline = time.monotonic() + _SECONDS_TO_START
        while b"Serving dagster-webserver" not in log.read_bytes():
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the UI did not start: {log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}", f"http://127.0.0.1:{reports}"
    finally:
        kill_group(server.pid)  # asked to, they take ten seconds to end
        server.wait()


def quick_instance_settings() -> dict[str, Any]:
    """The checkout's ``dagster.yaml``, with a queue of runs that is looked at each second, not each five."""
    settings: dict[str, Any] = yaml.safe_load((_CHECKOUT / "dagster.yaml").read_text(encoding="utf-8"))
    queue = {"module": "dagster._core.run_coordinator", "class": "QueuedRunCoordinator"}
    return settings | {"run_coordinator": queue | {"config": {"dequeue_interval_seconds": 1}}}


def lay_instance_settings(home: Path) -> None:
    """Put them into a workspace."""
    (home / "dagster.yaml").write_text(yaml.safe_dump(quick_instance_settings()), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
