"""Struggle curves of groups: mean confidence turn by turn, of the panel and of each judge (paper 1, eq. 10, 22-23).

A page can offer a choice: the curves of single judges stand in the same panels as those of the mean over them. A trace
says in ``meta.choice``, a heading in ``name``, to which of ``layout.meta.choices`` it belongs, and only the first is
visible until another is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import count, read_estimate, value_words
from judge_pipeline.ingest.turns import natural_key
from judge_pipeline.tables.dynamics_words import ORDERS

PANEL = "the panel (mean)"
"""What the mean over the panel is called where judges stand beside it."""

_SUBTITLE = "mean p_ac over trajectories that have turn k; band: 95% interval over clusters"
_LATER = "Later turns rest on few trajectories, those still going: a curve's end says nothing of those that left."
_REVERSED = (("order as recorded", style.SeriesStyle(style.PALETTE[0], "circle")),
             ("order reversed", style.SeriesStyle(style.PALETTE[1], "square")))  # fmt: skip


@dataclass(frozen=True)
class _Curve:
    """One curve: in which panel, under which choice, in the look of which series."""

    panel: int
    choice: int
    series: int
    rows: pd.DataFrame

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Its turns in their order."""
        ordered: list[dict[str, Any]] = self.rows.sort_values("turn").to_dict("records")
        return ordered


@drawn_once
def struggle_groups_figure(groups: pd.DataFrame) -> style.DrawnFigure:
    """Mean confidence at each turn, of all trajectories and by outcome, a panel for each and for the order reversed.

    Args:
        groups: ``struggle_groups``.
    """
    title = "Struggle curves of solved and unsolved trajectories"
    rows = _confidences(groups, "all", "outcome")
    keys = list(dict.fromkeys(zip(rows["order"], rows["level"], strict=True)))
    curves = [
        _Curve(keys.index((order, level)), _choices(rows).index(judge), 0, part)
        for (order, level, judge), part in rows.groupby(["order", "level", "whom"], sort=False)
    ]
    names = ["All trajectories" if level == "all" else str(level).capitalize() for _, level in keys]
    names = [
        name + (f", {ORDERS[str(order)]}" if order == "reversed" else "")
        for name, (order, _) in zip(names, keys, strict=True)
    ]
    facets = style.Facets(len(keys), height=190, min_width=240, gap_y=92)
    return _drawn("struggle-groups", title, names, curves, facets, _choices(rows))


@drawn_once
def struggle_levels_figure(groups: pd.DataFrame, grouped_by: str) -> style.DrawnFigure:
    """Mean confidence at each turn, a panel for each problem or participant; both orders of turns in it.

    Args:
        groups: ``struggle_groups``.
        grouped_by: ``problem_id`` or ``participant``.
    """
    name, title = {
        "problem_id": ("struggle-problems", "Struggle curves by problem"),
        "participant": ("struggle-participants", "Struggle curves by participant"),
    }[grouped_by]
    rows = _confidences(groups, grouped_by)
    levels, orders = sorted(rows["level"].unique(), key=natural_key), list(ORDERS)
    curves = [
        _Curve(levels.index(level), _choices(rows).index(judge), orders.index(str(order)), part)
        for (order, level, judge), part in rows.groupby(["order", "level", "whom"], sort=False)
    ]
    facets = style.Facets(len(levels), height=120, min_width=150, gap_x=44, gap_y=84)
    key = _REVERSED if rows["order"].nunique() > 1 else ()
    return _drawn(name, title, [str(level) for level in levels], curves, facets, _choices(rows), key)


@drawn_once
def struggle_judges_figure(groups: pd.DataFrame) -> style.DrawnFigure:
    """Mean confidence of each judge at each turn, solved and unsolved in one panel; further panels reversed.

    Args:
        groups: ``struggle_groups``.
    """
    rows = _confidences(groups, "outcome")
    keys = list(dict.fromkeys(zip(rows["order"], rows["whom"], strict=True)))
    outcomes = ["solved", "unsolved"]
    curves = [
        _Curve(keys.index((order, judge)), 0, outcomes.index(str(level)), part)
        for (order, judge, level), part in rows.groupby(["order", "whom", "level"], sort=False)
    ]
    names = [str(judge) + (f", {ORDERS[str(order)]}" if order == "reversed" else "") for order, judge in keys]
    facets = style.Facets(len(keys), height=140, min_width=190, gap_y=88)
    key = (("solved", style.SeriesStyle(style.PALETTE[0], "circle")),
           ("unsolved", style.SeriesStyle(style.PALETTE[1], "square")))  # fmt: skip
    return _drawn("struggle-judges", "Struggle curves of each judge", names, curves, facets, (), key)


def _confidences(groups: pd.DataFrame, *grouped_by: str) -> pd.DataFrame:
    """The rows of confidences that are known, with ``whom``: the judge, or the panel, which comes first."""
    wanted = (groups["statistic"] == "confidence") & groups["value"].notna() & groups["grouped_by"].isin(grouped_by)
    rows = groups[wanted]
    rows = rows.assign(whom=rows["judge"].fillna(PANEL).astype(str))  # of these alone: it would fill an empty table up
    return rows.assign(_later=rows["whom"] != PANEL).sort_values(["_later"], kind="stable").sort_values(
        ["order"], kind="stable"
    )  # fmt: skip


def _choices(rows: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(rows["whom"]))


def _drawn(
    name: str,
    title: str,
    panels: Sequence[str],
    curves: Sequence[_Curve],
    facets: style.Facets,
    choices: Sequence[str],
    key: tuple[tuple[str, style.SeriesStyle], ...] = (),
) -> style.DrawnFigure:
    if not curves:
        return style.not_drawn(name, title, "no turn has a mean confidence")
    figure = style.facet_figure(title, _SUBTITLE, facets, {}, {"range": [-0.03, 1.03]})
    short = style.short_names(panels, 26)
    annotations: list[dict[str, Any]] = []
    said = []
    figure.add_traces([trace for curve in curves for trace in _traces(curve)])
    for curve in curves:
        shown = curve.choice == 0
        detail = _counts(curve)
        if curve.series == 0 or not any(_together(curve, other) for other in curves):
            heading = style.facet_heading(curve.panel, short[panels[curve.panel]], detail)
            annotations += [{**line, "visible": shown, "name": str(curve.choice)} for line in heading]
        if shown:
            said.append(f"{style.clean(panels[curve.panel])}{_series(key, curve)}: {_ends(curve)}; {detail}")
    longest = [max(int(c.records[-1]["turn"]) for c in curves if c.panel == i) for i in range(len(panels))]
    for i, last in enumerate(longest):
        axis = figure.layout[f"xaxis{style.axis_id(i)}"]
        axis.update(title={"text": "Turn k"}, tickformat="d", nticks=min(8, last), range=[0.6, last + 0.4])
    figure.update_layout(annotations=annotations)
    if len(choices) > 1:
        figure.layout.meta = {**figure.layout.meta, "choices": [style.clean(choice) for choice in choices]}
    alt = f"{title}{f' of {choices[0]}' if choices else ''}, {_SUBTITLE}. {'. '.join(said)}."
    return style.DrawnFigure(name, title, _SUBTITLE, alt, figure, notes=(_LATER,), key=key)


def _together(curve: _Curve, other: _Curve) -> bool:
    """Whether the other one heads the panel that both stand in."""
    return (other.panel, other.choice) == (curve.panel, curve.choice) and other.series < curve.series


def _series(key: tuple[tuple[str, style.SeriesStyle], ...], curve: _Curve) -> str:
    return f", {key[curve.series][0]}" if key else ""


def _counts(curve: _Curve) -> str:
    records = curve.records
    first, last = records[0], records[-1]
    start = f"n = {count(first['n']):,} at turn {first['turn']}"
    return start if len(records) == 1 else f"{start}, {count(last['n']):,} at {last['turn']}"


def _ends(curve: _Curve) -> str:
    records = curve.records
    ends = records if len(records) == 1 else (records[0], records[-1])
    return ", ".join(f"turn {row['turn']} {value_words(read_estimate(row))}" for row in ends)


def _traces(curve: _Curve) -> list[dict[str, Any]]:
    """The curve and its band as plain values: plotly checks what it is given once more, objects of its own too."""
    records = curve.records
    suffix, look = style.axis_id(curve.panel), style.series_style(curve.series)
    hover = [
        f"turn {row['turn']}<br>{value_words(read_estimate(row))}<br>n = {count(row['n']):,} trajectories"
        for row in records
    ]
    line = {
        "type": "scatter", "x": [row["turn"] for row in records], "y": [row["value"] for row in records],
        "mode": "lines+markers", "name": "mean p_ac", "line": {"color": look.color, "width": 2},
        "marker": {"size": 5, "symbol": look.marker}, "text": hover, "hoverinfo": "text",
        "xaxis": f"x{suffix}", "yaxis": f"y{suffix}",
    }  # fmt: skip
    band = style.band_traces(curve.panel, curve.series, curve.rows.sort_values("turn").rename(columns={"turn": "x"}))
    said = {"visible": curve.choice == 0, "meta": {"choice": curve.choice}}
    return [{**trace, **said} for trace in (*(each.to_plotly_json() for each in band), line)]
