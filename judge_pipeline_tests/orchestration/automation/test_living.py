"""Whether a run of a process still goes on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from judge_pipeline.orchestration.automation.living import (
    COMMAND_LINE,
    PROCESS_TAG,
    STARTED_BY_TAG,
    is_living,
    process_tag,
)


def test_a_run_of_the_daemon_is_taken_to_live_until_the_daemon_says_otherwise() -> None:
    assert is_living({})
    assert is_living({STARTED_BY_TAG: "watch_contests"})


@pytest.mark.slow
def test_a_run_of_a_command_lives_as_long_as_its_process() -> None:
    code = "from judge_pipeline.orchestration.automation.living import *; print(*process_tag().values(), flush=True)"
    command = [sys.executable, "-c", f"{code}; input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        tags = {STARTED_BY_TAG: COMMAND_LINE, PROCESS_TAG: child.stdout.readline().strip()}
        assert is_living(tags)
        child.kill()
        child.wait()
        assert not is_living(tags)


def test_another_process_with_its_number_is_not_taken_for_it() -> None:
    own = process_tag()[PROCESS_TAG]
    assert is_living({PROCESS_TAG: own})
    assert not is_living({PROCESS_TAG: own.rpartition(":")[0] + ":1"})


def test_a_command_of_before_or_of_another_host_is_not_waited_for() -> None:
    assert not is_living({STARTED_BY_TAG: COMMAND_LINE})
    assert not is_living({PROCESS_TAG: "another-host:1:1"})
    assert not is_living({PROCESS_TAG: "nonsense"})
