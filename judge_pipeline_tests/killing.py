"""Killing a process and all that it started, as when a machine goes, and leaving nothing of them behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_SECONDS = 60.0


def kill_group(group: int) -> None:
    """SIGKILL to all processes of a group, until none is at work.

    Let be are those that tidy behind multiprocessing: they unlink the semaphores that the others leave in ``/dev/shm``,
    and then end by themselves. Killed with the rest, they left five for each run that Dagster had started.
    """
    if not Path("/proc/self/stat").is_file():
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        return
    deadline = time.monotonic() + _SECONDS
    while at_work := [pid for pid in processes_of(group) if not _tidies(pid)]:
        assert time.monotonic() < deadline, f"processes {at_work} do not die"
        for pid in at_work:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def processes_of(group: int) -> list[int]:
    """The processes of a group but those that have ended and are not yet waited for."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                state, _, of, *_ = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                if int(of) == group and state != "Z":
                    found.append(int(folder.name))
    return found


def command_of(pid: int) -> str:
    """How the process was started; "" where it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def _tidies(pid: int) -> bool:
    return "_tracker import main" in command_of(pid)
