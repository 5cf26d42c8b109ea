"""Notes of which many differ in their numbers alone, said once with the numbers' range."""

from __future__ import annotations

import re
from collections.abc import Sequence

_GATHERED = re.compile(
    r"undefined in \d+ of \d+ resamples|0 stands for a squared gap|\d+ clusters: |\d+ of the probabilities are 0 or 1"
    r"|too few to place|\d+ resamples with a value give no"
)
"""How such notes begin. Others may hold names with numbers in them, which are no range."""

_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w%])")


def words_of(note: str) -> str:
    """What notes that share one have in common: the note, with its numbers left out where they may differ."""
    return _NUMBER.sub("#", note) if _GATHERED.match(note) else note


def with_ranges(notes: Sequence[str]) -> str:
    """Notes of the same ``words_of`` as one, each number that differs as its range."""
    if len(set(notes)) == 1:
        return notes[0]
    columns = zip(*(_NUMBER.findall(note) for note in notes), strict=True)
    ranges = iter([_range(list(dict.fromkeys(column))) for column in columns])
    return _NUMBER.sub(lambda _: next(ranges), notes[0])


def _range(numbers: Sequence[str]) -> str:
    ordered = sorted(numbers, key=lambda number: float(number.replace(",", "")))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"
