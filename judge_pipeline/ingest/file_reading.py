"""One file of a contest, read: bytes -> the rows that it gives and the places in it that were set aside.

A reading can be kept and sent between processes as bytes. All readings are made into bytes and back, also where
nothing is kept or sent, so that a table never depends on which way its rows came.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from judge_pipeline.ingest.contest_folder import ArtifactKind, Stamp, read_stamped
from judge_pipeline.ingest.prompt_logs import log_rows
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.submissions import read_artifact
from judge_pipeline.settings import ContestSettings
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import PROMPT_LOGS, SUBMISSION_ARTIFACTS

TABLES: dict[ArtifactKind, Table] = {"submissions": SUBMISSION_ARTIFACTS, "prompts": PROMPT_LOGS}
"""The table of which a kind's readings hold rows."""


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file that is to be read.

    Attributes:
        number: its place in the order of all files.
        kind: what it is taken for.
        path: relative to the contest folder, with ``/``.
        file: where it lies.
        n_bytes: its size.
        known_sha256: sha256 of the content of which a reading is kept; if it is still the same, none is made anew.
    """

    number: int
    kind: ArtifactKind
    path: str
    file: str
    n_bytes: int
    known_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of a file.

    Attributes:
        sha256: of its content; None where that could not be read.
        stamp: by what it is known to be unchanged; None where that cannot be told.
        packed: its reading as bytes (``pack``); None where the content is as known, or could not be read.
        unread: why no reading was made; the reason may lie outside the file, so that it is not kept.
    """

    sha256: str | None = None
    stamp: Stamp | None = None
    packed: bytes | None = None
    unread: UnreadableArtifact | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file's content says.

    Attributes:
        rows: values of the table's columns in order, of each row.
        aside: place, reason and remedy of what was set aside.
    """

    rows: list[list[Any]]
    aside: list[tuple[str | None, str, str]]


def read_task(task: FileTask, settings: ContestSettings) -> FileOutcome:
    """Reads a file. Whatever is in it, nothing is raised but ``MemoryError``."""
    try:
        data, stamp = read_stamped(Path(task.file), task.path)
    except UnreadableArtifact as unreadable:
        return FileOutcome(unread=unreadable)
    sha256 = hashlib.sha256(data).hexdigest()
    if sha256 == task.known_sha256:
        return FileOutcome(sha256, stamp)
    return FileOutcome(sha256, stamp, pack(task.kind, reading_of(task.kind, data, task.path, settings)))


def reading_of(kind: ArtifactKind, data: bytes, path: str, settings: ContestSettings) -> Reading:
    """The reading of a file's bytes.

    A reader that fails on it otherwise than by saying why has a defect; the file is set aside for that, too: one file
    never stops a contest.
    """
    try:
        if kind == "prompts":
            rows, aside = log_rows(data, path), []
        else:
            read = read_artifact(data, path, settings)
            rows, aside = [record.to_row() for record in read.records], read.aside
    except UnreadableArtifact as unreadable:
        rows, aside = [], [unreadable]
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a hostile file makes of a reader
        rows, aside = [], [_defect(path, error)]
    names = TABLES[kind].column_names
    return Reading([[row[name] for name in names] for row in rows], [(u.place, u.reason, u.remedy) for u in aside])


def pack(kind: ArtifactKind, reading: Reading) -> bytes:
    """The reading as bytes, without the file's path."""
    path, *instants = _special_columns(kind)
    for row in reading.rows:
        row[path] = None
        for index in instants:
            row[index] = None if row[index] is None else row[index].isoformat()
    text = json.dumps([reading.rows, reading.aside], ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def unpack(kind: ArtifactKind, path: str, packed: bytes) -> Reading:
    """The reading of the file at ``path`` that ``pack`` made into bytes.

    Raises:
        ValueError: the bytes are none of ``pack``'s.
    """
    try:
        rows, aside = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    except zlib.error as error:
        raise ValueError(f"no reading: {error}") from None
    path_index, *instants = _special_columns(kind)
    for row in rows:
        row[path_index] = path
        for index in instants:
            row[index] = None if row[index] is None else datetime.fromisoformat(row[index])
    return Reading(rows, [(place, reason, remedy) for place, reason, remedy in aside])


def _special_columns(kind: ArtifactKind) -> list[int]:
    """Where the path stands in a row, then where instants do."""
    columns = TABLES[kind].columns
    names = [column.name for column in columns]
    return [names.index("path"), *(i for i, column in enumerate(columns) if column.kind == "instant")]


def _defect(path: str, error: Exception) -> UnreadableArtifact:
    what = " ".join(str(error).split())[:200]
    return UnreadableArtifact(
        path,
        None,
        f"its reader failed ({type(error).__name__}: {what})",
        "report it with the file as a defect of judge_pipeline; save the page or log in another form meanwhile",
    )
