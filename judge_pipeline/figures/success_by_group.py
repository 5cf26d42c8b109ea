"""Success@Turn in minutes, by group, and with turns reversed (paper 1, eq. 14, Figure 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import count, number, read_estimate, value_words
from judge_pipeline.tables.dynamics_words import GROUPED_BY, ORDERS, TIME_UNITS

if TYPE_CHECKING:
    import plotly.graph_objects as go

LEVELS = ("problem_id", "language", "participant_group", "participant")
"""What trajectories are grouped by, a figure for each that has groups."""

HOLD_TURNS = 0.5
"""Turns (or minutes, of a short curve) for which a curve is drawn on after its last time."""

_LOOKS = tuple(
    (f"order {words}", style.series_style(place)) for place, words in enumerate(ORDERS.values())
)  # fmt: skip


@drawn_once
def success_curves_figure(curves: pd.DataFrame) -> style.DrawnFigure:
    """S over all trajectories, a panel for each unit of time; the order reversed in the same panel.

    Args:
        curves: ``success_curves``.
    """
    rows = curves[curves["grouped_by"] == "all"]
    names = {unit: TIME_UNITS[unit] for unit in dict.fromkeys(rows["time_unit"])}
    facets = style.Facets(len(names), height=200, min_width=260)
    return _drawn("success-curves", "Success@Turn in turns and in minutes", rows, "time_unit", names, facets)


@drawn_once
def success_levels_figure(curves: pd.DataFrame, grouped_by: str) -> style.DrawnFigure:
    """S at each turn, a panel for each group; the order reversed in the same panel.

    Args:
        curves: ``success_curves``.
        grouped_by: one of ``LEVELS``.
    """
    rows = curves[(curves["grouped_by"] == grouped_by) & (curves["time_unit"] == "turns")]
    names = {level: str(level) for level in dict.fromkeys(rows["level"])}
    facets = style.Facets(len(names), height=120, min_width=150, gap_x=52, gap_y=84)
    title = f"Success@Turn by {GROUPED_BY[grouped_by][:1].lower()}{GROUPED_BY[grouped_by][1:]}"
    return _drawn(f"success-{grouped_by.replace('_', '-')}", title, rows, "level", names, facets)


def _drawn(
    name: str, title: str, rows: pd.DataFrame, by: str, names: dict[str, str], facets: style.Facets
) -> style.DrawnFigure:
    if rows.empty:
        return style.not_drawn(name, title, "no trajectory has a known time, or there are too many groups")
    whose = " (minutes: whose times are known)" if set(rows["time_unit"]) - {"turns"} else ""
    subtitle = f"share solved by then, of all trajectories{whose}; band: 95% interval (Wilson)"
    axis = {"range": [-0.03, 1.03], "tickformat": ".0%"}
    figure = style.facet_figure(title, subtitle, facets, {}, axis, left=52)
    short = style.short_names(list(names.values()), 34)
    annotations: list[dict[str, Any]] = []
    said = []
    for index, (key, words) in enumerate(names.items()):
        here = rows[rows[by] == key]
        for place, order in enumerate(ORDERS):
            part = here[here["order"] == order].sort_values("time")
            if part.empty:
                continue
            figure.add_traces(_curve(index, place, part))
            first, last = part.to_dict("records")[0], part.to_dict("records")[-1]
            said.append(
                f"{style.clean(words)}, {_LOOKS[place][0]}: {value_words(read_estimate(first))} by {first['time']:,}, "
                f"{value_words(read_estimate(last))} by {last['time']:,}, n = {count(last['n']):,}"
            )
        left = count(here["n_left_out"].max())
        detail = f"n = {count(here['n'].max()):,}" + (f", {left:,} left out" if left else "")
        annotations += style.facet_heading(index, short[words], detail)
        figure.layout[f"xaxis{style.axis_id(index)}"].update(_time_axis(here))
    figure.update_layout(annotations=annotations)
    key_of = _LOOKS if rows["order"].nunique() > 1 else ()
    alt = f"{title}, {subtitle}. {'. '.join(said)}."
    return style.DrawnFigure(name, title, subtitle, alt, figure, key=tuple(key_of))


def _time_axis(here: pd.DataFrame) -> dict[str, Any]:
    last = count(here["time"].max())
    if here["time_unit"].iloc[0] != "turns":
        return {"title": {"text": "Minutes"}, "tickformat": "d", "nticks": 6}
    ticks = {"tick0": 1, "dtick": 1} if last <= 6 else {"nticks": 6}
    return {"title": {"text": "Turn k"}, "tickformat": "d", "range": [0.6, last + HOLD_TURNS + 0.1], **ticks}


def _held(part: pd.DataFrame) -> pd.DataFrame:
    """The curve with its last value held on, without which a step at the last time, or the only one, has no band."""
    last = part.iloc[[-1]]
    span = float(part["time"].max() - part["time"].min())
    hold = HOLD_TURNS if part["time_unit"].iloc[0] == "turns" else max(HOLD_TURNS, 0.02 * span)
    return pd.concat([part.astype({"time": float}), last.assign(time=float(last["time"].iloc[0]) + hold)])


def _curve(index: int, place: int, part: pd.DataFrame) -> list[go.Scatter]:
    """The steps of one order with their band and, where there is one, the interval over clusters in the hover."""
    import plotly.graph_objects as go

    suffix, look = style.axis_id(index), style.series_style(place)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    held = _held(part)
    bands = style.band_traces(index, place, held.rename(columns={"time": "x"}))
    for trace in bands:
        trace.line.shape = "hv"
    hover = [
        f"by {row['time']:,}<br>{value_words(read_estimate(row))}<br>solved {count(row['n_solved']):,} of "
        f"{count(row['n']):,}{_over_clusters(row)}"
        for row in part.to_dict("records")
    ]
    return [
        *bands,
        go.Scatter(
            x=held["time"].tolist(), y=held["value"].tolist(), mode="lines", name="curve", hoverinfo="skip",
            line={"color": look.color, "width": 2, "shape": "hv"}, **axes,
        ),
        go.Scatter(
            x=part["time"].tolist(), y=part["value"].tolist(), mode="markers", name=_LOOKS[place][0],
            marker={"size": 4, "symbol": look.marker, "color": look.color}, text=hover, hoverinfo="text", **axes,
        ),
    ]  # fmt: skip


def _over_clusters(row: dict[Any, Any]) -> str:
    low, high = number(row["cluster_low"]), number(row["cluster_high"])
    return "" if low is None or high is None else f"<br>over clusters [{low:.2f}, {high:.2f}]"
