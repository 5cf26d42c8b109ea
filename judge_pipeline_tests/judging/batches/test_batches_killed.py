"""A process killed with SIGKILL between any two steps of a submission or a collection, and another that goes on."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from judge_pipeline.judging.batches.store import BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline_tests.forks import Fork, Forks
from judge_pipeline_tests.judging.loopback_batches import HttpFault

SCRIPT = """
import sys, json, os, signal
from pathlib import Path
import pandas as pd
from judge_pipeline.judging.batches import store as batch_store
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.settings import LitellmJudge
settings, requests, url, prompts, where = sys.argv[1:]
name, _, moment = where.partition(":")
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
if name:
    real = getattr(batch_store.BatchStore, name)
    def wrapped(self, *args, **kwargs):
        state = kwargs.get("state")
        if moment == "before" or moment == f"before-{state}":
            die()
        result = real(self, *args, **kwargs)
        if moment == "after" or moment == f"after-{state}":
            die()
        return result
    setattr(batch_store.BatchStore, name, wrapped)
context = JudgingContext({}, Path("."), Path(prompts), contest="c")
judge, table = LitellmJudge(**json.loads(settings)), pd.read_parquet(requests)
result = judge_requests("j", judge, table, checkpoint=Checkpoint(url), context=context)
print(result.n_waiting, len(result.outputs))
"""

SUBMITTING = [
    "prepare:before", "prepare:after", "step:before-creating", "step:after-creating", "step:before-submitted",
    "step:after-submitted",
]  # fmt: skip
COLLECTING = ["collect:before", "collect:after", "note:before"]


class Processes:
    """Runs the judge in processes of their own."""

    def __init__(
        self, settings: Any, table: Any, checkpoint: Checkpoint, prompts: Path, folder: Path, forks: Forks
    ) -> None:
        requests = folder / "requests.parquet"
        table.to_parquet(requests)
        values = settings.model_dump(mode="json")
        self._arguments = [json.dumps(values), str(requests), checkpoint.url, str(prompts)]
        self._folder, self._forks = folder, forks

    def start(self, die_at: str = "") -> Fork:
        return self._forks.start(SCRIPT, *self._arguments, die_at, out=self._folder / "printed")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """All of this holds over both."""
    return str(request.param)


@pytest.fixture
def processes(
    loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint, context: JudgingContext, tmp_path: Path,
    forks: Forks,
) -> Processes:  # fmt: skip
    settings = loopback_judge(batch={"max_requests": 4})
    return Processes(settings, make_requests(6), checkpoint, context.prompts_dir, tmp_path, forks)


def _age(checkpoint: Checkpoint) -> None:
    """As if the crash were long ago: what the provider does not list by then was never started."""
    with checkpoint.writing() as connection:
        connection.execute(sa.text("UPDATE batches SET creating_at = '2026-01-01T00:00:00Z' WHERE state = 'creating'"))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("where", [*SUBMITTING, *COLLECTING])
def test_a_kill_neither_loses_a_batch_nor_submits_one_twice(
    provider: Any, processes: Processes, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext, where: str,
) -> None:  # fmt: skip
    settings, table = loopback_judge(batch={"max_requests": 4}), make_requests(6)
    context = replace(context, contest="c")
    if where in COLLECTING:
        judge_requests("j", settings, table, checkpoint=checkpoint, context=context)
        provider.batches.finish()
    dying = processes.start(where)
    assert dying.wait(120) == -signal.SIGKILL
    _age(checkpoint)
    for _ in range(3):
        result = judge_requests("j", settings, table, checkpoint=checkpoint, context=context)
        provider.batches.finish()
    assert (len(result.outputs), len(result.failures), result.n_waiting) == (6, 0, 0)
    assert max(Counter(provider.batches.custom_ids()).values()) == 1  # nothing was paid for twice
    assert result.n_calls == 6
    assert provider.batches.files == {}  # also what a dead process had uploaded
    assert {row.state for row in BatchStore(checkpoint).batches()} <= {"collected", "dropped"}


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("operation", ["upload", "create"])
@pytest.mark.parametrize("acted", [False, True])
def test_a_kill_while_a_call_is_under_way(
    provider: Any, processes: Processes, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext, operation: str, acted: bool,
) -> None:  # fmt: skip
    provider.batches.faults[operation] = [HttpFault(delay=1.5, after=acted)]
    dying = processes.start()
    until = time.monotonic() + 60
    while operation not in provider.batches.calls and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(dying.pid, signal.SIGKILL)
    dying.wait(60)
    time.sleep(2.0)  # the server acts after the process has died
    _age(checkpoint)
    settings, table, context = (
        loopback_judge(batch={"max_requests": 4}),
        make_requests(6),
        replace(context, contest="c"),
    )
    for _ in range(3):
        result = judge_requests("j", settings, table, checkpoint=checkpoint, context=context)
        provider.batches.finish()
    assert (len(result.outputs), result.n_waiting, result.n_calls) == (6, 0, 6)
    assert max(Counter(provider.batches.custom_ids()).values()) == 1
    assert provider.batches.files == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_submitted_in_one_process_collected_in_another(provider: Any, processes: Processes) -> None:
    first = processes.start()
    assert (first.wait(120), first.printed().split()) == (0, ["6", "0"])
    provider.batches.finish()
    second = processes.start()
    assert (second.wait(120), second.printed().split()) == (0, ["0", "6"])
    assert provider.batches.calls.count("create") == 2
