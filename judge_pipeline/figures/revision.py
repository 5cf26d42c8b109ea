"""Figures of how people revise: churn against progress, convergence (paper 1, eq. 29-32, Figures 12-14)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import count, number, read_estimate, value_words
from judge_pipeline.tables.dynamics_words import ORDERS, REVISION_MEASURES

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_POINTS = 2000
"""Points of one scatter at most: those whose attempt ids have the lowest hashes, which is a draw that repeats."""
BINS = 40
"""Bins of the histogram of convergence."""

_LOOKS = (
    ("accepted now", 1, style.PALETTE[2], "triangle-up"),
    ("verdict as before", 0, style.PALETTE[0], "circle"),
    ("no longer accepted", -1, style.PALETTE[1], "x"),
    ("undecided before or after", None, style.MUTED, "diamond-open"),
)


@drawn_once
def churn_figure(revisions: pd.DataFrame, effects: pd.DataFrame | None, measure: str) -> style.DrawnFigure:
    """Churn of the code against the change of the panel's mean confidence, a point for each revision.

    Args:
        revisions: ``revisions``.
        effects: ``churn_effects``, for the rank correlation; None where it was never made.
        measure: ``code_ned`` (Figure 12) or ``codebleu_churn`` (Figure 13).
    """
    name = f"churn-{measure.replace('_', '-')}"
    title = f"{REVISION_MEASURES[measure]} against the change of the panel's confidence"
    orders = [part for _, part in revisions.groupby("order", sort=True)]
    panels = [part for part in orders if (part[measure].notna() & part["delta_p_mean"].notna()).any()]
    if not panels:
        return style.not_drawn(name, title, _why_none(revisions, measure))
    subtitle = "a point a revision (turn k ≥ 2); dashed: no change of confidence"
    facets = style.Facets(len(panels), height=300, min_width=300, gap_y=96)
    x_axis, y_axis = {"range": [-0.03, 1.03]}, {"range": _span(panels)}
    figure = style.facet_figure(title, subtitle, facets, x_axis, y_axis)
    annotations: list[dict[str, Any]] = []
    said, notes = [], []
    for index, part in enumerate(panels):
        order = str(part["order"].iloc[0])
        known = part[part[measure].notna() & part["delta_p_mean"].notna()]
        shown = _drawn_sample(known)
        figure.add_traces(_points(index, shown, measure))
        n_left_out = len(part) - len(known)
        detail = f"n = {len(known):,}" + (f", {n_left_out:,} left out" if n_left_out else "")
        rho = _correlation(effects, order, measure)
        detail += f"; Spearman's ρ {rho}" if rho else ""
        annotations += style.facet_heading(index, f"Turns in the order {ORDERS[order]}", detail)
        said.append(f"order {ORDERS[order]}: {detail}")
        if len(shown) < len(known):
            notes.append(
                f"In the order {ORDERS[order]}: {len(shown):,} of {len(known):,} points are drawn, by a fixed draw."
            )
        figure.layout[f"xaxis{style.axis_id(index)}"].update(title={"text": REVISION_MEASURES[measure]})
        figure.layout[f"yaxis{style.axis_id(index)}"].update(title={"text": "Change of mean p_ac"} if not index else {})
    figure.update_layout(annotations=annotations)
    key = tuple((label, style.SeriesStyle(color, _plain_marker(marker))) for label, _, color, marker in _LOOKS)
    alt = f"{title}, {subtitle}. {'; '.join(said)}."
    return style.DrawnFigure(name, title, subtitle, alt, figure, notes=tuple(notes), key=key)


def convergence_figure(convergence: pd.DataFrame, summary: pd.DataFrame | None) -> style.DrawnFigure:
    """Histogram of CodeBLEU to the first accepted program, that program itself told apart (Figure 14).

    Args:
        convergence: ``convergence``.
        summary: ``churn_summary``, for the mean without the reference; None where it was never made.
    """
    import plotly.graph_objects as go

    title = "CodeBLEU to the first accepted program"
    panels = [part for _, part in convergence.groupby("order", sort=True) if part["codebleu"].notna().any()]
    if not panels:
        reasons = convergence["reason"].dropna()
        why = f"; most often: {reasons.mode().iloc[0]}" if len(reasons) else ""
        return style.not_drawn("convergence", title, f"no attempt of a solved trajectory has a CodeBLEU{why}")
    subtitle = "attempts of solved trajectories; the accepted program itself, 1 by definition, told apart"
    facets = style.Facets(len(panels), height=240, min_width=300, gap_y=96)
    figure = style.facet_figure(title, subtitle, facets, {"range": [-0.01, 1.04]}, {"rangemode": "tozero"})
    figure.update_layout(barmode="stack")
    edges = np.round(np.linspace(0, 1, BINS + 1), 10)
    annotations: list[dict[str, Any]] = []
    said, notes = [], []
    for index, part in enumerate(panels):
        order, suffix = str(part["order"].iloc[0]), style.axis_id(index)
        for label, own, color in (("other attempts", False, style.PALETTE[0]), ("the reference", True, style.CONTEXT)):
            values = part.loc[part["is_reference"] == own, "codebleu"].dropna().to_numpy(np.float64)
            counts, _ = np.histogram(np.minimum(values, 1.0), edges)
            hover = [
                f"{label}<br>{a:.3f} to {b:.3f}<br>{c:,}" for a, b, c in zip(edges, edges[1:], counts, strict=False)
            ]
            figure.add_trace(
                go.Bar(
                    x=((edges[:-1] + edges[1:]) / 2).tolist(), y=counts.tolist(), width=1 / BINS, name=label,
                    text=hover, hoverinfo="text", textposition="none", xaxis=f"x{suffix}", yaxis=f"y{suffix}",
                    marker={"color": color, "line": {"color": "#ffffff", "width": 1}},
                )
            )  # fmt: skip
        known = int(part["codebleu"].notna().sum())
        detail = f"n = {known:,}, {len(part) - known:,} left out"
        annotations += style.facet_heading(index, f"Turns in the order {ORDERS[order]}", detail)
        without = _mean_without(summary, order)
        said.append(f"order {ORDERS[order]}: {'; '.join(filter(None, (detail, without)))}")
        if without:
            notes.append(f"In the order {ORDERS[order]}: {without}.")
        figure.layout[f"xaxis{suffix}"].update(title={"text": "CodeBLEU, weights (1/3, 1/3, 1/3, 0)"})
        figure.layout[f"yaxis{suffix}"].update(title={"text": "Attempts"} if not index else {})
    figure.update_layout(annotations=annotations)
    key = (
        ("other attempts", style.SeriesStyle(style.PALETTE[0], "square")),
        ("the reference itself", style.SeriesStyle(style.CONTEXT, "square")),
    )
    alt = f"{title}. {'; '.join(said)}."
    return style.DrawnFigure("convergence", title, subtitle, alt, figure, notes=tuple(notes), key=key)


def _drawn_sample(known: pd.DataFrame) -> pd.DataFrame:
    if len(known) <= MAX_POINTS:
        return known
    order = known["attempt_id"].map(lambda name: hashlib.sha256(name.encode("utf-8", "replace")).hexdigest())
    return known.loc[order.sort_values(kind="stable").index[:MAX_POINTS]]


def _points(index: int, shown: pd.DataFrame, measure: str) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    line = {"color": style.MUTED, "width": 1, "dash": "dash"}
    traces = [go.Scatter(x=[-0.03, 1.03], y=[0, 0], mode="lines", line=line, hoverinfo="skip", name="none", **axes)]
    labels = [number(value) for value in shown["delta_y"]]
    for name, label, color, symbol in _LOOKS:
        rows = [row for row, own in zip(shown.to_dict("records"), labels, strict=True) if own == label]
        hover = [
            f"{style.plain(str(row['participant']))} on {style.plain(str(row['problem_id']))}, turn {row['turn']}<br>"
            f"churn {row[measure]:.3f}, change {row['delta_p_mean']:+.3f}<br>{row['verdict_before']} → "
            f"{row['verdict_after']}"
            for row in rows
        ]
        traces.append(
            go.Scatter(
                x=[float(row[measure]) for row in rows], y=[float(row["delta_p_mean"]) for row in rows],
                mode="markers", name=name, text=hover, hoverinfo="text", **axes,
                marker={"color": color, "symbol": symbol, "size": 7, "opacity": 0.6},
            )
        )  # fmt: skip
    return traces


def _span(panels: list[pd.DataFrame]) -> list[float]:
    """A y range around 0 that holds every change, the same above and below."""
    largest = max(float(part["delta_p_mean"].abs().max()) for part in panels)
    return [-1.08 * largest - 0.02, 1.08 * largest + 0.02]


def _correlation(effects: pd.DataFrame | None, order: str, measure: str) -> str:
    if effects is None:
        return ""
    wanted = (effects["order"] == order) & (effects["measure"] == measure) & (effects["progress"] == "delta_p_mean")
    rows = effects[wanted & (effects["revisions"] == "all") & (effects["statistic"] == "spearman")].to_dict("records")
    return value_words(read_estimate(rows[0])) if rows else ""


def _mean_without(summary: pd.DataFrame | None, order: str) -> str:
    if summary is None:
        return ""
    wanted = (summary["order"] == order) & (summary["measure"] == "convergence_without_reference")
    rows = summary[wanted & (summary["grouped_by"] == "all") & (summary["statistic"] == "mean")].to_dict("records")
    if not rows:
        return ""
    return (
        f"mean without the accepted program itself {value_words(read_estimate(rows[0]))}, n = {count(rows[0]['n']):,}"
    )


def _why_none(revisions: pd.DataFrame, measure: str) -> str:
    if not len(revisions):
        return "no trajectory has two attempts"
    reasons = pd.concat([revisions[f"{measure}_reason"], revisions["delta_p_mean_reason"]]).dropna()
    why = f"; most often: {reasons.mode().iloc[0]}" if len(reasons) else ""
    return f"no revision has both a churn and a change of confidence{why}"


def _plain_marker(symbol: str) -> str:
    """The marker's shape for a key outside the figure, which knows no open ones."""
    return symbol.removesuffix("-open")
