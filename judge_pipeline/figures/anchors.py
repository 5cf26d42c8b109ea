"""Whether judges drift: their figures on the anchor set by period, a panel a figure, a line a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import n_in_words, read_estimate, said, value_words
from judge_pipeline.tables.anchors import ANCHOR_METRICS
from judge_pipeline.tables.metric_words import METRICS, metric_label

if TYPE_CHECKING:
    import plotly.graph_objects as go

_SPREAD = 0.5
"""Share of the distance between two periods over which the judges of one stand side by side."""


def anchor_figure(figures: pd.DataFrame) -> style.DrawnFigure:
    """Each judge's figures on the anchor set in each period, with 95% intervals.

    Args:
        figures: table ANCHOR_FIGURES.
    """
    title = "Judges on the anchor set, by period"
    values = figures[figures["quantity"] == "value"]
    shown = [name for name in ANCHOR_METRICS if values.loc[values["metric"] == name, "value"].notna().any()]
    if not shown:
        return style.not_drawn("anchors", title, "no judge has a figure on an anchor set")
    judges, periods = list(dict.fromkeys(values["judge"])), sorted(set(values["period"]))
    counts = values.loc[values["n"] > 0, "n"].astype(int)
    subtitle = f"periods {periods[0]} to {periods[-1]}, {n_in_words(counts, 'attempts')}; bars: 95% intervals"
    facets = style.Facets(len(shown), height=180, min_width=240, gap_x=52, gap_y=96)
    # Names of days are long: the first and the last are named, and one between them where it stands in the middle.
    last = len(periods) - 1
    places = sorted({0, last, *([last // 2] if last % 2 == 0 else [])})
    ticks = {
        "tickmode": "array", "tickvals": places, "ticktext": [style.plain(periods[k]) for k in places],
        "range": [-0.5, len(periods) - 0.5], "showgrid": False, "tickangle": 0,
    }  # fmt: skip
    figure = style.facet_figure(title, subtitle, facets, ticks, {})
    annotations: list[dict[str, Any]] = []
    for index, name in enumerate(shown):
        of_metric = values[values["metric"] == name]
        for place, judge in enumerate(judges):
            offset = 0.0 if len(judges) == 1 else _SPREAD * (place / (len(judges) - 1) - 0.5)
            mine = of_metric[(of_metric["judge"] == judge) & of_metric["value"].notna()].sort_values("period")
            if len(mine):
                figure.add_trace(_line(index, place, offset, periods, str(judge), mine))
        words = METRICS.get(name)
        better = (
            "" if words is None else {"higher": "higher is better", "lower": "lower is better"}.get(words.better, "")
        )
        annotations += style.facet_heading(index, metric_label(name), better)
    figure.update_layout(annotations=annotations)
    latest = values[values["period"] == periods[-1]]
    of_judges = {
        str(judge): {row["metric"]: read_estimate(row) for row in rows.to_dict("records")}
        for judge, rows in latest.groupby("judge", sort=False)
    }
    alt = f"{title}, {subtitle}. In {periods[-1]}: " + " ".join(
        said(list(of_judges), of_judges, name, metric_label(name)) for name in shown
    )
    key = tuple((judge, style.series_style(place)) for place, judge in enumerate(judges))
    return style.DrawnFigure("anchors", title, subtitle, alt, figure, key=key)


def _line(index: int, place: int, offset: float, periods: list[str], judge: str, rows: pd.DataFrame) -> go.Scatter:
    """One judge's values of one figure, in the periods that have one."""
    import plotly.graph_objects as go

    suffix, look = style.axis_id(index), style.series_style(place)
    estimates = [read_estimate(row) for row in rows.to_dict("records")]
    values = [estimate.value or 0.0 for estimate in estimates]
    ends = [estimate.ci95 or (value, value) for estimate, value in zip(estimates, values, strict=True)]
    return go.Scatter(
        x=[periods.index(period) + offset for period in rows["period"]],
        y=values,
        mode="lines+markers",
        name=style.plain(judge),
        line={"color": look.color, "width": 1},
        marker={"color": look.color, "symbol": look.marker, "size": 8},
        error_y={
            "array": [max(high - value, 0.0) for (_, high), value in zip(ends, values, strict=True)],
            "arrayminus": [max(value - low, 0.0) for (low, _), value in zip(ends, values, strict=True)],
            "symmetric": False, "color": look.color, "thickness": 1.2, "width": 3,
        },
        text=[
            f"{style.plain(judge)}, {style.plain(period)}<br>{value_words(estimate)}<br>n = {estimate.n:,}"
            for period, estimate in zip(rows["period"], estimates, strict=True)
        ],
        hoverinfo="text",
        xaxis=f"x{suffix}",
        yaxis=f"y{suffix}",
    )  # fmt: skip
