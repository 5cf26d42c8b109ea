"""Tables as a page shows them: cells with value, interval and n, and footnotes for every reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import format_interval, format_number, reasons_of


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell. Texts are plain; the template escapes them.

    Attributes:
        text: the main line.
        below: smaller lines under it: interval, n.
        marks: numbers of the footnotes that belong to it.
        numeric: whether it is aligned as a number.
        tags: words in small frames after the text.
        undefined: whether the value does not exist.
    """

    text: str
    below: tuple[str, ...] = ()
    marks: tuple[int, ...] = ()
    numeric: bool = False
    tags: tuple[str, ...] = ()
    undefined: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's heading, and a longer explanation where it needs one."""

    text: str
    hint: str = ""
    numeric: bool = False


@dataclass
class View:
    """A table to be shown: the first cell of each row is the row's heading.

    Attributes:
        name: a slug: the table's anchor.
        caption: what it shows, with n where one n holds for all.
        headings: the columns.
        rows: the cells.
        notes: footnotes; cell marks count from 1, and are shown under the numbers of ``numbered``.
        remarks: sentences under the table that belong to no single cell.
        empty: what is said where there are no rows.
    """

    name: str
    caption: str
    headings: Sequence[Heading]
    rows: list[list[Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    empty: str = "Nothing to show."
    _on_intervals: list[frozenset[str]] = field(default_factory=list, repr=False)

    def mark(self, estimate: Estimate) -> tuple[int, ...]:
        """The footnotes of an estimate, one for each part of its reason; those that are new are added."""
        parts = list(dict.fromkeys(reasons_of(estimate)))
        self.notes += [part for part in parts if part not in self.notes]
        if estimate.ci95 is not None:
            self._on_intervals.append(frozenset(parts))
        return tuple(self.notes.index(part) + 1 for part in parts)

    @property
    def common(self) -> list[str]:
        """What every interval of the table carries: said once under it instead of marked in each cell."""
        carried = self._on_intervals
        return [note for note in self.notes if len(carried) > 1 and all(note in parts for parts in carried)]

    @property
    def numbered(self) -> dict[int, int]:
        """The number under which each mark is shown; marks of common notes have none."""
        common = self.common
        own = [mark for mark, note in enumerate(self.notes, 1) if note not in common]
        return {mark: number for number, mark in enumerate(own, 1)}

    def estimate(self, estimate: Estimate | None, decimals: int = 3, further: Iterable[str] = ()) -> Cell:
        """An estimate as a cell: value, interval, ``further`` lines, n; its reason becomes a footnote."""
        if estimate is None:
            return Cell("not computed", undefined=True, numeric=True)
        left_out = f", {estimate.n_left_out:,} left out" if estimate.n_left_out else ""
        below = [format_interval(estimate.ci95, min(decimals, 2)), *further, f"n = {estimate.n:,}{left_out}"]
        undefined = estimate.value is None
        return Cell(
            text="undefined" if estimate.value is None else format_number(estimate.value, decimals),
            below=tuple(line for line in below if line),
            marks=self.mark(estimate),
            numeric=True,
            undefined=undefined,
        )

    def in_columns(self, estimate: Estimate | None, decimals: int = 3) -> list[Cell]:
        """An estimate as three cells under ``ESTIMATE_HEADINGS``: for long tables, where a row should be one line."""
        if estimate is None:
            return [Cell("not computed", undefined=True, numeric=True), Cell(""), Cell("")]
        value = self.estimate(estimate, decimals)
        interval = format_interval(estimate.ci95, decimals) or "none"
        left_out = f" ({estimate.n_left_out:,} left out)" if estimate.n_left_out else ""
        return [
            replace(value, below=()),
            Cell(interval, numeric=True, undefined=estimate.ci95 is None),
            Cell(f"{estimate.n:,}{left_out}", numeric=True),
        ]


ESTIMATE_HEADINGS = (Heading("95% interval", numeric=True), Heading("n", numeric=True))
"""What stands over the second and third cell of an estimate in columns."""


def counts_view(name: str, caption: str, counts: Mapping[str, str]) -> View:
    """A table of two columns: what, and how much, both ready as text."""
    view = View(name, caption, (Heading(""), Heading("Value", numeric=True)))
    view.rows = [[Cell(label), Cell(value, numeric=True)] for label, value in counts.items()]
    return view
