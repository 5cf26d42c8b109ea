"""The checkpoint: what is already paid for. A SQL store through SQLAlchemy Core, SQLite (WAL) by default.

Three tables. ``judgments`` holds one answer for each (judge, request hash), upserted. ``calls`` holds one row for each
try at a provider, appended and never changed. ``requests`` holds the components of each request hash, so that a hash
can be explained. A judgment and the call that brought it are committed in one transaction, before the answer counts.
State and totals are derived from these rows alone: a killed process leaves nothing to repair.
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
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.checkpoint.many_rows import insert_rows
from judge_pipeline.judging.checkpoint.opening import open_store, parsed_url, seconds_ahead, unusable
from judge_pipeline.judging.checkpoint.rows import CallRow, Record, Spent, StoredJudgment, StoredRequest
from judge_pipeline.judging.checkpoint.same_file import copy_opened
from judge_pipeline.judging.checkpoint.tables import CALLS, JUDGMENTS, PROVIDER_TURNS, REQUESTS
from judge_pipeline.judging.failures import FailureClass

__all__ = ["CallRow", "Checkpoint", "Record", "Spent", "StoredJudgment", "StoredRequest", "utc_now"]

_CHUNK = 5000
_LONGEST_QUEUE_SECONDS = 60.0
_LONGEST_QUEUE_TURNS = 1000

_ONE_WRITER = sa.select(sa.func.pg_advisory_xact_lock(7_218_903_115))
"""Lets transactions that append calls follow each other; SQLite has one writer anyhow."""


class Checkpoint:
    """The store at a database URL. Threads and processes of a host may share it; where it is PostgreSQL, hosts, too."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None
        self._ahead = 0.0

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
        with self._connect() as connection:
            return [dict(row) for row in connection.execute(query.order_by(CALLS.c.call_id)).mappings()]

    def costs(self, after_call_id: int) -> Iterator[tuple[int, str, str, str, float | None, FailureClass | None]]:
        """Call id, attempt, judge, asking, US dollars and error class of all calls after one, in their order."""
        wanted = ("call_id", "attempt_id", "judge", "run_id", "cost_usd", "error_class")
        query = sa.select(*(CALLS.c[name] for name in wanted)).where(CALLS.c.call_id > after_call_id)
        with self._connect() as connection:
            for row in connection.execute(query.order_by(CALLS.c.call_id)):
                yield row[0], row[1], row[2], row[3], row[4], row[5]

    def longest_answer(self, judge: str) -> int | None:
        """The most answer tokens that a call of the judge took; None where none is known."""
        query = sa.select(sa.func.max(CALLS.c.tokens_out)).where(CALLS.c.judge == judge)
        with self._connect() as connection:
            longest = connection.execute(query).scalar()
        return None if longest is None else int(longest)

    def take_turn(self, provider: str, now: float, seconds: float, longest_queue: int = _LONGEST_QUEUE_TURNS) -> float:
        """When a call may start that keeps the provider busy for so many seconds; the next may start after it.

        A queue of turns that is longer than calls under way can make it (a minute, or ``longest_queue`` such turns) was
        written before a clock was set back, and is dropped.

        Args:
            provider: whose turns they are.
            now: seconds since 1970; no turn lies before it.
            seconds: until the next turn.
            longest_queue: turns that may be waited for at once by all who ask the provider.
        """
        turns = PROVIDER_TURNS.c
        with self._begin() as connection:
            now += self._ahead  # machines that share a store take their turns by its clock
            insert = _insert(connection.dialect.name)(PROVIDER_TURNS).values(provider=provider, free_at=now + seconds)
            latest = now + max(_LONGEST_QUEUE_SECONDS, longest_queue * seconds)
            start = sa.case((turns.free_at.between(now, latest), turns.free_at), else_=now)
            taken = insert.on_conflict_do_update(index_elements=["provider"], set_={"free_at": start + seconds})
            return float(connection.execute(taken.returning(turns.free_at)).scalar_one()) - seconds - self._ahead

    def move_turns(self, provider: str, seconds: float) -> None:
        """Move the provider's next turn by so many seconds, later or earlier."""
        turns = PROVIDER_TURNS
        moved = sa.update(turns).where(turns.c.provider == provider).values(free_at=turns.c.free_at + seconds)
        with self._begin() as connection:
            connection.execute(moved)

    def hashes_of(self, judge: str, attempt_id: str) -> list[str]:
        """The request hashes for which the judge was called on behalf of the attempt, the latest first."""
        query = (
            sa.select(CALLS.c.request_hash)
            .where(CALLS.c.attempt_id == attempt_id, CALLS.c.judge == judge)
            .group_by(CALLS.c.request_hash)
            .order_by(sa.func.max(CALLS.c.call_id).desc())
        )
        with self._connect() as connection:
            return list(connection.execute(query).scalars())

    def request(self, request_hash: str) -> StoredRequest | None:
        """The components of a hash; None where it was never asked."""
        query = sa.select(
            REQUESTS.c.request_hash, REQUESTS.c.template, REQUESTS.c.template_sha256, REQUESTS.c.components
        ).where(REQUESTS.c.request_hash == request_hash)
        with self._connect() as connection:
            row = connection.execute(query).first()
        return None if row is None else StoredRequest(*row)

    def record(self, records: Sequence[Record], also: Callable[[sa.Connection], None] | None = None) -> None:
        """Commit the records in one transaction: requests once, calls appended, judgments upserted.

        Args:
            records: what tries left.
            also: called with the transaction before it is committed; what it raises undoes all of it.
        """
        now = utc_now()
        requests = {q.request_hash: (*_REQUEST_VALUES(q), now) for q in (r.request for r in records) if q is not None}
        calls = [_clean(_CALL_VALUES(r.call)) for r in records]
        judgments = {
            (j.judge, j.request_hash): _judgment_row(j, now) for j in (r.judgment for r in records) if j is not None
        }
        with self._begin() as connection:
            if connection.dialect.name == "postgresql":
                # Numbers of calls are seen in their order, so that whoever reads on from one misses none (``costs``).
                connection.execute(_ONE_WRITER)
            of = _INSERTS[connection.dialect.name]
            insert_rows(connection, of.requests, _REQUEST_COLUMNS, list(requests.values()))
            insert_rows(connection, of.calls, _CALL_COLUMNS, calls)
            insert_rows(connection, of.judgments, _JUDGMENT_COLUMNS, list(judgments.values()))
            if also is not None:
                also(connection)

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

    def close(self) -> None:
        """Close the connections; the store can be used again afterwards."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None

    def _by_hash(self, query: Any, column: sa.Column[str], hashes: Iterable[str]) -> Iterator[Any]:
        wanted = sorted(set(hashes))
        if not wanted:
            return
        chosen = query.where(column.in_(sa.bindparam("hashes", expanding=True)))
        with self._connect() as connection:
            for start in range(0, len(wanted), _CHUNK):
                yield from connection.execute(chosen, {"hashes": wanted[start : start + _CHUNK]})

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """A connection to read the store with, for modules that keep further tables in it.

        Raises:
            JudgingError: the store cannot be read.
        """
        return self._connect()

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """A transaction, for modules that keep further tables in the store; committed when the block ends."""
        transaction: AbstractContextManager[sa.Connection] = self._begin()
        return transaction

    @contextmanager
    def _connect(self) -> Iterator[sa.Connection]:
        try:
            with self._opened().connect() as connection:
                yield connection
        except sa.exc.DBAPIError as error:
            raise unusable(parsed_url(self.url), "read", error) from error

    @contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        try:
            with self._opened().begin() as connection:
                yield connection
        except sa.exc.DBAPIError as error:
            raise unusable(parsed_url(self.url), "written", error) from error

    def _opened(self) -> sa.Engine:
        with self._lock:
            if self._engine is None:
                engine = open_store(self.url)
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
