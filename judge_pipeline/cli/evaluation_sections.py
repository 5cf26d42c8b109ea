"""What `judge-pipeline evaluate attempts` prints: one section for each table of figures, and numbered notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_pipeline.cli.evaluation_json import estimate_of, plain_number
from judge_pipeline.tables.metric_words import (
    AGREEMENT,
    METRICS,
    agreement_label,
    level_label,
    metric_label,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

Line = tuple[str, str, Mapping[str, Any]]
"""What a figure is called, who it is of, and its row, which has the estimate columns."""

Columns = Mapping[str, Callable[[Mapping[str, Any]], str]]
"""Headings and what stands below them in a row, between the interval and the notes."""

_COUNTS = ("log_loss_n_clipped",)
_N: Columns = {"n": lambda row: str(row["n"]), "left out": lambda row: str(row["n_left_out"])}
_SETTLED: Columns = {
    "p": lambda row: _p(row["p_holm"]),
    "needed": lambda row: _whole(row["trajectories_for_power"]),
}


@dataclass(frozen=True)
class Section:
    """A part of the output.

    Attributes:
        name: what `--section` calls it.
        title: its heading.
        lines: from the tables by name to its lines; none where there is nothing to say.
        columns: what stands between the interval and the notes.
        below: a sentence about it, or nothing.
    """

    name: str
    title: str
    lines: Callable[[Mapping[str, pd.DataFrame]], list[Line]]
    columns: Columns = field(default_factory=lambda: _N)
    below: str = ""


def print_sections(
    sections: Iterable[Section], tables: Mapping[str, pd.DataFrame], *, seed: int, resamples: int
) -> None:
    """Print the sections to the terminal, each a table, and at the end the notes that their figures refer to."""
    from rich.console import Console
    from rich.table import Table

    notes: dict[str, int] = {}
    console = Console(highlight=False, markup=False, emoji=False)
    for section in sections:
        lines = section.lines(tables)
        if lines:
            console.print(_table(section, lines, notes))
            if section.below:
                console.print(f"{section.below}\n")
    console.print(
        f"t* is chosen on val and held fixed on test. Intervals: cluster bootstrap, {resamples} resamples, seed {seed}."
    )
    if notes:
        listed = Table.grid(padding=(0, 1))
        for text, number in notes.items():
            listed.add_row(str(number), _printable(text))
        console.print("\nNotes")
        console.print(listed)


def _metrics(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    # Judges stand under each figure, so that they are compared; the table holds figures under each judge.
    return [(metric_label(row["metric"]), row["judge"], row) for row in _by(tables["judge_metrics"], METRICS)]


def _agreement(rated: str) -> Callable[[Mapping[str, pd.DataFrame]], list[Line]]:
    def lines(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
        agreement = tables["judge_agreement"]
        rows = _by(agreement[agreement["rated"] == rated], AGREEMENT, "statistic")
        return [(_agreement_label(row["statistic"], rated), _who(row), row) for row in rows]

    return lines


def _pairs(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    table = tables["judge_differences"]
    rows = _by(table[table["against"] == "judge"], METRICS)
    return [(metric_label(row["metric"]), f"{row['judge_1']} - {row['judge_2']}", row) for row in rows]


def _levels(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    table = tables["judge_differences"]
    rows = _by(table[table["against"] != "judge"], {**METRICS, **AGREEMENT})
    return [(level_label(row["metric"]), _who(row), row) for row in rows]


SECTIONS: Sequence[Section] = (
    Section("judges", "Judges", _metrics),
    Section(
        "differences",
        "Against a judge without skill, on test",
        _levels,
        _SETTLED,
        "p is two-sided and corrected (Holm) for all rows under one name. Needed: trajectories of test that would "
        "tell a difference of this size from 0 with power 80%; --json also has those for an interval within 0.05.",
    ),
    Section("differences", "Differences between judges on the same attempts of test", _pairs, _SETTLED),
    Section("agreement", "Agreement on test, decisions at each judge's t*", _agreement("decision")),
    Section("agreement", "Agreement on test, s_algo", _agreement("s_algo")),
    Section("agreement", "Agreement on test, s_robust", _agreement("s_robust")),
    Section("agreement", "Agreement on test, p_ac", _agreement("p_ac")),
)
"""The sections in the order in which they are printed."""

SECTION_NAMES = tuple(dict.fromkeys(section.name for section in SECTIONS))


def _by(table: pd.DataFrame, order: Mapping[str, object], column: str = "metric") -> list[dict[str, Any]]:
    """The table's rows, ``column`` in the order of ``order``; what that does not know comes last."""
    place = {name: i for i, name in enumerate(order)}
    ranks = table[column].map(lambda name: place.get(name, len(place)))
    return list(table.loc[ranks.sort_values(kind="stable").index].to_dict("records"))


def _agreement_label(statistic: str, rated: str) -> str:
    return "Same score" if statistic == "raw_agreement" and rated != "decision" else agreement_label(statistic)


def _who(row: Mapping[str, Any]) -> str:
    return " | ".join(name for name in (row["judge_1"], row["judge_2"]) if name is not None) or "all"


def _table(section: Section, lines: Sequence[Line], notes: dict[str, int]) -> Table:
    """Lines as a table; each figure is named once, above those it is of."""
    from rich import box
    from rich.table import Table

    table = Table(title=section.title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False, title_style="bold")
    table.add_column("", overflow="fold")
    for name in ("value", "95% interval", *section.columns, "notes"):
        table.add_column(name, justify="left" if name == "notes" else "right", no_wrap=True)
    last = None
    for label, who, row in lines:
        if label != last:
            table.add_row(label, style="bold")
        table.add_row(f"  {_printable(who)}", *_cells(row, section.columns, notes))
        last = label
    return table


def _cells(row: Mapping[str, Any], columns: Columns, notes: dict[str, int]) -> list[str]:
    estimate = estimate_of(row)
    value, interval = estimate["value"], estimate["ci95"]
    reasons = estimate["reason"].split("; ") if estimate["reason"] else []
    if value is not None and plain_number(row.get("trajectories_for_power", 0)) is None:
        reasons += str(row["needed_reason"]).split("; ")
    digits = 0 if row.get("metric") in _COUNTS else 4
    return [
        "undefined" if value is None else f"{value:.{digits}f}",
        "" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}",
        *(cell(row) for cell in columns.values()),
        " ".join(str(notes.setdefault(reason, len(notes) + 1)) for reason in reasons),
    ]


def _p(value: Any) -> str:
    number = plain_number(value)
    if number is None:
        return ""
    return "<0.001" if number < 0.001 else f"{number:.3f}"


def _whole(value: Any) -> str:
    number = plain_number(value)
    return "" if number is None else f"{number:,.0f}"


def _printable(text: str) -> str:
    """The text with control characters written out: names come from a file and must not steer the terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
