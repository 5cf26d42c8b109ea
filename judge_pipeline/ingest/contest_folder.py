"""A contest folder on disk: the one module of ``ingest`` that touches it.

Files are found in a fixed order and handed on as bytes; what cannot be handed on is set aside with a reason and a
remedy, never raised. Nothing outside the folder is read: a symbolic link that leaves it is set aside.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
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

_IGNORED_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx"})

_CHAT_TOOLS_NAMES = frozenset(
    {".specstory", ".aider.chat.history.md", ".claude", ".codex", ".gemini", ".openclaw", ".cline"}
)
"""Hidden files and folders in which chat tools keep their logs."""


def contest_files(folder: Path, kind: ArtifactKind) -> Iterator[FoundFile]:
    """The files under ``folder/submissions`` or ``folder/prompts``, sorted by path.

    Hidden files (names that begin with a dot; not those in which chat tools keep their logs) and what operating systems
    leave behind are passed over. Nothing is yielded where the folder does not exist.

    Yields:
        The path relative to ``folder`` with ``/``, and the file's bytes; or, in their place, the
        ``UnreadableArtifact`` that says why the file is set aside.
    """
    inside = folder / kind
    if inside.is_symlink() and not inside.resolve().is_relative_to(folder.resolve()):
        yield _set_aside(
            PurePosixPath(kind), "is a symbolic link that leaves the folder", "put the folder in its place"
        )
        return
    yield from files_under(inside, kind)


def files_under(folder: Path, name: str = "") -> Iterator[FoundFile]:
    """The files under any folder, as ``contest_files`` does; paths begin with ``name`` where one is given."""
    if folder.is_dir():
        yield from _walk(folder, folder.resolve(), PurePosixPath(name), 0)


def read_file(file: Path, path: str) -> bytes:
    """The bytes of one regular file.

    Args:
        file: the file.
        path: what it is called in messages.

    Raises:
        UnreadableArtifact: it is no regular file, is too large, or may not be read.
    """
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableArtifact(path, None, "is no regular file", "put the file itself in its place")
        if status.st_size > MAX_ARTIFACT_BYTES:
            raise UnreadableArtifact(
                path,
                None,
                f"has {status.st_size} bytes; more than {MAX_ARTIFACT_BYTES} are not read",
                "save the page without attachments, or split the feed or log into several files",
            )
        with file.open("rb") as stream:
            data = stream.read(MAX_ARTIFACT_BYTES + 1)
    except OSError as error:
        raise UnreadableArtifact(
            path, None, f"cannot be read ({error.strerror or error})", "give the running user the right to read it"
        ) from error
    if len(data) > MAX_ARTIFACT_BYTES:
        raise UnreadableArtifact(path, None, "grew beyond the limit while it was read", "wait until it is complete")
    return data


def participant_and_problem_of(path: str) -> tuple[str | None, str | None]:
    """Participant and problem by the folder names ``submissions/<participant>/[<problem>/]...``.

    Args:
        path: with ``/``; what stands before the last ``submissions`` or ``prompts`` folder does not matter.

    Returns:
        The participant's and the problem's folder name, each None where there is no such folder.
    """
    folders = PurePosixPath(path).parts[:-1]
    starts = [i for i, name in enumerate(folders) if name in ("submissions", "prompts")]
    if not starts:
        return None, None
    below = folders[starts[-1] + 1 :]
    return (below[0] if below else None), (below[1] if len(below) > 1 else None)


def fingerprint(files: Iterable[FoundFile]) -> str:
    """sha256 over the sorted relative paths and the sha256 of each content: the data version of a folder.

    A file that cannot be read counts with its reason, so that mending it changes the fingerprint.
    """
    lines = sorted(
        (path, hashlib.sha256(data if isinstance(data, bytes) else f"unread: {data.reason}".encode()).hexdigest())
        for path, data in files
    )
    total = hashlib.sha256()
    for path, digest in lines:
        total.update(f"{digest} {len(path)} {path}\n".encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def _walk(folder: Path, root: Path, relative: PurePosixPath, depth: int) -> Iterator[FoundFile]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        reason = f"the folder cannot be listed ({error.strerror or error})"
        yield _set_aside(relative, reason, "give the running user the right to list it")
        return
    for entry in entries:
        name = entry.name.casefold()
        if (name.startswith(".") and name not in _CHAT_TOOLS_NAMES) or name in _IGNORED_NAMES:
            continue
        yield from _entry(entry, root, relative / file_name(entry.name), depth)


def _entry(entry: os.DirEntry[str], root: Path, relative: PurePosixPath, depth: int) -> Iterator[FoundFile]:
    here = Path(entry.path)
    if entry.is_symlink():
        reason = _why_not_followed(here, root)
        if reason is not None:
            yield _set_aside(relative, reason, "put the file itself in its place")
            return
    if here.is_dir():
        if depth >= MAX_DEPTH:
            yield _set_aside(relative, f"folders are nested deeper than {MAX_DEPTH}", "lay the files less deep")
        else:
            yield from _walk(here, root, relative, depth + 1)
        return
    try:
        yield str(relative), read_file(here, str(relative))
    except UnreadableArtifact as unreadable:
        yield str(relative), unreadable


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


def _set_aside(relative: PurePosixPath, reason: str, remedy: str) -> FoundFile:
    return str(relative), UnreadableArtifact(str(relative), None, reason, remedy)


def file_name(name: str) -> str:
    """A file name as text: bytes that are no UTF-8 are escaped, since no table can hold them."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
