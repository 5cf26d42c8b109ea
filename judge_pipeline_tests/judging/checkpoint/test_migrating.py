"""A store of an older version, in which every call had to have a latency, is brought up to date and loses nothing."""

from __future__ import annotations

from contextlib import closing

import pytest
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.opening import make_engine
from judge_pipeline.judging.checkpoint.rows import CallRow, Record
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS, METADATA

N = 50


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """All of this holds over both."""
    return str(request.param)


@pytest.fixture
def old_store_url(store_url: str) -> str:
    """Calls of a run, and lines of a batch that were given 0 ms; one call of the run really took 0."""
    old = sa.MetaData()
    for table in METADATA.sorted_tables:
        table.to_metadata(old)
    old.tables["calls"].c.latency_ms.nullable = False
    engine = make_engine(store_url)
    old.create_all(engine)
    with engine.begin() as connection:
        for n in range(N):
            values = {
                "judge": "j", "request_hash": f"{n:064x}", "attempt_id": f"a{n}", "repeat_index": 0, "try_number": 1,
                "started_at": "2026", "raw_text": "é" * n, "run_id": "batch" if n % 5 == 0 else "run",
                "latency_ms": 0.0 if n % 5 == 0 or n == 1 else 1.5 * n, "call_id": 10 + 3 * n,
            }  # fmt: skip
            connection.execute(sa.insert(old.tables["calls"]).values(**values))
        batch = {"token": "batch", "judge": "j", "contest": "c", "state": "collected", "n_requests": 1, "discount": 0.5}
        further = {"completion_hours": 24.0, "sent": "{}", "prepared_at": "2026", "n_collections": 1}
        connection.execute(sa.insert(old.tables["batches"]).values(**batch, **further, files_deleted=True))
    engine.dispose()
    return store_url


def test_untimed_lines_of_batches_become_null_and_all_else_stays(old_store_url: str) -> None:
    for _ in range(2):
        with closing(Checkpoint(old_store_url)) as store, store.reading() as connection:
            rows = connection.execute(sa.select(CALLS).order_by(CALLS.c.call_id)).mappings().all()
            indexes = {index["name"] for index in sa.inspect(connection).get_indexes("calls")}
        assert [row["call_id"] for row in rows] == [10 + 3 * n for n in range(N)]
        expected = [None if n % 5 == 0 else 0.0 if n == 1 else 1.5 * n for n in range(N)]
        assert [row["latency_ms"] for row in rows] == expected
        assert [row["raw_text"] for row in rows] == ["é" * n for n in range(N)]
        assert {"calls_totals", "calls_by_attempt"} <= indexes
    with closing(Checkpoint(old_store_url)) as store:
        store.record([Record(None, CallRow("j", "f" * 64, "a", 0, "batch", 1, "2026", None))])
        (row,) = store.calls("j", "f" * 64)
        assert row["latency_ms"] is None
        spent = store.spent("j", ["f" * 64, f"{2:064x}"])
    assert spent["f" * 64].seconds == 0.0 and spent[f"{2:064x}"].seconds == pytest.approx(0.003)


def test_a_user_who_may_not_change_the_table_is_told_who_can(
    store_kind: str, old_store_url: str, request: pytest.FixtureRequest
) -> None:
    if store_kind == "sqlite":
        pytest.skip("a file has no users")
    from judge_pipeline.judging.failures import JudgingError

    server = request.getfixturevalue("postgresql_server")
    database = sa.make_url(old_store_url).database
    server.execute(database, "CREATE ROLE reader LOGIN PASSWORD 'reader'")
    try:
        server.execute(database, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO reader")
        url = sa.make_url(old_store_url).set(username="reader", password="reader")
        with pytest.raises(JudgingError, match="let the user who made it run"):
            Checkpoint(url.render_as_string(hide_password=False)).longest_answer("j")
        Checkpoint(old_store_url).longest_answer("j")
        assert Checkpoint(url.render_as_string(hide_password=False)).longest_answer("j") is None
    finally:
        server.execute(database, "DROP OWNED BY reader")
        server.execute(database, "DROP ROLE reader")
