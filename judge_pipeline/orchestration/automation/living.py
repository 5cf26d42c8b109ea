"""Whether a run still goes on that was made within a command, or within another run.

Dagster watches over the processes that its daemon starts. A command that was killed leaves its run "started" for ever,
and what waits for such a run would wait as long.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path

PROCESS_TAG = "judge_pipeline/process"
"""Tag of a run that is made within a process: host, process id, and when the process started."""

STARTED_BY_TAG = "judge_pipeline/started_by"
COMMAND_LINE = "command line"


def process_tag() -> dict[str, str]:
    """The tag of a run that this process makes."""
    return {PROCESS_TAG: f"{_host()}:{os.getpid()}:{_started(os.getpid())}"}


def with_own_process(tags: Mapping[str, str]) -> dict[str, str]:
    """What is to be changed in the tags of a run that is started in a process of its own.

    Who makes a command's run again in the UI gives the new one its tags, and with them a process that has ended.
    """
    found = {PROCESS_TAG: ""} if PROCESS_TAG in tags else {}
    return found | ({STARTED_BY_TAG: ""} if tags.get(STARTED_BY_TAG) == COMMAND_LINE else {})


def has_died(tags: Mapping[str, str]) -> bool:
    """Whether the process that made a run is known to be gone: it is noted, is of this host, and is not there."""
    return tags.get(PROCESS_TAG, "").partition(":")[0] == _host() and not _is_there(tags[PROCESS_TAG])


def is_living(tags: Mapping[str, str]) -> bool:
    """Whether a run that is not marked as ended may still go on.

    One that was made within another process does as long as that lives on this host. Of one on another host nothing can
    be known, and it is not waited for: judging takes turns by itself (``one_at_a_time``).
    """
    if not tags.get(PROCESS_TAG) and tags.get(STARTED_BY_TAG) != COMMAND_LINE:
        return True
    return _is_there(tags.get(PROCESS_TAG, ""))


def _is_there(process: str) -> bool:
    host, _, rest = process.partition(":")
    number, _, started = rest.partition(":")
    if host != _host() or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, and is another user's
    return started == _started(int(number))


def _host() -> str:
    return "".join(c if c.isalnum() or c in "-." else "-" for c in socket.gethostname())


def _started(number: int) -> str:
    """When the process started, in the kernel's ticks: a number may be given to another process. Linux alone says."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
