"""The checkpoint: what is already paid for. A SQL store through SQLAlchemy Core, SQLite (WAL) by default.

Three tables. ``judgments`` holds one answer for each (judge, request hash), upserted. ``calls`` holds one row for each
try at a provider, appended and never changed. ``requests`` holds the components of each request hash, so that a hash
can be explained. A judgment and the call that brought it are committed in one transaction, before the answer counts.
State and totals are derived from these rows alone: a killed process leaves nothing to repair.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.failures import FailureClass, JudgingError
from judge_pipeline.judging.many_rows import insert_rows

BUSY_TIMEOUT_SECONDS = 60.0
"""How long a process waits for another that is writing to the same SQLite file."""

_CHUNK = 5000

_METADATA = sa.MetaData()

JUDGMENTS = sa.Table(
    "judgments",
    _METADATA,
    sa.Column("judge", sa.String(200), primary_key=True),
    sa.Column("request_hash", sa.String(64), primary_key=True),
    sa.Column("attempt_id", sa.String(64), nullable=False),
    sa.Column("answer", sa.Text, nullable=False, comment="the valid answer as JSON"),
    sa.Column("repair", sa.Text),
    sa.Column("model", sa.Text),
    sa.Column("latency_ms", sa.Float),
    sa.Column("answered_at", sa.String(32), nullable=False, comment="UTC, ISO 8601"),
)

CALLS = sa.Table(
    "calls",
    _METADATA,
    sa.Column("call_id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("judge", sa.String(200), nullable=False),
    sa.Column("request_hash", sa.String(64), nullable=False),
    sa.Column("attempt_id", sa.String(64), nullable=False),
    sa.Column("repeat_index", sa.Integer, nullable=False),
    sa.Column("run_id", sa.String(64), nullable=False, comment="the asking that made the call"),
    sa.Column("try_number", sa.Integer, nullable=False, comment="within the asking, from 1"),
    sa.Column("started_at", sa.String(32), nullable=False, comment="UTC, ISO 8601"),
    sa.Column("latency_ms", sa.Float, nullable=False),
    sa.Column("tokens_in", sa.Integer),
    sa.Column("tokens_out", sa.Integer),
    sa.Column("tokens_reasoning", sa.Integer),
    sa.Column("cost_usd", sa.Float),
    sa.Column("finish_reason", sa.Text),
    sa.Column("model", sa.Text, comment="as the provider named it"),
    sa.Column("provider_request_id", sa.Text),
    sa.Column("sent", sa.Text, comment="parameters really sent, and what was dropped, as JSON"),
    sa.Column("re_ask", sa.Text, comment="validation errors that the re-ask carried"),
    sa.Column("raw_text", sa.Text, comment="the content as returned"),
    sa.Column("error_class", sa.String(32)),
    sa.Column("error_text", sa.Text),
    sa.Index("calls_by_request", "judge", "request_hash"),
    sa.Index("calls_by_attempt", "attempt_id"),
)

REQUESTS = sa.Table(
    "requests",
    _METADATA,
    sa.Column("request_hash", sa.String(64), primary_key=True),
    sa.Column("template", sa.Text, nullable=False),
    sa.Column("template_sha256", sa.String(64), nullable=False),
    sa.Column("components", sa.Text, nullable=False, comment="what was hashed, as JSON"),
    sa.Column("first_asked_at", sa.String(32), nullable=False, comment="UTC, ISO 8601"),
)


PROVIDER_TURNS = sa.Table(
    "provider_turns",
    _METADATA,
    sa.Column("provider", sa.String(300), primary_key=True),
    sa.Column("free_at", sa.Float, nullable=False, comment="when the next call may start: seconds since 1970, UTC"),
)


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """The components of a request hash.

    Attributes:
        request_hash: the hash.
        template: name of the prompt template.
        template_sha256: its version.
        components: ``Call.components()`` as JSON text.
    """

    request_hash: str
    template: str
    template_sha256: str
    components: str


@dataclass(frozen=True, slots=True)
class CallRow:
    """One try at a provider. Times in UTC (ISO 8601), latency in milliseconds, money in US dollars."""

    judge: str
    request_hash: str
    attempt_id: str
    repeat_index: int
    run_id: str
    try_number: int
    started_at: str
    latency_ms: float
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_reasoning: int | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None
    model: str | None = None
    provider_request_id: str | None = None
    sent: str | None = None
    re_ask: str | None = None
    raw_text: str | None = None
    error_class: str | None = None
    error_text: str | None = None


@dataclass(frozen=True, slots=True)
class StoredJudgment:
    """One valid answer, as kept.

    Attributes:
        judge: judge name.
        request_hash: identity of the call.
        attempt_id: the attempt for which it was asked first.
        answer: the answer's fields.
        repair: how it was repaired, or None.
        model: the model that answered, as the provider named it.
        latency_ms: time of the answering try.
    """

    judge: str
    request_hash: str
    attempt_id: str
    answer: Mapping[str, Any]
    repair: str | None
    model: str | None
    latency_ms: float | None


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls for some requests took, from their rows.

    Attributes:
        n_calls: tries.
        tokens_in: prompt tokens; None where no call reported any.
        tokens_out: answer tokens, thinking included; None where no call reported any.
        cost_usd: US dollars; None where no call was priced.
        seconds: sum of the calls' latencies.
    """

    n_calls: int = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.n_calls + other.n_calls,
            _sum(self.tokens_in, other.tokens_in),
            _sum(self.tokens_out, other.tokens_out),
            _sum(self.cost_usd, other.cost_usd),
            self.seconds + other.seconds,
        )


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True)
class Record:
    """What one try leaves: its call row, the request it asked, and the judgment if it brought one."""

    request: StoredRequest
    call: CallRow
    judgment: StoredJudgment | None = None


class Checkpoint:
    """The store at a SQLAlchemy URL. Threads and processes on one host may share it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None

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
            row[0]: Spent(row[1], row[2], row[3], row[4], row[5] / 1000.0)
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

    def take_turn(self, provider: str, now: float, seconds: float) -> float:
        """When a call may start that keeps the provider busy for so many seconds; the next may start after it.

        Args:
            provider: whose turns they are.
            now: seconds since 1970; no turn lies before it.
            seconds: until the next turn.
        """
        turns = PROVIDER_TURNS.c
        with self._begin() as connection:
            insert = _insert(connection.dialect.name)(PROVIDER_TURNS).values(provider=provider, free_at=now + seconds)
            start = sa.case((turns.free_at > now, turns.free_at), else_=now)
            taken = insert.on_conflict_do_update(index_elements=["provider"], set_={"free_at": start + seconds})
            return float(connection.execute(taken.returning(turns.free_at)).scalar_one()) - seconds

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

    def record(self, records: Sequence[Record]) -> None:
        """Commit the records in one transaction: requests once, calls appended, judgments upserted."""
        now = utc_now()
        requests = {r.request.request_hash: (*_REQUEST_VALUES(r.request), now) for r in records}
        calls = [_clean(_CALL_VALUES(r.call)) for r in records]
        judgments = {
            (j.judge, j.request_hash): _judgment_row(j, now) for j in (r.judgment for r in records) if j is not None
        }
        with self._begin() as connection:
            of = _INSERTS[connection.dialect.name]
            insert_rows(connection, of.requests, _REQUEST_COLUMNS, list(requests.values()))
            insert_rows(connection, of.calls, _CALL_COLUMNS, calls)
            insert_rows(connection, of.judgments, _JUDGMENT_COLUMNS, list(judgments.values()))

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

    @contextmanager
    def _connect(self) -> Iterator[sa.Connection]:
        try:
            with self._opened().connect() as connection:
                yield connection
        except sa.exc.DatabaseError as error:
            raise _unusable(sa.make_url(self.url), "read", error) from error

    def _begin(self) -> Any:
        return self._opened().begin()

    def _opened(self) -> sa.Engine:
        with self._lock:
            if self._engine is None:
                self._engine = _open(self.url)
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


def _open(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise JudgingError(f"the checkpoint's URL is not a database URL ({error})") from None
    backend = parsed.get_backend_name()
    if backend not in ("sqlite", "postgresql"):
        raise JudgingError(f"the checkpoint must be SQLite or PostgreSQL, not {backend!r}")
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        folder = Path(str(parsed.database)).parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise JudgingError(f"the checkpoint's folder {folder} cannot be made: {error.strerror}") from None
    options = {"timeout": BUSY_TIMEOUT_SECONDS} if backend == "sqlite" else {}
    engine = sa.create_engine(parsed, connect_args=options)
    if backend == "sqlite":
        sa.event.listen(engine, "connect", _set_up_sqlite)
    try:
        with engine.begin() as connection:
            for table in _METADATA.sorted_tables:
                connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
                for index in table.indexes:
                    connection.execute(sa.schema.CreateIndex(index, if_not_exists=True))
    except sa.exc.DBAPIError as error:
        engine.dispose()
        raise _unusable(parsed, "opened", error) from error
    return engine


def _unusable(url: sa.URL, what: str, error: sa.exc.DBAPIError) -> JudgingError:
    return JudgingError(
        f"the checkpoint {url.render_as_string(hide_password=True)} cannot be {what}: {error.orig}. Restore it from a "
        "backup, or move it away to ask everything anew"
    )


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # an answer that was paid for survives a power cut, too
    cursor.close()
