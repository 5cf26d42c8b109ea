"""What a folder holds, as one number: bytes decide, not names of uploads, times or rights.

A contest's is made of the fingerprint that its reading gives (``submissions/`` and ``prompts/``) and of what lies
beside: contest.yaml, problems/, recorded judges' files. A preference set's is over all of its files. Hidden files
count in neither, apart from those in which chat tools keep logs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path

from judge_pipeline.ingest.contest_folder import (
    ArtifactKind,
    ListedFile,
    Stamp,
    fingerprint_of,
    list_files,
    read_stamped,
    unread_sha256,
)
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.orchestration.automation.listing import LEADS_NOWHERE

Known = MutableMapping[str, tuple[Stamp, str]]
"""Path -> the stamp that a file had, and the sha256 of its content then."""

NEVER: Stamp = (-2, -2, -2)
"""The stamp under which a file is known whose disk or network gave none of its bytes, until all others are hashed."""

_CHUNK_BYTES = 1 << 20
_LASTING = LEADS_NOWHERE | {errno.EACCES, errno.EPERM, errno.ENOENT, errno.EISDIR}
"""Errors of a file that stay until somebody changes something about it."""

_KINDS: tuple[ArtifactKind, ...] = ("submissions", "prompts")


class OutOfTimeError(Exception):
    """The time is up; what was hashed is known the next time."""


def content_of(reading_sha256: str, beside_sha256: str) -> str:
    """A contest's content, from the fingerprint of its reading and that of what lies beside."""
    return hashlib.sha256(f"{reading_sha256} {beside_sha256}".encode()).hexdigest()


def contest_content(folder: Path, known: Known, deadline: float = float("inf")) -> str:
    """The content of a contest folder as it is now.

    Args:
        folder: the contest's.
        known: what is known of files that have not changed since; what is hashed is added.
        deadline: monotonic time after which no further file is opened.

    Raises:
        OutOfTimeError: the time is up.
        OSError: a file went away, or a disk or network does not answer.
    """
    read = [
        (found.path, _sha256(found, known, deadline, _read_whole))
        for kind in _KINDS
        for found in list_files(folder, kind)
    ]
    return content_of(fingerprint_of(read), beside_sha256(folder, known, deadline))


def beside_sha256(folder: Path, known: Known | None = None, deadline: float = float("inf")) -> str:
    """What lies in a contest folder beside ``submissions/`` and ``prompts/``, as one number; raises as the content."""
    return _fingerprint(folder, {} if known is None else known, deadline, _KINDS)


def set_content(folder: Path, known: Known | None = None, deadline: float = float("inf")) -> str:
    """The content of a preference set's folder as it is now; arguments and errors as ``contest_content`` has them."""
    return _fingerprint(folder, {} if known is None else known, deadline, ())


def _fingerprint(folder: Path, known: Known, deadline: float, without: tuple[str, ...]) -> str:
    found = _files(folder, without)
    return fingerprint_of((file.path, _sha256(file, known, deadline, _streamed)) for file in found)


def _files(folder: Path, without: tuple[str, ...]) -> Iterator[ListedFile]:
    """Regular files, hidden ones passed over, of any size; a link counts where it leads to a file in the folder."""
    root = folder.resolve()
    pending = [("", str(folder))]
    while pending:
        relative, place = pending.pop()
        for entry in _entries(place, must=not relative):
            path = f"{relative}/{entry.name}" if relative else entry.name
            if entry.name.startswith(".") or path in without:
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append((path, entry.path))
            elif not entry.is_symlink() or _leads_into(root, entry.path):
                yield from _regular(entry, path)


def _leads_into(root: Path, link: str) -> bool:
    try:
        return Path(link).resolve().is_relative_to(root)
    except RuntimeError:  # before Python 3.13, of a link that leads to itself
        return False


def _entries(place: str, must: bool) -> list[os.DirEntry[str]]:
    """A folder's entries; none where it may not be listed, unless it must be."""
    try:
        with os.scandir(place) as entries:
            return list(entries)
    except PermissionError:
        if must:
            raise
        return []


def _regular(entry: os.DirEntry[str], path: str) -> Iterator[ListedFile]:
    try:
        status = entry.stat()
    except OSError as error:
        if entry.is_symlink() and error.errno in {errno.ENOENT, *LEADS_NOWHERE}:
            return  # it leads nowhere, and nothing is read through it
        raise
    if stat.S_ISREG(status.st_mode):
        yield ListedFile(path, entry.path, (status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _sha256(
    found: ListedFile | UnreadableArtifact,
    known: Known,
    deadline: float,
    read: Callable[[ListedFile], tuple[str, bool]],
) -> str:
    if isinstance(found, UnreadableArtifact):
        return unread_sha256(found.reason)
    before = known.get(found.path)
    if before is not None and before[0] in (found.stamp, NEVER):
        return before[1]
    if time.monotonic() > deadline:
        raise OutOfTimeError
    sha256, lasts = read(found)
    known[found.path] = (found.stamp if lasts else NEVER, sha256)
    return sha256


def _read_whole(found: ListedFile) -> tuple[str, bool]:
    """As the reading of a contest has it: a file that it sets aside counts with the reason; and whether that lasts."""
    try:
        return hashlib.sha256(read_stamped(Path(found.file), found.path)[0]).hexdigest(), True
    except UnreadableArtifact as unreadable:
        if not Path(found.file).exists():
            raise FileNotFoundError(found.file) from None
        why = unreadable.__cause__
        return unread_sha256(unreadable.reason), not isinstance(why, OSError) or why.errno in _LASTING


def _streamed(found: ListedFile) -> tuple[str, bool]:
    digest = hashlib.sha256()
    try:
        for chunk in _chunks(Path(found.file)):
            digest.update(chunk)
    except PermissionError:
        return unread_sha256("may not be read"), True
    return digest.hexdigest(), True


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk
