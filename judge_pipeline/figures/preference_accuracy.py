"""Figures of judges that choose between two responses: accuracy beside its floor, position bias (TRACE, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import format_number, n_in_words, read_estimate, said
from judge_pipeline.figures.forest import forest_panel

MAX_CATEGORIES = 11
"""Categories that get a panel of their own, those with the most answers first."""

_ALL = "All pairs"
_NEAR_0 = (-0.2, 0.2)


@dataclass(frozen=True, slots=True)
class _Panel:
    """One panel: what it is called, what stands below that, its estimates by judge and its dashed line."""

    title: str
    detail: str
    column: Mapping[str, Estimate | None]
    reference: float | None
    span: tuple[float, float] = (0.0, 1.0)


def preference_accuracy_figure(accuracy: pd.DataFrame) -> style.DrawnFigure:
    """Acc beside the best floor, Acc_PC beside chance, and the share of pairs that Acc_PC rests on, a row a judge.

    Args:
        accuracy: table PREFERENCE_ACCURACY.
    """
    title = "How often judges choose as labelled"
    floors = accuracy[(accuracy["of"] == "floor") & (accuracy["figure"] == "acc") & accuracy["value"].notna()]
    floor = None if not len(floors) else floors.loc[floors["value"].idxmax()]
    best = "no floor" if floor is None else f"dashed: {floor['name']}, {format_number(floor['value'], 2)}"
    panels = [
        _Panel("Acc ↑", best, _column(accuracy, "acc"), None if floor is None else float(floor["value"])),
        _Panel("Acc_PC ↑", "dashed: chance, 0.50", _column(accuracy, "acc_pc"), 0.5),
        _Panel("Choice share ↑", "pairs that Acc_PC rests on", _column(accuracy, "choice_share"), None),
    ]
    rule = str(accuracy["rule"].iloc[0]) if len(accuracy) else ""
    return _forest("preference-accuracy", title, f"rule {rule}", "pairs a judge", panels)


def position_bias_figure(accuracy: pd.DataFrame) -> style.DrawnFigure:
    """The share of answers that choose the response shown first, over all pairs and by category, a row a judge.

    Args:
        accuracy: table PREFERENCE_ACCURACY.
    """
    title = "Position bias: how often the response shown first is chosen"
    rows = accuracy[(accuracy["of"] == "judge") & (accuracy["figure"] == "first_slot_share")]
    sizes = rows[rows["category"].notna()].groupby("category", sort=False)["n"].sum()
    most = sizes.sort_values(ascending=False, kind="stable").index[:MAX_CATEGORIES].tolist()
    panels = [_Panel(_ALL, "dashed: no bias, 0.50", _column(accuracy, "first_slot_share"), 0.5)]
    for category, shown in style.short_names(most, 34).items():
        column = _column(accuracy, "first_slot_share", category)
        panels.append(_Panel(shown, n_in_words((e.n for e in column.values() if e), "answers"), column, 0.5))
    notes = []
    if len(sizes) > len(most):
        notes.append(
            f"{len(sizes) - len(most)} of {len(sizes)} categories are not drawn: those with the fewest answers."
        )
    subtitle = "right of the line: for what is shown first; left: for what is shown second"
    return _forest("position-bias", title, subtitle, "answers a judge", panels, tuple(notes))


def length_bias_figure(accuracy: pd.DataFrame) -> style.DrawnFigure:
    """How often the longer response is chosen, and by how much more often than by the labels, a row a judge.

    Args:
        accuracy: table PREFERENCE_ACCURACY.
    """
    title = "Length bias: how often the longer response is chosen"
    panels = [
        _Panel("Longer-response share", "of answers that choose", _column(accuracy, "longer_share"), 0.5),
        _Panel("Length bias", "less the labels' share; dashed: none", _column(accuracy, "length_bias"), 0.0, _NEAR_0),
    ]
    subtitle = "right of the dashed line: for longer responses; left: for shorter ones"
    return _forest("length-bias", title, subtitle, "answers a judge", panels)


def _column(accuracy: pd.DataFrame, figure: str, category: str | None = None) -> dict[str, Estimate | None]:
    """Judge -> its estimate, judges in the table's order."""
    own = accuracy[accuracy["of"] == "judge"]
    column: dict[str, Estimate | None] = dict.fromkeys(own["name"])
    here = own["category"].isna() if category is None else own["category"] == category
    for row in own[here & (own["figure"] == figure)].to_dict("records"):
        column[row["name"]] = read_estimate(row)
    return column


def _forest(
    name: str,
    title: str,
    subtitle: str,
    counted: str,
    panels: Sequence[_Panel],
    notes: tuple[str, ...] = (),
) -> style.DrawnFigure:
    known = [e for panel in panels for e in panel.column.values() if e is not None and e.value is not None]
    if not known:
        reasons = [e.reason for panel in panels for e in panel.column.values() if e is not None and e.reason]
        return style.not_drawn(name, title, reasons[0] if reasons else "no judge has such a figure")
    judges = list(panels[0].column)
    first = [estimate.n for estimate in panels[0].column.values() if estimate is not None]
    subtitle = f"{n_in_words(first, counted)}; {subtitle}"
    facets = style.Facets(len(panels), height=40 * len(judges) + 8, min_width=262, gap_x=28, gap_y=78)
    y_axis = {"visible": False, "range": [-len(judges), 0.06]}
    figure = style.facet_figure(title, subtitle, facets, {}, y_axis, left=12)
    short = style.short_names(judges, 24)
    annotations: list[dict[str, Any]] = []
    for index, panel in enumerate(panels):
        annotations += style.facet_heading(index, panel.title, panel.detail)
        annotations += forest_panel(figure, index, panel.column, short, panel.span, panel.reference)
    figure.update_layout(annotations=annotations)
    by_judge = {
        judge: {panel.title: e for panel in panels if (e := panel.column[judge]) is not None} for judge in judges
    }
    words = " ".join(said(judges, by_judge, panel.title, panel.title) for panel in panels)
    return style.DrawnFigure(name, title, subtitle, f"{title}, {subtitle}. {words}", figure, notes=notes)
