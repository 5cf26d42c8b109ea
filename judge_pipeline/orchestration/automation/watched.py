"""What a sensor remembers of the folders that it watches, and when it takes one as settled.

It is a memo: thrown away or set back, it costs another look and another hash, and no run is lost or made twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from judge_pipeline.orchestration.automation.listing import Listing
from judge_pipeline.orchestration.whole_files import write_whole

QUIET_TIMES_FOR_UNFINISHED = 10
"""Quiet periods that a folder waits with a file that is still being written, by its name: it may be left over."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What is remembered of one folder.

    Attributes:
        listing: digest of its last listing.
        since: our time, in seconds, when that listing was first seen.
        content: the folder's content under that listing; None: not hashed yet.
        settled: whether that listing has stayed the same long enough.
    """

    listing: str
    since: float
    content: str | None = None
    settled: bool = False


def look(before: Watched | None, listing: Listing, now: float, quiet_seconds: float) -> Watched:
    """What is to be remembered after a look at a folder.

    Listings are compared with each other only. Our clock measures the time between two looks, and where it was set
    back the waiting begins anew.

    Args:
        before: what was remembered.
        listing: how the folder looks now.
        now: our time, in seconds.
        quiet_seconds: for how long a listing must have stayed the same.
    """
    if before is None or before.listing != listing.digest:
        before = Watched(listing.digest, now)
    elif before.since > now:
        before = replace(before, since=now)
    wait = quiet_seconds * (QUIET_TIMES_FOR_UNFINISHED if listing.unfinished else 1)
    return replace(before, settled=before.settled or now - before.since >= wait)


def read_watched(file: Path) -> dict[str, Watched]:
    """What was remembered, name by name; empty where the file is not there or damaged."""
    with suppress(OSError, ValueError, TypeError, AttributeError):
        found = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): Watched(**entry) for name, entry in found.items()}
    return {}


def write_watched(file: Path, watched: Mapping[str, Watched]) -> bool:
    """Remember it; whether that went well. A disk that takes nothing more is no reason to stop watching."""
    text = json.dumps({name: asdict(entry) for name, entry in sorted(watched.items())}, separators=(",", ":"))
    with suppress(OSError):
        write_whole(file, text.encode())
        return True
    return False
