"""Screenshots of a preference set: read from its folder, kept under their sha256 in ``<out>/evidence/<set>/``.

A path in a file of pairs is a stranger's word. It is followed within the set's folder alone, through no link that
leaves it, to a regular file of a bounded size; nothing is fetched over the network. What is kept is named by its bytes,
so no name that anybody chose becomes a path.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge_pipeline.ingest.image_files import (
    EXTENSIONS,
    MAX_IMAGE_BYTES,
    UnusableImage,
    bytes_of_data_url,
    image_facts,
)
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.judging.request import Image

_KEPT_NAME = re.compile(rf"[0-9a-f]{{64}}\.(?:{'|'.join(EXTENSIONS.values())})")
_MOST_PATH_CHARS = 1000


@dataclass(frozen=True, slots=True)
class EvidenceFiles:
    """Where a set's screenshots are kept.

    Attributes:
        folder: of the kept files.
    """

    folder: Path

    @classmethod
    def of(cls, workspace: Workspace, preference_set: str) -> EvidenceFiles:
        """Those of a set."""
        return cls(workspace.store_dir / "evidence" / preference_set)

    def keep(self, set_folder: Path, source: str) -> dict[str, Any]:
        """Keep an image that a file of pairs states (a ``preference.screenshots.KeepImage``, given the folder).

        Args:
            set_folder: the set's folder.
            source: a path in it, or a data URL.

        Returns:
            ``source``, and the fields of :class:`ImageFacts`, or ``reason`` where the image cannot be used.
        """
        from judge_pipeline.preference.screenshots import named

        shown = {"source": named(source)}
        try:
            data = bytes_of_data_url(source)
            if data is None:
                data = read_below(set_folder, source)
            facts = image_facts(data)
        except UnusableImage as unusable:
            return {"reason": str(unusable)} | shown
        path = self._path(facts.sha256, facts.media_type)
        if not path.is_file() or path.stat().st_size != facts.n_bytes:
            write_whole(path, data)
        return asdict(facts) | shown

    def read(self, image: Image) -> bytes:
        """The bytes of a kept image (a ``judging.request.ReadImage``).

        Raises:
            CallFailedError: it is not there, or has been changed.
        """
        from judge_pipeline.judging.failures import CallFailedError, Failure

        try:
            data = self._path(image.sha256, image.media_type).read_bytes()
        except (OSError, KeyError):
            data = b""
        if hashlib.sha256(data).hexdigest() != image.sha256:
            said = f"screenshot {image.sha256} is missing from {self.folder}, or was changed"
            raise CallFailedError(Failure("configuration", f"{said}; read the preference set again"))
        return data

    def prune(self, pairs: pd.DataFrame | None) -> int:
        """Delete the images that no pair has: of pairs that were withdrawn, left out, or taken from the set.

        Args:
            pairs: table PREFERENCE_PAIRS of the set; None: there are none.

        Returns:
            How many were deleted.
        """
        from judge_pipeline.preference.screenshots import stored_images

        cells: Iterable[Any] = () if pairs is None else (*pairs["evidence_a"], *pairs["evidence_b"])
        wanted = {f"{sha256}.{EXTENSIONS[media_type]}" for sha256, media_type in stored_images(cells)}
        gone = self.beside(wanted)
        for path in gone:
            path.unlink(missing_ok=True)
        return len(gone)

    def beside(self, wanted: Collection[str]) -> list[Path]:
        """The kept files, and what a killed run left of one, whose names are not among these."""
        if not self.folder.is_dir():
            return []
        own = (path for path in sorted(self.folder.iterdir()) if _KEPT_NAME.match(path.name.removeprefix(".")))
        return [path for path in own if path.name not in wanted]

    def _path(self, sha256: str, media_type: str) -> Path:
        return self.folder / f"{sha256}.{EXTENSIONS[media_type]}"


def read_below(folder: Path, path: str) -> bytes:
    """The bytes of a file below a folder, by a path that nobody vouches for.

    Raises:
        UnusableImage: the path leaves the folder or is none, or what it names cannot be read or is too large.
    """
    parts = path.split("/")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path):
        raise UnusableImage("is an address or a drive, not a path in the set's folder: nothing is fetched")
    if path.startswith("/") or ".." in parts or "\\" in path:
        raise UnusableImage("leaves the set's folder, or is not written with '/' from there")
    if len(path) > _MOST_PATH_CHARS or not path.isprintable():
        raise UnusableImage("is no path: too long, or with characters that no path has")
    try:
        real = (folder / path).resolve(strict=True)
        if not real.is_relative_to(folder.resolve(strict=True)):
            raise UnusableImage("leads out of the set's folder")
        return _read(real)
    except FileNotFoundError:
        raise UnusableImage("is not in the set's folder") from None
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise UnusableImage(f"cannot be read ({error.__class__.__name__})") from None


def _read(real: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(real, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UnusableImage("is no regular file")
        if status.st_size > MAX_IMAGE_BYTES:
            raise UnusableImage(f"has {status.st_size} bytes; the most is {MAX_IMAGE_BYTES}")
        return file.read(MAX_IMAGE_BYTES + 1)
