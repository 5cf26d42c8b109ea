"""Rows of CSV and TSV: every cell as the text that it is, and a fault in a row costs that row and no other."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST_CELL = 1 << 27
"""Cells may hold sources, longer than the csv module's own limit."""

_MAX_RESTARTS = 200
"""Rows with a quote that is never closed; each makes the rest of the text to be read once more."""

DELIMITERS = (",", "\t", ";")


@dataclass(frozen=True, slots=True)
class Cells:
    """A row.

    Attributes:
        line: the line that it begins on, from 1.
        cells: its cells.
        fault: why it cannot be read, or None.
    """

    line: int
    cells: list[str]
    fault: str | None = None


def header_of(text: str, delimiter: str) -> list[str]:
    """The cells of the first row that is not blank; empty where there is none."""
    head = text[:20_000].lstrip("\r\n")
    return [cell.strip() for cell in next(iter(read_rows(head[: _end_of_line(head)], delimiter)), Cells(1, [])).cells]


def read_rows(text: str, delimiter: str) -> Iterator[Cells]:
    """The rows that are not blank, the header among them, one at a time.

    Line breaks within quotes are those of the text. Where a quote is never closed, the line that it stands on is at
    fault, and reading goes on behind it.
    """
    csv.field_size_limit(_LONGEST_CELL)
    lines = _Lines(text)
    for _ in range(_MAX_RESTARTS):
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            lines.begin()
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Cells(lines.first, [], f"is not a row of cells ({error})")
                lines.go_behind_first()
                break
            if any(cells):
                yield Cells(lines.first, cells)
    yield Cells(lines.first + 1, [], f"stands behind {_MAX_RESTARTS} rows with a quote that is never closed")


class _Lines:
    """The lines of a text, with where the row began that is being read, so that reading can go on behind it."""

    def __init__(self, text: str) -> None:
        self._stream = io.StringIO(text, newline="")
        self._line = 0
        self._behind_first: int | None = None
        self.first = 1

    def begin(self) -> None:
        self.first, self._behind_first = self._line + 1, None

    def go_behind_first(self) -> None:
        self._stream.seek(self._behind_first or 0)
        self._line = self.first

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline()
        if not line:
            raise StopIteration
        self._line += 1
        if self._behind_first is None:
            self._behind_first = self._stream.tell()
        return line


def _end_of_line(text: str) -> int:
    ends = [at for at in (text.find("\n"), text.find("\r")) if at >= 0]
    return min(ends, default=len(text))
