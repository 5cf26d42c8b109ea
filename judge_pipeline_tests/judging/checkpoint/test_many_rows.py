"""Many rows in few statements: the same rows as one by one, whatever their number."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from judge_pipeline.judging.checkpoint.many_rows import insert_rows

TABLE = sa.Table("t", sa.MetaData(), sa.Column("key", sa.Integer, primary_key=True), sa.Column("text", sa.Text))
PLAIN = sa.insert(TABLE)
FIRST_WINS = sqlite.insert(TABLE).on_conflict_do_nothing()


def rows_of(connection: sa.Connection) -> list[tuple[int, str]]:
    return [tuple(row) for row in connection.execute(sa.select(TABLE).order_by(TABLE.c.key))]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 700), st.text(max_size=5))
def test_every_row_arrives_once(n: int, text: str) -> None:
    engine = sa.create_engine("sqlite://")
    TABLE.metadata.create_all(engine)
    rows = [(key, f"{text}{key}") for key in range(n)]
    with engine.begin() as connection:
        insert_rows(connection, PLAIN, ("key", "text"), rows)
        assert rows_of(connection) == rows
        insert_rows(connection, FIRST_WINS, ("key", "text"), [*((key, "other") for key, _ in rows), (n, "new")])
        assert rows_of(connection) == [*rows, (n, "new")]


def test_few_statements_are_executed(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 't.sqlite'}")
    TABLE.metadata.create_all(engine)
    executed: list[str] = []
    sa.event.listen(engine, "before_cursor_execute", lambda c, cursor, text, *rest: executed.append(text))
    with engine.begin() as connection:
        insert_rows(connection, PLAIN, ("key", "text"), [(key, "x") for key in range(300)])
    assert len(executed) <= 6


def test_columns_out_of_order_are_refused_and_not_mixed_up() -> None:
    engine = sa.create_engine("sqlite://")
    TABLE.metadata.create_all(engine)
    with engine.begin() as connection, pytest.raises(AssertionError, match="in the order of the table"):
        insert_rows(connection, PLAIN, ("text", "key"), [("x", 1)])
