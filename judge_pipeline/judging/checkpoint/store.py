"""The checkpoint: what is already paid for. A SQL store through SQLAlchemy Core, SQLite (WAL) by default.

Three tables. ``judgments`` holds one answer for each (judge, request hash), upserted. ``calls`` holds one row for each
try at a provider, appended and never changed. ``requests`` holds the components of each request hash, so that a hash
can be explained. A judgment and the call that brought it are committed in one transaction, before the answer counts.
State and totals are derived from these rows alone: a killed process leaves nothing to repair.

Where the store is PostgreSQL and its server is gone after it was opened, a connection is waited for (``GONE_SECONDS``),
and what was cut in the middle is done again where that does no harm: what ``read`` and ``write`` are given, and
``record``, which first looks whether the commit that was cut went through.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.checkpoint.many_rows import insert_rows
from judge_pipeline.judging.checkpoint.opening import (
    StoreAwayError,
    all_in_use,
    open_store,
    parsed_url,
    seconds_ahead,
    unusable,
)
from judge_pipeline.judging.checkpoint.outage import SECONDS_BETWEEN_TRIES, outage_of
from judge_pipeline.judging.checkpoint.rows import CallRow, Record, Spent, StoredJudgment, StoredRequest
from judge_pipeline.judging.checkpoint.same_file import copy_opened
from judge_pipeline.judging.checkpoint.tables import CALLS, JUDGMENTS, REQUESTS
from judge_pipeline.judging.checkpoint.turns import LONGEST_QUEUE_TURNS, moved_turns, take_turn
from judge_pipeline.judging.failures import FailureClass

__all__ = ["CallRow", "Checkpoint", "Record", "Spent", "StoredJudgment", "StoredRequest", "utc_now"]

_CHUNK = 5000
_MOST_CUTS = 3
"""So often one transaction is begun again when the server goes in its middle: more is the transaction's own doing."""

_ONE_WRITER = sa.select(sa.func.pg_advisory_xact_lock(7_218_903_115))
"""Lets transactions that append calls follow each other; SQLite has one writer anyhow."""

T = TypeVar("T")


class Checkpoint:
    """The store at a database URL. Threads and processes of a host may share it; where it is PostgreSQL, hosts, too."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None
        self._ahead = 0.0
        self._waits_no_more = threading.Event()

    def answered(self, judge: str, request_hashes: Iterable[str]) -> dict[str, StoredJudgment]:
        """The judge's stored judgments among the hashes, by hash (each lookup is by primary key)."""
        columns = (
            JUDGMENTS.c.request_hash, JUDGMENTS.c.attempt_id, JUDGMENTS.c.answer, JUDGMENTS.c.repair,
            JUDGMENTS.c.model, JUDGMENTS.c.latency_ms,
        )  # fmt: skip
        query = sa.select(*columns).where(JUDGMENTS.c.judge == judge)
        return {
            row[0]: StoredJudgment(judge, row[0], row[1], json.loads(row[2]), row[3], row[4], row[5])
            for row in self._by_hash(query, JUDGMENTS.c.request_hash, request_hashes)
        }

    def answered_among(self, judge: str, request_hashes: Iterable[str]) -> set[str]:
        """Those of the hashes that have a stored judgment, also by another process since this one began."""
        query = sa.select(JUDGMENTS.c.request_hash).where(JUDGMENTS.c.judge == judge)
        return {row[0] for row in self._by_hash(query, JUDGMENTS.c.request_hash, request_hashes)}

    def spent(self, judge: str, request_hashes: Iterable[str]) -> dict[str, Spent]:
        """What the judge's calls for each of the hashes took, failed and repaired tries included, over all runs."""
        query = (
            sa.select(
                CALLS.c.request_hash,
                sa.func.count(),
                sa.func.sum(CALLS.c.tokens_in),
                sa.func.sum(CALLS.c.tokens_out),
                sa.func.sum(CALLS.c.cost_usd),
                sa.func.sum(CALLS.c.latency_ms),
            )
            .where(CALLS.c.judge == judge)
            .group_by(CALLS.c.request_hash)
        )
        return {
            row[0]: Spent(row[1], row[2], row[3], row[4], (row[5] or 0.0) / 1000.0)
            for row in self._by_hash(query, CALLS.c.request_hash, request_hashes)
        }

    def calls(self, judge: str, request_hash: str) -> list[dict[str, Any]]:
        """Every try for one request, in order, as mappings of column to value."""
        query = sa.select(CALLS).where(CALLS.c.judge == judge, CALLS.c.request_hash == request_hash)
        return [dict(row._mapping) for row in self._rows(query.order_by(CALLS.c.call_id))]

    def costs(self, after_call_id: int) -> Iterator[tuple[int, str, str, str, float | None, FailureClass | None]]:
        """Call id, attempt, judge, asking, US dollars and error class of all calls after one, in their order."""
        wanted = ("call_id", "attempt_id", "judge", "run_id", "cost_usd", "error_class")
        query = sa.select(*(CALLS.c[name] for name in wanted)).where(CALLS.c.call_id > after_call_id)
        for row in self._rows(query.order_by(CALLS.c.call_id)):
            yield row[0], row[1], row[2], row[3], row[4], row[5]

    def spent_since(self, started_at: str) -> float:
        """US dollars of all calls that began at that time (UTC, ISO 8601) or later; those of unknown cost count 0."""
        query = sa.select(sa.func.sum(CALLS.c.cost_usd)).where(CALLS.c.started_at >= started_at)
        return float(self._rows(query)[0][0] or 0.0)

    def longest_answer(self, judge: str) -> int | None:
        """The most answer tokens that a call of the judge took; None where none is known."""
        query = sa.select(sa.func.max(CALLS.c.tokens_out)).where(CALLS.c.judge == judge)
        longest = self._rows(query)[0][0]
        return None if longest is None else int(longest)

    def take_turn(self, provider: str, now: float, seconds: float, longest_queue: int = LONGEST_QUEUE_TURNS) -> float:
        """When a call may start that keeps the provider busy for so many seconds; the next may start after it.

        A queue of turns that is longer than calls under way can make it (a minute, or ``longest_queue`` such turns) was
        written before a clock was set back, and is dropped; a warning says so.

        Args:
            provider: whose turns they are.
            now: seconds since 1970; no turn lies before it.
            seconds: until the next turn.
            longest_queue: turns that may be waited for at once by all who ask the provider.
        """

        def take(connection: sa.Connection) -> float:
            # Machines that share a store take their turns by its clock.
            return take_turn(connection, provider, now + self._ahead, seconds, longest_queue) - self._ahead

        # A turn that was taken in the moment in which the server went is lost, and costs the others that time.
        return self.write(take)

    def move_turns(self, provider: str, seconds: float) -> None:
        """Move the provider's next turn by so many seconds, later or earlier."""
        moved = moved_turns(provider, seconds)
        # Done twice in the moment in which the server goes, it costs a wait, or spares one.
        self.write(lambda connection: connection.execute(moved))

    def hashes_of(self, judge: str, attempt_id: str) -> list[str]:
        """The request hashes for which the judge was called on behalf of the attempt, the latest first."""
        query = (
            sa.select(CALLS.c.request_hash)
            .where(CALLS.c.attempt_id == attempt_id, CALLS.c.judge == judge)
            .group_by(CALLS.c.request_hash)
            .order_by(sa.func.max(CALLS.c.call_id).desc())
        )
        return [row[0] for row in self._rows(query)]

    def request(self, request_hash: str) -> StoredRequest | None:
        """The components of a hash; None where it was never asked."""
        query = sa.select(
            REQUESTS.c.request_hash, REQUESTS.c.template, REQUESTS.c.template_sha256, REQUESTS.c.components
        ).where(REQUESTS.c.request_hash == request_hash)
        rows = self._rows(query)
        return StoredRequest(*rows[0]) if rows else None

    def record(self, records: Sequence[Record], also: Callable[[sa.Connection], None] | None = None) -> None:
        """Commit the records in one transaction: requests once, calls appended, judgments upserted.

        Where the server goes before it has said that they are committed, it is looked for the first of the calls when
        it is back: a transaction is there as a whole or not at all, so nothing is written twice.

        Args:
            records: what tries left.
            also: called with the transaction before it is committed; what it raises undoes all of it. Where there are
                no records, it must find out itself whether a commit that was cut went through.
        """
        now = utc_now()
        requests = {q.request_hash: (*_REQUEST_VALUES(q), now) for q in (r.request for r in records) if q is not None}
        calls = [_clean(_CALL_VALUES(r.call)) for r in records]
        judgments = {
            (j.judge, j.request_hash): _judgment_row(j, now) for j in (r.judgment for r in records) if j is not None
        }
        was_tried = False

        def write(connection: sa.Connection) -> None:
            nonlocal was_tried
            if connection.dialect.name == "postgresql":
                # Numbers of calls are seen in their order: whoever reads on from one misses none (``costs``). And a
                # transaction that was cut is over once the next one has this lock.
                connection.execute(_ONE_WRITER)
            if was_tried and _is_there(connection, records[0].call):
                return
            was_tried = bool(records)
            of = _INSERTS[connection.dialect.name]
            insert_rows(connection, of.requests, _REQUEST_COLUMNS, list(requests.values()))
            insert_rows(connection, of.calls, _CALL_COLUMNS, calls)
            insert_rows(connection, of.judgments, _JUDGMENT_COLUMNS, list(judgments.values()))
            if also is not None:
                also(connection)

        self.write(write)

    def keep_requests(self, connection: sa.Connection, requests: Sequence[StoredRequest]) -> None:
        """Keep the components of requests within a transaction, before there is a call of theirs."""
        now = utc_now()
        rows = {request.request_hash: (*_REQUEST_VALUES(request), now) for request in requests}
        insert_rows(connection, _INSERTS[connection.dialect.name].requests, _REQUEST_COLUMNS, list(rows.values()))

    def save_opened_file(self, target: Path) -> None:
        """Copy all that the store holds to a new SQLite file, also where its own file was deleted or moved meanwhile.

        Raises:
            CheckpointLostError: nothing has the file open any more.
            OSError, sqlite3.Error: the target cannot be written.
        """
        copy_opened(self._opened(), target)

    def again(self, work: Callable[[], T]) -> T:
        """What the work comes to; it is done again where the server goes in its middle, so it must do no harm twice.

        Raises:
            JudgingError: the store cannot be used, or its server was gone for too long.
        """
        self._opened()  # a server that is not there to begin with is no cut
        for _ in range(_MOST_CUTS):
            try:
                return work()
            except StoreAwayError:
                if not self._may_come_back():
                    raise
        return work()

    def read(self, work: Callable[[sa.Connection], T]) -> T:
        """What the work comes to with a connection to read the store with; it is done again where that is cut."""

        def once() -> T:
            with self._connect() as connection:
                return work(connection)

        return self.again(once)

    def write(self, work: Callable[[sa.Connection], T]) -> T:
        """What the work comes to with a transaction, which is committed then; it is done again where that is cut.

        The work must do no harm where the commit went through before the server could say so.
        """

        def once() -> T:
            with self._begin() as connection:
                return work(connection)

        return self.again(once)

    def wait_no_more(self) -> None:
        """From now on, until it is closed, a server that is gone is an error at once: what waits is cancelled."""
        self._waits_no_more.set()

    def wait_a_moment(self) -> bool:
        """Wait between two tries; False where nothing is waited for any more."""
        return not self._waits_no_more.wait(SECONDS_BETWEEN_TRIES)

    def close(self) -> None:
        """Close the connections; the store can be used again afterwards."""
        self._waits_no_more.clear()
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None

    def _by_hash(self, query: Any, column: sa.Column[str], hashes: Iterable[str]) -> list[Any]:
        wanted = sorted(set(hashes))
        if not wanted:
            return []
        chosen = query.where(column.in_(sa.bindparam("hashes", expanding=True)))
        chunks = [wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK)]

        return self.read(lambda c: [row for chunk in chunks for row in c.execute(chosen, {"hashes": chunk})])

    def _rows(self, query: Any) -> list[Any]:
        return self.read(lambda connection: list(connection.execute(query)))

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """A connection to read the store with, for modules that keep further tables in it.

        Raises:
            JudgingError: the store cannot be read.
        """
        return self._connect()

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """A transaction, for modules that keep further tables in the store; committed when the block ends."""
        return self._begin()

    @contextmanager
    def _connect(self) -> Iterator[sa.Connection]:
        try:
            with self._connection("read") as connection:
                yield connection
        except sa.exc.DBAPIError as error:
            raise unusable(parsed_url(self.url), "read", error) from error

    @contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        try:
            with self._connection("written") as connection, connection.begin():
                yield connection
        except sa.exc.DBAPIError as error:
            raise unusable(parsed_url(self.url), "written", error) from error

    def _connection(self, what: str) -> sa.Connection:
        """A connection; where the store was opened before and its server is gone, once that is back."""
        engine = self._opened()

        def connect() -> sa.Connection:
            try:
                return engine.connect()
            except sa.exc.DBAPIError as error:
                raise unusable(engine.url, what, error) from error
            except sa.exc.TimeoutError:
                raise all_in_use(engine.url, what) from None

        return outage_of(self.url).reached(connect, self.wait_a_moment)

    def _may_come_back(self) -> bool:
        return not self._waits_no_more.is_set() and outage_of(self.url).goes_on()

    def _opened(self) -> sa.Engine:
        with self._lock:
            if self._engine is None:
                engine = outage_of(self.url).opened(lambda: open_store(self.url), self.wait_a_moment)
                self._ahead = seconds_ahead(engine)
                self._engine = engine
            return self._engine


def utc_now() -> str:
    """This instant in UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _clean(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(clean_text(value) if isinstance(value, str) else value for value in row)


def _judgment_row(j: StoredJudgment, now: str) -> tuple[Any, ...]:
    return _clean((j.judge, j.request_hash, j.attempt_id, json.dumps(j.answer), j.repair, j.model, j.latency_ms, now))


_REQUEST_COLUMNS = tuple(column.name for column in REQUESTS.columns)
_CALL_COLUMNS = tuple(column.name for column in CALLS.columns if column.name != "call_id")
_JUDGMENT_COLUMNS = tuple(column.name for column in JUDGMENTS.columns)
_REQUEST_VALUES = attrgetter(*_REQUEST_COLUMNS[:-1])  # the last is the time of writing
_CALL_VALUES = attrgetter(*_CALL_COLUMNS)


def _is_there(connection: sa.Connection, call: CallRow) -> bool:
    columns = CALLS.c
    own = sa.select(columns.call_id).where(
        columns.judge == call.judge, columns.request_hash == call.request_hash, columns.run_id == call.run_id,
        columns.try_number == call.try_number, columns.started_at == call.started_at,
    )  # fmt: skip
    return connection.execute(own.limit(1)).first() is not None


@dataclass(frozen=True)
class _Inserts:
    requests: sa.Insert
    calls: sa.Insert
    judgments: sa.Insert


def _insert(dialect: str) -> Any:
    inserts = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
    return inserts[dialect]


def _upsert(insert: Any) -> Any:
    kept = ("judge", "request_hash")
    values = {column.name: insert.excluded[column.name] for column in JUDGMENTS.columns if column.name not in kept}
    return insert.on_conflict_do_update(index_elements=list(kept), set_=values)


_INSERTS = {
    name: _Inserts(
        _insert(name)(REQUESTS).on_conflict_do_nothing(), sa.insert(CALLS), _upsert(_insert(name)(JUDGMENTS))
    )
    for name in ("sqlite", "postgresql")
}
