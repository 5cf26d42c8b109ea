"""The soak: several judges, faults of all kinds at 30%, the process killed with SIGKILL again and again.

A small one runs in the suite; JUDGE_PIPELINE_SOAK=5000 asks 5,000 requests of four judges over ten kills.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint.opening import make_engine
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.verification import verify
from judge_pipeline_tests.forks import Forks

FULL = int(os.environ.get("JUDGE_PIPELINE_SOAK", "0"))
N_REQUESTS = FULL or 600
KILLS = 10 if FULL else 4
JUDGES = ("soak-0", "soak-1", "soak-2", "soak-3")
IN_FLIGHT = 8
TIMEOUT_SECONDS = 2.0
CLASSES = {"rate_limit", "infrastructure", "truncated", "empty", "refusal", "invalid"}

SCRIPT = """
import sys, json, threading
from pathlib import Path
import pandas as pd
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.settings import LitellmJudge
judges, requests, url, prompts = sys.argv[1:]
checkpoint, table = Checkpoint(url), pd.read_parquet(requests)
context = JudgingContext({}, Path("."), Path(prompts))
def run(name, settings):
    judge_requests(name, LitellmJudge(**settings), table, checkpoint=checkpoint, context=context)
threads = [threading.Thread(target=run, args=item) for item in json.loads(judges).items()]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """All of this holds over both."""
    return str(request.param)


@pytest.mark.slow
@pytest.mark.timeout(3600 if FULL else 300)
def test_after_faults_and_kills_every_attempt_is_verified_or_failed_and_nothing_was_asked_twice(
    provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext, tmp_path: Path, forks: Forks,
) -> None:  # fmt: skip
    table = make_requests(N_REQUESTS // len(JUDGES))
    path = tmp_path / "requests.parquet"
    table.to_parquet(path)
    provider.fault(seed=20, share=0.3)
    behave = provider.behave
    provider.behave = lambda request, n: _late(behave(request, n), n)
    # The last judge goes through litellm; each judge is told apart in what it sends by its seed.
    settings = {
        judge: loopback_judge(
            transport="litellm" if judge == JUDGES[-1] else "direct", parameters={"seed": number}, send_schema=False,
            limits={
                "max_in_flight": IN_FLIGHT, "max_tries": 3, "backoff_seconds": 0.001,
                "timeout_seconds": TIMEOUT_SECONDS,
            },
        )
        for number, judge in enumerate(JUDGES)
    }  # fmt: skip
    arguments = [
        json.dumps({judge: each.model_dump(mode="json") for judge, each in settings.items()}), str(path),
        checkpoint.url, str(context.prompts_dir),
    ]  # fmt: skip
    stored: set[tuple[str, str]] = set()
    asked_again: list[tuple[str, str]] = []
    lost = 0
    seen = 0
    for kill in range(KILLS):
        process = forks.start(SCRIPT, *arguments, out=tmp_path / "printed")
        until = len(provider.requests) + N_REQUESTS // (KILLS + 2)
        while len(provider.requests) < until and process.poll() is None:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
        time.sleep(0.3)  # what the dead process had sent has arrived
        asked_again += _among(provider.requests[seen:], stored)
        seen = len(provider.requests)
        stored = _stored(checkpoint)
        lost_now = seen - _n_calls(checkpoint) - lost
        assert 0 <= lost_now <= len(JUDGES) * IN_FLIGHT, f"kill {kill + 1} lost {lost_now} calls"
        lost += lost_now

    def rest(judge: str) -> JudgingResult:
        return judge_requests(judge, settings[judge], table, checkpoint=checkpoint, context=context)

    with ThreadPoolExecutor(len(JUDGES)) as pool:
        results = dict(zip(JUDGES, pool.map(rest, JUDGES), strict=True))
    assert not asked_again + _among(provider.requests[seen:], stored)
    for result in results.values():
        judged, failed = list(result.outputs["attempt_id"]), list(result.failures["attempt_id"])
        assert sorted(judged + failed) == sorted(table["attempt_id"])  # none missing, none double
        assert verify(result.outputs, table[table["attempt_id"].isin(judged)]) == []
        assert set(result.failures["class"]) <= CLASSES
        assert (result.failures["text"] != "").all()
    assert len(provider.requests) - _n_calls(checkpoint) == lost <= KILLS * len(JUDGES) * IN_FLIGHT
    assert sum(result.n_calls for result in results.values()) == _n_calls(checkpoint)
    assert sum(len(result.outputs) for result in results.values()) > 0.8 * N_REQUESTS


def _late(behaviour: Any, n: int) -> Any:
    """So late that calls are under way whenever the process is killed; now and then later than anyone waits."""
    from dataclasses import replace

    if n % 50 == 7:
        return replace(behaviour, delay=3 * TIMEOUT_SECONDS)
    return replace(behaviour, delay=0.02, drip=TIMEOUT_SECONDS / 100 if n % 50 == 31 else 0.0)


def _key(seed: int, messages: list[dict[str, str]]) -> tuple[str, str]:
    return JUDGES[seed], messages[1]["content"]


def _among(requests: list[Any], stored: set[tuple[str, str]]) -> list[tuple[str, str]]:
    keys = [_key(request.body["seed"], request.body["messages"]) for request in requests]
    return [key for key in keys if key in stored]


def _stored(checkpoint: Checkpoint) -> set[tuple[str, str]]:
    """Judge and prompt of every stored answer, read past the engine."""
    import sqlalchemy as sa

    query = "SELECT components FROM judgments JOIN requests USING (request_hash)"
    engine = make_engine(checkpoint.url)
    with engine.connect() as connection:
        found = [json.loads(row[0]) for row in connection.execute(sa.text(query))]
    engine.dispose()
    keys = [_key(components["parameters"]["seed"], components["messages"]) for components in found]
    assert max(Counter(keys).values(), default=1) == 1
    return set(keys)


def _n_calls(checkpoint: Checkpoint) -> int:
    import sqlalchemy as sa

    engine = make_engine(checkpoint.url)
    with engine.connect() as connection:
        (n,) = connection.execute(sa.text("SELECT count(*) FROM calls")).one()
    engine.dispose()
    return int(n)
