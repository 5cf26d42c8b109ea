"""The headline figures of a contest: a small table of judges and a few figures over all, for the terminal and the top.

Plain data first (``headline``), then its rendering with rich (``headline_tables``), which ``judge-pipeline demo``
prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures.estimates import (
    count,
    format_interval,
    format_number,
    metrics_by_judge,
    overall_agreement,
    read_estimate,
    reasons_of,
)
from judge_pipeline.figures.style import clean
from judge_pipeline.report.inputs import CocreationReportInput, JudgeKind, judge_kinds
from judge_pipeline.report.notes import with_ranges, words_of
from judge_pipeline.tables.metric_words import METRICS

if TYPE_CHECKING:
    from rich.table import Table as RichTable

HEADLINE_METRICS = ("roc_auc", "pr_auc", "mcc_test", "ece")
MAX_REMARKS = 3
"""Warnings printed under the tables; the report holds all of them."""
MAX_FIGURES_NAMED = 3
"""Figures named before a warning; one that concerns more of them stands without names."""
NAME_WIDTH = 18
"""Characters of a judge's name on one line, so that the table of judges fits into 80 columns."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The figures that a reader asks for first.

    Attributes:
        judges: for every judge that has a figure, its estimates of ``HEADLINE_METRICS`` (None: not computed).
        kinds: what each judge is, for its tags.
        overall: a figure's name in words -> the estimate, over the panel or over all trajectories.
        not_verified: the judges without a verified table, and why.
    """

    judges: Mapping[str, Mapping[str, Estimate | None]]
    kinds: Mapping[str, JudgeKind]
    overall: Mapping[str, Estimate]
    not_verified: Mapping[str, str]


def headline(given: CocreationReportInput) -> Headline:
    """The headline figures of a contest's tables."""
    kinds = judge_kinds(given.judge_coverage)
    judges = {
        judge: {name: found.get(name) for name in HEADLINE_METRICS}
        for judge, found in metrics_by_judge(given.judge_metrics).items()
    }
    no_agreement = Estimate.undefined("fewer than two judges of the panel are verified")
    first, last = success_ends(given.success_at_turn)
    overall = {
        "Mean pairwise Cohen's kappa": overall_agreement(given.judge_agreement, "mean_cohen") or no_agreement,
        "Fleiss' kappa": overall_agreement(given.judge_agreement, "fleiss") or no_agreement,
        first[0]: first[1],
        last[0]: last[1],
        "Median turns to success (Kaplan-Meier)": median_turn(given.survival),
    }
    not_verified = {judge: kind.reason or kind.status for judge, kind in kinds.items() if not kind.verified}
    return Headline(judges, kinds, overall, not_verified)


def success_ends(success: pd.DataFrame) -> tuple[tuple[str, Estimate], tuple[str, Estimate]]:
    """S at the first and at the last turn, each with its name in words; undefined where there is no trajectory."""
    rows = success.sort_values("turn").to_dict("records")
    if not rows:
        missing = Estimate.undefined("no trajectory has a decided attempt")
        return ("Solved at turn 1, S(1)", missing), ("Solved by the last turn, S(last)", missing)
    last = count(rows[-1]["turn"])
    return (
        (f"Solved by turn {count(rows[0]['turn'])}, S({count(rows[0]['turn'])})", read_estimate(rows[0])),
        (f"Solved by the last turn, S({last})", read_estimate(rows[-1])),
    )


def median_turn(survival: pd.DataFrame) -> Estimate:
    """The first turn after which at most half are estimated to be unsolved (Kaplan-Meier median).

    Its interval runs over the turns whose 95% band holds one half (Brookmeyer and Crowley); none where the upper
    band never falls to it. Null with a reason where the curve stays above one half.
    """
    rows = survival[survival["value"].notna() & (survival["turn"] >= 1)].sort_values("turn")
    if not len(rows):
        return Estimate.undefined("no trajectory has a decided attempt")
    n = int(survival["n_at_risk"].max())
    median = _first_turn_at_half(rows, "value")
    if median is None:
        share = format_number(100 * float(rows["value"].iloc[-1]), 1)
        return Estimate.undefined(
            f"not reached: an estimated {share}% are still unsolved after turn {int(rows['turn'].iloc[-1])}", n
        )
    low, high = _first_turn_at_half(rows, "ci95_low"), _first_turn_at_half(rows, "ci95_high")
    if low is None or high is None:
        return Estimate(median, n, reason="no interval: its band does not fall to one half")
    return Estimate(median, n, ci95=(low, high))


def headline_tables(found: Headline) -> list[RichTable]:
    """The headline as rich tables, to be printed one after the other; judges' names are printed literally."""
    return [_judge_table(found), _overall_table(found)]


def _first_turn_at_half(rows: pd.DataFrame, column: str) -> float | None:
    reached = rows[rows[column] <= 0.5]
    return float(reached["turn"].iloc[0]) if len(reached) else None


def _judge_table(found: Headline) -> RichTable:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Judges on test: value, 95% interval, n", title_justify="left", box=box.SIMPLE, pad_edge=False)
    table.padding = (0, 0, 0, 1)
    table.add_column("Judge", no_wrap=True)
    for name in HEADLINE_METRICS:
        table.add_column(f"{METRICS[name].label} {METRICS[name].arrow}", justify="right", no_wrap=True)
    for judge, estimates in found.judges.items():
        label = found.kinds[judge].label if judge in found.kinds else judge
        name = "\n".join(wrap(clean(label), NAME_WIDTH))
        table.add_row(Text(name), *(Text(_in_lines(estimate)) for estimate in estimates.values()))
    if not found.judges:
        table.add_row(Text("no verified judge"), *("" for _ in HEADLINE_METRICS))
    table.caption = Text("\n".join(clean(remark) for remark in _judge_remarks(found)))
    table.caption_justify = "left"
    return table


def _judge_remarks(found: Headline) -> list[str]:
    """What the table of judges does not show: who is missing, and why a figure is undefined."""
    remarks = []
    for words, judged in (("Not judged", False), ("Not verified", True)):
        names = [judge for judge in found.not_verified if (found.kinds[judge].status != "not judged") is judged]
        remarks += [f"{words}: {', '.join(names)}."] if names else []
    undefined = [e for row in found.judges.values() for e in row.values() if e is not None and e.value is None]
    reasons = dict.fromkeys(estimate.reason for estimate in undefined if estimate.reason)
    return [*remarks, f"Undefined: {'; '.join(reasons)}."] if reasons else remarks


def _overall_table(found: Headline) -> RichTable:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Agreement and people", title_justify="left", box=box.SIMPLE, pad_edge=False)
    table.add_column("Figure")
    for heading in ("Value", "95% interval", "n"):
        table.add_column(heading, justify="right")
    for name, estimate in found.overall.items():
        decimals = 0 if name.startswith("Median") else 3
        value = "undefined" if estimate.value is None else format_number(estimate.value, decimals)
        interval = format_interval(estimate.ci95, min(decimals, 2))
        table.add_row(name, value, Text(interval), f"{estimate.n:,}")
    table.caption = Text("\n".join(clean(remark) for remark in _remarks(found)))
    table.caption_justify = "left"
    return table


def _remarks(found: Headline) -> list[str]:
    """Why a figure over all is undefined, and what the intervals of both tables carry, each once."""
    missing = {name: e.reason for name, e in found.overall.items() if e.value is None}
    weak = [(METRICS[name].label, e) for row in found.judges.values() for name, e in row.items() if e is not None]
    warnings: dict[str, tuple[list[str], dict[str, None]]] = {}
    for name, estimate in (*weak, *found.overall.items()):
        for part in reasons_of(estimate) if estimate.value is not None else ():
            parts, names = warnings.setdefault(words_of(part), ([], {}))
            parts.append(part)
            names[name] = None
    remarks = [f"{name}: {reason}." for name, reason in missing.items()]
    shown = list(warnings.values())[:MAX_REMARKS]
    remarks += [_warning(with_ranges(parts), list(names)) for parts, names in shown]
    return [*remarks, "More in the report."] if len(warnings) > MAX_REMARKS else remarks


def _warning(words: str, figures: list[str]) -> str:
    """The warning, and whom it concerns where it concerns a few."""
    if len(figures) <= MAX_FIGURES_NAMED:
        return f"{'; '.join(figures)}: {words}."
    return f"{words[:1].upper()}{words[1:]}."


def _in_lines(estimate: Estimate | None) -> str:
    if estimate is None:
        return "not computed"
    value = "undefined" if estimate.value is None else format_number(estimate.value)
    return "\n".join(line for line in (value, format_interval(estimate.ci95, 2), f"n={estimate.n:,}") if line)
