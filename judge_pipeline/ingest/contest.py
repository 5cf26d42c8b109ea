"""A contest folder, read once: every artifact and chat log into tables, what cannot be read into the quarantine.

Files are listed first and opened one at a time, in processes of their own where there are many or large ones; what was
read of a file before, and is still true of it, is taken from the cache. Tables and fingerprint are the same whichever
way they come about.
"""

from __future__ import annotations

import gc
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judge_pipeline.ingest.attempts import build_attempts, quarantine
from judge_pipeline.ingest.beside import opener
from judge_pipeline.ingest.contest_folder import ArtifactKind, fingerprint_of
from judge_pipeline.ingest.contest_reading import FileRead, FilesRead, Report, read_files
from judge_pipeline.ingest.file_reading import TABLES
from judge_pipeline.ingest.joined_sources import join_tables
from judge_pipeline.ingest.prompt_logs import Copies
from judge_pipeline.ingest.reading_cache import ReadingCache
from judge_pipeline.ingest.reading_limits import ReadingLimits
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import INGEST_QUARANTINE

_LIMITS = ReadingLimits()


@dataclass(frozen=True)
class ContestRead:
    """What one reading of a contest folder gave.

    Attributes:
        submission_artifacts: table SUBMISSION_ARTIFACTS.
        prompt_logs: table PROMPT_LOGS.
        attempts: table ATTEMPTS.
        quarantine: table INGEST_QUARANTINE: what was set aside at any step.
        fingerprint: sha256 over the paths and contents of all files: the data version of the folder.
        n_files: files found.
        n_opened: files of which the content was looked at; the others are known to be unchanged.
        n_parsed: files that were parsed.
        cache_trouble: why the cache could not be used, if so.
    """

    submission_artifacts: pd.DataFrame
    prompt_logs: pd.DataFrame
    attempts: pd.DataFrame
    quarantine: pd.DataFrame
    fingerprint: str
    n_files: int
    n_opened: int
    n_parsed: int
    cache_trouble: str | None


def _tell_nobody(done: int, total: int, aside: int) -> None:
    pass


def read_contest(
    folder: Path,
    contest: str,
    settings: ContestSettings,
    *,
    cache: Path | None = None,
    report: Report = _tell_nobody,
    n_processes: int | None = None,
    limits: ReadingLimits = _LIMITS,
) -> ContestRead:
    """Read ``folder/submissions`` and ``folder/prompts``.

    Args:
        folder: the contest folder.
        contest: its name, which enters every attempt_id.
        settings: time zone, verdict words, problem names.
        cache: file in which readings are kept for the next time (``reading_cache.cache_file``); None: nowhere.
        report: is told about progress, a few times a second: files done, files in all, files with something set aside.
        n_processes: processes that read; 0: this one; None: one for each core, or this one where there are few files,
            all of them small.
        limits: what the reading of one file may take where other processes read.
    """
    with ExitStack() as stack:
        stack.enter_context(_without_looking_for_cycles())
        kept = stack.enter_context(ReadingCache(cache, settings)) if cache is not None else None
        read = read_files(folder, settings, cache=kept, report=report, n_processes=n_processes, limits=limits)
        return _tables(read, folder, contest, kept.trouble if kept is not None else None)


def _tables(read: FilesRead, folder: Path, contest: str, trouble: str | None) -> ContestRead:
    total, digest = len(read.files), fingerprint_of((file.path, file.sha256) for file in read.files)
    artifacts, unread = _table("submissions", _said(read.files, "submissions"))
    logs, unread_logs = _table("prompts", _without_copies(_said(read.files, "prompts")))
    read.files.clear()  # their values live on in the tables
    artifacts, unread = join_tables(artifacts, unread, opener(folder, "submissions"))
    attempts, unusable = build_attempts(artifacts, contest)
    set_aside = [table for table in (unread, unusable, unread_logs) if len(table)]
    aside = pd.concat(set_aside, ignore_index=True) if set_aside else INGEST_QUARANTINE.empty()
    aside = INGEST_QUARANTINE.conform(aside)
    return ContestRead(artifacts, logs, attempts, aside, digest, total, read.n_opened, read.n_parsed, trouble)


def _said(files: Iterable[FileRead], kind: ArtifactKind) -> Iterator[FileRead]:
    return (file for file in files if file.kind == kind)


def _without_copies(logs: Iterable[FileRead]) -> Iterator[FileRead]:
    """The logs; of those that a participant handed in twice, the later ones as set aside."""
    copies = Copies()
    for log in logs:
        try:
            if not isinstance(log.said, UnreadableArtifact):
                copies.refuse(log.path, log.sha256)
            yield log
        except UnreadableArtifact as copy:
            yield FileRead(log.kind, log.path, log.sha256, copy)


def _table(kind: ArtifactKind, files: Iterable[FileRead]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table of what the files say, in their order, and what was set aside of them."""
    rows: list[list[Any]] = []
    aside: list[UnreadableArtifact] = []
    for file in files:
        if isinstance(file.said, UnreadableArtifact):
            aside.append(file.said)
        else:
            rows.extend(file.said.rows)
            aside.extend(UnreadableArtifact(file.path, *what) for what in file.said.aside)
    table = TABLES[kind]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(table.column_names)}
    return table.conform(pd.DataFrame(columns, dtype="object")), quarantine(aside, kind)


@contextmanager
def _without_looking_for_cycles() -> Iterator[None]:
    """Keeps Python from looking for garbage in cycles again and again among millions of values, all of them in use.

    That search takes as long as the work itself; there are none to be found.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_statements(folder: Path) -> dict[str, str]:
    """Problem id -> statement, from ``problems/<problem>.md`` or ``.txt``; empty where there are none.

    Raises:
        UnreadableArtifact: a statement is no UTF-8 text, or may not be read.
    """
    files = sorted((folder / "problems").glob("*")) if (folder / "problems").is_dir() else []
    return {file.stem: _statement(file) for file in files if file.suffix in (".md", ".txt")}


def _statement(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableArtifact(
            f"problems/{file.name}", None, f"the statement cannot be read ({error})", "save it as UTF-8 text"
        ) from None


def names_alike(names: Iterable[str]) -> list[str]:
    """Participants whose names nobody can tell apart, in words; none if all can be.

    The same letters may come in two encodings (an accent of its own, as macOS writes names, or within the letter), and
    file systems and people differ in whether capitals matter.
    """
    alike: dict[str, set[str]] = {}
    for name in names:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", name).casefold().split()), set()).add(name)
    return [
        f"{', '.join(map(ascii, sorted(group)))} read alike, and count as {len(group)} participants"
        for _, group in sorted(alike.items())
        if len(group) > 1
    ]


def turn_gaps(attempts: pd.DataFrame) -> list[str]:
    """Trajectories whose turns are not 1, 2, ..., n, in words; none if all are."""
    groups = attempts.groupby(["participant", "problem_id"], sort=True)["turn"]
    return [
        f"{participant}, {problem}: turns {sorted(map(int, turns))}"
        for (participant, problem), turns in groups
        if sorted(turns) != list(range(1, len(turns) + 1))
    ]
