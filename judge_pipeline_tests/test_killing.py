"""A group of processes that is killed leaves no semaphore behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge_pipeline_tests.killing import kill_group, processes_of

_PROGRAM = """
import multiprocessing, subprocess, sys
event = multiprocessing.get_context("spawn").Event()
subprocess.Popen(["sleep", "600"])
print(event._flag._semlock.name, flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="semaphores are files there on Linux only")
def test_a_group_that_is_killed_leaves_no_process_and_no_semaphore() -> None:
    command = [sys.executable, "-c", _PROGRAM]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        semaphore = Path("/dev/shm", f"sem.{process.stdout.readline().strip().removeprefix('/')}")
        assert semaphore.exists()
        assert len(processes_of(process.pid)) == 3, "itself, what it started, and who tidies"
        kill_group(process.pid)
        assert process.wait(30) == -9
    deadline = time.monotonic() + 60
    while semaphore.exists() or processes_of(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)
