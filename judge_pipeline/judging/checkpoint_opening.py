"""Opens the checkpoint's store: SQLite (WAL) or PostgreSQL, by URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint_tables import METADATA
from judge_pipeline.judging.failures import JudgingError

BUSY_TIMEOUT_SECONDS = 60.0
"""How long a process waits for another that is writing to the same SQLite file."""


def open_store(url: str) -> sa.Engine:
    """The engine of the store at the URL, its tables and indexes made where they are missing.

    Raises:
        JudgingError: the URL is none, or names another database than SQLite or PostgreSQL; the file's folder cannot be
            made; the database cannot be opened.
    """
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
            for table in METADATA.sorted_tables:
                connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
                for index in table.indexes:
                    connection.execute(sa.schema.CreateIndex(index, if_not_exists=True))
    except sa.exc.DBAPIError as error:
        engine.dispose()
        raise unusable(parsed, "opened", error) from error
    return engine


def unusable(url: sa.URL, what: str, error: sa.exc.DBAPIError) -> JudgingError:
    """That the store cannot be opened or read (``what``), why, and what to do; without the URL's password."""
    return JudgingError(
        f"the checkpoint {url.render_as_string(hide_password=True)} cannot be {what}: {error.orig}. Restore it from a "
        "backup, or move it away to ask everything anew"
    )


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # an answer that was paid for survives a power cut, too
    cursor.close()
