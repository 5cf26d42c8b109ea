"""Submissions whose source lies in another file than the one that lists them: the step over several artifacts.

A feed lists submissions, and archives beside it hold their sources; a table or Project CodeNet's metadata names a file
for each. Every file has been read by itself before. Here the source is joined to the submission that it belongs to, and
what has been joined stands no longer for itself. Sources that nothing lists are set aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePosixPath

import pandas as pd

from judge_pipeline.ingest.attempts import quarantine
from judge_pipeline.ingest.binary_files import refuse_binary
from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.records import SubmissionRecord, UnreadableArtifact, count_lines, sha256_of
from judge_pipeline.tables import SUBMISSION_ARTIFACTS

OpenBeside = Callable[[str], bytes]
"""The bytes of a file of the contest folder by its path. Raises UnreadableArtifact where there is none to be read."""

_LISTING = frozenset({"clics_feed", "codenet", "table"})
_WAITING = frozenset({"zip_member", "codenet_source"})
"""Readers of sources that are nothing without a list."""

_WHOLE_FILE = frozenset({"source_file", "codenet_source"})
"""Readers to whom all of a file is the source."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a join needs of one row of ``SUBMISSION_ARTIFACTS``."""

    path: str
    row: int | None
    reader: str
    submission_id: str | None
    source_code: str | None
    source_path: str | None


_PART_COLUMNS = tuple(one.name for one in fields(Part))


@dataclass(frozen=True, slots=True)
class Found:
    """A source that was found for a row, or why there is none; ``source_path`` says where it lies."""

    source_code: str | None
    source_path: str | None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Joins:
    """What is to be done to the rows.

    Attributes:
        found: by index of a row, the source that it gets.
        used: indices of rows that are parts of others now, or are set aside.
        used_paths: files that could not be read as submissions and are sources: they are set aside no longer.
        aside: what is set aside.
    """

    found: dict[int, Found] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    used_paths: set[str] = field(default_factory=set)
    aside: list[UnreadableArtifact] = field(default_factory=list)


def needs_joining(readers: Iterable[str]) -> bool:
    """Whether rows of these readers may have their sources elsewhere, or be sources of others."""
    return not (_LISTING | _WAITING).isdisjoint(readers)


def join_tables(
    artifacts: pd.DataFrame, aside: pd.DataFrame, open_beside: OpenBeside
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Each source at the submission that it belongs to.

    Args:
        artifacts: a table ``SUBMISSION_ARTIFACTS`` of all files of a contest.
        aside: a table ``INGEST_QUARANTINE`` of what could not be read of them.
        open_beside: reads a file that a table names and that was not read as a program before.

    Returns:
        Both tables, joined: without the rows that are parts of others now, without the files that turned out to be
        sources, with what is set aside by this step.
    """
    if not needs_joining(artifacts["reader"].unique()):
        return artifacts, aside
    columns = ([None if pd.isna(value) else value for value in artifacts[name]] for name in _PART_COLUMNS)
    unread: dict[str, str] = {}
    for path, reason in zip(aside["path"], aside["reason"], strict=True):
        unread.setdefault(path, reason)
    joins = join_parts([Part(*values) for values in zip(*columns, strict=True)], unread, open_beside)
    joined = _with_sources(artifacts, joins.found).drop(index=sorted(joins.used)).reset_index(drop=True)
    left = aside[~(aside["path"].isin(joins.used_paths) & aside["place"].isna())]
    new = quarantine(joins.aside)
    tables = [table for table in (left, new) if len(table)]
    return joined, pd.concat(tables, ignore_index=True) if tables else left


def join_records(
    records: Sequence[SubmissionRecord], aside: Sequence[UnreadableArtifact], open_beside: OpenBeside
) -> tuple[list[SubmissionRecord], list[UnreadableArtifact]]:
    """The same of records: those that are left, and all that is set aside."""
    if not needs_joining(record.reader for record in records):
        return list(records), list(aside)
    unread: dict[str, str] = {}
    for unreadable in aside:
        unread.setdefault(unreadable.path, unreadable.reason)
    parts = [Part(*(getattr(record, name) for name in _PART_COLUMNS)) for record in records]
    joins = join_parts(parts, unread, open_beside)
    joined = []
    for index, record in enumerate(records):
        found = joins.found.get(index)
        if index not in joins.used:
            joined.append(record if found is None else _with_source(record, found))
    left = [unreadable for unreadable in aside if unreadable.place or unreadable.path not in joins.used_paths]
    return joined, [*left, *joins.aside]


def join_parts(parts: Sequence[Part], unread: Mapping[str, str], open_beside: OpenBeside) -> Joins:
    """Which sources belong to which rows.

    Args:
        parts: the rows of all files.
        unread: by path, why a file or a place in it was set aside.
        open_beside: as ``join_tables``.
    """
    joins, places = Joins(), _Places(parts, unread, open_beside)
    missing: dict[str, list[int]] = {}
    for index, part in enumerate(parts):
        if part.source_code is not None or part.reader not in _LISTING:
            continue
        if part.reader == "clics_feed":
            paths = places.of_submission(part)
            if not paths:
                missing.setdefault(part.path, []).append(index)
        elif part.source_path is not None:
            paths = [part.source_path]
        else:
            continue
        if paths:
            _join(index, part, paths, places, joins)
    _note_missing(parts, missing, joins)
    _set_aside_waiting(parts, joins)
    return joins


class _Places:
    """Where the rows of each file are, and which files lie in each folder."""

    def __init__(self, parts: Sequence[Part], unread: Mapping[str, str], open_beside: OpenBeside) -> None:
        self._parts, self._unread, self._open_beside = parts, unread, open_beside
        self._rows: dict[str, list[int]] = {}
        for index, part in enumerate(parts):
            self._rows.setdefault(part.path, []).append(index)
        self._folders: dict[str, list[str]] = {}
        for path in sorted({*self._rows, *unread}):
            self._folders.setdefault(path.rpartition("/")[0], []).append(path)

    def of_submission(self, part: Part) -> list[str]:
        """The files that hold the source of a feed's submission: an archive, or what lies in its folder.

        The contest package format has them at ``submissions/<id>/``; else ``<id>.zip`` beside the feed or in
        ``submissions/``, ``<id>/files.zip``, and where the submission's own ``href`` would lie.
        """
        number = part.submission_id
        if not number or "/" in number or number in (".", ".."):
            return []
        base = part.path.rpartition("/")[0]
        beside = f"{base}/" if base else ""
        named = [part.source_path] if part.source_path else []
        stems = [f"{beside}submissions/{number}", *named, f"{beside}{number}"]
        for stem in stems:
            for path in (f"{stem}/files.zip", f"{stem}.zip", stem):
                if path != part.path and (path in self._rows or path in self._unread):
                    return [path]
        for folder in (*stems[:-1], *(f"{stem}/files" for stem in stems)):
            if folder in self._folders:
                return self._folders[folder]
        return []

    def sources_in(self, path: str) -> tuple[list[tuple[str, str]], list[int], bool]:
        """The sources in a file by their paths, the rows that they are, and whether the file was opened for it.

        Raises:
            UnreadableArtifact: it cannot be read, or lists submissions itself.
        """
        rows = self._rows.get(path, [])
        parts = [self._parts[i] for i in rows]
        if any(part.reader in _LISTING for part in parts):
            raise UnreadableArtifact(path, None, "lists submissions itself", "name the file of the source")
        if rows and all(part.reader.startswith("zip_") for part in parts):
            return [(part.source_path or path, part.source_code or "") for part in parts], rows, False
        if len(parts) == 1 and parts[0].reader in _WHOLE_FILE and parts[0].source_code is not None:
            return [(path, parts[0].source_code)], rows, False
        if path.lower().endswith(".zip") and path in self._unread:
            raise UnreadableArtifact(path, None, self._unread[path], "see what is said of the archive")
        data = self._open_beside(path)
        refuse_binary(data, path)
        return [(path, decode(data).text)], rows, True


def _join(index: int, part: Part, paths: Sequence[str], places: _Places, joins: Joins) -> None:
    """Gives a row the sources in the files; where that fails, says so on the row."""
    sources: list[tuple[str, str]] = []
    failures: list[UnreadableArtifact] = []
    for path in paths:
        try:
            texts, rows, opened = places.sources_in(path)
        except UnreadableArtifact as unreadable:
            failures.append(unreadable)
            continue
        sources += texts
        joins.used.update(rows)
        if opened:
            joins.used_paths.add(path)
    notes = tuple(f"its source {failure.path} cannot be read: {failure.reason}" for failure in failures)
    if not sources:
        joins.found[index] = Found(None, None, notes)
        if part.reader == "table":
            joins.aside += [
                UnreadableArtifact(part.path, f"row {part.row}", f"source file {f.path!r}: {f.reason}", f.remedy)
                for f in failures
            ]
        return
    source, note = _as_one(sources)
    where = sources[0][0] if len(sources) == 1 else paths[0] if len(paths) == 1 else paths[0].rpartition("/")[0]
    joins.found[index] = Found(source, where, (*note, *notes))


def _as_one(sources: list[tuple[str, str]]) -> tuple[str, tuple[str, ...]]:
    """A program as one text: exactly its file where it is one, else the files one behind the other, main first."""
    if len(sources) == 1:
        return sources[0][1], ()
    ordered = sorted(sources, key=lambda source: PurePosixPath(source[0]).stem.lower() != "main")
    text = "".join(
        code if code.endswith("\n") or i == len(ordered) else f"{code}\n"
        for i, (_, code) in enumerate(ordered, start=1)
    )
    names = ", ".join(PurePosixPath(path).name for path, _ in ordered[:20])
    return text, (f"source of {len(ordered)} files, one behind the other: {names}",)


def _note_missing(parts: Sequence[Part], missing: Mapping[str, list[int]], joins: Joins) -> None:
    """Says so where a feed has sources beside it, and some submission has none; a feed may come without any."""
    with_sources = {parts[index].path for index in joins.found}
    for path, indices in missing.items():
        notes = ("no source lies beside the feed",) if path in with_sources else ()
        for index in indices:
            if notes or parts[index].source_path is not None:
                joins.found[index] = Found(None, None, notes)


def _set_aside_waiting(parts: Sequence[Part], joins: Joins) -> None:
    for index, part in enumerate(parts):
        if part.reader not in _WAITING or index in joins.used:
            continue
        joins.used.add(index)
        if part.reader == "codenet_source":
            reason = f"is a source of Project CodeNet, and no metadata lists {part.submission_id}"
            joins.aside.append(
                UnreadableArtifact(part.path, None, reason, "bring its problem's metadata/<problem>.csv")
            )
            continue
        name = (part.source_path or "").removeprefix(f"{part.path}/")
        joins.aside.append(
            UnreadableArtifact(
                part.path,
                f"file {part.row}, {name[:200]!r}",
                "its name does not say, in one way only, whose it is and how it was judged, and no feed lists it",
                "in contest.yaml, set archive_names to the form of the names, and list the problems, as in "
                "problem_names: {A: A}; or unpack it to submissions/<participant>/<problem>/",
            )
        )


def _with_source(record: SubmissionRecord, found: Found) -> SubmissionRecord:
    notes = (*record.notes, *found.notes)
    return replace(record, source_code=found.source_code, source_path=found.source_path, notes=notes)


def _with_sources(artifacts: pd.DataFrame, found: Mapping[int, Found]) -> pd.DataFrame:
    columns = {name: artifacts[name].tolist() for name in ("source_code", "source_path", "notes")}
    digests, lines = artifacts["source_sha256"].tolist(), artifacts["source_lines"].tolist()
    for index, one in found.items():
        columns["source_code"][index], columns["source_path"][index] = one.source_code, one.source_path
        columns["notes"][index] = "; ".join(filter(None, (columns["notes"][index], *one.notes))) or None
        if one.source_code is not None:
            digests[index], lines[index] = sha256_of(one.source_code), count_lines(one.source_code)
    return SUBMISSION_ARTIFACTS.conform(
        artifacts.assign(**columns, source_sha256=digests, source_lines=pd.array(lines, dtype="Int64"))
    )
