"""All files of a contest, each read once: from the cache, in this process, or in others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge_pipeline.ingest.contest_folder import ArtifactKind, list_files, unread_sha256
from judge_pipeline.ingest.file_reading import TABLES, FileOutcome, FileTask, Reading, read_task, unpack
from judge_pipeline.ingest.reading_cache import CacheEntry, ReadingCache
from judge_pipeline.ingest.reading_limits import ReadingLimits
from judge_pipeline.ingest.reading_pool import read_in_processes, usable_cores
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.settings import ContestSettings

FEW_FILES = 300
"""Fewer files are read in this process: starting others would take longer."""

SMALL_BYTES = 1024 * 1024
"""A larger file is read in another process in any case: it might take more memory or time than it may."""

_SECONDS_BETWEEN_REPORTS = 0.2

Report = Callable[[int, int, int], None]
"""Is told how many files are done, of how many, and of how many of these something was set aside."""

_FEW_VALUES = ("reader", "participant", "problem_id", "verdict", "verdict_raw", "language", "role", "notes")
"""Columns that hold the same values in many rows: one object each, not one a row."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file of a contest and what it says.

    Attributes:
        kind: what it was taken for.
        path: relative to the contest folder, with ``/``.
        sha256: of its content, or of why it cannot be read.
        said: what was read, or why it is set aside unread.
    """

    kind: ArtifactKind
    path: str
    sha256: str
    said: Reading | UnreadableArtifact

    @property
    def is_aside(self) -> bool:
        """Whether anything of it was set aside."""
        return isinstance(self.said, UnreadableArtifact) or bool(self.said.aside)


@dataclass
class FilesRead:
    """All files of a contest, in order: submissions by path, then prompts by path.

    Attributes:
        files: the files.
        n_opened: files of which the content was looked at; the others are known to be unchanged.
        n_parsed: files that were parsed.
    """

    files: list[FileRead] = field(default_factory=list)
    n_opened: int = 0
    n_parsed: int = 0


def read_files(
    folder: Path,
    settings: ContestSettings,
    *,
    cache: ReadingCache | None,
    report: Report,
    n_processes: int | None,
    limits: ReadingLimits,
) -> FilesRead:
    """Reads ``folder/submissions`` and ``folder/prompts``.

    Args:
        folder: the contest folder.
        settings: the contest's settings.
        cache: what was read before; None: nothing.
        report: is told about progress, a few times a second, and at the end.
        n_processes: processes that read; 0: this one; None: one for each core, or this one where there are few files,
            all of them small.
        limits: what the reading of one file may take where other processes read.
    """
    return _Reading(folder, settings, cache, report).read(n_processes, limits)


class _Reading:
    def __init__(self, folder: Path, settings: ContestSettings, cache: ReadingCache | None, report: Report) -> None:
        self._folder, self._settings, self._cache, self._report = folder, settings, cache, report
        self._by_number: list[FileRead | None] = []
        self._known: dict[int, CacheEntry] = {}
        self._made = FilesRead()
        self._n_done = self._n_aside = 0
        self._reported = 0.0
        self._same: dict[Any, Any] = {}
        self._few = {
            kind: [i for i, name in enumerate(table.column_names) if name in _FEW_VALUES]
            for kind, table in TABLES.items()
        }

    def read(self, n_processes: int | None, limits: ReadingLimits) -> FilesRead:
        tasks = self._listed()
        if n_processes is None:
            here = len(tasks) < FEW_FILES and all(task.n_bytes <= SMALL_BYTES for task in tasks)
            n_processes = 0 if here else usable_cores()
        for task, outcome in self._outcomes(tasks, n_processes, limits):
            self._take(task, outcome)
        self._report(self._n_done, len(self._by_number), self._n_aside)
        self._made.files = [file for file in self._by_number if file is not None]
        return self._made

    def _listed(self) -> list[FileTask]:
        """Lists the files; those that are not known to be unchanged are left to be read."""
        kinds: tuple[ArtifactKind, ...] = ("submissions", "prompts")
        listed = [(kind, found) for kind in kinds for found in list_files(self._folder, kind)]
        self._by_number = [None] * len(listed)
        if self._cache is not None:
            self._cache.keep_only(found.path for _, found in listed)
        tasks = []
        for number, (kind, found) in enumerate(listed):
            if isinstance(found, UnreadableArtifact):
                self._set(number, FileRead(kind, found.path, unread_sha256(found.reason), found))
                continue
            entry = self._cache.get(kind, found.path) if self._cache is not None else None
            if entry is not None and entry.stamp == found.stamp:
                self._set(number, FileRead(kind, found.path, entry.sha256, entry.reading))
                continue
            if entry is not None:
                self._known[number] = entry
            known = entry.sha256 if entry is not None else None
            tasks.append(FileTask(number, kind, found.path, found.file, found.stamp[0], known))
        return tasks

    def _outcomes(
        self, tasks: list[FileTask], n_processes: int, limits: ReadingLimits
    ) -> Iterator[tuple[FileTask, FileOutcome]]:
        if n_processes:
            yield from read_in_processes(tasks, self._settings, n_processes, limits)
        else:
            yield from ((task, read_task(task, self._settings)) for task in tasks)

    def _take(self, task: FileTask, outcome: FileOutcome) -> None:
        self._made.n_opened += 1
        known = self._known.pop(task.number, None)
        if outcome.unread is not None or outcome.sha256 is None:
            unread = outcome.unread or UnreadableArtifact(task.path, None, "cannot be read", "save it again")
            self._set(task.number, FileRead(task.kind, task.path, unread_sha256(unread.reason), unread))
            return
        if outcome.packed is not None:
            self._made.n_parsed += 1
            reading = unpack(task.kind, task.path, outcome.packed)
            if self._cache is not None:
                self._cache.put(task.path, outcome.stamp, outcome.sha256, outcome.packed)
        elif known is not None:
            reading = known.reading
            if self._cache is not None:
                self._cache.touch(task.path, outcome.stamp)
        self._set(task.number, FileRead(task.kind, task.path, outcome.sha256, reading))

    def _set(self, number: int, file: FileRead) -> None:
        if isinstance(file.said, Reading):
            few = self._few[file.kind]
            for row in file.said.rows:
                for index in few:
                    row[index] = self._same.setdefault(row[index], row[index])
        self._by_number[number] = file
        self._n_done += 1
        self._n_aside += file.is_aside
        now = time.monotonic()
        if now - self._reported >= _SECONDS_BETWEEN_REPORTS:
            self._reported = now
            self._report(self._n_done, len(self._by_number), self._n_aside)
