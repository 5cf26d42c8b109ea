"""Files that an artifact names beside itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from judge_pipeline.ingest.contest_folder import read_file
from judge_pipeline.ingest.records import UnreadableArtifact


def path_beside(path: str, relative: str) -> str | None:
    r"""The path of a file that an artifact names by its path from the artifact's own folder.

    Args:
        path: the artifact, with ``/``.
        relative: what it names, with ``/`` or ``\\``.

    Returns:
        None where that leads out of the folder, or to the folder itself. The disk is not touched.
    """
    plain = relative.strip().replace("\\", "/")
    parts = plain.split("/")
    if plain.startswith("/") or re.match(r"[A-Za-z]:", plain) or ".." in parts or "\0" in plain or len(plain) > 1000:
        return None
    below = PurePosixPath(*[part for part in parts if part not in ("", ".")])
    return str(PurePosixPath(path).parent / below) if str(below) != "." else None


def opener(folder: Path, inside: str = "") -> Callable[[str], bytes]:
    """Reads files that an artifact names: a function from a path, relative to ``folder``, to the file's bytes.

    Args:
        folder: the contest folder.
        inside: the folder in it that no path may leave, by ``..`` or by a symbolic link.

    Returns:
        A function that raises ``UnreadableArtifact`` where there is no such file, or it may not be read.
    """
    root = (folder / inside).resolve()

    def read(path: str) -> bytes:
        try:
            file = (folder / path).resolve()
            there = file.is_relative_to(root) and file.is_file()
        except (OSError, RuntimeError, ValueError):
            there = False
        if not there:
            raise UnreadableArtifact(path, None, "is not there", "bring the file, or correct the path")
        return read_file(file, path)

    return read
