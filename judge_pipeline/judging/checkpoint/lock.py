"""A lock that lives in the checkpoint's PostgreSQL database, for those on several machines who would ask the same."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.opening import make_engine, unusable

_SECONDS_BETWEEN_TRIES = 0.5


@contextmanager
def held_in_store(url: str, name: str, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the named lock while the block runs; the server takes it back when the process or its connection ends.

    It is tried for again and again rather than waited for in the server, so that a run can be cancelled meanwhile.

    Args:
        url: the checkpoint's, of a PostgreSQL database.
        name: of the lock; whoever gives the same name at the same database waits.
        on_wait: called once, before waiting for another process that holds it.

    Raises:
        JudgingError: the database cannot be used.
    """
    engine = make_engine(url)
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    try:
        # No transaction stays open meanwhile: it would keep the server from vacuuming for as long as judging takes.
        with _connected(engine).execution_options(isolation_level="AUTOCOMMIT") as connection:
            _take(connection, key, on_wait)
            try:
                yield
            finally:
                with suppress(sa.exc.DBAPIError):  # the connection is gone, and the lock with it
                    connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))
    finally:
        engine.dispose()


def _connected(engine: sa.Engine) -> sa.Connection:
    try:
        return engine.connect()
    except sa.exc.DBAPIError as error:
        raise unusable(engine.url, "opened", error) from error


def _take(connection: sa.Connection, key: int, on_wait: Callable[[], None]) -> None:
    told = False
    try:
        while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(key))).scalar_one():
            if not told:
                on_wait()
                told = True
            time.sleep(_SECONDS_BETWEEN_TRIES)
    except sa.exc.DBAPIError as error:
        raise unusable(connection.engine.url, "read", error) from error
