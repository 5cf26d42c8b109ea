"""Figures of the judges as instruments: ROC, precision-recall and reliability curves (paper 1, Figures 2 and 3).

Each function takes ``judge_curves`` and ``judge_metrics`` and returns a ``DrawnFigure``; judges keep the order in which
the metrics list them, which fixes their colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import (
    accepted_share,
    format_interval,
    metrics_by_judge,
    n_in_words,
    number,
    said,
    value_words,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_POINTS = 400
"""Points of one curve that are drawn; the table keeps them all."""

UNIT_AXIS = {"range": [-0.02, 1.02], "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", "", "0.5", "", "1"]}


@dataclass(frozen=True, slots=True)
class _CurveKind:
    """What ROC and precision-recall figures differ in."""

    curve: str
    metric: str
    title: str
    short: str
    x_title: str
    y_title: str


_ROC = _CurveKind("roc", "roc_auc", "ROC curves", "AUC", "False positive rate", "True positive rate")
_PR = _CurveKind("pr", "pr_auc", "Precision-recall curves", "PR-AUC", "Recall", "Precision")


def roc_figure(curves: pd.DataFrame, metrics: pd.DataFrame) -> style.DrawnFigure:
    """ROC curves on test, a panel a judge, the other judges behind it in grey (paper 1, Figure 2a)."""
    return _curve_figure(_ROC, curves, metrics)


def pr_figure(curves: pd.DataFrame, metrics: pd.DataFrame) -> style.DrawnFigure:
    """Precision-recall curves on test with the floor at the accepted share (paper 1, Figure 2b)."""
    return _curve_figure(_PR, curves, metrics)


def reliability_figure(curves: pd.DataFrame, metrics: pd.DataFrame) -> style.DrawnFigure:
    """Reliability diagrams: accepted share by mean p_ac, Wilson intervals, counts (paper 1, Figure 3)."""
    title = "Reliability diagrams"
    judges, estimates = judges_of(curves, metrics), metrics_by_judge(metrics)
    bins = {judge: rows for judge, rows in _by_judge(curves, "reliability").items() if len(rows)}
    drawn = [judge for judge in judges if judge in bins]
    if not drawn:
        return _no_curve("reliability", title, estimates, "ece")
    counts = [int(bins[judge]["n"].sum()) for judge in drawn]
    subtitle = f"{n_in_words(counts, 'test attempts a judge')}; bars: 95% Wilson intervals; below: attempts in each bin"
    figure = style.facet_figure(
        title,
        subtitle,
        style.Facets(len(drawn), height=220, square=True),
        {**UNIT_AXIS, "title": {"text": "Mean p_ac of the bin"}},
        {**UNIT_AXIS, "range": [-0.24, 1.04], "title": {"text": "Accepted share of the bin"}},
    )
    names = style.short_names(judges)
    annotations = []
    for index, judge in enumerate(drawn):
        figure.add_traces(_reliability_traces(index, judges.index(judge), bins[judge]))
        detail = _facet_detail("ECE", estimates.get(judge, {}).get("ece"), counts[index])
        annotations += style.facet_heading(index, names[judge], detail)
    figure.update_layout(annotations=annotations)
    alt = f"{title}, {subtitle}." + _said(drawn, estimates, "ece", "ECE")
    return style.DrawnFigure(
        "reliability", title, subtitle, alt, figure, notes=_missing(judges, drawn, estimates, "ece")
    )


def judges_of(curves: pd.DataFrame, metrics: pd.DataFrame) -> list[str]:
    """All judges that have a metric or a curve, in the metrics' order: it fixes each judge's colour and marker."""
    return list(dict.fromkeys([*metrics["judge"].tolist(), *curves["judge"].tolist()]))


def _curve_figure(kind: _CurveKind, curves: pd.DataFrame, metrics: pd.DataFrame) -> style.DrawnFigure:
    judges, estimates = judges_of(curves, metrics), metrics_by_judge(metrics)
    points = _by_judge(curves, kind.curve)
    drawn = [judge for judge in judges if judge in points]
    if not drawn:
        return _no_curve(kind.curve, kind.title, estimates, kind.metric)
    shares, bands = accepted_share(curves), _by_judge(curves, f"{kind.curve}_band")
    counts = [_n_of(estimates.get(judge, {}).get(kind.metric), points[judge]) for judge in drawn]
    subtitle = f"{n_in_words(counts, 'test attempts a judge')}; dashed: a judge without skill; grey: the other judges"
    subtitle += "; shaded: pointwise 95% band" if bands else ""
    figure = style.facet_figure(
        kind.title,
        subtitle,
        style.Facets(len(drawn), square=True),
        {**UNIT_AXIS, "title": {"text": kind.x_title}},
        {**UNIT_AXIS, "title": {"text": kind.y_title}},
    )
    names = style.short_names(judges)
    annotations = []
    for index, judge in enumerate(drawn):
        others = [points[other] for other in drawn if other != judge]
        figure.add_traces(style.band_traces(index, judges.index(judge), bands.get(judge)))
        figure.add_traces(_curve_traces(kind, index, judges.index(judge), points[judge], others, shares.get(judge)))
        detail = _facet_detail(kind.short, estimates.get(judge, {}).get(kind.metric), counts[index])
        annotations += style.facet_heading(index, names[judge], detail)
    figure.update_layout(annotations=annotations)
    notes = [*_missing(judges, drawn, estimates, kind.metric), *_thinned(points, drawn)]
    alt = f"{kind.title}, {subtitle}." + _said(drawn, estimates, kind.metric, kind.short)
    return style.DrawnFigure(kind.curve, kind.title, subtitle, alt, figure, notes=tuple(notes))


def _curve_traces(
    kind: _CurveKind,
    index: int,
    position: int,
    points: pd.DataFrame,
    others: Sequence[pd.DataFrame],
    share: float | None,
) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    shape = _line_shape(kind, points)
    grey_x, grey_y = _joined([_thin(other, 60) for other in others])
    floor = [0, 1] if kind.curve == "roc" else [share, share]
    shown = _thin(points, MAX_POINTS)
    return [
        go.Scatter(
            x=grey_x, y=grey_y, mode="lines", line={"color": style.CONTEXT, "width": 0.8, "shape": shape},
            hoverinfo="skip", name="other judges", **axes,
        ),
        go.Scatter(
            x=[0, 1], y=floor, mode="lines", line={"color": style.MUTED, "width": 1, "dash": "dash"},
            hoverinfo="skip", name="without skill", **axes,
        ),
        go.Scatter(
            x=shown["x"].tolist(), y=shown["y"].tolist(), mode="lines+markers" if len(shown) <= 60 else "lines",
            line={"color": style.series_style(position).color, "width": 2, "shape": shape}, marker={"size": 4},
            text=[_point_words(kind, row) for row in shown.to_dict("records")], hoverinfo="text", cliponaxis=False,
            name=style.plain(str(points["judge"].iloc[0])), **axes,
        ),
    ]  # fmt: skip


def _line_shape(kind: _CurveKind, points: pd.DataFrame) -> str:
    """Average precision is the area under steps: precision at a point holds back to the next lower recall."""
    if kind.curve == "roc":
        return "linear"
    return "hv" if points["x"].iloc[0] >= points["x"].iloc[-1] else "vh"


def _point_words(kind: _CurveKind, row: Mapping[str, Any]) -> str:
    threshold = number(row["threshold"])
    where = "end point" if threshold is None else f"threshold {threshold:.3g}"
    return f"{where}<br>{kind.x_title} {row['x']:.3f}<br>{kind.y_title} {row['y']:.3f}<br>n = {int(row['n'])}"


def _reliability_traces(index: int, position: int, bins: pd.DataFrame) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    look = style.series_style(position)
    x, y, n = bins["x"].tolist(), bins["y"].tolist(), [int(value) for value in bins["n"]]
    up = [None if pd.isna(high) else high - value for high, value in zip(bins["ci95_high"], y, strict=True)]
    down = [None if pd.isna(low) else value - low for low, value in zip(bins["ci95_low"], y, strict=True)]
    hover = [
        f"mean p_ac {a:.3f}<br>accepted {b:.3f} {format_interval(_ends(low, high))}<br>n = {c}"
        for a, b, c, low, high in zip(x, y, n, bins["ci95_low"], bins["ci95_high"], strict=True)
    ]
    # Counts stand in two alternating rows below the curve, so that neighbouring bins' counts do not run together.
    rows = [-0.09 if k % 2 == 0 else -0.18 for k in range(len(n))]
    return [
        go.Scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"color": style.MUTED, "width": 1, "dash": "dash"},
            hoverinfo="skip", name="calibrated", **axes,
        ),
        go.Scatter(
            x=x, y=y, mode="markers", text=hover, hoverinfo="text", cliponaxis=False,
            marker={"symbol": look.marker, "size": 8, "color": look.color},
            error_y={"array": up, "arrayminus": down, "symmetric": False, "thickness": 1.2, "width": 3},
            name=style.plain(str(bins["judge"].iloc[0])), **axes,
        ),
        go.Scatter(
            x=x, y=rows, mode="text", text=[_count_words(value) for value in n], hoverinfo="skip",
            textfont={"size": 10, "color": style.MUTED}, cliponaxis=False, name="counts", **axes,
        ),
    ]  # fmt: skip


def _ends(low: Any, high: Any) -> tuple[float, float] | None:
    return None if pd.isna(low) or pd.isna(high) else (float(low), float(high))


def _count_words(value: int) -> str:
    return str(value) if value < 10_000 else f"{value / 1000:.0f}k"


def _said(judges: Sequence[str], estimates: Mapping[str, Mapping[str, Estimate]], metric: str, label: str) -> str:
    """The metric of each judge in words; nothing where the curves are shown without their metrics."""
    return f" {said(judges, estimates, metric, label)}" if estimates else ""


def _facet_detail(label: str, estimate: Estimate | None, n: int) -> str:
    if estimate is None:
        return f"n = {n}"
    return f"{label} {value_words(estimate)}, n = {n}"


def _n_of(estimate: Estimate | None, points: pd.DataFrame) -> int:
    return estimate.n if estimate is not None else int(points["n"].max())


def _no_curve(name: str, title: str, estimates: Mapping[str, Mapping[str, Estimate]], metric: str) -> style.DrawnFigure:
    """No judge has this curve: say why, in the words that its metric carries."""
    found = [columns[metric] for columns in estimates.values() if metric in columns]
    if not found:
        return style.not_drawn(name, title, "no judge has a curve on test")
    reasons = list(dict.fromkeys(estimate.reason for estimate in found if estimate.reason))
    because = f": {'; '.join(reasons)}" if reasons else ""
    n = n_in_words((estimate.n for estimate in found), "test attempts a judge")
    return style.not_drawn(name, title, f"no judge has a curve on test{because}", n)


def _missing(
    judges: Sequence[str], drawn: Sequence[str], estimates: Mapping[str, Mapping[str, Estimate]], metric: str
) -> tuple[str, ...]:
    """One note for each judge without a curve, with the reason that its metric carries."""
    notes = []
    for judge in judges:
        if judge not in drawn:
            estimate = estimates.get(judge, {}).get(metric)
            reason = (estimate.reason if estimate else None) or "the table holds no points of it"
            notes.append(f"No panel for {style.clean(judge)}: {reason}.")
    return tuple(notes)


def _by_judge(curves: pd.DataFrame, curve: str) -> dict[str, pd.DataFrame]:
    rows = curves[curves["curve"] == curve].sort_values(["judge", "point"], kind="stable")
    return {str(judge): points for judge, points in rows.groupby("judge", sort=False)}


def _thin(points: pd.DataFrame, limit: int) -> pd.DataFrame:
    """At most ``limit`` points, evenly spread along the curve's order, both ends kept."""
    if len(points) <= limit:
        return points
    return points.iloc[np.unique(np.linspace(0, len(points) - 1, limit).round().astype(int))]


def _thinned(points: Mapping[str, pd.DataFrame], drawn: Sequence[str]) -> list[str]:
    longest = max(len(points[judge]) for judge in drawn)
    return [f"Curves are drawn with at most {MAX_POINTS} of up to {longest:,} points."] if longest > MAX_POINTS else []


def _joined(curves: Sequence[pd.DataFrame]) -> tuple[list[float | None], list[float | None]]:
    """Several curves as one trace, with a gap between them."""
    x: list[float | None] = []
    y: list[float | None] = []
    for points in curves:
        x += [*points["x"].tolist(), None]
        y += [*points["y"].tolist(), None]
    return x, y
