"""The run's process, the webserver, the daemon and then everything is killed with SIGKILL, with a judge half-way."""

from __future__ import annotations

import os
import signal
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.tables import JUDGE_OUTPUTS, JUDGE_REQUESTS
from judge_pipeline_tests.faults.running_system import RunningSystem
from judge_pipeline_tests.judging.conftest import Behaviour, valid
from judge_pipeline_tests.judging.test_cancel_from_ui import wait_for
from judge_pipeline_tests.orchestration.automation.loopback_receivers import webhook

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ui"),
    pytest.mark.timeout(600),
    pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="processes are looked for in /proc"),
]


class Doled:
    """A provider that answers so many requests and lets the others hang."""

    def __init__(self, system: RunningSystem, provider: Any) -> None:
        self.system, self.provider, self.left = system, provider, 0
        self.answered: Counter[str] = Counter()
        provider.behave = self.behave

    def behave(self, request: Any, n: int) -> Behaviour:
        if self.left <= 0:
            return Behaviour(body=valid().body, delay=600)
        self.left -= 1
        self.answered[str(request.body["messages"])] += 1
        return valid()

    def half_way(self, n: int) -> None:
        """Let n more requests be answered, and wait until they are stored, and a further one hangs."""
        before, stored = len(self.provider.requests), self.answered.total()
        self.left = n
        wait_for(lambda: len(self.provider.requests) > before + n, f"{n} answers")
        wait_for(lambda: self.system.n_stored() == stored + n, f"{n} answers to be stored")


def test_whatever_is_killed_nothing_is_lost_and_nothing_is_asked_twice(tmp_path: Path, provider: Any) -> None:
    with webhook() as hook:
        system = RunningSystem(tmp_path, provider.url, {"JUDGE_PIPELINE_WEBHOOK_URL": hook.url})
        doled = Doled(system, provider)
        requests = store_of(system.workspace).read(JUDGE_REQUESTS, "mini")
        with system.started():
            first = system.launch()
            doled.half_way(2)
            os.kill(system.process_of(first), signal.SIGKILL)
            system.reaches(first, "FAILURE")
            second = system.launch()
            doled.half_way(1)
            queued = system.launch()
            system.reaches(queued, "QUEUED")
            system.kill("dagster_webserver")
        with system.started():
            system.reaches(second, "FAILURE")
            doled.half_way(1)
            system.reaches(queued, "STARTED")
            system.kill("quiet_dagster_daemon")
        doled.left = len(requests)
        with system.started():
            system.reaches(queued, "FAILURE")
            last = system.launch()
            system.reaches(last, "SUCCESS")
            wait_for(lambda: len(told(hook)) >= 3, "what failed to be told")
        judged = store_of(system.workspace).read(JUDGE_OUTPUTS, "mini", "slow")
        assert sorted(judged["attempt_id"]) == sorted(requests["attempt_id"])
        assert set(doled.answered.values()) == {1}, "what was answered is never asked for again"
        assert len(doled.answered) == len(requests)
        with closing(Checkpoint(system.workspace.checkpoint_url)) as checkpoint:
            assert len(checkpoint.answered("slow", judged["request_hash"])) == len(requests)
        assert told(hook) == [first, second, queued]


def told(hook: Any) -> list[str]:
    return [run["run_id"] for body in hook.got for run in body["runs"]]
