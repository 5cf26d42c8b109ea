"""Figures of times to success by unit, order of turns and group (paper 1, eq. 25; Figure 9 beyond turns)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import count, number, read_estimate, value_words
from judge_pipeline.tables.dynamics_words import GROUPED_BY, ORDERS, TIME_UNITS

if TYPE_CHECKING:
    import plotly.graph_objects as go

RISK_PLACES = 5
"""Times in a panel at which the numbers at risk are printed."""
RISK_SPACE = 44
"""Height in pixels that the numbers at risk take under a panel."""


@drawn_once
def time_curves_figure(curves: pd.DataFrame) -> style.DrawnFigure:
    """Kaplan-Meier curves over all trajectories: a panel for each unit of time, and for the order reversed.

    Args:
        curves: ``survival_curves``.
    """
    title = "Kaplan-Meier in turns and in minutes"
    rows = curves[(curves["grouped_by"] == "all") & curves["value"].notna()]
    panels = [(keys, part.sort_values("time")) for keys, part in rows.groupby(["order", "time_unit"], sort=False)]
    if not panels:
        return style.not_drawn("time-curves", title, "no trajectory has a known time")
    subtitle = "band: 95% interval; below each panel: trajectories at risk"
    facets = style.Facets(len(panels), height=200, min_width=260, gap_y=84 + RISK_SPACE)
    y_axis = {"range": [-0.02, 1.02], "tickformat": ".0%"}
    figure = style.facet_figure(title, subtitle, facets, {}, y_axis, left=52)
    figure.update_layout(height=figure.layout.height + RISK_SPACE, margin={"b": figure.layout.margin.b + RISK_SPACE})
    annotations: list[dict[str, Any]] = []
    said = []
    for index, ((order, unit), part) in enumerate(panels):
        figure.add_traces([*_band(index, part), *_curve(index, part)])
        name = TIME_UNITS[unit] + (f", order {ORDERS[order]}" if order == "reversed" else "")
        at_start = count(part["n_at_risk"].max())
        annotations += style.facet_heading(index, name, f"n = {at_start:,} trajectories")
        annotations += _at_risk(index, part)
        last = part.to_dict("records")[-1]
        said.append(f"{name}: n = {at_start:,}, still unsolved at {last['time']:,}: {value_words(read_estimate(last))}")
    figure.update_layout(annotations=annotations)
    notes = (
        "Time in minutes is known only of trajectories whose attempts, or prompts, carry instants; the others are "
        "not in that panel.",
    )
    return style.DrawnFigure("time-curves", title, subtitle, f"{title}. {'; '.join(said)}.", figure, notes=notes)


@drawn_once
def time_groups_figure(groups: pd.DataFrame) -> style.DrawnFigure:
    """The restricted mean of turns to success in every group, with the interval over clusters where there is one.

    Args:
        groups: ``survival_groups``.
    """
    title = "Turns to success by group (restricted mean)"
    wanted = (
        (groups["time_unit"] == "turns")
        & (groups["statistic"] == "restricted_mean")
        & groups["value"].notna()
        & (groups["grouped_by"] != "all")
    )
    panels = list(groups[wanted].groupby("grouped_by", sort=False))
    if not panels:
        return style.not_drawn("time-groups", title, "no grouping has groups with a known time")
    ends = groups.loc[wanted, "horizon"].dropna()
    subtitle = (
        f"mean turns until solved, counted up to turn {count(ends.max())} at most; bars: 95% interval over clusters"
    )
    most = max(part["level"].nunique() for _, part in panels)
    facets = style.Facets(len(panels), height=24 * most + 8, min_width=250, gap_x=76, gap_y=84)
    figure = style.facet_figure(title, subtitle, facets, {"rangemode": "tozero"}, {}, left=88)
    annotations: list[dict[str, Any]] = []
    said = []
    for index, (grouping, part) in enumerate(panels):
        levels = list(dict.fromkeys(part["level"].astype(str)))
        names = style.short_names(levels, 12)
        for place, order in enumerate(ORDERS):
            records = part[part["order"] == order].to_dict("records")
            if records:
                figure.add_trace(_dots(index, place, records, levels))
                words = "; ".join(f"{style.clean(str(row['level']))} {_with_clusters(row)}" for row in records[:20])
                said.append(f"{GROUPED_BY[str(grouping)]}, order {ORDERS[order]}: {words}")
        figure.layout[f"yaxis{style.axis_id(index)}"].update(
            range=[-most + 0.4, 0.6], tickmode="array", tickvals=[-k for k in range(len(levels))],
            ticktext=[style.plain(names[level]) for level in levels], showgrid=False,
        )  # fmt: skip
        clusters = set(part["clustered_by"].astype(str))
        annotations += style.facet_heading(index, GROUPED_BY[str(grouping)], f"clusters: {', '.join(sorted(clusters))}")
    figure.update_layout(annotations=annotations)
    orders = enumerate(ORDERS.values()) if groups.loc[wanted, "order"].nunique() > 1 else ()
    key = tuple((f"order {words}", style.series_style(place)) for place, words in orders)
    alt = f"{title}, {subtitle}. {'. '.join(said)}."
    return style.DrawnFigure("time-groups", title, subtitle, alt, figure, key=key)


def _band(index: int, part: pd.DataFrame) -> list[go.Scatter]:
    """The band as steps, behind the curve."""
    traces = style.band_traces(index, 0, part.rename(columns={"time": "x"}))
    for trace in traces:
        trace.line.shape = "hv"
    return traces


def _curve(index: int, part: pd.DataFrame) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    hover = [
        f"time {row['time']:,}<br>unsolved {value_words(read_estimate(row))}<br>at risk {row['n_at_risk']:,}, solved "
        f"{row['n_events']:,}, last observed {row['n_censored']:,}"
        for row in part.to_dict("records")
    ]
    x, y = part["time"].tolist(), part["value"].tolist()
    line = {"color": style.PALETTE[0], "width": 2, "shape": "hv"}
    censored = part[part["n_censored"] > 0]
    ring = {"symbol": "circle", "size": 6, "color": "#ffffff", "line": {"width": 1.2, "color": style.PALETTE[0]}}
    return [
        go.Scatter(x=x, y=y, mode="lines", line=line, text=hover, hoverinfo="text", name="curve", **axes),
        go.Scatter(
            x=censored["time"].tolist(), y=censored["value"].tolist(), mode="markers", marker=ring, hoverinfo="skip",
            name="last observed, unsolved", **axes,
        ),
    ]  # fmt: skip


def _at_risk(index: int, part: pd.DataFrame) -> list[dict[str, Any]]:
    """Numbers at risk under a panel, at times evenly spread over it."""
    suffix = style.axis_id(index)
    below = {"yref": f"y{suffix} domain", "y": 0, "yanchor": "top", "showarrow": False}
    heading = {"text": "At risk", "font": {"size": 11, "color": style.MUTED}, "x": 0, "xanchor": "left"}
    found = [{**below, **heading, "xref": f"x{suffix} domain", "yshift": -26}]
    times = part["time"].to_numpy(np.float64)
    wanted = np.linspace(times[0], times[-1], RISK_PLACES)
    places = np.unique(np.searchsorted(times, wanted, side="left").clip(0, len(times) - 1))
    spread = [places[0]]
    for place in places[1:]:
        if times[place] - times[spread[-1]] >= 0.12 * (times[-1] - times[0]):
            spread.append(place)
    records = part.to_dict("records")
    for place in spread:
        row = records[int(place)]
        found.append(
            {**below, "text": f"{row['n_at_risk']:,}", "x": row["time"], "xref": f"x{suffix}", "yshift": -42,
             "font": {"size": 11, "color": style.INK}}
        )  # fmt: skip
    return found


def _dots(index: int, place: int, records: list[dict[Any, Any]], levels: list[str]) -> go.Scatter:
    """The dots of one order; those of the second stand a little below those of the first."""
    import plotly.graph_objects as go

    suffix, look = style.axis_id(index), style.series_style(place)
    values = [float(row["value"]) for row in records]
    ends = [_ends(row) or (value, value) for row, value in zip(records, values, strict=True)]
    error = {
        "array": [max(high - value, 0.0) for (_, high), value in zip(ends, values, strict=True)],
        "arrayminus": [max(value - low, 0.0) for (low, _), value in zip(ends, values, strict=True)],
        "symmetric": False, "color": look.color, "thickness": 1.4, "width": 3,
    }  # fmt: skip
    hover = [f"{style.plain(str(row['level']))}<br>{_with_clusters(row)}<br>n = {count(row['n']):,}" for row in records]
    return go.Scatter(
        x=values, y=[-levels.index(str(row["level"])) - 0.3 * place for row in records], mode="markers",
        name="restricted mean", error_x=error, marker={"color": look.color, "symbol": look.marker, "size": 7},
        text=hover, hoverinfo="text", xaxis=f"x{suffix}", yaxis=f"y{suffix}",
    )  # fmt: skip


def _ends(row: dict[Any, Any]) -> tuple[float, float] | None:
    """The interval over clusters; without one, that of the table."""
    low, high = number(row["cluster_low"]), number(row["cluster_high"])
    return read_estimate(row).ci95 if low is None or high is None else (low, high)


def _with_clusters(row: dict[Any, Any]) -> str:
    ends = _ends(row)
    return f"{float(row['value']):.2f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")
