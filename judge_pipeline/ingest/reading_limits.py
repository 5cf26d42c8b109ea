"""What the reading of one file may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What the reading of one file may take, where processes of their own read.

    Attributes:
        seconds_per_file: time; the largest files that are read at all take about a tenth of it.
        memory_bytes: memory of a process that reads, in bytes.
    """

    seconds_per_file: float = 120.0
    memory_bytes: int = 2 * 2**30
