"""What was read of a contest's files before: ``<out>/ingest_cache/<contest>.sqlite``, one row a file.

A file whose stamp (size, times of change) is as it was is not opened again; one whose stamp is another but whose
content has the same sha256 is not parsed again. All is forgotten where the readers' code, a library that they use, or a
setting that they look at is another. Nothing in the cache is trusted: a reading that does not bear its checksum, or a
file that SQLite calls damaged, counts as not there. The cache may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType

from judge_pipeline.ingest.contest_folder import ArtifactKind, Stamp
from judge_pipeline.ingest.file_reading import Reading, unpack
from judge_pipeline.settings import SLUG, ContestSettings

FOLDER = "ingest_cache"
"""Name of the caches' folder within the output folder."""

_NOT_LOOKED_AT = {
    "title", "note", "context", "context_roles", "problem_statements", "max_code_chars", "max_prompt_chars", "split",
    "seed", "resamples", "min_coverage", "redaction",
}  # fmt: skip
"""Settings that no reader looks at. A setting that is not listed counts as one that it does."""

_LIBRARIES = ("selectolax", "charset-normalizer", "python-dateutil", "tzdata", "pydantic", "pyarrow")

_SCHEMA = """
create table readings (
    path text primary key,
    size integer not null, changed_ns integer not null, touched_ns integer not null,
    sha256 text not null, packed blob not null, checksum blob not null
);
create table of (version text not null);
"""

_BATCH = 500
"""Readings written at once; so many at most are made anew where a run is interrupted."""


class CacheEntry:
    """What is kept of one file.

    Attributes:
        stamp: the file's when it was read.
        sha256: of its content.
        reading: what was read of it.
    """

    __slots__ = ("reading", "sha256", "stamp")

    def __init__(self, stamp: Stamp, sha256: str, reading: Reading) -> None:
        self.stamp, self.sha256, self.reading = stamp, sha256, reading


class ReadingCache:
    """The cache of one contest; a context manager.

    Where it cannot be used (a disk that is full, another run that holds it), reading goes on without it: ``trouble``
    says why.
    """

    def __init__(self, file: Path, settings: ContestSettings) -> None:
        self.trouble: str | None = None
        self._file, self._version = file, cache_version(settings)
        self._puts: list[tuple[str | int | bytes, ...]] = []
        self._database: sqlite3.Connection | None = None
        with self._guarded():
            self._database = self._open()

    def __enter__(self) -> ReadingCache:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._write()
        if self._database is not None:
            with self._guarded():
                self._database.close()

    def get(self, kind: ArtifactKind, path: str) -> CacheEntry | None:
        """What is kept of the file; None where nothing is, or nothing that can be trusted."""
        row = None
        with self._guarded():
            if self._database is not None:
                row = self._database.execute("select * from readings where path = ?", (path,)).fetchone()
        if row is None:
            return None
        with suppress(ValueError, TypeError, KeyError, IndexError, AttributeError):
            _, size, changed, touched, sha256, packed, checksum = row
            if _checksum(path, sha256, packed) == checksum:
                return CacheEntry((size, changed, touched), sha256, unpack(kind, path, packed))
        return None

    def put(self, path: str, stamp: Stamp | None, sha256: str, packed: bytes) -> None:
        """Keeps a reading; without a stamp, the file's content is looked at next time."""
        size, changed, touched = stamp or (-1, -1, -1)
        self._puts.append((path, size, changed, touched, sha256, packed, _checksum(path, sha256, packed)))
        if len(self._puts) >= _BATCH:
            self._write()

    def touch(self, path: str, stamp: Stamp | None) -> None:
        """Keeps the new stamp of a file whose content is as it was."""
        size, changed, touched = stamp or (-1, -1, -1)
        self._change(
            "update readings set size = ?, changed_ns = ?, touched_ns = ? where path = ?",
            [(size, changed, touched, path)],
        )

    def keep_only(self, paths: Iterable[str]) -> None:
        """Drops what is kept of files that are not there any more."""
        self._write()
        with self._guarded():
            if self._database is not None:
                kept = {path for (path,) in self._database.execute("select path from readings")}
                gone = sorted(kept.difference(paths))
                self._change("delete from readings where path = ?", [(path,) for path in gone])

    def _write(self) -> None:
        puts, self._puts = self._puts, []
        self._change("insert or replace into readings values (?, ?, ?, ?, ?, ?, ?)", puts)

    def _change(self, statement: str, rows: Sequence[tuple[str | int | bytes, ...]]) -> None:
        with self._guarded():
            if self._database is not None and rows:
                with self._database:
                    self._database.executemany(statement, rows)

    def _open(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        database = _connect(self._file)
        try:
            found = database.execute("select version from of").fetchone()
            if found == (self._version,):
                return database
        except sqlite3.DatabaseError as error:
            if _is_in_use(error):
                raise
        # Another version's, damaged, or not there yet.
        database.close()
        for name in (self._file.name, f"{self._file.name}-journal"):
            self._file.with_name(name).unlink(missing_ok=True)
        database = _connect(self._file)
        with database:
            database.executescript(_SCHEMA)
            database.execute("insert into of values (?)", (self._version,))
        return database

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Goes on without the cache where it fails; a damaged one is made anew."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            database, self._database = self._database, None
            if database is not None:
                with suppress(sqlite3.Error):
                    database.close()
            if isinstance(error, sqlite3.OperationalError | OSError):
                self.trouble = f"{self._file}: {error}"
                return
            with suppress(OSError):
                self._file.unlink(missing_ok=True)
            try:
                self._database = self._open()
            except (sqlite3.Error, OSError) as again:
                self.trouble = f"{self._file}: {again}"


def cache_file(out_dir: Path, contest: str) -> Path:
    """Where the cache of a contest lies."""
    if not SLUG.fullmatch(contest):
        raise ValueError(f"contest name {contest!r} cannot be a file name")
    return out_dir / FOLDER / f"{contest}.sqlite"


def known_files(file: Path) -> dict[str, tuple[Stamp, str]]:
    """Path -> the stamp and sha256 of each file that the cache knows; empty where the cache cannot be read."""
    if not file.exists():
        return {}
    with suppress(sqlite3.DatabaseError):
        database = _connect(file)
        try:
            rows = database.execute("select path, size, changed_ns, touched_ns, sha256 from readings")
            return {path: ((size, changed, touched), sha256) for path, size, changed, touched, sha256 in rows}
        finally:
            database.close()
    return {}


def drop_from_cache(out_dir: Path, contest: str, paths: Iterable[str]) -> int:
    """Takes files out of a contest's cache, overwriting what was kept of them.

    Args:
        out_dir: the workspace's output folder.
        contest: the contest.
        paths: the files, relative to the contest folder, with ``/``, as the tables' column ``path`` has them; a path
            that ends in ``/`` stands for all files below it.

    Returns:
        How many files were in the cache and are not any more. Where the cache cannot be opened, all of it is deleted.
    """
    file = cache_file(out_dir, contest)
    if not file.exists():
        return 0
    try:
        database = _connect(file)
        try:
            kept = [path for (path,) in database.execute("select path from readings")]
            wanted = set(paths)
            below = tuple(path for path in wanted if path.endswith("/"))
            dropped = [path for path in kept if path in wanted or (below and path.startswith(below))]
            with database:
                database.executemany("delete from readings where path = ?", [(path,) for path in dropped])
        finally:
            database.close()
    except sqlite3.DatabaseError as error:
        if _is_in_use(error):
            raise
        file.unlink(missing_ok=True)
        return 0
    return len(dropped)


@cache
def _code_version() -> str:
    """sha256 of the readers' code and the versions of what they use."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(sys.version.encode())
    sources = [*(package / "ingest").rglob("*.py"), *(package / "tables").rglob("*.py"), package / "table_schema.py"]
    for file in sorted(sources):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            digest.update(f"{name} {version(name)}\n".encode())
    return digest.hexdigest()


def cache_version(settings: ContestSettings) -> str:
    """What a reading depends on beside the file: the readers' code, and the settings that they look at."""
    looked_at = settings.model_dump(mode="json", exclude=_NOT_LOOKED_AT)
    return f"{_code_version()} {json.dumps(looked_at, sort_keys=True)}"


def _connect(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=10)
    # What is taken out is overwritten, and the file shrinks: people may ask to be forgotten. Nothing here needs to
    # survive a power cut; what one leaves behind damaged is made anew.
    for pragma in ("auto_vacuum = full", "secure_delete = on", "synchronous = off"):
        database.execute(f"pragma {pragma}")
    return database


def _is_in_use(error: sqlite3.DatabaseError) -> bool:
    return error.sqlite_errorcode in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _checksum(path: str, sha256: str, packed: bytes) -> bytes:
    digest = hashlib.blake2b(packed, digest_size=16)
    digest.update(f"{len(path)} {path} {sha256}".encode("utf-8", "surrogatepass"))
    return digest.digest()
