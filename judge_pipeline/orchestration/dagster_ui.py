"""Running Dagster's webserver and daemon over a workspace, in this process, until it is stopped."""

from __future__ import annotations

import logging
import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge_pipeline.orchestration.instance import dagster_environment
from judge_pipeline.settings import Workspace

_MODULES = {
    "dagster_webserver": "judge_pipeline.orchestration.guarded_dagster_webserver",
    "dagster._daemon": "judge_pipeline.orchestration.quiet_dagster_daemon",
}
"""What Dagster starts beside itself -> what is started in its place."""


def run_dagster_ui(workspace: Workspace, host: str, port: int) -> None:
    """Run the UI and the daemon; returns when both are stopped (Ctrl-C).

    The environment of this process is theirs, and that of every run that they start.

    Args:
        workspace: whose graph is loaded.
        host: address to listen on.
        port: port to listen on.
    """
    from dagster._cli.dev import dev_command

    os.environ |= dagster_environment(workspace)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell has Ctrl-C ignored in what it starts in the background, and Dagster would take SIGTERM alike.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    logging.getLogger("dagster").addFilter(_is_no_advice_on_the_file)
    with _guarded_webserver(), warnings.catch_warnings():
        # Dagster would advise on every start to use a command of another package.
        warnings.filterwarnings("ignore", message="Function `dev_command` is superseded")
        dev_command.main(
            [*_target(workspace.config_dir.parent), "--host", host, "--port", str(port)], standalone_mode=False
        )


@contextmanager
def _guarded_webserver() -> Iterator[None]:
    """Dagster offers no way to put anything before its webserver, so another module is given to the process."""
    import dagster._cli.dev

    dev: Any = dagster._cli.dev
    start = dev.open_ipc_subprocess

    def start_guarded(command: Sequence[str], **options: Any) -> Any:
        return start(_guarded(command), **options)

    dev.open_ipc_subprocess = start_guarded
    try:
        yield
    finally:
        dev.open_ipc_subprocess = start


def _guarded(command: Sequence[str]) -> list[str]:
    """The command of one of Dagster's processes, with the webserver behind its guard.

    Raises:
        RuntimeError: it is none that is known, and could be a webserver that answers everybody.
    """
    match command:
        case [python, "-m", module, *options] if module in _MODULES:
            return [python, "-m", _MODULES[module], *options]
        case _:
            raise RuntimeError(f"Dagster starts {' '.join(command[:3])}, which is unknown here: is it another version?")


def _is_no_advice_on_the_file(record: logging.LogRecord) -> bool:
    """Dagster says that it does not use the dagster.yaml of the working folder; it does: a copy of it."""
    return "Found a dagster instance configuration value" not in record.getMessage()


def _target(home: Path) -> list[str]:
    file = home / "workspace.yaml"
    return ["--workspace", str(file)] if file.is_file() else ["--module-name", "judge_pipeline.definitions"]
