"""Recovery and stagnation: the share of trajectories that shows each pattern, by group (paper 1, IV-C3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import count, format_number, number, read_estimate
from judge_pipeline.tables.dynamics_words import ORDERS

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {
    "recovered": "Confidence recovered",
    "stagnated": "Stagnated",
    "solved_after_rejection": "Solved after rejection",
}
"""The patterns, short enough to stand over a panel."""


@drawn_once
def patterns_figure(groups: pd.DataFrame) -> style.DrawnFigure:
    """The share that shows each pattern, over all, by outcome and by problem; further panels with turns reversed.

    Args:
        groups: ``pattern_groups``.
    """
    title = "Recovery and stagnation by group"
    wanted = groups["grouped_by"].isin(["all", "outcome", "problem_id"]) & groups["value"].notna()
    rows = groups[wanted]
    panels = list(rows.groupby(["order", "pattern"], sort=False))
    if not panels:
        return style.not_drawn("patterns", title, "the rules can say nothing of any trajectory")
    subtitle = "share of the trajectories of which the rule can say it; bars: 95% interval over clusters, else Wilson's"
    levels = list(dict.fromkeys(zip(rows["grouped_by"], rows["level"], strict=True)))
    facets = style.Facets(len(panels), height=17 * len(levels) + 8, min_width=190, gap_x=92, gap_y=84)
    figure = style.facet_figure(title, subtitle, facets, {"range": [-0.03, 1.03], "tickformat": ".0%"}, {}, left=92)
    names = style.short_names([_level(*key) for key in levels], 12)
    annotations: list[dict[str, Any]] = []
    said = []
    for index, ((order, pattern), part) in enumerate(panels):
        records = part.to_dict("records")
        figure.add_trace(_dots(index, records, levels))
        figure.layout[f"yaxis{style.axis_id(index)}"].update(
            range=[-len(levels) + 0.4, 0.6], tickmode="array", tickvals=[-k for k in range(len(levels))],
            ticktext=[style.plain(names[_level(*key)]) for key in levels], showgrid=False,
        )  # fmt: skip
        name = NAMES[str(pattern)] + (f", {ORDERS[str(order)]}" if order == "reversed" else "")
        whole = next((row for row in records if row["grouped_by"] == "all"), None)
        detail = "" if whole is None else f"n = {count(whole['n']):,}, {count(whole['n_left_out']):,} left out"
        annotations += style.facet_heading(index, name, detail)
        said.append(f"{name}: " + "; ".join(f"{_level(r['grouped_by'], r['level'])} {_words(r)}" for r in records))
    figure.update_layout(annotations=annotations)
    return style.DrawnFigure("patterns", title, subtitle, f"{title}, {subtitle}. {'. '.join(said)}.", figure)


def _level(grouped_by: str, level: str) -> str:
    return style.clean("All" if grouped_by == "all" else level.capitalize() if grouped_by == "outcome" else level)


def _dots(index: int, records: list[dict[Any, Any]], levels: list[tuple[str, str]]) -> go.Scatter:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    values = [float(row["value"]) for row in records]
    ends = [interval_of(row) or (value, value) for row, value in zip(records, values, strict=True)]
    error = {
        "array": [max(high - value, 0.0) for (_, high), value in zip(ends, values, strict=True)],
        "arrayminus": [max(value - low, 0.0) for (low, _), value in zip(ends, values, strict=True)],
        "symmetric": False, "color": style.PALETTE[0], "thickness": 1.4, "width": 3,
    }  # fmt: skip
    hover = [
        f"{style.plain(_level(row['grouped_by'], row['level']))}<br>{_words(row)}<br>"
        f"{count(row['n_shown']):,} of {count(row['n']):,}, {count(row['n_left_out']):,} left out"
        for row in records
    ]
    return go.Scatter(
        x=values, y=[-levels.index((row["grouped_by"], row["level"])) for row in records], mode="markers", name="share",
        error_x=error, marker={"color": style.PALETTE[0], "size": 6}, text=hover, hoverinfo="text",
        xaxis=f"x{suffix}", yaxis=f"y{suffix}",
    )  # fmt: skip


def interval_of(row: dict[Any, Any]) -> tuple[float, float] | None:
    """The interval over clusters; without one, Wilson's."""
    low, high = number(row["cluster_low"]), number(row["cluster_high"])
    return read_estimate(row).ci95 if low is None or high is None else (low, high)


def _words(row: dict[Any, Any]) -> str:
    ends = interval_of(row)
    interval = f" [{format_number(100 * ends[0], 0)}%, {format_number(100 * ends[1], 0)}%]" if ends else ""
    return f"{format_number(100 * float(row['value']), 0)}%{interval}"
