"""Sessions that a PostgreSQL server ends: what was cut is done again, once, and locks are taken again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from judge_pipeline.judging.answer_rates import answer_rates
from judge_pipeline.judging.batches.store import BatchRequest, BatchRow, BatchStore, TakenError
from judge_pipeline.judging.checkpoint import lock as module
from judge_pipeline.judging.checkpoint import opening, outage
from judge_pipeline.judging.checkpoint.lock import StoreLocks, held_in_store, store_locks, wait_until_held
from judge_pipeline.judging.checkpoint.opening import StoreAwayError, make_engine
from judge_pipeline.judging.checkpoint.rows import CallRow, StoredJudgment, StoredRequest
from judge_pipeline.judging.checkpoint.store import Checkpoint, Record
from judge_pipeline.judging.checkpoint.stored_rows import read_calls, read_judgments
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.kept_judgments import kept_judgments, requests_about
from judge_pipeline.judging.render_memo import Rows, remembered_hashes, rendered
from judge_pipeline.judging.request import sha256
from judge_pipeline.judging.settled import settled_failures
from judge_pipeline.judging.versions import stored_versions
from judge_pipeline_tests.postgresql import PostgresqlServer

pytestmark = pytest.mark.slow

END_ITSELF = sa.text("SELECT pg_terminate_backend(pg_backend_pid())")


@pytest.fixture
def url(postgresql_server: PostgresqlServer) -> str:
    return postgresql_server.new_database()


@pytest.fixture
def checkpoint(url: str) -> Iterator[Checkpoint]:
    with closing(Checkpoint(url)) as store:
        yield store


def record(n: int) -> Record:
    hash_ = sha256(str(n))
    call = CallRow("j", hash_, f"a{n}", 0, "run", 1, "2026-01-01T00:00:00Z", 1.0, cost_usd=0.25)
    judgment = StoredJudgment("j", hash_, f"a{n}", {"p_ac": 0.5}, None, "m", 1.0)
    return Record(StoredRequest(hash_, "t", "0" * 64, "{}"), call, judgment)


def batch(token: str, *numbers: str) -> tuple[BatchRow, list[BatchRequest]]:
    """A batch that is to be prepared, and its requests."""
    at = {"prepared_at": "2026-01-01T00:00:00Z", "completion_hours": 24.0, "discount": 0.5, "sent": "{}"}
    counts = {"n_requests": len(numbers), "n_collections": 0, "files_deleted": False, "set_aside_usd": 1.0}
    known = {"token": token, "judge": "j", "contest": "c", "state": "prepared"} | at | counts
    row = BatchRow(**{field.name: known.get(field.name) for field in fields(BatchRow)})
    return row, [BatchRequest(token, sha256(n), "j", f"a{n}", 0, 1, None, None) for n in numbers]


def keep_in_memo(checkpoint: Checkpoint, request_hash: str) -> None:
    rendered(Rows(pd.DataFrame({"n": [1]})), ["a1"], 1, lambda _: ([request_hash], 7), "", checkpoint)


def end_sessions(server: PostgresqlServer, url: str) -> None:
    """End all sessions of the database, as the server's end would."""
    name = url.rpartition("/")[2]
    server.execute("postgres", f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


def holders(server: PostgresqlServer, url: str) -> set[object]:
    """The sessions that hold a lock in the database."""
    of = f"(SELECT oid FROM pg_database WHERE datname = '{url.rpartition('/')[2]}')"
    query = f"SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = {of}"
    return {pid for (pid,) in server.execute("postgres", query)}


@pytest.mark.parametrize("committed", [False, True])
def test_a_transaction_that_is_cut_is_written_once(checkpoint: Checkpoint, committed: bool) -> None:
    """Whether or not the commit went through before the server could say so."""
    tries: list[bool] = []

    def cut(connection: sa.Connection) -> None:
        tries.append(committed)
        if len(tries) > 1:
            return
        if committed:
            connection.connection.commit()
        connection.execute(END_ITSELF)

    checkpoint.record([record(1), record(2)], also=cut)
    assert len(tries) == (1 if committed else 2)
    rows = [checkpoint.calls("j", sha256(str(n))) for n in (1, 2)]
    assert [len(found) for found in rows] == [1, 1]
    assert checkpoint.answered_among("j", [sha256("1"), sha256("2")]) == {sha256("1"), sha256("2")}


def test_a_read_that_is_cut_is_read_again(checkpoint: Checkpoint, postgresql_server: PostgresqlServer) -> None:
    checkpoint.record([record(1)])
    batches, (row, requests) = BatchStore(checkpoint), batch("t", "1")
    batches.prepare(row, requests, [])
    keep_in_memo(checkpoint, hash_ := sha256("1"))
    cut = list[bool]()

    @sa.event.listens_for(checkpoint._opened(), "before_cursor_execute")
    def end(_: sa.Connection, cursor: Any, *rest: object) -> None:
        if cut:
            cut.pop()
            postgresql_server.execute("postgres", f"SELECT pg_terminate_backend({cursor.connection.info.backend_pid})")

    settings = cast("Any", SimpleNamespace(limits=SimpleNamespace(max_tries=3)))
    reads: tuple[Callable[[], object], ...] = (
        lambda: len(checkpoint.calls("j", hash_)), lambda: len(list(checkpoint.costs(0))),
        lambda: checkpoint.spent_since("2026"), lambda: checkpoint.longest_answer("j"),
        lambda: checkpoint.hashes_of("j", "a1"), lambda: checkpoint.request(hash_) is not None,
        lambda: read_judgments(checkpoint, "j", [hash_]).answers,
        lambda: len(read_calls(checkpoint, "j", [hash_]).slots),
        lambda: settled_failures(checkpoint, "j", settings, [hash_]),
        lambda: remembered_hashes(checkpoint), lambda: batches.batches(only_open=True),
        lambda: batches.waiting("j", [hash_]), lambda: batches.set_aside_usd("c"),
        lambda: kept_judgments(checkpoint, [("j", hash_)]), lambda: requests_about(checkpoint, "a1"),
        lambda: answer_rates(checkpoint, "j", {"a1": hash_}), lambda: len(stored_versions(checkpoint, ["j"])),
    )  # fmt: skip
    for read in reads:
        whole = read()
        cut.append(True)
        assert read() == whole
        assert not cut


@pytest.mark.parametrize("committed", [False, True])
def test_a_step_of_a_batch_that_is_cut_is_taken_once(
    checkpoint: Checkpoint, postgresql_server: PostgresqlServer, committed: bool
) -> None:
    """Whether or not its commit went through; and of two who take a step, the second still learns that it is taken."""
    store, cut = BatchStore(checkpoint), list[bool]()

    @sa.event.listens_for(checkpoint._opened(), "commit")
    def end(connection: sa.Connection) -> None:
        if cut:
            cut.pop()
            session: Any = connection.connection.dbapi_connection
            if committed:
                session.commit()
                session.execute("SELECT 1")
            postgresql_server.execute("postgres", f"SELECT pg_terminate_backend({session.info.backend_pid}, 30000)")

    calls = [(record(n).call, record(n).judgment) for n in (1, 2)]
    first, second, third = batch("first", "1", "2"), batch("second", "3"), batch("third", "4")
    steps: tuple[Callable[[], object], ...] = (
        lambda: store.prepare(*first, [StoredRequest(sha256("1"), "t", "0" * 64, "{}")]),
        lambda: store.step("first", "prepared", state="creating", input_file_id="f", creating_at="2026"),
        lambda: store.step("first", "creating", state="submitted", batch_id="b", status=None),
        lambda: store.note("first", n_completed=2),
        lambda: store.collect("first", calls, {sha256("1"): "answered", sha256("2"): "failed"}, {"answered": 1}, None),
        lambda: store.prepare(*second, []), lambda: store.drop("second", "prepared", "why"),
        lambda: store.prepare(*third, []),
        lambda: store.step("third", "prepared", state="submitted", batch_id="c"),
        lambda: store.collect("third", [], {}, {}, "the provider lost it"),
        lambda: keep_in_memo(checkpoint, sha256("1")),
    )  # fmt: skip
    for step in steps:
        cut.append(True)
        step()
        assert not cut
    rows = {row.token: (row.state, row.batch_id, row.n_completed, row.error) for row in store.batches()}
    assert rows == {
        "first": ("collected", "b", 2, None), "second": ("dropped", None, None, "why"),
        "third": ("collected", "c", None, "the provider lost it"),
    }  # fmt: skip
    assert {request.outcome for request in store.requests_of("first")} == {"answered", "failed"}
    assert store.requests_of("second") == []
    assert [len(checkpoint.calls("j", sha256(str(n)))) for n in (1, 2)] == [1, 1]
    assert sha256("1") in remembered_hashes(checkpoint)
    for token, state in (("first", "collected"), ("second", "dropped")):
        with pytest.raises(TakenError):
            store.step(token, "prepared", state=state, error="of another")
    store.prepare(*batch("fourth", "4"), [])
    with pytest.raises(TakenError) as taken:
        store.prepare(*batch("fifth", "4", "5"), [])
    assert taken.value.request_hashes == {sha256("4")}


def test_what_always_ends_its_session_is_not_tried_for_ever(checkpoint: Checkpoint) -> None:
    tries: list[None] = []

    def cut(connection: sa.Connection) -> None:
        tries.append(None)
        connection.execute(END_ITSELF)

    with pytest.raises(StoreAwayError, match="cannot be written: terminating connection"):
        checkpoint.record([record(1)], also=cut)
    assert 1 < len(tries) < 10
    assert checkpoint.calls("j", sha256("1")) == []


def test_a_server_that_was_reached_is_waited_for_and_one_that_never_was_is_not(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_CONNECT_TIMEOUT_SECONDS", 2)
    began = time.monotonic()
    with pytest.raises(StoreAwayError, match="cannot be opened"):
        Checkpoint("postgresql://judge:secret@127.0.0.1:1/none").answered("j", ["h"])
    assert time.monotonic() - began < opening.GONE_SECONDS / 4
    monkeypatch.setattr(opening, "GONE_SECONDS", 1.0)
    assert checkpoint.answered("j", ["h"]) == {}
    nowhere = sa.create_engine("postgresql+psycopg://judge:secret@127.0.0.1:1/none")
    monkeypatch.setattr(checkpoint._opened(), "connect", nowhere.connect)
    began = time.monotonic()
    with pytest.raises(StoreAwayError, match="cannot be read") as raised:
        checkpoint.answered("j", ["h"])
    assert time.monotonic() - began >= 1.0
    assert "secret" not in str(raised.value)
    monkeypatch.setattr(opening, "GONE_SECONDS", 300.0)
    waits = threading.Timer(0.5, checkpoint.wait_no_more)
    waits.start()
    with pytest.raises(JudgingError, match="cannot be read"):
        checkpoint.answered("j", ["h"])
    assert time.monotonic() - began < 250


def test_a_server_that_refuses_is_not_waited_for_and_one_that_is_full_is(
    url: str, postgresql_server: PostgresqlServer, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after it was used: the password was changed, the database is gone, it is of another user."""
    name = url.rpartition("/")[2]
    users = {"full": "CONNECTION LIMIT 0 LOGIN", "barred": "NOLOGIN", "stranger": "LOGIN"}
    of = {user: url.replace("//judge:", f"//{user}_{name}:") for user in users}
    for user, what in users.items():
        postgresql_server.execute(
            "postgres", f"CREATE ROLE {user}_{name} {what} PASSWORD '{postgresql_server.password}'"
        )
    postgresql_server.execute("postgres", f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC")
    refused = {
        url.replace(postgresql_server.password, "changed"): "password authentication failed for user",
        f"{url}_none": "does not exist", of["barred"]: "is not permitted to log in",
        of["stranger"]: "permission denied for database", of["full"].replace("//full", "//nobody"): "failed for user",
    }  # fmt: skip
    engine = checkpoint._opened()
    for other, why in refused.items():
        monkeypatch.setattr(engine, "connect", make_engine(other).connect)
        with pytest.raises(JudgingError, match=why) as raised:
            checkpoint.answered("j", ["h"])
        assert type(raised.value) is JudgingError
        with pytest.raises(JudgingError, match=why), closing(StoreLocks(other, "")):
            pass
    monkeypatch.setattr(opening, "GONE_SECONDS", 0.1)
    postgresql_server.execute("postgres", f"GRANT CONNECT ON DATABASE {name} TO PUBLIC")
    monkeypatch.setattr(engine, "connect", make_engine(of["full"]).connect)
    with pytest.raises(StoreAwayError, match="too many connections"):
        checkpoint.answered("j", ["h"])
    monkeypatch.undo()
    postgresql_server.execute("postgres", f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    engine.dispose()
    with pytest.raises(JudgingError, match="read-only transaction") as raised:
        checkpoint.record([record(1)])
    assert type(raised.value) is JudgingError


@pytest.mark.parametrize("said", ["starting up", "shutting down", "not yet accepting connections", "in recovery mode"])
def test_a_server_that_starts_up_or_ends_is_waited_for(said: str) -> None:
    """As psycopg hands on what libpq was told before there was a connection: without an SQLSTATE."""
    heard = psycopg.OperationalError(
        f'connection to server at "db", port 5432 failed: FATAL:  the database system is {said}'
    )
    error = sa.exc.OperationalError("", {}, heard)
    assert isinstance(opening.unusable(opening.parsed_url("postgresql://db/x"), "read", error), StoreAwayError)


def test_a_run_waits_for_a_server_that_it_has_reached_also_where_it_opens_the_store_anew(
    url: str, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outage, "_AT_OPENINGS", threading.Event())
    checkpoint.record([record(1)])
    opened: list[None] = []

    def at_first_away(of: str) -> sa.Engine:
        opened.append(None)
        return make_engine("postgresql://judge:secret@127.0.0.1:1/none" if len(opened) == 1 else of)

    for where in (opening, module):
        monkeypatch.setattr(where, "make_engine", at_first_away)

    def read() -> None:
        with closing(Checkpoint(url)) as anew:
            assert len(anew.calls("j", sha256("1"))) == 1

    def lock() -> None:
        with held_in_store(url, "x", lambda: pytest.fail("nobody else holds it")):
            pass

    for opens in (read, lock):
        opened.clear()
        with pytest.raises(StoreAwayError):
            opens()
        assert len(opened) == 1
    outage.wait_at_openings()
    for opens in (read, lock):
        opened.clear()
        opens()
        assert len(opened) == 2


def test_a_connection_is_waited_for_where_all_are_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, held = f"sqlite:///{tmp_path / 'c.sqlite'}", ExitStack()
    few = sa.create_engine(url, pool_size=1, max_overflow=0, pool_timeout=0.01)
    monkeypatch.setattr(opening, "make_engine", lambda _: few)
    with held, closing(Checkpoint(url)) as checkpoint:
        held.enter_context(checkpoint.reading())
        monkeypatch.setattr(checkpoint, "wait_a_moment", lambda: False)
        with pytest.raises(StoreAwayError, match="cannot be read: all connections of this process to it are in use"):
            checkpoint.answered("j", ["h"])
        monkeypatch.setattr(checkpoint, "wait_a_moment", lambda: held.close() is None)
        assert checkpoint.answered("j", ["h"]) == {}


def test_a_lock_is_taken_again_before_who_waits_for_it_has_it(
    url: str, postgresql_server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LOOKS", 2.0)  # who waits tries more often
    waiting, entered = threading.Event(), threading.Event()

    def second() -> None:
        with held_in_store(url, "x", waiting.set):
            entered.set()

    thread = threading.Thread(target=second)
    with held_in_store(url, "x", lambda: pytest.fail("nobody else holds it")):
        thread.start()
        assert waiting.wait(30)
        before = holders(postgresql_server, url)
        end_sessions(postgresql_server, url)
        deadline = time.monotonic() + 60
        while not holders(postgresql_server, url) - before:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert not entered.is_set()
    assert entered.wait(30)
    thread.join()


@pytest.mark.parametrize("shard", [False, True])
def test_who_lost_a_lock_to_another_waits_for_it_before_asking_on(
    url: str, postgresql_server: PostgresqlServer, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, shard: bool
) -> None:
    """One lock, or those of a shard (shared ones, and its own)."""
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LOOKS", 600.0)  # so that the other comes first
    monkeypatch.setattr(module, "SECONDS_FOR_HOLDERS", 0.1)
    names = {"whole": True, "cut": True, "own": False} if shard else {"own": False}
    going_on = threading.Event()

    def ask_on() -> None:
        wait_until_held(checkpoint)
        going_on.set()

    with store_locks(url, "") as first, closing(StoreLocks(url, "")) as other:
        assert all(first.take(name, shared=shared) for name, shared in names.items())
        wait_until_held(checkpoint)
        assert not other.take("own", shared=False)
        end_sessions(postgresql_server, url)
        deadline = time.monotonic() + 60
        while not other.take("own", shared=False):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        thread = threading.Thread(target=ask_on)
        thread.start()
        assert not going_on.wait(1.5)
        other.give_back("own")
        assert going_on.wait(30)
        thread.join()
        assert not other.take("own", shared=False), "it is held again"


def test_a_session_that_only_the_server_takes_for_alive_gives_way(url: str) -> None:
    """Where the network was cut, the server holds the old connection's locks until it finds out, which takes hours."""
    with store_locks(url, "") as locks, closing(StoreLocks(url, "")) as other:
        assert locks.take("x", shared=False)
        cut_off, locks._connection = locks._connection, None
        deadline = time.monotonic() + 30
        while not locks.look():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert cut_off is not None and not other.take("x", shared=False)
        cut_off.invalidate()
        assert not other.take("x", shared=False), "it is the new connection that holds it"
