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


def among(dialect: str, column: sa.Column[str], values: Sequence[str]) -> sa.ColumnElement[bool]:
    """That the column's value is one of these, however many: they go to the database as one parameter."""
    if dialect == "sqlite":
        given = sa.func.json_each(json.dumps(values)).table_valued("value")
        return column.in_(sa.select(given.c.value))
    return column == sa.any_(sa.literal(list(values), postgresql.ARRAY(sa.Text)))
