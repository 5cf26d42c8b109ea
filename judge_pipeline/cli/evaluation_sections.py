"""What `judge-pipeline evaluate attempts` prints: one section for each table of figures, and numbered notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge_pipeline.cli.evaluation_json import estimate_of, plain_number
from judge_pipeline.report.notes import with_ranges, words_of
from judge_pipeline.tables.metric_words import (
    AGREEMENT,
    MAPS,
    METRICS,
    PANEL_METHODS,
    RATE_METHODS,
    SCORE_METRICS,
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
_CALIBRATED = ("log_loss", "brier", "ece")
_N: Columns = {"n": lambda row: str(row["n"]), "left out": lambda row: str(row["n_left_out"])}
_SETTLED: Columns = {
    "p": lambda row: short_p(row["p_holm"]),
    "needed": lambda row: _whole(row["trajectories_for_power"]),
}
_BEFORE_AND_AFTER: Columns = {"before": lambda row: _four(row["before"]), "after": lambda row: _four(row["after"])}


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
    sections: Iterable[Section],
    tables: Mapping[str, pd.DataFrame],
    *,
    seed: int,
    resamples: int,
    about: str = "t* is chosen on val and held fixed on test.",
) -> None:
    """Print the sections to the terminal, each a table, and at the end the notes that their figures refer to.

    ``about`` is what holds for all figures.
    """
    from rich.console import Console
    from rich.table import Table

    notes = Notes()
    console = Console(highlight=False, markup=False, emoji=False)
    for section in sections:
        lines = section.lines(tables)
        if lines:
            console.print(_table(section, lines, notes))
            if section.below:
                console.print(f"{section.below}\n")
    console.print(f"{about} Intervals: cluster bootstrap, {resamples} resamples, seed {seed}.")
    if notes.texts:
        listed = Table.grid(padding=(0, 1))
        for number, text in enumerate(notes.texts, 1):
            listed.add_row(str(number), printable(text))
        console.print("\nNotes")
        console.print(listed)


class Notes:
    """The notes under the tables: those that differ in numbers only are one, which gives their range."""

    def __init__(self) -> None:
        self._gathered: dict[str, list[str]] = {}

    def number(self, text: str) -> int:
        """The number under which the note is found."""
        words = words_of(text)
        self._gathered.setdefault(words, []).append(text)
        return list(self._gathered).index(words) + 1

    @property
    def texts(self) -> list[str]:
        """The notes in the order of their numbers, from 1."""
        return [with_ranges(texts) for texts in self._gathered.values()]


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


def _scores(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    rows = tables["judge_scores"].sort_values(["score", "metric"], kind="stable").to_dict("records")
    return [(f"{row['score']}, {SCORE_METRICS[row['metric']]}", row["judge"], row) for row in rows]


def _calibration(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    """A line for each change, which has the figure before and after beside it."""
    rows = _by(tables["judge_calibration"], METRICS)
    values = {(r["judge"], r["map"], r["metric"]): r["value"] for r in rows if r["quantity"] == "value"}
    lines: list[Line] = []
    for row in rows:
        judge, name, metric = row["judge"], row["map"], row["metric"]
        if row["quantity"] == "change" and metric in _CALIBRATED:
            ends = {"before": values[judge, "none", metric], "after": values[judge, name, metric]}
            lines.append((metric_label(metric), f"{judge}, {MAPS[name]}", {**row, **ends}))
    return lines


def _panel_figures(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    table = tables["judge_panels"]
    rows = _by(table[table["quantity"] == "value"], METRICS)
    return [(metric_label(row["metric"]), PANEL_METHODS[row["method"]], row) for row in rows]


def _panel_differences(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    table = tables["judge_panels"]
    rows = _by(table[table["quantity"] == "difference"], METRICS)
    return [
        (metric_label(row["metric"]), f"{row['method'].replace('_', ' ')} - {row['best_judge'] or 'none'}", row)
        for row in rows
    ]


def _rates(tables: Mapping[str, pd.DataFrame]) -> list[Line]:
    rows = _by(tables["acceptance_rates"], RATE_METHODS, "method")
    return [(RATE_METHODS[row["method"]], row["judge"], row) for row in rows]


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
    Section("scores", "Scores against the verdict, on test", _scores),
    Section(
        "calibration",
        "What calibration maps change on test (after less before)",
        _calibration,
        _BEFORE_AND_AFTER,
        "Maps are fitted on val alone and held fixed. ROC-AUC and the debiased ECE stand in --json.",
    ),
    Section("panels", "The panel as one judge", _panel_figures),
    Section(
        "panels",
        "The panel less its best judge, on test",
        _panel_differences,
        {"p": lambda row: short_p(row["p_holm"]), "n": lambda row: str(row["n"])},
        "The best judge of each figure is the one that is best on val. p is corrected (Holm) for the four ways.",
    ),
    Section(
        "rates",
        "Acceptance rate from a judge's answers and the labels of val",
        _rates,
        {"truth": lambda row: _four(row["truth"]), "labels": lambda row: str(row["n_labelled"])},
        "The truth is what all labels of the same attempts say; no method sees those of train and test.",
    ),
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


def _table(section: Section, lines: Sequence[Line], notes: Notes) -> Table:
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
        table.add_row(f"  {printable(who)}", *_cells(row, section.columns, notes))
        last = label
    return table


def _cells(row: Mapping[str, Any], columns: Columns, notes: Notes) -> list[str]:
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
        " ".join(str(number) for number in dict.fromkeys(notes.number(reason) for reason in reasons)),
    ]


def short_p(value: Any) -> str:
    """A p-value in a few characters; nothing where there is none."""
    number = plain_number(value)
    if number is None:
        return ""
    return "<0.001" if number < 0.001 else f"{number:.3f}"


def _four(value: Any) -> str:
    number = plain_number(value)
    return "" if number is None else f"{number:.4f}"


def _whole(value: Any) -> str:
    number = plain_number(value)
    return "" if number is None else f"{number:,.0f}"


def printable(text: str) -> str:
    """The text with control characters written out: names come from a file and must not steer the terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)
