"""Opens the checkpoint's store: SQLite (WAL) or PostgreSQL, by URL. No message shows a password that the URL holds."""

from __future__ import annotations

import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.migrating import is_outdated, migrate
from judge_pipeline.judging.checkpoint.same_file import watch
from judge_pipeline.judging.checkpoint.tables import CALLS, METADATA
from judge_pipeline.judging.failures import JudgingError

BUSY_TIMEOUT_SECONDS = 120.0
"""How long a process waits for another that is writing to the same SQLite file."""

GONE_SECONDS = 120.0
"""How long a process that has used a store in PostgreSQL waits for its server when that is gone."""

_CONNECT_TIMEOUT_SECONDS = 15
_MAKING_TABLES = 7_218_903_114
"""Key of the advisory lock under which PostgreSQL's tables are made: two CREATE IF NOT EXISTS at once can collide."""

_OUTDATED_INDEXES = ("calls_by_request",)
"""Of older versions: others have taken their place, and each costs every write."""

_EXAMPLE = "postgresql://user:password@host/database, or sqlite:////path/checkpoint.sqlite"
_POSTGRESQL = ("postgresql", "postgres")

_AWAY_STATES = ("08", "57P0", "53300")
"""SQLSTATEs of a server that is not reached, is shutting down or starting up, or has no connection left."""

_REFUSED = re.compile(
    r"authentication failed|no password supplied|(no pg_hba\.conf entry|pg_hba\.conf rejects connection) for"
    r'|(role|database) ".*" (does not exist|is not permitted to log in|is not currently accepting connections)'
    r"|permission denied for"
)
"""What a server says that runs and will not let this user in, however long one waits.

Before a connection is made, psycopg does not hand on the SQLSTATE. A server that says it in another language is waited
for like one that is gone, as is all that is not known to be a refusal: it starts up, or has no connection left.
"""

_DAMAGED = "It is damaged: restore it from a backup, or move it away to ask everything anew"
_SQLITE_REMEDIES = {
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_BUSY: "Another program holds it: let that end, and run again",
}
_ORDINARY_REMEDY = (
    "See whether its disk has room and this user may read and write it and its folder, and run again; what was "
    "answered is in it, so do not move it away"
)


class StoreAwayError(JudgingError):
    """The store's server cannot be reached, or the connection to it was cut: it may be back in a moment."""


def parsed_url(url: str) -> sa.URL:
    """The URL with its driver: plain ``postgresql://`` is spoken through psycopg 3.

    Raises:
        JudgingError: it is no URL, or names another database than SQLite or PostgreSQL.
    """
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):  # whose text may quote the URL
        raise JudgingError(f"the checkpoint's URL is not a database URL; write {_EXAMPLE}") from None
    if parsed.drivername in _POSTGRESQL:
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise JudgingError(
            f"the checkpoint must be SQLite or PostgreSQL, not {parsed.get_backend_name()!r}; write {_EXAMPLE}"
        )
    return parsed


def is_postgresql(url: str) -> bool:
    """Whether the URL names a PostgreSQL database."""
    return parsed_url(url).get_backend_name() == "postgresql"


def database_file(url: str | sa.URL) -> Path | None:
    """The file that the URL names; None for PostgreSQL, and for a database in memory."""
    parsed = parsed_url(url) if isinstance(url, str) else url
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    return Path(str(parsed.database))


def shown_url(url: str) -> str:
    """The URL as it may be shown: without its password, and without its query, which may hold one, too."""
    return _shown(parsed_url(url))


def make_engine(url: str) -> sa.Engine:
    """The engine of the store; nothing is connected or made yet.

    Raises:
        JudgingError: as :func:`parsed_url`; or the database's driver is not installed.
    """
    parsed = parsed_url(url)
    if parsed.get_backend_name() == "sqlite":
        return sa.create_engine(parsed, connect_args={"timeout": BUSY_TIMEOUT_SECONDS})
    waits = {} if "connect_timeout" in parsed.query else {"connect_timeout": _CONNECT_TIMEOUT_SECONDS}
    try:
        # Asked before each use: a run that has waited for an hour may find its connection gone.
        return sa.create_engine(parsed, connect_args=waits, pool_pre_ping=True)
    except (ModuleNotFoundError, sa.exc.NoSuchModuleError):
        raise JudgingError(
            f"the checkpoint is PostgreSQL, and its driver ({parsed.drivername}) is not installed: "
            "pip install 'judge-pipeline[postgresql]', and begin the URL with postgresql://"
        ) from None


def open_store(url: str) -> sa.Engine:
    """The engine of the store at the URL, its tables and indexes made where they are missing.

    Raises:
        JudgingError: as :func:`make_engine`; the file's folder cannot be made; the database cannot be opened.
    """
    engine = make_engine(url)
    file = database_file(engine.url)
    if engine.dialect.name == "sqlite":
        _make_folder(file)
        sa.event.listen(engine, "connect", _set_up_sqlite)
    try:
        _make_tables(engine)
    except sa.exc.DBAPIError as error:
        engine.dispose()
        raise unusable(engine.url, "opened", error) from error
    if file is not None:
        watch(engine, file)
    return engine


def seconds_ahead(engine: sa.Engine) -> float:
    """By how much the store's clock is ahead of this machine's: 0 for a file, which has none.

    Machines that share a store go by its clock, so that none waits longer, or less long, since its own is wrong.

    Raises:
        JudgingError: the store cannot be read.
    """
    if engine.dialect.name == "sqlite":
        return 0.0
    try:
        with engine.connect() as connection:
            before = time.time()
            theirs = connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
            return float(theirs) - (before + time.time()) / 2.0
    except sa.exc.DBAPIError as error:
        raise unusable(engine.url, "read", error) from error


def unusable(url: sa.URL, what: str, error: sa.exc.DBAPIError) -> JudgingError:
    """That the store cannot be opened, read or written (``what``), why, and what to do.

    It is a :class:`StoreAwayError` where a server was not reached, or cannot take a connection just now.
    """
    if url.get_backend_name() != "sqlite":
        remedy = "See whether its server runs and lets this user in, and what JUDGE_PIPELINE_CHECKPOINT_URL says"
    else:
        remedy = _SQLITE_REMEDIES.get(getattr(error.orig, "sqlite_errorcode", 0) & 0xFF, _ORDINARY_REMEDY)
    said = " ".join(_without_secrets(url, str(error.orig)).split())
    kind = StoreAwayError if url.get_backend_name() != "sqlite" and _is_away(error) else JudgingError
    return kind(f"the checkpoint {_shown(url)} cannot be {what}: {said}. {remedy}")


def all_in_use(url: sa.URL, what: str) -> StoreAwayError:
    """That no connection came free to open, read or write the store with (``what``).

    Threads wait so for each other where each connection takes long: to a server that answers nothing any more, say.
    """
    return StoreAwayError(
        f"the checkpoint {_shown(url)} cannot be {what}: all connections of this process to it are in use. See whether "
        "its database answers"
    )


def is_refusal(said: str) -> bool:
    """Whether what a PostgreSQL client was told says that the server runs and will not let this user in."""
    return bool(_REFUSED.search(said))


def _is_away(error: sa.exc.DBAPIError) -> bool:
    if is_refusal(str(error.orig)):
        return False
    if error.connection_invalidated:
        return True
    state = getattr(error.orig, "sqlstate", None) or getattr(error.orig, "pgcode", None)
    return isinstance(error, (sa.exc.OperationalError, sa.exc.InterfaceError)) and (
        state is None or state.startswith(_AWAY_STATES)
    )


def _shown(url: sa.URL) -> str:
    """The URL without its password and without its query, which may hold one, too."""
    return url.set(query={}).render_as_string(hide_password=True)


def _without_secrets(url: sa.URL, text: str) -> str:
    in_query = [value for values in url.query.values() for value in ([values] if isinstance(values, str) else values)]
    for secret in filter(None, (url.password, *in_query)):
        text = text.replace(str(secret), "***")
    return text


def _make_folder(file: Path | None) -> None:
    if file is None:
        return
    folder = file.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JudgingError(f"the checkpoint's folder {folder} cannot be made: {error.strerror}") from None


def _make_tables(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            all_there = _all_there(connection)
            if all_there and not is_outdated(connection):
                return  # whoever may only read and write need not be allowed to make tables
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MAKING_TABLES)))
            if all_there:
                migrate(connection)
                return
        for table in METADATA.sorted_tables:
            connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                connection.execute(sa.schema.CreateIndex(index, if_not_exists=True))
        if is_outdated(connection):
            migrate(connection)
            for index in CALLS.indexes:
                connection.execute(sa.schema.CreateIndex(index, if_not_exists=True))
        for name in _OUTDATED_INDEXES:
            connection.exec_driver_sql(f"DROP INDEX IF EXISTS {name}")


def _all_there(connection: sa.Connection) -> bool:
    wanted = set(METADATA.tables) | {str(i.name) for table in METADATA.tables.values() for i in table.indexes}
    visible = sa.text("SELECT relname FROM pg_class WHERE relname = ANY(:names) AND pg_table_is_visible(oid)")
    return wanted <= set(connection.execute(visible, {"names": sorted(wanted)}).scalars())


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")  # an answer that was paid for survives a power cut, too
    cursor.close()
