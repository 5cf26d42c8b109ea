"""Whether a SQLite store's files are still the ones that were opened.

A program goes on writing to a file that was deleted or moved under it, and what it writes is gone when it ends. So the
file at the path is compared with the opened one when a transaction begins and before it is committed.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.failures import JudgingError

_Identity = tuple[int, int] | None

_SECONDS_TO_BE_IDLE = 5.0
_SECONDS_BETWEEN_LOOKS = 0.01


class CheckpointLostError(JudgingError):
    """The checkpoint's file was deleted, moved or replaced while it was open."""


class SameFile:
    """The files of a store as they were when it was opened: the database, and the log that commits are first in."""

    def __init__(self, file: Path) -> None:
        """``file`` is there, and a connection to it stays open, so that its number is not given to another file."""
        log = file.with_name(f"{file.name}-wal")
        self._opened = {path: _identity(path) for path in (file, log) if _identity(path) is not None}

    def check(self, *_event: Any) -> None:
        """Do nothing where the files are the same.

        Raises:
            CheckpointLostError: one of them is not.
        """
        for path, opened in self._opened.items():
            found = _identity(path)
            if found != opened:
                what = "is no longer there" if found is None else "is another file now"
                raise CheckpointLostError(
                    f"the checkpoint's file {path} {what}: it was deleted, moved or replaced while this run had it "
                    "open. Nothing more is asked. Put the file back, with its -wal and -shm where there are any, and "
                    "run again; without it everything is asked and paid for anew"
                )


def watch(engine: sa.Engine, file: Path) -> None:
    """Have every transaction and further connection of the engine check that the file is the one that is there now."""
    check = SameFile(file).check
    for event in ("do_connect", "begin", "commit"):
        sa.event.listen(engine, event, check)


def copy_opened(engine: sa.Engine, target: Path) -> None:
    """Copy the database that the engine's connections have open, wherever its file is now.

    Raises:
        CheckpointLostError: no connection has it open that is idle within some seconds.
        OSError, sqlite3.Error: the target cannot be written.
    """
    connection = _idle_connection(engine)
    try:
        with closing(sqlite3.connect(target)) as copy:
            connection.driver_connection.backup(copy)  # type: ignore[union-attr]
    finally:
        connection.close()


def _idle_connection(engine: sa.Engine) -> sa.PoolProxiedConnection:
    """One that was opened before the file was lost: a thread that looks something up may just be using the only one."""
    until = time.monotonic() + _SECONDS_TO_BE_IDLE
    while True:
        try:
            return engine.raw_connection()
        except CheckpointLostError:
            if time.monotonic() > until:
                raise
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _identity(path: Path) -> _Identity:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
