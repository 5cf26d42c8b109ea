"""Some rows of a checkpoint as JSON lines, and back: to hand over what one contest or preference set rests on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.many_rows import insert_rows
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import BATCH_REQUESTS, BATCHES, CALLS, JUDGMENTS, REQUESTS
from judge_pipeline.judging.failures import JudgingError

_ROWS_AT_ONCE = 1000
_HALF = re.compile("[\ud800-\udfff]")

TABLES = {table.name: table for table in (CALLS, JUDGMENTS, REQUESTS, BATCHES, BATCH_REQUESTS)}
"""The tables whose rows are handed over. Requests come after the rows by which they are chosen."""


class Asked(NamedTuple):
    """A row by which it is chosen what is handed over.

    Attributes:
        judge: the judge that was asked.
        request_hash: what it was asked.
        attempt_id: for whom: an attempt, or what else is asked about.
    """

    judge: str
    request_hash: str
    attempt_id: str


def lines_of(checkpoint: Checkpoint, wanted: Callable[[Asked], bool], place: str) -> Iterator[tuple[str, str]]:
    """The wanted rows of every table, a table after the other and each in the order of its key, some at a time.

    Args:
        checkpoint: the store; it is read to its end once.
        wanted: whether a call, judgment or request in a batch is handed over. The requests that they name are, too.
        place: the contest or set under which batches are kept.

    Yields:
        The table's name, and one row as JSON text.
    """
    hashes: set[str] = set()
    for table in (CALLS, JUDGMENTS):
        for row in _rows(checkpoint, table):
            if wanted(Asked(row["judge"], row["request_hash"], row["attempt_id"])):
                hashes.add(row["request_hash"])
                yield table.name, _line(row)
    for row in _rows(checkpoint, REQUESTS):
        if row["request_hash"] in hashes:
            yield REQUESTS.name, _line(row)
    tokens = set()
    for row in _rows(checkpoint, BATCHES):
        if row["contest"] == place:
            tokens.add(row["token"])
            yield BATCHES.name, _line(row)
    for row in _rows(checkpoint, BATCH_REQUESTS):
        if row["token"] in tokens and wanted(Asked(row["judge"], row["request_hash"], row["attempt_id"])):
            yield BATCH_REQUESTS.name, _line(row)


def load_lines(checkpoint: Checkpoint, table_name: str, lines: Iterable[str]) -> int:
    """Write rows that ``lines_of`` gave into a store that has none of them; how many.

    Raises:
        JudgingError: a line is no row of the table; the message says which.
    """
    names = [column.name for column in TABLES[table_name].columns]
    statement, numbered, n = _INSERTS[table_name], enumerate(lines, start=1), 0
    while rows := [_values(table_name, names, number, line) for number, line in islice(numbered, _ROWS_AT_ONCE)]:
        try:
            with checkpoint.writing() as connection:
                insert_rows(connection, statement, names, rows)
        except JudgingError as error:
            if isinstance(error.__cause__, sa.exc.IntegrityError):
                raise JudgingError(f"{table_name}.jsonl holds a row twice, or one without what it must have") from None
            raise
        n += len(rows)
    return n


def _values(table: str, names: list[str], number: int, line: str) -> tuple[Any, ...]:
    try:
        row = json.loads(line)
        if row.keys() != set(names):
            raise ValueError(f"it has the keys {', '.join(sorted(row))}")
        odd = [name for name, value in row.items() if not _is_storable(value)]
        if odd:
            raise ValueError(f"{odd[0]} holds what no database takes")
        return tuple(row[name] for name in names)
    except (ValueError, AttributeError) as error:
        raise JudgingError(f"line {number} of {table}.jsonl is no row of that table: {error}") from None


def _is_storable(value: Any) -> bool:
    """Whether a database takes it: integers have 64 bits there, and a text has no half of a character."""
    if isinstance(value, str):
        return not _HALF.search(value)
    return value is None or isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63)


def _rows(checkpoint: Checkpoint, table: sa.Table) -> Iterator[Any]:
    """All rows in the order of the primary key; no transaction stays open between two pages."""
    order = list(table.primary_key.columns)
    query = sa.select(table).order_by(*order).limit(_ROWS_AT_ONCE)
    after: tuple[Any, ...] | None = None
    while True:
        page = query if after is None else query.where(sa.tuple_(*order) > sa.tuple_(*map(sa.literal, after)))
        with checkpoint.reading() as connection:
            rows = connection.execute(page).mappings().all()
        if not rows:
            return
        yield from rows
        after = tuple(rows[-1][column.name] for column in order)


def _line(row: Any) -> str:
    return json.dumps(dict(row), ensure_ascii=True, separators=(",", ":"))


_INSERTS = {name: sa.insert(table) for name, table in TABLES.items()}
