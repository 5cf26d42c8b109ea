"""Tables as a page shows them: cells with value, interval and n, and footnotes for every reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import format_interval, format_number, reasons_of
from judge_pipeline.figures.style import clean
from judge_pipeline.report.notes import with_ranges, words_of

FOLDED_FROM = 13
"""Rows from which a table that is not in the first line of evidence is folded up."""

MAX_ROWS = 100
"""Rows of a long table that the page shows; the exported file holds them all."""


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
        estimate: the estimate that it shows, for export and sorting.
        further: those lines of ``below`` that are neither the estimate's interval nor its n.
        link: a page of ours that it leads to, as a relative address made of slugs.
    """

    text: str
    below: tuple[str, ...] = ()
    marks: tuple[int, ...] = ()
    numeric: bool = False
    tags: tuple[str, ...] = ()
    undefined: bool = False
    estimate: Estimate | None = None
    further: tuple[str, ...] = ()
    link: str | None = None

    @property
    def sort_key(self) -> float | str | None:
        """What the cell is sorted by: its number, or its text in small letters; None where it holds no value."""
        if self.undefined:
            return None
        if self.estimate is not None:
            return self.estimate.value
        number = _number(self.text)
        return clean(self.text).casefold() if number is None and not self.numeric else number


@dataclass(frozen=True, slots=True)
class Heading:
    """A column's heading, and a longer explanation where it needs one."""

    text: str
    hint: str = ""
    numeric: bool = False
    of_estimate: bool = False
    """Whether the column repeats a part of the estimate to its left, which an export gives in full anyway."""


@dataclass
class View:
    """A table to be shown: the first cell of each row is the row's heading.

    Attributes:
        name: a slug: the table's anchor.
        caption: what it shows, with n where one n holds for all.
        headings: the columns.
        rows: the cells.
        gathered: a footnote's words, numbers left out where it shares them -> the texts that share it.
        remarks: sentences under the table that belong to no single cell.
        empty: what is said where there are no rows.
        table: the stored table that the rows come from, named where the page does not show all of them.
        foldable: whether it may be folded up where it is long.
    """

    name: str
    caption: str
    headings: Sequence[Heading]
    rows: list[list[Cell]] = field(default_factory=list)
    gathered: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    empty: str = "Nothing to show."
    table: str = ""
    foldable: bool = False
    _on_intervals: list[frozenset[int]] = field(default_factory=list, repr=False)

    @property
    def notes(self) -> list[str]:
        """The footnotes; cell marks count them from 1, and they are shown under the numbers of ``numbered``."""
        return [with_ranges(texts) for texts in self.gathered.values()]

    @property
    def folded(self) -> bool:
        """Whether the page folds it up until a reader opens it."""
        return self.foldable and len(self.rows) >= FOLDED_FROM

    @property
    def shown(self) -> list[list[Cell]]:
        """The rows that the page shows."""
        return self.rows[:MAX_ROWS]

    @property
    def all_remarks(self) -> list[str]:
        """The remarks, and how many rows are shown where not all are."""
        if len(self.rows) <= MAX_ROWS:
            return self.remarks
        kept = f"; the table {self.table} holds all of them" if self.table else ""
        return [*self.remarks, f"{MAX_ROWS} of {len(self.rows):,} rows are shown{kept}."]

    def mark(self, estimate: Estimate) -> tuple[int, ...]:
        """The footnotes of an estimate, one for each part of its reason; those that are new are added."""
        marks = []
        for part in dict.fromkeys(reasons_of(estimate)):
            words = words_of(part)
            self.gathered.setdefault(words, []).append(part)
            marks.append(list(self.gathered).index(words) + 1)
        if estimate.ci95 is not None:
            self._on_intervals.append(frozenset(marks))
        return tuple(marks)

    @property
    def common(self) -> list[str]:
        """What every interval of the table carries: said once under it instead of marked in each cell."""
        return [self.notes[mark - 1] for mark in self._common_marks]

    @property
    def _common_marks(self) -> list[int]:
        carried = self._on_intervals
        everywhere = frozenset.intersection(*carried) if len(carried) > 1 else frozenset()
        return sorted(everywhere)

    @property
    def numbered(self) -> dict[int, int]:
        """The number under which each mark is shown; marks of common notes have none."""
        common = self._common_marks
        own = [mark for mark in range(1, len(self.gathered) + 1) if mark not in common]
        return {mark: number for number, mark in enumerate(own, 1)}

    def estimate(self, estimate: Estimate | None, decimals: int = 3, further: Iterable[str] = ()) -> Cell:
        """An estimate as a cell: value, interval, ``further`` lines, n; its reason becomes a footnote."""
        if estimate is None:
            return Cell("not computed", undefined=True, numeric=True)
        left_out = f", {estimate.n_left_out:,} left out" if estimate.n_left_out else ""
        further = list(further)
        below = [format_interval(estimate.ci95, min(decimals, 2)), *further, f"n = {estimate.n:,}{left_out}"]
        undefined = estimate.value is None
        return Cell(
            text="undefined" if estimate.value is None else format_number(estimate.value, decimals),
            below=tuple(line for line in below if line),
            marks=self.mark(estimate),
            numeric=True,
            undefined=undefined,
            estimate=estimate,
            further=tuple(further),
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


ESTIMATE_HEADINGS = (
    Heading("95% interval", numeric=True, of_estimate=True),
    Heading("n", numeric=True, of_estimate=True),
)
"""What stands over the second and third cell of an estimate in columns."""


def counts_view(name: str, caption: str, counts: Mapping[str, str]) -> View:
    """A table of two columns: what, and how much, both ready as text."""
    view = View(name, caption, (Heading(""), Heading("Value", numeric=True)))
    view.rows = [[Cell(label), Cell(value, numeric=True)] for label, value in counts.items()]
    return view


def _number(text: str) -> float | None:
    """The number that a text is, with thousands separated by commas or not; None where it is none.

    Names like "nan" and "inf" are none, nor is a hash like "4e91823", which would be larger than any.
    """
    try:
        number = float(text.replace(",", "").rstrip("%"))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
