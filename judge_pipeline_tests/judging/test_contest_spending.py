"""What a contest has cost, as seen by a process while others write: no call is missed, and none is counted twice."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.opening import make_engine
from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredRequest
from judge_pipeline.judging.money import ContestSpending
from judge_pipeline.judging.request import sha256


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """Two writers take turns in both."""
    return str(request.param)


def record(number: int, cost_usd: float) -> Record:
    hash_ = sha256(str(number))
    call = CallRow("j", hash_, "a", 0, f"run {number}", 1, "2026-01-01T00:00:00Z", 1.0, cost_usd=cost_usd)
    return Record(StoredRequest(hash_, "t", "0" * 64, "{}"), call)


@pytest.mark.slow
def test_a_call_that_is_committed_late_is_not_missed(checkpoint: Checkpoint, store_url: str) -> None:
    """Numbers of calls must be seen in their order: who has read one reads on from it, and never looks back."""
    spending = ContestSpending(checkpoint, frozenset("a"), "j")

    def spent() -> float:
        spending.look_again()
        return spending.usd("own run", 0.0)

    assert spent() == 0.0
    first, second = Checkpoint(store_url), Checkpoint(store_url)
    has_its_number, may_commit = threading.Event(), threading.Event()

    def wait(_connection: Any) -> None:
        has_its_number.set()
        assert may_commit.wait(30)

    threads = [
        threading.Thread(target=lambda: first.record([record(1, 1.0)], also=wait)),
        threading.Thread(target=lambda: second.record([record(2, 2.0)])),
    ]
    threads[0].start()
    assert has_its_number.wait(30)
    threads[1].start()
    threads[1].join(1.0)
    assert spent() in (0.0, 2.0)  # whatever is there is read on from
    may_commit.set()
    for thread in threads:
        thread.join(60)
    assert spent() == 3.0
    assert spent() == 3.0
    first.close()
    second.close()


def test_an_older_version_s_index_goes(checkpoint: Checkpoint, store_url: str) -> None:
    engine = make_engine(store_url)
    checkpoint.record([record(1, 1.0)])
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP INDEX calls_totals")
        connection.exec_driver_sql("CREATE INDEX calls_by_request ON calls (judge, request_hash)")
    checkpoint.close()
    assert len(checkpoint.calls("j", sha256("1"))) == 1
    names = {index["name"] for index in sa.inspect(engine).get_indexes("calls")}
    assert names == {"calls_totals", "calls_by_attempt"}
    engine.dispose()
