"""Copies a checkpoint into another one, SQLite or PostgreSQL: requests, judgments, every call, and batches.

What the target has stays as it is, so a copy can be interrupted and begun again, and copying twice copies nothing the
second time. Turns, windows and remembered hashes are not copied: they are of the store that they are in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from judge_pipeline.judging.checkpoint.many_rows import insert_rows
from judge_pipeline.judging.checkpoint.opening import database_file, shown_url
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import BATCH_REQUESTS, BATCHES, CALLS, JUDGMENTS, METADATA, REQUESTS
from judge_pipeline.judging.failures import JudgingError

_ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of one table.

    Attributes:
        table: its name.
        n_source: rows of the source.
        n_copied: of those, rows that the target did not have.
        n_different: rows that the target has with other content, and keeps: other answers to the same request, or
            batches that it knows in another state.
    """

    table: str
    n_source: int
    n_copied: int
    n_different: int


@dataclass(frozen=True)
class _Way:
    """How a table's rows are found again in the target.

    Attributes:
        table: the table.
        order: columns by which the source is read on.
        found_by: indexed columns by which rows of the target are looked up.
        key: columns that tell two rows apart.
        content: columns in which rows with the same key may differ.
    """

    table: sa.Table
    order: tuple[str, ...]
    found_by: tuple[str, ...]
    key: tuple[str, ...]
    content: tuple[str, ...]


def _keyed(table: sa.Table, *content: str) -> _Way:
    key = tuple(column.name for column in table.primary_key.columns)
    return _Way(table, key, key, key, content)


_CALL_COLUMNS = tuple(column.name for column in CALLS.columns if column.name != "call_id")
_WAYS = (
    _keyed(REQUESTS, "components"),
    _Way(CALLS, ("call_id",), ("judge", "request_hash"), _CALL_COLUMNS, ()),  # in the order in which they were made
    _keyed(JUDGMENTS, "answer"),
    _keyed(BATCHES, "state"),
    _keyed(BATCH_REQUESTS, "outcome"),
)


def copy_checkpoint(
    from_url: str, to_url: str, progress: Callable[[str, int, int], None] = lambda table, done, of: None
) -> list[Copied]:
    """Copy what the one store holds and the other does not; then count whether all of it is there.

    Args:
        from_url: the source's database URL. Its tables are made, or brought up to date, where that is due.
        to_url: the target's; made where it is missing.
        progress: told the table, the rows looked at, and the rows of the source.

    Returns:
        The tables, in the order in which they were copied.

    Raises:
        JudgingError: the source is missing; the two are the same; one of them was made by a newer version; a store
            cannot be used; or a row is missing in the end, since the source was changed meanwhile.
    """
    file = database_file(from_url)
    if file is not None and not file.is_file():
        raise JudgingError(f"there is no checkpoint at {shown_url(from_url)}: {file} is no file")
    target_file = database_file(to_url)
    if shown_url(from_url) == shown_url(to_url) or (file and target_file and file.resolve() == target_file.resolve()):
        raise JudgingError(f"the checkpoint {shown_url(from_url)} cannot be copied to itself")
    with closing(Checkpoint(from_url)) as source, closing(Checkpoint(to_url)) as target:
        for store in (source, target):
            _refuse_newer(store)
        copied = [_copy(way, source, target, progress) for way in _WAYS]
        for way in _WAYS:
            n_missing = sum(len(missing) for _, missing, _ in _compared(way, source, target))
            if n_missing:
                raise JudgingError(
                    f"{n_missing} rows of {way.table.name} are not in {shown_url(to_url)} after copying: the source "
                    "was written to meanwhile. Copy again when no run is asking"
                )
    return copied


def _copy(way: _Way, source: Checkpoint, target: Checkpoint, progress: Callable[[str, int, int], None]) -> Copied:
    names = tuple(column.name for column in way.table.columns)
    written = names if way.table is not CALLS else _CALL_COLUMNS
    n, n_copied, n_different = 0, 0, 0
    with source.reading() as connection:
        n_source = connection.execute(sa.select(sa.func.count()).select_from(way.table)).scalar_one()
    for n_rows, missing, different in _compared(way, source, target):
        if missing:
            with target.writing() as connection:
                values = [tuple(row[name] for name in written) for row in missing]
                insert_rows(connection, _INSERTS[connection.dialect.name, way.table.name], written, values)
        n, n_copied, n_different = n + n_rows, n_copied + len(missing), n_different + different
        progress(way.table.name, n, n_source)
    return Copied(way.table.name, n, n_copied, n_different)


def _compared(way: _Way, source: Checkpoint, target: Checkpoint) -> Iterator[tuple[int, list[Any], int]]:
    """For some rows of the source at a time: how many, those that the target does not have, and how many differ."""
    for rows in _pages(way, source):
        wanted = sorted({_values(row, way.found_by) for row in rows})
        query = sa.select(way.table).where(sa.tuple_(*(way.table.c[name] for name in way.found_by)).in_(wanted))
        with target.reading() as connection:
            there = connection.execute(query).mappings().all()
        left = Counter(_values(row, way.key) for row in there)
        content = {_values(row, way.key): _values(row, way.content) for row in there}
        missing, different = [], 0
        for row in rows:
            key = _values(row, way.key)
            if left[key]:
                left[key] -= 1
                different += content[key] != _values(row, way.content)
            else:
                missing.append(row)
        yield len(rows), missing, different


def _pages(way: _Way, source: Checkpoint) -> Iterator[Sequence[Any]]:
    """The source's rows in order, some at a time; no transaction stays open between."""
    order = [way.table.c[name] for name in way.order]
    query = sa.select(way.table).order_by(*order).limit(_ROWS_AT_ONCE)
    after: tuple[Any, ...] | None = None
    while True:
        page = query if after is None else query.where(sa.tuple_(*order) > sa.tuple_(*map(sa.literal, after)))
        with source.reading() as connection:
            rows = connection.execute(page).mappings().all()
        if not rows:
            return
        yield rows
        after = _values(rows[-1], way.order)


def _values(row: Any, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _refuse_newer(store: Checkpoint) -> None:
    """Raise where a table holds a column that this version does not know, and would not copy."""
    with store.reading() as connection:
        inspector = sa.inspect(connection)
        unknown = [
            f"{way.table.name}.{column['name']}"
            for way in _WAYS
            for column in inspector.get_columns(way.table.name)
            if column["name"] not in METADATA.tables[way.table.name].columns
        ]
    if unknown:
        raise JudgingError(
            f"the checkpoint {shown_url(store.url)} was made by a newer version (it has {', '.join(unknown)}): copy it "
            "with that version"
        )


_DIALECT_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_INSERTS = {
    (name, way.table.name): sa.insert(CALLS) if way.table is CALLS else insert(way.table).on_conflict_do_nothing()
    for name, insert in _DIALECT_INSERTS.items()
    for way in _WAYS
}
