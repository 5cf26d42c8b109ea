"""Run one command once for each test, with limits, and print what each run took.

A process of its own, small and free of other packages: the peak memory that the kernel reports for a child counts
from the parent's at the moment of the fork, so a parent with pandas loaded would make every program look large. It is
started as ``python -I -S launcher.py``, reads one JSON object from standard input and prints one JSON list:

    {"command": [...], "folder": "...", "cpu_s": 2.0, "wall_s": 60.0, "address_space_mb": 320 or null,
     "tests": [{"stdin": path, "stdout": path, "stderr": path}, ...]}
    -> [{"cpu_ms": int, "memory_kb": int, "exit_code": int or null, "signal": int or null, "timed_out": bool}, ...]

No shell is involved: the command is executed as the list that it is.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import sys
import time
from typing import Any

_LARGEST_OUTPUT_BYTES = 16 * 1024 * 1024
_POLL_S = 0.002


def run_all(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the job's command on each of its tests, one after the other."""
    return [_run(job, test) for test in job["tests"]]


def _run(job: dict[str, Any], test: dict[str, str]) -> dict[str, Any]:
    child = os.fork()
    if child == 0:
        _become(job, test)
    deadline = time.monotonic() + job["wall_s"]
    timed_out = False
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            break
        if not timed_out and time.monotonic() > deadline:
            timed_out = True
            os.kill(child, signal.SIGKILL)
        time.sleep(_POLL_S)
    code = os.waitstatus_to_exitcode(status)
    return {
        "cpu_ms": round((usage.ru_utime + usage.ru_stime) * 1000),
        "memory_kb": usage.ru_maxrss,
        "exit_code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "timed_out": timed_out,
    }


def _become(job: dict[str, Any], test: dict[str, str]) -> None:
    """In the child: set the limits, redirect the three streams, and become the command. Never returns."""
    try:
        seconds = math.ceil(job["cpu_s"])
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_OUTPUT_BYTES, _LARGEST_OUTPUT_BYTES))
        if job["address_space_mb"] is not None:
            size = job["address_space_mb"] * 1024 * 1024
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        os.dup2(os.open(test["stdin"], os.O_RDONLY), 0)
        os.dup2(os.open(test["stdout"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 1)
        os.dup2(os.open(test["stderr"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        os.chdir(job["folder"])
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": job["folder"]}
        os.execve(job["command"][0], job["command"], environment)
    finally:
        # Reached only if something above failed: leave at once, without the parent's clean-up.
        os._exit(127)


if __name__ == "__main__":
    json.dump(run_all(json.load(sys.stdin)), sys.stdout)
