"""What SQLite and PostgreSQL say in different words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite


def insert_into(dialect: str, table: sa.Table) -> Any:
    """An insert that can say ON CONFLICT."""
    return sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)


def json_values(dialect: str, column: sa.Column[str], names: Sequence[str]) -> sa.ColumnElement[str]:
    """The values under these names of a JSON object kept as text, as the text of a JSON array; null where none is.

    Two names or more. The database parses it, so that the rest of a long text need not leave it.
    """
    if dialect == "sqlite":
        # Of several paths at once SQLite makes an array, in which true and false stay what they are.
        return sa.func.json_extract(column, *(f"$.{name}" for name in names))
    parsed = sa.cast(column, postgresql.JSON)
    return sa.cast(sa.func.json_build_array(*(parsed[name] for name in names)), sa.Text)


def among(dialect: str, column: sa.Column[str], values: Sequence[str]) -> sa.ColumnElement[bool]:
    """That the column's value is one of these, however many: they go to the database as one parameter."""
    if dialect == "sqlite":
        given = sa.func.json_each(json.dumps(values)).table_valued("value")
        return column.in_(sa.select(given.c.value))
    return column == sa.any_(sa.literal(list(values), postgresql.ARRAY(sa.Text)))
