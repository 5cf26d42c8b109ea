"""The store: one answer a judge and hash, every try kept, totals from rows, several processes at once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from judge_pipeline.judging.checkpoint import opening
from judge_pipeline.judging.checkpoint import store as module
from judge_pipeline.judging.checkpoint.store import (
    CallRow,
    Checkpoint,
    Record,
    Spent,
    StoredJudgment,
    StoredRequest,
    utc_now,
)
from judge_pipeline.judging.checkpoint.tables import METADATA
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.request import sha256
from judge_pipeline_tests.forks import Forks


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """All of this holds over both."""
    return str(request.param)


def record(n: int, judge: str = "j", p_ac: float | None = 0.5, cost: float | None = 0.25, raw: str = "{}") -> Record:
    hash_ = sha256(str(n))
    call = CallRow(judge, hash_, f"a{n}", 0, "run", 1, utc_now(), 1500.0, 100, 20, None, cost, "stop", raw_text=raw)
    judgment = None
    if p_ac is not None:
        judgment = StoredJudgment(judge, hash_, f"a{n}", {"p_ac": p_ac}, None, "m", 1500.0)
    return Record(StoredRequest(hash_, "t.j2", "0" * 64, '{"model":"x"}'), call, judgment)


def test_what_is_recorded_is_answered_by_judge_and_hash(checkpoint: Checkpoint) -> None:
    checkpoint.record([record(1), record(2, p_ac=None), record(3, judge="other")])
    hashes = [sha256(str(n)) for n in range(5)]
    assert set(checkpoint.answered("j", hashes)) == {hashes[1]}
    assert checkpoint.answered("j", hashes)[hashes[1]].answer == {"p_ac": 0.5}
    assert set(checkpoint.answered("other", hashes)) == {hashes[3]}
    assert checkpoint.answered_among("j", hashes) == {hashes[1]}
    assert checkpoint.answered("j", []) == {}


def test_a_judgment_is_upserted_and_calls_are_appended(checkpoint: Checkpoint) -> None:
    checkpoint.record([record(1, p_ac=0.1)])
    checkpoint.record([record(1, p_ac=0.2)])
    hash_ = sha256("1")
    assert checkpoint.answered("j", [hash_])[hash_].answer == {"p_ac": 0.2}
    assert [call["call_id"] for call in checkpoint.calls("j", hash_)] == [1, 2]


def test_totals_come_from_all_calls_failed_ones_too(checkpoint: Checkpoint) -> None:
    checkpoint.record([record(1, p_ac=None), record(1), record(2, cost=None)])
    spent = checkpoint.spent("j", [sha256("1"), sha256("2"), sha256("3")])
    assert spent == {sha256("1"): Spent(2, 200, 40, 0.5, 3.0), sha256("2"): Spent(1, 100, 20, None, 1.5)}
    assert spent[sha256("1")] + spent[sha256("2")] == Spent(3, 300, 60, 0.5, 4.5)


def test_the_components_of_a_hash_are_kept(checkpoint: Checkpoint) -> None:
    checkpoint.record([record(1)])
    stored = checkpoint.request(sha256("1"))
    assert stored is not None
    assert stored.components == '{"model":"x"}'
    assert checkpoint.request(sha256("2")) is None


def test_text_that_no_store_takes_is_stored_clean(checkpoint: Checkpoint) -> None:
    checkpoint.record([record(1, raw="a\ud800b\0c")])
    assert checkpoint.calls("j", sha256("1"))[0]["raw_text"] == "a\ufffdb\ufffdc"


def test_it_is_sqlite_in_wal_mode_with_an_index_behind_each_lookup(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "checkpoint.sqlite"
    store = Checkpoint(f"sqlite:///{path}")
    store.record([record(1)])
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        for table in ("judgments", "calls"):
            plan = connection.execute(
                f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE judge = 'j' AND request_hash IN ('x', 'y')"
            ).fetchall()
            assert all("SEARCH" in row[3] and "INDEX" in row[3] for row in plan), plan
    store.close()
    assert store.answered_among("j", [sha256("1")])  # opens again
    store.close()


def test_more_hashes_than_one_query_takes(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CHUNK", 7)
    checkpoint.record([record(n) for n in range(50)])
    assert len(checkpoint.answered("j", [sha256(str(n)) for n in range(100)])) == 50


WRITES = """
import sys
from judge_pipeline.judging.checkpoint.store import *
from judge_pipeline.judging.request import sha256
url, first = sys.argv[1], int(sys.argv[2])
store = Checkpoint(url)
for n in (n for pair in ((n, 0) for n in range(first, first + 40)) for n in pair):  # all upsert number 0
    call = CallRow("j", sha256(str(n)), f"a{n}", 0, "run", 1, utc_now(), 1.0)
    judgment = StoredJudgment("j", sha256(str(n)), f"a{n}", {"p_ac": 0.5}, None, "m", 1.0)
    store.record([Record(StoredRequest(sha256(str(n)), "t", "0", "{}"), call, judgment)])
store.close()
"""


@pytest.mark.slow
def test_processes_write_at_once_and_lose_nothing(store_url: str, forks: Forks, tmp_path: Path) -> None:
    url = store_url
    processes = [forks.start(WRITES, url, str(1 + 100 * n), out=tmp_path / f"{n}") for n in range(4)]
    assert [process.wait(60) for process in processes] == [0, 0, 0, 0]
    store = Checkpoint(url)
    assert len(store.answered("j", [sha256(str(n)) for n in range(500)])) == 161
    assert len(store.calls("j", sha256("0"))) == 160
    store.close()


@pytest.mark.slow
def test_who_reads_on_from_the_last_call_misses_none_that_others_append_meanwhile(
    store_url: str, forks: Forks, tmp_path: Path
) -> None:
    processes = [forks.start(WRITES, store_url, str(1 + 100 * n), out=tmp_path / f"{n}") for n in range(3)]
    store, seen, last = Checkpoint(store_url), 0, 0
    writing = True
    while writing:
        writing = any(process.poll() is None for process in processes)  # before the look: the last one sees all
        for call_id, *_ in store.costs(last):
            seen, last = seen + 1, call_id
    store.close()
    assert seen == 3 * 80


def test_the_same_statements_are_postgresql() -> None:
    dialect = postgresql.dialect()
    upsert = module._INSERTS["postgresql"].judgments
    assert "ON CONFLICT (judge, request_hash) DO UPDATE" in str(upsert.compile(dialect=dialect))
    for table in METADATA.sorted_tables:
        assert "CREATE TABLE IF NOT EXISTS" in str(
            sa.schema.CreateTable(table, if_not_exists=True).compile(dialect=dialect)
        )


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("not a url", "not a database URL"),
        ("mysql://u:p@h/d", "must be SQLite or PostgreSQL, not 'mysql'"),
        ("sqlite:////proc/nowhere/checkpoint.sqlite", "cannot be"),
    ],
)
def test_a_store_that_cannot_be_used_says_why(url: str, said: str) -> None:
    with pytest.raises(JudgingError, match=said):
        Checkpoint(url).answered_among("j", ["h"])


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.sqlite"
    path.write_text("this is not a database, " * 100)
    with pytest.raises(JudgingError, match=r"checkpoint\.sqlite cannot be opened: file is not a database"):
        Checkpoint(f"sqlite:///{path}").answered_among("j", ["h"])


@pytest.mark.parametrize("damage", ["header", "pages"])
def test_a_damaged_store_is_named_with_the_remedy(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "checkpoint.sqlite"
    store = Checkpoint(f"sqlite:///{file}")
    store.record([record(n) for n in range(200)])
    store.close()
    content = file.read_bytes()
    start = 0 if damage == "header" else 4096
    file.write_bytes(content[:start] + bytes((byte * 7 + 13) % 256 for byte in content[start:]))
    with pytest.raises(JudgingError, match=r"checkpoint\.sqlite cannot be (opened|read).*backup"):
        store.answered("j", [sha256("1")])
    store.close()


def test_a_store_that_is_whole_but_cannot_be_used_is_not_to_be_moved_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "BUSY_TIMEOUT_SECONDS", 0.1)
    file = tmp_path / "checkpoint.sqlite"
    held = sqlite3.connect(file)
    held.execute("BEGIN EXCLUSIVE")
    with pytest.raises(JudgingError, match=r"cannot be opened: database is locked\. Another program holds it") as one:
        Checkpoint(f"sqlite:///{file}").answered("j", ["h"])
    held.close()
    (tmp_path / "folder").mkdir()
    with pytest.raises(JudgingError, match=r"unable to open.*may read and write it.*do not move it away") as other:
        Checkpoint(f"sqlite:///{tmp_path / 'folder'}").answered("j", ["h"])
    assert "ask everything anew" not in str(one.value) + str(other.value)
