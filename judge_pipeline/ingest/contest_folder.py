"""A contest folder on disk: the one module of ``ingest`` that touches it.

Files are found in a fixed order, listed without being opened, and read one at a time; what cannot be read is set aside
with a reason and a remedy, never raised. Nothing outside the folder is read: a symbolic link that leaves it is set
aside. Neither a pipe nor a device is ever opened.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from judge_pipeline.ingest.records import UnreadableArtifact

ArtifactKind = Literal["submissions", "prompts"]

MAX_ARTIFACT_BYTES = 64 * 1024 * 1024
"""Larger files are set aside unread."""

MAX_DEPTH = 32
"""Folders nested deeper are set aside."""

FoundFile = tuple[str, "bytes | UnreadableArtifact"]
"""A file's path, relative to the contest folder with ``/``, and its bytes or why there are none."""

Stamp = tuple[int, int, int]
"""By what a file is known to be unchanged without being read: its size, and the times (ns) of its last change, of
content and of anything about it."""

_FRESH_NS = 20_000_000
"""A file changed so shortly before may be changed again without a new time: file systems count in steps."""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file that is there to be read.

    Attributes:
        path: its path relative to the contest folder, with ``/``.
        file: where it lies.
        stamp: by what it is known to be unchanged.
    """

    path: str
    file: str
    stamp: Stamp


_IGNORED_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx"})

_CHAT_TOOLS_NAMES = frozenset(
    {".specstory", ".aider.chat.history.md", ".claude", ".codex", ".gemini", ".openclaw", ".cline"}
)
"""Hidden files and folders in which chat tools keep their logs."""


def list_files(folder: Path, kind: ArtifactKind) -> Iterator[ListedFile | UnreadableArtifact]:
    """The files under ``folder/submissions`` or ``folder/prompts``, sorted by path; none of them is opened.

    Hidden files (names that begin with a dot; not those in which chat tools keep their logs) and what operating systems
    leave behind are passed over. Nothing is yielded where the folder does not exist.

    Yields:
        A file, or the ``UnreadableArtifact`` that says why it is set aside.
    """
    inside = folder / kind
    if inside.is_symlink() and not inside.resolve().is_relative_to(folder.resolve()):
        yield _set_aside(
            PurePosixPath(kind), "is a symbolic link that leaves the folder", "put the folder in its place"
        )
    elif inside.is_dir():
        yield from _walk(inside, inside.resolve(), PurePosixPath(kind), 0)


def contest_files(folder: Path, kind: ArtifactKind) -> Iterator[FoundFile]:
    """The files that ``list_files`` lists, read one after the other.

    Yields:
        The path relative to ``folder`` with ``/``, and the file's bytes; or, in their place, the
        ``UnreadableArtifact`` that says why the file is set aside.
    """
    yield from map(_read, list_files(folder, kind))


def files_under(folder: Path, name: str = "") -> Iterator[FoundFile]:
    """The files under any folder, as ``contest_files`` does; paths begin with ``name`` where one is given."""
    if folder.is_dir():
        yield from map(_read, _walk(folder, folder.resolve(), PurePosixPath(name), 0))


def _read(found: ListedFile | UnreadableArtifact) -> FoundFile:
    if isinstance(found, UnreadableArtifact):
        return found.path, found
    try:
        return found.path, read_file(Path(found.file), found.path)
    except UnreadableArtifact as unreadable:
        return found.path, unreadable


def read_file(file: Path, path: str) -> bytes:
    """The bytes of one regular file.

    Args:
        file: the file.
        path: what it is called in messages.

    Raises:
        UnreadableArtifact: it is no regular file, is too large, or may not be read.
    """
    return read_stamped(file, path)[0]


def read_stamped(file: Path, path: str) -> tuple[bytes, Stamp | None]:
    """The bytes of one regular file, and its stamp; no stamp where it was being changed.

    Raises:
        UnreadableArtifact: as ``read_file`` says.
    """
    try:
        _check_status(file.stat(), path)
        # Without waiting: should a pipe have taken the file's place meanwhile, opening it must not hang.
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            before = os.fstat(stream.fileno())
            _check_status(before, path)  # what was looked at and what was opened may be two
            data = stream.read(MAX_ARTIFACT_BYTES + 1)
            after = os.fstat(stream.fileno())
    except (OSError, ValueError) as error:
        if isinstance(error, UnreadableArtifact):
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else error  # a NUL in it is a ValueError
        raise UnreadableArtifact(
            path, None, f"cannot be read ({why})", "give the running user the right to read it"
        ) from error
    if len(data) > MAX_ARTIFACT_BYTES:
        raise UnreadableArtifact(path, None, "grew beyond the limit while it was read", "wait until it is complete")
    stamp = _stamp(before)
    settled = stamp == _stamp(after) and stamp[0] == len(data) and time.time_ns() - max(stamp[1:]) > _FRESH_NS
    return data, stamp if settled else None


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _check_status(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableArtifact(path, None, "is no regular file", "put the file itself in its place")
    if status.st_size > MAX_ARTIFACT_BYTES:
        raise UnreadableArtifact(
            path,
            None,
            f"has {status.st_size} bytes; more than {MAX_ARTIFACT_BYTES} are not read",
            "save the page without attachments, or split the feed or log into several files",
        )


def participant_and_problem_of(path: str) -> tuple[str | None, str | None]:
    """Participant and problem by the folder names ``submissions/<participant>/[<problem>/]...``.

    Args:
        path: with ``/``; what stands before the last ``submissions`` or ``prompts`` folder does not matter.

    Returns:
        The participant's and the problem's folder name, each None where there is no such folder.
    """
    folders = [name for name in path.split("/") if name not in ("", ".")][:-1]
    starts = [i for i, name in enumerate(folders) if name in ("submissions", "prompts")]
    if not starts:
        return None, None
    below = folders[starts[-1] + 1 :]
    return (below[0] if below else None), (below[1] if len(below) > 1 else None)


def fingerprint(files: Iterable[FoundFile]) -> str:
    """sha256 over the sorted relative paths and the sha256 of each content: the data version of a folder.

    A file that cannot be read counts with its reason, so that mending it changes the fingerprint.
    """
    return fingerprint_of(
        (path, unread_sha256(data.reason) if isinstance(data, UnreadableArtifact) else hashlib.sha256(data).hexdigest())
        for path, data in files
    )


def fingerprint_of(digests: Iterable[tuple[str, str]]) -> str:
    """The fingerprint, from the paths and the sha256 (hexadecimal) of their contents or of why they are unread."""
    total = hashlib.sha256()
    for path, digest in sorted(digests):
        total.update(f"{digest} {len(path)} {path}\n".encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def unread_sha256(reason: str) -> str:
    """What stands for the content of a file that cannot be read."""
    return hashlib.sha256(f"unread: {reason}".encode("utf-8", "surrogatepass")).hexdigest()


def _walk(folder: Path, root: Path, relative: PurePosixPath, depth: int) -> Iterator[ListedFile | UnreadableArtifact]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        reason = f"the folder cannot be listed ({error.strerror or error})"
        yield _set_aside(relative, reason, "give the running user the right to list it")
        return
    names = Counter(file_name(entry.name) for entry in entries)
    for entry in entries:
        name = entry.name.casefold()
        if (name.startswith(".") and name not in _CHAT_TOOLS_NAMES) or name in _IGNORED_NAMES:
            continue
        text = file_name(entry.name)
        if names[text] > 1 and text != entry.name:
            yield _set_aside(relative / text, "has a name that reads like another file's", "give it a name in UTF-8")
        else:
            yield from _entry(entry, root, relative / text, depth)


def _entry(
    entry: os.DirEntry[str], root: Path, relative: PurePosixPath, depth: int
) -> Iterator[ListedFile | UnreadableArtifact]:
    if entry.is_symlink():
        reason = _why_not_followed(Path(entry.path), root)
        if reason is not None:
            yield _set_aside(relative, reason, "put the file itself in its place")
            return
    path = str(relative)
    try:
        if entry.is_dir():
            if depth >= MAX_DEPTH:
                yield _set_aside(relative, f"folders are nested deeper than {MAX_DEPTH}", "lay the files less deep")
            else:
                yield from _walk(Path(entry.path), root, relative, depth + 1)
            return
        status = entry.stat()
        _check_status(status, path)
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        yield _set_aside(relative, reason, "give the running user the right to read it")
    except UnreadableArtifact as unreadable:
        yield unreadable
    else:
        yield ListedFile(path, entry.path, _stamp(status))


def _why_not_followed(link: Path, root: Path) -> str | None:
    """Why a symbolic link is not followed; None where it leads to a file within the folder."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a symbolic link that leads nowhere"
    if not target.is_relative_to(root):
        return "is a symbolic link that leaves the folder"
    # A linked folder would show its files twice, and one that lies above itself without end.
    return "is a symbolic link to a folder" if target.is_dir() else None


def _set_aside(relative: PurePosixPath, reason: str, remedy: str) -> UnreadableArtifact:
    return UnreadableArtifact(str(relative), None, reason, remedy)


def file_name(name: str) -> str:
    """A file name as text: bytes that are no UTF-8 are escaped, since no table can hold them."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
