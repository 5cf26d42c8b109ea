"""Figure of the choice of the threshold: MCC on val over t, its plateau and t* (paper 1, eq. 19)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import format_number, metrics_by_judge, n_in_words, value_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

GAP = 0.0101
"""Thresholds farther apart than one step of the grid: MCC is 0/0 between them, and the line breaks."""


def threshold_figure(curves: pd.DataFrame, metrics: pd.DataFrame) -> style.DrawnFigure:
    """MCC on val at every threshold of the grid, a panel a judge, with band, plateau and t*."""
    title = "MCC on val over the threshold"
    estimates = metrics_by_judge(metrics)
    judges = list(dict.fromkeys([*metrics["judge"].tolist(), *curves["judge"].tolist()]))
    rows = {str(j): r for j, r in curves[curves["curve"] == "mcc_val"].groupby("judge", sort=False)}
    drawn = [judge for judge in judges if judge in rows]
    if not drawn:
        reasons = dict.fromkeys(e["threshold"].reason for e in estimates.values() if "threshold" in e)
        because = "; ".join(reason for reason in reasons if reason) or "the table holds no points of it"
        return style.not_drawn("threshold", title, because)
    counts = [int(rows[judge]["n"].max()) for judge in drawn]
    subtitle = f"{n_in_words(counts, 'val attempts a judge')}; solid: t*; grey: its plateau; shaded: pointwise 95% band"
    figure = style.facet_figure(
        title,
        subtitle,
        style.Facets(len(drawn), height=180, min_width=220),
        {"range": [-0.02, 1.02], "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", "", "0.5", "", "1"],
         "title": {"text": "Threshold t"}},
        {"range": [-1.04, 1.04], "tickvals": [-1, -0.5, 0, 0.5, 1], "title": {"text": "MCC on val"}},
    )  # fmt: skip
    names = style.short_names(judges)
    annotations: list[dict[str, Any]] = []
    said = []
    for index, judge in enumerate(drawn):
        found = estimates.get(judge, {})
        figure.add_traces(style.band_traces(index, judges.index(judge), rows[judge]))
        figure.add_traces(_traces(index, judges.index(judge), rows[judge], found))
        annotations += style.facet_heading(index, names[judge], _detail(found, counts[index]))
        said.append(f"{style.clean(judge)}: {_detail(found, counts[index])}{_plateau_words(found)}")
    figure.update_layout(annotations=annotations)
    missing = [judge for judge in judges if judge not in drawn]
    notes = [
        f"No panel for {style.clean(judge)}: {_why(estimates.get(judge, {}))}." for judge in missing
    ]  # fmt: skip
    notes.append("t* is the best of 101 thresholds on val, so its MCC there flatters; a narrow peak is a chance find.")
    return style.DrawnFigure("threshold", title, subtitle, f"{title}, {subtitle}. {'; '.join(said)}.", figure,
                             notes=tuple(notes))  # fmt: skip


def _traces(index: int, position: int, rows: pd.DataFrame, found: dict[str, Estimate]) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    low, high = (_value(found, f"threshold_plateau_{end}") for end in ("low", "high"))
    chosen = _value(found, "threshold")
    traces = []
    if low is not None and high is not None:
        half = 0.005  # a plateau of one threshold is as wide as one step of the grid
        box = [low - half, low - half, high + half, high + half]
        traces.append(
            go.Scatter(x=box, y=[-1, 1, 1, -1], fill="toself", fillcolor="rgba(120,120,120,0.28)", mode="lines",
                       line={"width": 0}, hoverinfo="skip", name="plateau", **axes)
        )  # fmt: skip
    if chosen is not None:
        traces.append(
            go.Scatter(x=[chosen, chosen], y=[-1, 1], mode="lines", line={"color": style.INK, "width": 1.2},
                       hoverinfo="skip", name="t*", **axes)
        )  # fmt: skip
    x, y, hover = _with_gaps(rows)
    traces.append(
        go.Scatter(x=x, y=y, mode="lines", line={"color": style.series_style(position).color, "width": 2},
                   text=hover, hoverinfo="text", name=style.plain(str(rows["judge"].iloc[0])), **axes)
    )  # fmt: skip
    return traces


def _with_gaps(rows: pd.DataFrame) -> tuple[list[float | None], list[float | None], list[str]]:
    x: list[float | None] = []
    y: list[float | None] = []
    hover: list[str] = []
    for row in rows.sort_values("point").to_dict("records"):
        if x and x[-1] is not None and row["x"] - x[-1] > GAP:
            x, y, hover = [*x, None], [*y, None], [*hover, ""]
        x.append(row["x"])
        y.append(row["y"])
        hover.append(f"t = {row['x']:.2f}<br>MCC {row['y']:.3f}<br>n = {int(row['n'])}")
    return x, y, hover


def _detail(found: dict[str, Estimate], n: int) -> str:
    chosen, best = _value(found, "threshold"), found.get("mcc_val")
    if chosen is None or best is None:
        return f"n = {n}"
    return f"t* {format_number(chosen, 2)}, MCC {value_words(best)}, n = {n}"


def _plateau_words(found: dict[str, Estimate]) -> str:
    low, high = (_value(found, f"threshold_plateau_{end}") for end in ("low", "high"))
    return "" if low is None or high is None else f", plateau {format_number(low, 2)} to {format_number(high, 2)}"


def _value(found: dict[str, Estimate], metric: str) -> float | None:
    return found[metric].value if metric in found else None


def _why(found: dict[str, Estimate]) -> str:
    return (found["threshold"].reason if "threshold" in found else None) or "the table holds no points of it"
