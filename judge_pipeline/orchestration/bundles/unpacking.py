"""Taking a stranger's archive apart: only plain files, below one folder, of a bounded size."""

from __future__ import annotations

import hashlib
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from judge_pipeline.orchestration.bundles.members import why_not_portable
from judge_pipeline.settings.yaml_file import SettingsError

MAX_FILES = 2_000_000
SMALL_BYTES = 1 << 30
"""What may be unpacked whatever the archive's size."""

MAX_RATIO = 200
"""Larger archives may unpack to so many times their size."""

_HEADER_BYTES = 30
_BLOCK = 1 << 20


class RefusedArchiveError(SettingsError):
    """The archive is none that can be unpacked safely. The message says what is wrong with it."""


def open_archive(path: Path) -> zipfile.ZipFile:
    """The archive, looked at before anything of it is unpacked.

    Raises:
        RefusedArchiveError: it is no ZIP file, or holds a link, a path that leaves the folder, a file twice, encrypted
            or overlapping files, or would unpack to far more than it can hold.
        FileNotFoundError: there is no such file.
    """
    if not path.is_file():
        raise FileNotFoundError(2, "there is no such file", str(path))
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise RefusedArchiveError(f"{path} is no bundle: {error}; ask for it again") from None
    why = _why_refused(archive.infolist(), path.stat().st_size)
    if why is not None:
        archive.close()
        raise RefusedArchiveError(f"{path} was not unpacked: {why}")
    return archive


def _why_refused(entries: list[zipfile.ZipInfo], archive_bytes: int) -> str | None:
    if len(entries) > MAX_FILES:
        return f"it lists {len(entries):,} files, more than {MAX_FILES:,}"
    seen: set[str] = set()
    for entry in entries:
        name = entry.orig_filename  # as it is written: zipfile cuts it at a NUL
        why = "is in it twice" if name in seen else _why_not_plain(entry, name)
        if why is not None:
            return f"{name!r} {why}"
        seen.add(name)
    folders = {name[:place] for name in seen for place in range(len(name)) if name[place] == "/"}
    if both := sorted(folders & seen):
        return f"{both[0]!r} is a file, and a folder of other files"
    return _why_too_much(entries, archive_bytes)


def _why_not_plain(entry: zipfile.ZipInfo, name: str) -> str | None:
    if (why := why_not_portable(name)) is not None:
        return f"cannot be a file: {why}"
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is no plain file but a link, a folder or a device"
    if entry.flag_bits & 0x1:
        return "is encrypted"
    packed = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    return None if packed else "is packed by a method that bundles do not use"


def _why_too_much(entries: list[zipfile.ZipInfo], archive_bytes: int) -> str | None:
    end = 0
    for entry in sorted(entries, key=lambda each: each.header_offset):
        if entry.header_offset < end:
            return f"{entry.filename!r} overlaps the file before it"
        end = entry.header_offset + _HEADER_BYTES + entry.compress_size
    total = sum(entry.file_size for entry in entries)
    if total > max(SMALL_BYTES, MAX_RATIO * archive_bytes):
        return f"it would unpack to {total:,} bytes, more than {MAX_RATIO} times its own size"
    return None


def file_sha256(archive: zipfile.ZipFile, name: str, copy_to: Path | None = None) -> str:
    """The sha256 of one file, which is written to a place at the same time where one is given.

    Raises:
        ValueError: its bytes are damaged, or other in number than the archive says.
        OSError: it cannot be written.
    """
    digest, left = hashlib.sha256(), archive.getinfo(name).file_size
    target = None
    if copy_to is not None:
        copy_to.parent.mkdir(parents=True, exist_ok=True)
        target = copy_to.open("xb")
    try:
        with archive.open(name) as source:
            while block := source.read(_BLOCK):
                left -= len(block)
                if left < 0:
                    raise ValueError("it has more bytes than the archive says")
                digest.update(block)
                if target is not None:
                    target.write(block)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"it is damaged: {error}") from None
    finally:
        if target is not None:
            target.close()
    if left:
        raise ValueError("it has fewer bytes than the archive says")
    return digest.hexdigest()


def unpack(
    archive: zipfile.ZipFile, folder: Path, sha256_of: Mapping[str, str], progress: Callable[[int, int], None]
) -> list[str]:
    """Unpack every file into a folder that is empty, and hold it against the manifest.

    Args:
        archive: as ``open_archive`` gives it.
        folder: where.
        sha256_of: path -> sha256 by the manifest.
        progress: told the bytes that are done, and those that there are.

    Returns:
        What is wrong: a file that is changed, damaged or not in the manifest, by its path.

    Raises:
        RefusedArchiveError: the disk has no room for it.
        OSError: a file cannot be written.
    """
    entries = archive.infolist()
    total, done, problems = sum(entry.file_size for entry in entries), 0, []
    free = shutil.disk_usage(folder).free
    if total > free:
        raise RefusedArchiveError(
            f"it unpacks to {total:,} bytes, and {folder} has {free:,} left: set TMPDIR elsewhere"
        )
    for entry in entries:
        name = entry.filename
        try:
            found = file_sha256(archive, name, folder / name)
            if name in sha256_of and found != sha256_of[name]:
                problems.append(f"{name} is changed: its sha256 is not that of the manifest")
        except ValueError as error:
            problems.append(f"{name}: {error}")
        done += entry.file_size
        progress(done, total)
    return problems
