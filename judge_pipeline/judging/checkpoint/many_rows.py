"""Inserts of many rows in few statements.

Python's sqlite3 lets go of the interpreter lock at each step of a statement, and executemany takes a step a row. A
thread that writes so beside a busy event loop has to win the lock back row by row, up to 5 ms each time, and the calls
whose commit it carries wait with it. A statement with many VALUES takes one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa

_ROWS_AT_ONCE = (256, 64, 16, 4, 1)
"""Few sizes, so that few texts are compiled; 256 rows of our widest table stay under SQLite's 32,766 values."""


def insert_rows(connection: sa.Connection, statement: sa.Insert, columns: Sequence[str], rows: Sequence[Any]) -> None:
    """Execute the insert for all rows.

    Args:
        connection: where; within the caller's transaction.
        statement: an insert, with or without ON CONFLICT; it must be the same object each time.
        columns: names of the columns that it fills, in the table's order.
        rows: a tuple of values a row, in the order of the columns.
    """
    if not rows:
        return
    if connection.dialect.name != "sqlite":
        connection.execute(statement, [dict(zip(columns, row, strict=True)) for row in rows])
        return
    for part in _parts(rows):
        text = _text(statement, tuple(columns), len(part), connection.dialect.paramstyle)
        connection.exec_driver_sql(text, tuple(value for row in part for value in row))


def _parts(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    start = 0
    while start < len(rows):
        size = next(size for size in _ROWS_AT_ONCE if size <= len(rows) - start)
        yield rows[start : start + size]
        start += size


@cache
def _text(statement: sa.Insert, columns: tuple[str, ...], n_rows: int, paramstyle: str) -> str:
    """The insert's SQL with n groups of values."""
    from sqlalchemy.dialects import sqlite

    compiled = statement.compile(dialect=sqlite.dialect(paramstyle=paramstyle), column_keys=list(columns))
    assert compiled.positiontup == list(columns), "the columns must stand in the order of the table"
    group = f"({', '.join('?' * len(columns))})"
    head, found, tail = str(compiled).partition(f"VALUES {group}")
    assert found, str(compiled)
    return f"{head}VALUES {', '.join([group] * n_rows)}{tail}"
