"""What goes into a bundle: files of the workspace, and files that are made for it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from judge_pipeline.settings.yaml_file import SettingsError

Role = Literal["data", "configuration", "answers", "table", "ledger", "report", "versions", "about"]

ROLES: dict[Role, str] = {
    "data": "raw files, as they were brought",
    "configuration": "configuration, prompt templates and guidance that decide on the numbers",
    "answers": "what judges were asked and what they answered",
    "table": "tables, as Parquet files",
    "ledger": "which split each trajectory or instruction was given",
    "report": "report pages",
    "versions": "versions of what ran",
    "about": "what the bundle is, and how it is checked",
}
"""Role -> what it is, in words; the order in which they are shown."""

_UNPORTABLE = re.compile(r"[\x00-\x1f\x7f\\]|^/|^[A-Za-z]:|(^|/)\.{1,2}(/|$)|//|/$")
"""What in a path some system takes for something else than a name: a bundle must unpack anywhere, and safely."""

MAX_PATH_BYTES = 1000
_NO_NAME = "its path holds what some systems take for something else than a name"


@dataclass(frozen=True)
class Member:
    """One file of a bundle.

    Attributes:
        path: where it lies in the bundle, with ``/``.
        role: what it is for.
        source: the file (or object in a store), or its bytes.
    """

    path: str
    role: Role
    source: Path | bytes

    def open(self) -> IO[bytes]:
        """Its bytes, from the beginning."""
        return io.BytesIO(self.source) if isinstance(self.source, bytes) else self.source.open("rb")

    def n_bytes(self) -> int:
        """Its size."""
        return len(self.source) if isinstance(self.source, bytes) else self.source.stat().st_size


def why_not_portable(path: str) -> str | None:
    """Why no bundle can hold a file of this path; None where it can."""
    with suppress(UnicodeEncodeError):
        if len(path.encode()) > MAX_PATH_BYTES:
            return f"its path has more than {MAX_PATH_BYTES} bytes"
        return (
            "its path holds what some systems take for something else than a name" if _UNPORTABLE.search(path) else None
        )
    return "its path is not UTF-8"


def in_order(members: Iterable[Member]) -> list[Member]:
    """The members by path.

    Raises:
        SettingsError: two have the same path, or one has a path that cannot be unpacked everywhere.
    """
    ordered = sorted(members, key=lambda member: member.path.encode("utf-8", "surrogatepass"))
    for before, member in zip([None, *ordered], ordered, strict=False):
        why = why_not_portable(member.path)
        if why is not None:
            raise SettingsError(f"{member.path!r} cannot go into a bundle: {why}; rename it, and run the contest again")
        if before is not None and before.path == member.path:
            raise SettingsError(f"{member.path!r} would be in the bundle twice")
    return ordered
