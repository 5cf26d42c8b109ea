"""A command whose standard streams were left pointing elsewhere still says what went wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

_LOSES_ITS_STREAMS = """
import errno, os
from judge_pipeline.cli import main
def full(**_):
    for number in (1, 2):
        os.dup2(os.open("/dev/full", os.O_WRONLY), number)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a-table")
main.cli.main = full
main.main()
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /dev/full here")
def test_an_error_is_said_though_a_run_left_its_streams_on_a_full_disk() -> None:
    command = [sys.executable, "-c", _LOSES_ITS_STREAMS]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "Error: a-table: No space left on device\n")
