"""The files in a ZIP archive, read in bounded time and memory; nothing is ever unpacked to disk.

An archive comes from outside and may be made to do harm: sizes are those of what really comes out, never those that it
declares; names that lead elsewhere, links, what is encrypted, and archives within it are set aside one by one.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.records import UnreadableArtifact, clean_text

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 8 * 1024 * 1024
MAX_TOTAL_BYTES = 256 * 1024 * 1024
MAX_RATIO = 200
"""How many times larger than packed a file may get once it is larger than ``_RATIO_FROM_BYTES``."""

_RATIO_FROM_BYTES = 1024 * 1024
_CENTRAL_ENTRY = b"PK\x01\x02"
_UTF8_NAME = 0x800
_ENCRYPTED = 0x1
_PACK_ANEW = "pack it anew without that file, or unpack the archive into the folder"
_BROKEN = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError, struct.error,
    OverflowError,
)  # fmt: skip
"""What zipfile raises for archives that are damaged or made to do harm."""


@dataclass(frozen=True, slots=True)
class ZipMember:
    """One file in an archive.

    Attributes:
        number: its place among the archive's entries, from 1.
        name: its name with ``/``; it leads nowhere out of the archive.
        data: its bytes.
    """

    number: int
    name: str
    data: bytes


def is_zip(data: bytes) -> bool:
    """Whether the bytes begin as a ZIP archive does, an empty one included."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def zip_members(data: bytes, path: str) -> Iterator[ZipMember | UnreadableArtifact]:
    """The files in an archive, one at a time; folders and what operating systems leave behind are passed over.

    Args:
        data: the archive's bytes.
        path: what it is called in messages.

    Yields:
        A file, or in its place why it is set aside. Where the archive as a whole grows beyond ``MAX_TOTAL_BYTES``, the
        rest of it is set aside as one.

    Raises:
        UnreadableArtifact: it is no whole archive, or lists more than ``MAX_MEMBERS`` entries.
    """
    # Each entry of the directory begins so; counted before zipfile makes an object of each.
    if data.count(_CENTRAL_ENTRY) > MAX_MEMBERS:
        raise UnreadableArtifact(
            path, None, f"is an archive of more than {MAX_MEMBERS} files", "split it, or unpack it into the folder"
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise UnreadableArtifact(
            path, None, f"is no whole ZIP archive ({str(error)[:100]})", "export it anew; it may have been cut off"
        ) from None
    left = MAX_TOTAL_BYTES
    with archive:
        for number, info in enumerate(archive.infolist(), start=1):
            name = _name_of(info)
            place = f"file {number}, {clean_text(name)[:200]!r}"
            if _is_passed_over(info, name):
                continue
            try:
                _refuse_name(name, path, place)
                content = _unpack(archive, info, path, place)
            except UnreadableArtifact as unreadable:
                yield unreadable
                continue
            left -= len(content)
            if left < 0:
                yield UnreadableArtifact(
                    path,
                    f"from file {number} on",
                    f"unpacks to more than {MAX_TOTAL_BYTES} bytes; the rest is not read",
                    "split the archive, or unpack it into the folder",
                )
                return
            yield ZipMember(number, clean_text(name), content)


def _name_of(info: zipfile.ZipInfo) -> str:
    """The whole name: zipfile ends it at a NUL, and reads as cp437 what was written in the packer's own encoding."""
    name = info.orig_filename
    if not info.flag_bits & _UTF8_NAME and not name.isascii():
        try:
            name = decode(name.encode("cp437")).text
        except UnicodeEncodeError:
            name = info.orig_filename
    return name.replace("\\", "/")


def _is_passed_over(info: zipfile.ZipInfo, name: str) -> bool:
    parts = name.split("/")
    hidden = any(part.startswith(".") and part not in (".", "..") for part in parts)
    return info.is_dir() or name.endswith("/") or hidden or parts[0] == "__MACOSX"


def _refuse_name(name: str, path: str, place: str) -> None:
    if "\0" in name:
        raise UnreadableArtifact(path, place, "has a NUL in its name", _PACK_ANEW)
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        raise UnreadableArtifact(path, place, "has an absolute path for a name", _PACK_ANEW)
    if ".." in name.split("/"):
        raise UnreadableArtifact(path, place, "has a name that leads out of the archive", _PACK_ANEW)


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, place: str) -> bytes:
    if stat.S_ISLNK(info.external_attr >> 16):
        raise UnreadableArtifact(path, place, "is a symbolic link", "pack the file itself")
    if info.flag_bits & _ENCRYPTED:
        raise UnreadableArtifact(path, place, "is encrypted", "pack it anew without a password")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnreadableArtifact(
            path, place, f"is packed by method {info.compress_type}, which is not read", "pack it anew with deflate"
        )
    limit = MAX_MEMBER_BYTES
    if info.compress_size * MAX_RATIO < limit:
        limit = max(info.compress_size * MAX_RATIO, _RATIO_FROM_BYTES)
    try:
        with archive.open(info) as stream:
            data = stream.read(limit + 1)
    except _BROKEN as error:
        raise UnreadableArtifact(path, place, f"is damaged ({str(error)[:100]})", "export it anew") from None
    if len(data) > MAX_MEMBER_BYTES:
        raise UnreadableArtifact(path, place, f"has more than {MAX_MEMBER_BYTES} bytes", _PACK_ANEW)
    if len(data) > limit:
        raise UnreadableArtifact(
            path, place, f"unpacks to more than {MAX_RATIO} times its packed size, as no source does", _PACK_ANEW
        )
    return data
