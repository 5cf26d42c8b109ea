"""Answers that the checkpoint can no longer take go to a store of their own, from which they can be copied back."""

from __future__ import annotations

import glob
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from judge_pipeline.judging.checkpoint.opening import database_file, shown_url
from judge_pipeline.judging.checkpoint.rows import Record
from judge_pipeline.judging.checkpoint.same_file import CheckpointLostError
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.failures import JudgingError

_RESCUED_HERE: list[str] = []

RESCUED = "rescued"
"""Part of the name of every file with rescued answers: CHECKPOINT.rescued-TIME.sqlite."""


class Rescue:
    """Takes what a checkpoint could not be given.

    The store is a SQLite file beside the checkpoint's, or in a new folder for temporary files where that cannot be
    written. Where the checkpoint's file was deleted or moved, all that it held is rescued, too: the file is still open.
    """

    def __init__(self, checkpoint: Checkpoint, why: Exception) -> None:
        self._checkpoint = checkpoint
        self._why = why
        self._file: Path | None = None
        self._n_rescued = 0
        self._nowhere: list[Record] = []

    def take(self, records: Sequence[Record]) -> None:
        """Keep the records; those that can be kept nowhere are counted, and tried again with the next."""
        self._nowhere.extend(records)
        for file in self._places() if self._file is None else (self._file,):
            with suppress(JudgingError, OSError, sqlite3.Error):
                self._write(file, self._nowhere)
                self._n_rescued += len(self._nowhere)
                self._nowhere.clear()
                return

    def error(self) -> JudgingError:
        """What happened, where the answers are now, and how they come back."""
        words = [f"the checkpoint cannot be written, so nothing more is asked: {self._why}."]
        if self._file is not None:
            words.append(
                f"{self._n_rescued} calls that it did not take are in {self._file}; when it is there again, bring "
                f"them in: judge-pipeline checkpoint copy sqlite:///{self._file} {shown_url(self._checkpoint.url)}"
            )
        if self._nowhere:
            words.append(f"{len(self._nowhere)} calls could be written nowhere and are lost")
        return JudgingError(" ".join(words))

    def _write(self, file: Path, records: Sequence[Record]) -> None:
        if self._file is None and isinstance(self._why, CheckpointLostError):
            file.parent.mkdir(parents=True, exist_ok=True)
            self._checkpoint.save_opened_file(file)
        store = Checkpoint(f"sqlite:///{file}")
        try:
            store.record(records)
        finally:
            store.close()
        if self._file is None:
            _RESCUED_HERE.append(f"judge-pipeline checkpoint copy sqlite:///{file} {shown_url(self._checkpoint.url)}")
        self._file = file

    def _places(self) -> Iterator[Path]:
        """Where the records may go: beside the store's file; else in a temporary folder, made when it comes to that."""
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        file = database_file(self._checkpoint.url)
        name = f"{file.stem if file is not None else 'checkpoint'}.{RESCUED}-{now}.sqlite"
        if file is not None:
            yield file.parent / name
        with suppress(OSError):
            yield Path(tempfile.mkdtemp(prefix="judge-pipeline-")) / name


def commands_to_bring_in() -> tuple[str, ...]:
    """How to bring in what this process has rescued, a command a file.

    The error that says so can be lost: on a full disk Dagster's records do not take it, and raise one of their own.
    """
    return tuple(_RESCUED_HERE)


def rescued_urls(url: str) -> list[str]:
    """URLs of the stores that lie beside the checkpoint's file and hold what was rescued of it."""
    file = database_file(url)
    if file is None:
        return []
    return [f"sqlite:///{found}" for found in sorted(file.parent.glob(f"{glob.escape(file.stem)}.{RESCUED}-*.sqlite"))]
