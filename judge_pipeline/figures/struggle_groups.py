"""Struggle curves of groups: the panel's mean confidence turn by turn, of solved and unsolved (paper 1, eq. 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import count, read_estimate, value_words
from judge_pipeline.tables.dynamics_words import ORDERS

if TYPE_CHECKING:
    import plotly.graph_objects as go


def struggle_groups_figure(groups: pd.DataFrame) -> style.DrawnFigure:
    """Mean confidence of the panel at each turn, of all trajectories and by outcome, with bands.

    Args:
        groups: ``struggle_groups``.
    """
    title = "Struggle curves of solved and unsolved trajectories"
    wanted = groups["judge"].isna() & (groups["statistic"] == "confidence") & groups["value"].notna()
    rows = groups[wanted & groups["grouped_by"].isin(["all", "outcome"])]
    panels = list(rows.groupby(["order", "grouped_by", "level"], sort=False))
    if not panels:
        return style.not_drawn("struggle-groups", title, "no turn has a mean confidence over the panel")
    subtitle = "mean p_ac of the panel over trajectories that have turn k; band: 95% interval over clusters"
    facets = style.Facets(len(panels), height=190, min_width=240, gap_y=92)
    figure = style.facet_figure(title, subtitle, facets, {}, {"range": [-0.03, 1.03]})
    annotations: list[dict[str, Any]] = []
    said = []
    for index, ((order, _, level), part) in enumerate(panels):
        ordered = part.sort_values("turn")
        figure.add_traces(style.band_traces(index, 0, ordered.rename(columns={"turn": "x"})))
        figure.add_trace(_line(index, ordered))
        records = ordered.to_dict("records")
        name = "All trajectories" if level == "all" else str(level).capitalize()
        name += f", order {ORDERS[str(order)]}" if order == "reversed" else ""
        first, last = records[0], records[-1]
        counts = f"n = {count(first['n']):,} at turn {first['turn']}, {count(last['n']):,} at turn {last['turn']}"
        annotations += style.facet_heading(index, name, counts)
        said.append(
            f"{name}: turn {first['turn']} {value_words(read_estimate(first))}, turn {last['turn']} "
            f"{value_words(read_estimate(last))}; {counts}"
        )
        figure.layout[f"xaxis{style.axis_id(index)}"].update(title={"text": "Turn k"}, tickformat="d", nticks=8)
    figure.update_layout(annotations=annotations)
    notes = ("Later turns rest on few trajectories, those still going: a curve's end says nothing of those that left.",)
    return style.DrawnFigure(
        "struggle-groups", title, subtitle, f"{title}, {subtitle}. {'. '.join(said)}.", figure, notes=notes
    )


def _line(index: int, ordered: pd.DataFrame) -> go.Scatter:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    hover = [
        f"turn {row['turn']}<br>{value_words(read_estimate(row))}<br>n = {count(row['n']):,} trajectories"
        for row in ordered.to_dict("records")
    ]
    return go.Scatter(
        x=ordered["turn"].tolist(), y=ordered["value"].tolist(), mode="lines+markers", name="mean p_ac",
        line={"color": style.PALETTE[0], "width": 2}, marker={"size": 5}, text=hover, hoverinfo="text",
        xaxis=f"x{suffix}", yaxis=f"y{suffix}",
    )  # fmt: skip
