"""Writing a bundle's archive: a ZIP file whose bytes follow from its members alone, hashed as it is written."""

from __future__ import annotations

import hashlib
import os
import secrets
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from judge_pipeline.orchestration.bundles.crate import Described, crate_json
from judge_pipeline.orchestration.bundles.facts import CRATE, MANIFEST, BundleFacts
from judge_pipeline.orchestration.bundles.manifest import manifest_text
from judge_pipeline.orchestration.bundles.members import Member
from judge_pipeline.orchestration.bundles.secret_search import Search
from judge_pipeline.orchestration.whole_files import refuse_what_is_no_file

_TIME = (1980, 1, 1, 0, 0, 0)
"""Of every member: the same content gives the same archive, whenever it is packed."""

_BLOCK = 1 << 20
_PACKED = (".parquet", ".png", ".jpg", ".jpeg", ".webp", ".gif", ".zip", ".gz", ".zst")
"""Files that are packed already: they are stored as they are."""

OnProgress = Callable[[int, int], None]
"""Told the bytes that are done, and those that there are."""


@dataclass(frozen=True)
class Written:
    """An archive that was written.

    Attributes:
        path: where.
        n_files: files in it, the manifests included.
        n_bytes: its size.
        sha256: of the archive.
    """

    path: Path
    n_files: int
    n_bytes: int
    sha256: str


def write_archive(
    target: Path, members: Sequence[Member], facts: BundleFacts, published: str, search: Search, progress: OnProgress
) -> Written:
    """Write the archive whole or not at all; each file is read once.

    Args:
        target: where; what is there is replaced.
        members: the files, in order (``members.in_order``).
        facts: what the bundle says of itself.
        published: the date that the crate states, as ISO 8601: of the data, since a clock is not the same twice.
        search: looks for what must not go out in whatever is written.
        progress: told how far it is.

    Raises:
        SettingsError: something that must not go out was found; nothing is left behind.
        OSError: a file cannot be read, or the archive not written.
    """
    total = sum(member.n_bytes() for member in members)
    done = 0
    described: list[Described] = []
    with _aside(target) as (stream, aside):
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in members:
                digest, size = hashlib.sha256(), 0
                with member.open() as source, archive.open(_entry(member.path), "w", force_zip64=True) as packed:
                    looked_for = search.of_file(member)
                    while block := source.read(_BLOCK):
                        looked_for.feed(block)
                        digest.update(block)
                        packed.write(block)
                        size, done = size + len(block), done + len(block)
                        progress(done, max(total, done))
                described.append(Described(member.path, member.role, digest.hexdigest(), size))
            crate = crate_json(facts, described, published)
            sha256_of = {each.path: each.sha256 for each in described} | {CRATE: hashlib.sha256(crate).hexdigest()}
            for path, text in ((CRATE, crate), (MANIFEST, manifest_text(sha256_of).encode())):
                archive.writestr(_entry(path), text)
        stream.flush()
        os.fsync(stream.fileno())
        aside.replace(target)
    with target.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Written(target, len(described) + 2, target.stat().st_size, sha256)


@contextmanager
def _aside(target: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A file beside the target, readable by its owner alone, which is gone where the block fails."""
    refuse_what_is_no_file(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    path = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b") as stream:
            yield stream, path
    finally:
        path.unlink(missing_ok=True)


def _entry(path: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(path, _TIME)
    entry.compress_type = zipfile.ZIP_STORED if path.lower().endswith(_PACKED) else zipfile.ZIP_DEFLATED
    entry.external_attr = 0o100644 << 16
    entry.create_system = 3
    return entry
