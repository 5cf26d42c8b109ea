"""The headline figures of a preference set in the terminal: Table 2 of the judges that are there, floors, who chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from judge_pipeline.figures.estimates import format_interval, format_number, read_estimate, reasons_of
from judge_pipeline.figures.style import clean
from judge_pipeline.report.notes import with_ranges, words_of
from judge_pipeline.tables.preference_accuracy import PREFERENCE_FIGURES

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from judge_pipeline.estimate import Estimate
    from judge_pipeline.report.inputs import JudgeKind
    from judge_pipeline.report.preference_inputs import PreferenceProvenance, PreferenceReportInput

FIGURES = ("acc_pc", "acc", "consistent_share", "first_slot_share")
NAME_WIDTH = 20
"""Characters of a judge's name on one line, so that the table fits into 80 columns."""
MAX_REMARKS = 4

_HEADINGS = {"acc_pc": "Acc_PC ↑", "acc": "Acc ↑", "consistent_share": "Consistent ↑", "first_slot_share": "First slot"}

_NOT_AS_IT_SHOULD_BE = ("unverified", "stale", "damaged")
"""States of a judge's table of which the reason is said."""
_IS_UNVERIFIED = " is unverified: "
"""Within a reason (``pair_coverage.flag_unverified``): said once for the judge, not of every figure."""
_MOST_NAMES = 3
"""Judges that a remark names; of more it says how many."""


@dataclass(frozen=True)
class PreferenceHeadline:
    """The figures that a reader asks for first.

    Attributes:
        chosen_by: who or what chose, from preference.yaml.
        rule: the scoring rule, with what it counts as right.
        judges: judge, as figures call it -> its ``FIGURES``, where it has them.
        floors: what needs no judgment -> its Acc.
        not_judged: the judges without a table, but for those that are switched off.
        states: judge -> why its table is unverified, stale or damaged.
        found: what the rubric's models found, in sentences; empty where nothing was scored.
    """

    chosen_by: str
    rule: str
    judges: Mapping[str, Mapping[str, Estimate]]
    floors: Mapping[str, Estimate]
    not_judged: Sequence[str]
    found: Sequence[str]
    states: Mapping[str, str] = field(default_factory=dict)


def preference_headline(given: PreferenceReportInput, provenance: PreferenceProvenance) -> PreferenceHeadline:
    """The headline figures of a set's tables; judges are called by their labels, so that none is shown without tags."""
    from judge_pipeline.report.preference_accuracy_views import under_rule
    from judge_pipeline.report.preference_findings import preference_findings
    from judge_pipeline.report.preference_inputs import labelled

    shown = labelled(given)
    accuracy = shown.preference_accuracy
    own = None if accuracy is None else under_rule(accuracy, provenance.rule)
    words = provenance.rules.get(provenance.rule)
    return PreferenceHeadline(
        chosen_by=provenance.chosen_by,
        rule=f"{provenance.rule} ({words})" if words else provenance.rule,
        judges={} if own is None else _figures(own, "judge"),
        floors={} if own is None else {name: of["acc"] for name, of in _figures(own, "floor").items()},
        not_judged=[kind.judge for kind in given.kinds.values() if kind.status == "not judged" and not _is_off(kind)],
        found=[f"{one.lead}. {one.text}" for one in preference_findings(shown, provenance) if one.anchor == "weigh"],
        states={kind.judge: _state(kind) for kind in given.kinds.values() if kind.status in _NOT_AS_IT_SHOULD_BE},
    )


def print_preference_headline(console: Console, found: PreferenceHeadline) -> None:
    """Print the headline: judges, floors, what was found of weights, and who chose."""
    from rich.text import Text

    console.print()
    console.print(_judge_table(found))
    if found.floors:
        console.print(_floor_table(found))
    for line in found.found:
        console.print(Text(clean(line)))
    for judge, state in found.states.items():
        console.print(Text(f"{clean(judge)}: {clean(state)}"), soft_wrap=True)
    if found.not_judged:
        console.print(Text(f"Not judged: {', '.join(found.not_judged)}."), style="dim")
    console.print(Text(f"Scoring rule: {clean(found.rule)}."))
    console.print(Text(f"Chosen by: {clean(found.chosen_by)}."), style="bold")


def _state(kind: JudgeKind) -> str:
    return f"{kind.status}: {kind.reason or 'no reason is stored'}."


def _is_off(kind: JudgeKind) -> bool:
    return (kind.reason or "").startswith("enabled: false")


def _figures(rows: pd.DataFrame, of: str) -> dict[str, dict[str, Estimate]]:
    """Name -> figure -> estimate over all pairs, in the table's order."""
    own = rows[(rows["of"] == of) & rows["category"].isna()]
    found: dict[str, dict[str, Estimate]] = {}
    for row in own.to_dict("records"):
        found.setdefault(str(row["name"]), {})[row["figure"]] = read_estimate(row)
    return found


def _judge_table(found: PreferenceHeadline) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title="How judges choose (TRACE, Table 2): value, 95% interval, n", title_justify="left", box=box.SIMPLE,
        pad_edge=False,
    )  # fmt: skip
    table.padding = (0, 0, 0, 1)
    table.add_column("Judge", no_wrap=True)
    for name in FIGURES:
        table.add_column(_HEADINGS[name], justify="right", no_wrap=True)
    for judge, figures in found.judges.items():
        name = "\n".join(wrap(clean(judge), NAME_WIDTH))
        table.add_row(Text(name), *(Text(_in_lines(figures.get(figure))) for figure in FIGURES))
    if not found.judges:
        table.add_row(Text("no judge has figures"), *("" for _ in FIGURES))
    table.caption = Text("\n".join(clean(remark) for remark in _remarks(found)))
    table.caption_justify = "left"
    return table


def _floor_table(found: PreferenceHeadline) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Floors: Acc of what needs no judgment", title_justify="left", box=box.SIMPLE, pad_edge=False)
    table.add_column("Floor")
    for heading in ("Acc", "95% interval", "n"):
        table.add_column(heading, justify="right")
    for name, estimate in found.floors.items():
        value = "undefined" if estimate.value is None else format_number(estimate.value)
        table.add_row(Text(clean(name)), value, Text(format_interval(estimate.ci95, 2)), f"{estimate.n:,}")
    return table


def _remarks(found: PreferenceHeadline) -> list[str]:
    """What stands behind the figures of judges, each once, with the figures and the judges that it concerns."""
    gathered: dict[str, tuple[list[str], dict[str, None], dict[str, None]]] = {}
    for judge, figures in found.judges.items():
        for name in FIGURES:
            for part in reasons_of(figures[name]) if name in figures else ():
                if _IS_UNVERIFIED in part:
                    continue
                parts, names, judges = gathered.setdefault(words_of(part), ([], {}, {}))
                parts.append(part)
                names[PREFERENCE_FIGURES[name]] = None
                judges[judge] = None
    lines = []
    for parts, names, judges in gathered.values():
        subject = _subject(list(judges), len(found.judges))
        of = subject if len(names) == len(FIGURES) else f"{', '.join(names)} of {subject}"
        lines.append(f"{of}: {with_ranges(parts)}.")
    return lines if len(lines) <= MAX_REMARKS else [*lines[:MAX_REMARKS], "More in the report."]


def _subject(judges: Sequence[str], n_all: int) -> str:
    """The judges that a remark concerns."""
    if len(judges) == n_all > 1:
        return "all judges"
    rest = len(judges) - _MOST_NAMES
    return ", ".join(judges) if rest <= 0 else f"{', '.join(judges[:_MOST_NAMES])} and {rest} more"


def _in_lines(estimate: Any) -> str:
    if estimate is None:
        return "not computed"
    value = "undefined" if estimate.value is None else format_number(estimate.value)
    return "\n".join(line for line in (value, format_interval(estimate.ci95, 2), f"n={estimate.n:,}") if line)
