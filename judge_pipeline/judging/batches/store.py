"""What the checkpoint's store knows of batches: each step is committed before the one that costs money.

A batch is *prepared* (its requests are written down, nothing is sent), *creating* (its file is uploaded, the provider
is being asked to start it), *submitted* (the provider's id is known), *collected*, or *dropped* (it was never started).
A step is taken only from the state that it follows, so that of two processes one at most takes it. While a request is
in one of the first three states it waits, and is in no other batch. No text of a request is kept here: what was asked
stands in ``requests``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, StoredRequest, utc_now
from judge_pipeline.judging.checkpoint.tables import BATCH_REQUESTS, BATCHES, CALLS
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.ladder import EarlierTry

OPEN = ("prepared", "creating", "submitted")
"""States in which a batch's requests wait."""

_CHUNK = 5000


class TakenError(Exception):
    """Requests are in an open batch already, or the batch is no longer in the state that the step needs."""

    def __init__(self, request_hashes: Collection[str] = ()) -> None:
        super().__init__("another process was quicker")
        self.request_hashes = frozenset(request_hashes)


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A row of ``batches``; see there."""

    token: str
    judge: str
    contest: str
    state: str
    base_url: str | None
    batch_id: str | None
    input_file_id: str | None
    output_file_id: str | None
    error_file_id: str | None
    status: str | None
    n_requests: int
    n_completed: int | None
    n_failed: int | None
    discount: float
    set_aside_usd: float | None
    completion_hours: float
    sent: str
    prepared_at: str
    creating_at: str | None
    submitted_at: str | None
    checked_at: str | None
    collected_at: str | None
    n_collections: int
    counts: str | None
    files_deleted: bool
    error: str | None

    @property
    def is_open(self) -> bool:
        """Whether its requests wait."""
        return self.state in OPEN

    @property
    def file_name(self) -> str:
        """Name of its input file at the provider."""
        return f"judge-pipeline-{self.token}.jsonl"

    def seconds_since_creating(self) -> float:
        """How long ago the provider was first asked to start it."""
        began = datetime.fromisoformat(self.creating_at or self.prepared_at)
        return (datetime.now(UTC) - began).total_seconds()


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A row of ``batch_requests``; see there."""

    token: str
    request_hash: str
    judge: str
    attempt_id: str
    repeat_index: int
    try_number: int
    answer_limit: int | None
    re_ask: str | None
    outcome: str | None = None


class BatchStore:
    """The tables ``batches`` and ``batch_requests`` of a checkpoint."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint = checkpoint

    def batches(
        self, *, judge: str | None = None, contest: str | None = None, only_open: bool = False
    ) -> list[BatchRow]:
        """The batches, oldest first; of a judge, of a contest, or those whose requests wait."""
        query = sa.select(BATCHES).order_by(BATCHES.c.prepared_at, BATCHES.c.token)
        if judge is not None:
            query = query.where(BATCHES.c.judge == judge)
        if contest is not None:
            query = query.where(BATCHES.c.contest == contest)
        if only_open:
            query = query.where(BATCHES.c.state.in_(OPEN))
        return [BatchRow(**row) for row in self._rows(query)]

    def with_files_left(self, judge: str) -> list[BatchRow]:
        """Batches that are over and whose files were not deleted at the provider yet."""
        query = sa.select(BATCHES).where(
            BATCHES.c.judge == judge, BATCHES.c.state.not_in(OPEN), BATCHES.c.files_deleted.is_(False)
        )
        return [BatchRow(**row) for row in self._rows(query)]

    def waiting(self, judge: str, request_hashes: Iterable[str]) -> dict[str, str]:
        """Those of the judge's requests that are in an open batch -> its token."""
        return {h: row.token for h, row in self._last(judge, request_hashes, BATCHES.c.state.in_(OPEN)).items()}

    def latest(self, judge: str, request_hashes: Iterable[str]) -> dict[str, BatchRequest]:
        """The last time that each of the judge's requests was in a batch that is collected, by hash."""
        return self._last(judge, request_hashes, BATCHES.c.state == "collected")

    def requests_of(self, token: str) -> list[BatchRequest]:
        """The requests of a batch, as far as they are not forgotten."""
        return [BatchRequest(**row) for row in self._rows(sa.select(BATCH_REQUESTS).where(_of(token)))]

    def set_aside_usd(self, contest: str) -> float:
        """US dollars set aside for a contest's batches that are not collected yet."""
        query = sa.select(sa.func.sum(BATCHES.c.set_aside_usd)).where(
            BATCHES.c.contest == contest, BATCHES.c.state.in_(OPEN)
        )
        return self.checkpoint.read(lambda connection: float(connection.execute(query).scalar() or 0.0))

    def prepare(self, batch: BatchRow, requests: Sequence[BatchRequest], components: Sequence[StoredRequest]) -> None:
        """Write down a batch and its requests, before anything is sent.

        Raises:
            TakenError: some of the requests are in another open batch; nothing is written.
        """
        hashes = [request.request_hash for request in requests]

        def prepare(connection: sa.Connection) -> None:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text("LOCK TABLE batches IN SHARE ROW EXCLUSIVE MODE"))
                if connection.execute(sa.select(BATCHES.c.token).where(BATCHES.c.token == batch.token)).first():
                    return  # the server went before it could say that this was committed
            connection.execute(sa.insert(BATCHES), [_values(batch)])  # takes SQLite's one place for writers
            taken = self._taken(connection, batch.judge, hashes)
            if taken:
                raise TakenError(taken)
            self.checkpoint.keep_requests(connection, components)
            connection.execute(sa.insert(BATCH_REQUESTS), [_values(request) for request in requests])

        self.checkpoint.write(prepare)

    def step(self, token: str, from_state: str, **values: Any) -> None:
        """Change a batch, if it is in that state.

        Raises:
            TakenError: it is not; another process has taken it on.
        """
        self.checkpoint.write(lambda connection: _step(connection, token, from_state, values))

    def drop(self, token: str, from_state: str, error: str | None = None) -> None:
        """The batch was never started: its requests are free again.

        Raises:
            TakenError: it is not in that state.
        """

        def drop(connection: sa.Connection) -> None:
            _step(connection, token, from_state, {"state": "dropped", "error": error, "set_aside_usd": None})
            connection.execute(sa.delete(BATCH_REQUESTS).where(_of(token)))

        self.checkpoint.write(drop)

    def note(self, token: str, **values: Any) -> None:
        """Write down what was seen of a batch, whatever its state."""
        change = sa.update(BATCHES).where(BATCHES.c.token == token).values(**values)
        self.checkpoint.write(lambda connection: connection.execute(change))

    def collect(
        self,
        token: str,
        rows: Sequence[tuple[CallRow, StoredJudgment | None]],
        outcomes: Mapping[str, str],
        counts: Mapping[str, int],
        error: str | None,
    ) -> None:
        """Commit all that a batch has brought, at once: calls, judgments, outcomes, and that it is collected.

        Raises:
            TakenError: another process has collected it; nothing is written.
        """
        values = {"state": "collected", "collected_at": utc_now(), "counts": json.dumps(dict(counts)), "error": error}

        def also(connection: sa.Connection) -> None:
            _step(connection, token, "submitted", values)
            wanted = BATCH_REQUESTS.c.request_hash == sa.bindparam("of", type_=sa.String)
            update = sa.update(BATCH_REQUESTS).where(_of(token), wanted).values(outcome=sa.bindparam("became"))
            changes = [{"of": hash_, "became": outcome} for hash_, outcome in outcomes.items()]
            if changes:
                connection.execute(update, changes)

        self.checkpoint.record([Record(None, call, judgment) for call, judgment in rows], also)

    def earlier_tries(self, judge: str, latest: Mapping[str, BatchRequest]) -> dict[str, tuple[EarlierTry, ...]]:
        """For requests whose last try in a batch wants another: the tries that count for it, by hash."""
        calls: dict[str, list[Any]] = {}
        columns = (CALLS.c.request_hash, CALLS.c.error_class, CALLS.c.error_text, CALLS.c.raw_text, CALLS.c.re_ask)
        query = sa.select(*columns).where(CALLS.c.judge == judge).order_by(CALLS.c.call_id)
        for chunk in _chunks(latest):
            for row in self._rows(query.where(CALLS.c.request_hash.in_(chunk))):
                calls.setdefault(row["request_hash"], []).append(row)
        return {
            hash_: _as_tries(calls.get(hash_, [])[-request.try_number :], request.outcome == "re-ask")
            for hash_, request in latest.items()
        }

    def _last(
        self, judge: str, request_hashes: Iterable[str], wanted: sa.ColumnElement[bool]
    ) -> dict[str, BatchRequest]:
        """The last row of each request among the batches that are wanted."""
        query = (
            sa.select(BATCH_REQUESTS)
            .join(BATCHES, BATCHES.c.token == BATCH_REQUESTS.c.token)
            .where(BATCH_REQUESTS.c.judge == judge, wanted)
            .order_by(BATCHES.c.prepared_at, BATCHES.c.token)
        )
        found = {}
        for chunk in _chunks(request_hashes):
            for row in self._rows(query.where(BATCH_REQUESTS.c.request_hash.in_(chunk))):
                found[row["request_hash"]] = BatchRequest(**row)
        return found

    def _taken(self, connection: sa.Connection, judge: str, hashes: Sequence[str]) -> set[str]:
        query = (
            sa.select(BATCH_REQUESTS.c.request_hash)
            .join(BATCHES, BATCHES.c.token == BATCH_REQUESTS.c.token)
            .where(BATCH_REQUESTS.c.judge == judge, BATCHES.c.state.in_(OPEN))
        )
        taken: set[str] = set()
        for chunk in _chunks(hashes):
            taken |= set(connection.execute(query.where(BATCH_REQUESTS.c.request_hash.in_(chunk))).scalars())
        return taken

    def _rows(self, query: Any) -> list[dict[str, Any]]:
        return self.checkpoint.read(lambda connection: [dict(row) for row in connection.execute(query).mappings()])


def _step(connection: sa.Connection, token: str, from_state: str, values: Mapping[str, Any]) -> None:
    change = sa.update(BATCHES).where(BATCHES.c.token == token, BATCHES.c.state == from_state).values(**values)
    if connection.execute(change).rowcount == 1:
        return
    # Where the server went before it could say that this very step was committed, the row holds all that it wrote.
    holds = (BATCHES.c[name].is_not_distinct_from(value) for name, value in values.items())
    if connection.execute(sa.select(BATCHES.c.token).where(BATCHES.c.token == token, *holds)).first() is None:
        raise TakenError


def _of(token: str) -> sa.ColumnElement[bool]:
    return BATCH_REQUESTS.c.token == token


def _as_tries(rows: Sequence[Mapping[str, Any]], last_is_re_asked: bool) -> tuple[EarlierTry, ...]:
    """Call rows as the ladder's tries: a try was re-asked where the next one carries errors and it did not."""
    tries = []
    for place, row in enumerate(rows):
        last = place == len(rows) - 1
        next_carries = last_is_re_asked if last else rows[place + 1]["re_ask"] is not None
        failure = Failure(row["error_class"] or "infrastructure", row["error_text"] or "")
        tries.append(EarlierTry(failure, row["raw_text"], next_carries and row["re_ask"] is None))
    return tuple(tries)


def _values(row: Any) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row)}


def _chunks(hashes: Iterable[str]) -> Iterable[list[str]]:
    wanted = sorted(set(hashes))
    return (wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK))
