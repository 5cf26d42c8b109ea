"""Brings a store that an older version made up to date. Each step looks first whether it is due."""

from __future__ import annotations

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.tables import BATCHES, CALLS
from judge_pipeline.judging.failures import JudgingError

_NOT_OWNER = "42501"


def is_outdated(connection: sa.Connection) -> bool:
    """Whether ``calls.latency_ms`` must not be null, as in stores made before lines of batches had none."""
    if connection.dialect.name == "sqlite":
        columns = connection.exec_driver_sql("PRAGMA table_info(calls)").all()
        return any(name == "latency_ms" and not_null for _, name, _, not_null, *_ in columns)
    of_column = sa.text(
        "SELECT attnotnull FROM pg_attribute WHERE attrelid = to_regclass('calls') AND attname = 'latency_ms'"
    )
    return bool(connection.execute(of_column).scalar())


def migrate(connection: sa.Connection) -> None:
    """Let the latency be null, and make it so where a line of a batch was given 0, since nobody had timed it.

    To be called where the tables are there, in a transaction; on SQLite the indexes of ``calls`` are to be made again.

    Raises:
        JudgingError: this user may not change the table.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # Python's sqlite3 would begin none before it changes a table
        if not is_outdated(connection):
            return  # another process has done it meanwhile
        _make_calls_anew(connection)
    else:
        try:
            connection.exec_driver_sql("ALTER TABLE calls ALTER COLUMN latency_ms DROP NOT NULL")
        except sa.exc.ProgrammingError as error:
            if getattr(error.orig, "sqlstate", None) != _NOT_OWNER:
                raise
            raise JudgingError(
                "the checkpoint's table calls was made by an older version, and this user may not change it: let the "
                "user who made it run 'judge-pipeline status' with this version once"
            ) from None
    of_batches = sa.and_(CALLS.c.latency_ms == 0.0, CALLS.c.run_id.in_(sa.select(BATCHES.c.token)))
    connection.execute(sa.update(CALLS).where(of_batches).values(latency_ms=None))


def _make_calls_anew(connection: sa.Connection) -> None:
    """SQLite cannot take NOT NULL away: the table is copied, rows and their numbers as they are."""
    names = ", ".join(column.name for column in CALLS.columns)
    anew = CALLS.to_metadata(sa.MetaData(), name="calls_anew")
    connection.execute(sa.schema.CreateTable(anew))
    connection.exec_driver_sql(f"INSERT INTO calls_anew ({names}) SELECT {names} FROM calls")  # noqa: S608  our names
    connection.exec_driver_sql("DROP TABLE calls")
    connection.exec_driver_sql("ALTER TABLE calls_anew RENAME TO calls")
