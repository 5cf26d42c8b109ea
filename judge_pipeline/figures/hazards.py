"""Hazards in discrete time: the chance of the first accepted attempt by turn, and how problems differ (IV-C4, ours)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import count, read_estimate, reasons_of, value_words
from judge_pipeline.statistics.logistic import expit
from judge_pipeline.tables.dynamics_words import ORDERS

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_PROBLEMS = 40
"""Problems that a panel shows: those whose coefficients are farthest from the average."""

Rows = Sequence[dict[Any, Any]]


@drawn_once
def hazard_turns_figure(hazards: pd.DataFrame) -> style.DrawnFigure:
    """The chance that a try at a turn is the first accepted one, on the average problem; a panel for each order.

    The ends of the intervals are those of the logits in the table, as chances.

    Args:
        hazards: ``hazards``.
    """
    title = "Chance that the next try is the first accepted one, by turn"
    panels = _panels(hazards, "turn")
    if not panels:
        return style.not_drawn("hazard-turns", title, _why_none(hazards, "turn"))
    subtitle = "discrete-time model, on the average problem; bars: 95% interval over participants"
    facets = style.Facets(len(panels), height=200, min_width=280)
    figure = style.facet_figure(title, subtitle, facets, {}, {"range": [-0.03, 1.03], "tickformat": ".0%"}, left=52)
    annotations: list[dict[str, Any]] = []
    for index, (order, rows) in enumerate(panels):
        figure.add_trace(_chances(index, rows))
        axis = {"title": {"text": "Turn k"}, "tickmode": "array", "tickvals": list(range(len(rows))),
                "ticktext": [style.plain(row["level"]) for row in rows], "range": [-0.5, len(rows) - 0.5],
                "showgrid": False}  # fmt: skip
        figure.layout[f"xaxis{style.axis_id(index)}"].update(axis)
        annotations += style.facet_heading(index, f"Turns in the order {ORDERS[order]}", _counts(rows))
    figure.update_layout(annotations=annotations)
    said = [
        f"order {ORDERS[order]}, {_counts(rows)}: "
        + "; ".join(f"turn {style.clean(row['level'])} {value_words(_chance(row))}" for row in rows)
        for order, rows in panels
    ]
    alt = f"{title}, {subtitle}. {'. '.join(said)}."
    return style.DrawnFigure("hazard-turns", title, subtitle, alt, figure, notes=_notes(panels, "turn"))


@drawn_once
def hazard_problems_figure(hazards: pd.DataFrame) -> style.DrawnFigure:
    """Each problem's log odds ratio to the average problem, hardest last; a panel for each order of turns.

    Args:
        hazards: ``hazards``.
    """
    title = "How much likelier success is on a problem than on the average one"
    panels = _panels(hazards, "problem_id")
    if not panels:
        return style.not_drawn("hazard-problems", title, _why_none(hazards, "problem_id"))
    subtitle = "log odds ratio at the same turn; bars: 95% interval over participants; dashed: the average problem"
    shown = [(order, *_farthest(rows)) for order, rows in panels]
    most = max(len(rows) for _, rows, _ in shown)
    facets = style.Facets(len(panels), height=20 * most + 8, min_width=280, gap_x=92, gap_y=96)
    figure = style.facet_figure(title, subtitle, facets, {}, {}, left=92)
    annotations: list[dict[str, Any]] = []
    said, further = [], []
    for index, (order, rows, n_others) in enumerate(shown):
        names = style.short_names([str(row["level"]) for row in rows], 12)
        figure.add_traces(_ratios(index, rows, most))
        figure.layout[f"xaxis{style.axis_id(index)}"].update(title={"text": "Log odds ratio"}, zeroline=False)
        figure.layout[f"yaxis{style.axis_id(index)}"].update(
            range=[-most + 0.4, 0.6], tickmode="array", tickvals=[-k for k in range(len(rows))], showgrid=False,
            ticktext=[style.plain(names[str(row["level"])]) for row in rows],
        )  # fmt: skip
        annotations += style.facet_heading(index, f"Turns in the order {ORDERS[order]}", _counts(panels[index][1]))
        words = "; ".join(f"{style.clean(str(row['level']))} {value_words(read_estimate(row))}" for row in rows)
        said.append(f"order {ORDERS[order]}, {_counts(panels[index][1])}: {words}")
        if n_others:
            further.append(
                f"In the order {ORDERS[order]}: {len(rows)} of {len(rows) + n_others:,} problems are drawn, those "
                "farthest from the average."
            )
    figure.update_layout(annotations=annotations)
    alt = f"{title}, {subtitle}. {'. '.join(said)}."
    notes = (*further, *_notes(panels, "problem_id"))
    return style.DrawnFigure("hazard-problems", title, subtitle, alt, figure, notes=notes)


def _panels(hazards: pd.DataFrame, term: str) -> list[tuple[str, Rows]]:
    """For each order that has a coefficient its rows of the term, those without one, too."""
    of_term = hazards[hazards["term"] == term]
    return [
        (str(order), rows.to_dict("records"))
        for order, rows in of_term.groupby("order", sort=True)
        if rows["value"].notna().any()
    ]


def _farthest(rows: Rows) -> tuple[Rows, int]:
    """Problems with a coefficient, easiest first, at most ``MAX_PROBLEMS``; and how many others have one."""
    known = [row for row in rows if pd.notna(row["value"])]
    kept = sorted(known, key=lambda row: (-abs(row["value"]), str(row["level"])))[:MAX_PROBLEMS]
    return sorted(kept, key=lambda row: (-row["value"], str(row["level"]))), len(known) - len(kept)


def _chance(row: dict[Any, Any]) -> Estimate:
    """The estimate of a turn as a chance: the table's own, its interval's ends brought over from logits."""
    logit = read_estimate(row)
    if logit.value is None:
        return logit
    ends = None if logit.ci95 is None else tuple(float(end) for end in expit(np.array(logit.ci95)))
    ci95 = None if ends is None else (ends[0], ends[1])
    return Estimate(float(row["hazard"]), logit.n, logit.n_left_out, ci95, logit.reason)


def _chances(index: int, rows: Rows) -> go.Scatter:
    chances = [_chance(row) for row in rows]
    hover = [
        f"turn {style.plain(row['level'])}<br>{value_words(chance)}<br>{count(row['n_events']):,} of {chance.n:,} tries"
        for row, chance in zip(rows, chances, strict=True)
    ]
    return _dots(index, "chance", list(range(len(rows))), chances, hover, upright=True)


def _ratios(index: int, rows: Rows, most: int) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    line = {"color": style.MUTED, "width": 1, "dash": "dash"}
    average = go.Scatter(
        x=[0, 0], y=[0.6, -most + 0.4], mode="lines", line=line, hoverinfo="skip", name="average",
        xaxis=f"x{suffix}", yaxis=f"y{suffix}",
    )  # fmt: skip
    estimates = [read_estimate(row) for row in rows]
    hover = [
        f"{style.plain(str(row['level']))}<br>{value_words(estimate)}<br>"
        f"{count(row['n_events']):,} of {estimate.n:,} tries"
        for row, estimate in zip(rows, estimates, strict=True)
    ]
    return [average, _dots(index, "log odds ratio", [-k for k in range(len(rows))], estimates, hover, upright=False)]


def _dots(
    index: int, name: str, places: list[int], estimates: list[Estimate], hover: list[str], *, upright: bool
) -> go.Scatter:
    """Dots with their intervals; what is undefined leaves its place empty."""
    import plotly.graph_objects as go

    suffix, look = style.axis_id(index), style.series_style(0)
    values = [estimate.value for estimate in estimates]
    ends = [estimate.ci95 or (estimate.value, estimate.value) for estimate in estimates]
    pairs = [(value or 0.0, low or 0.0, high or 0.0) for value, (low, high) in zip(values, ends, strict=True)]
    error = {
        "array": [max(high - value, 0.0) for value, _, high in pairs],
        "arrayminus": [max(value - low, 0.0) for value, low, _ in pairs],
        "symmetric": False, "color": look.color, "thickness": 1.4, "width": 3,
    }  # fmt: skip
    x, y = (places, values) if upright else (values, places)
    return go.Scatter(
        x=x, y=y, mode="markers", name=name, text=hover, hoverinfo="text", xaxis=f"x{suffix}", yaxis=f"y{suffix}",
        marker={"color": look.color, "symbol": look.marker, "size": 7}, **{"error_y" if upright else "error_x": error},
    )  # fmt: skip


def _counts(rows: Rows) -> str:
    n, left_out = (sum(count(row[name]) for row in rows) for name in ("n", "n_left_out"))
    clusters = max(count(row["n_clusters"]) for row in rows)
    return f"n = {n:,} tries, {clusters:,} participants" + (f"; {left_out:,} left out" if left_out else "")


def _notes(panels: Sequence[tuple[str, Rows]], term: str) -> tuple[str, ...]:
    """Why some have no dot, and what their intervals carry; said once for all panels."""
    what = "turn" if term == "turn" else "problem"
    missing: dict[str, list[str]] = {}
    warnings: dict[str, None] = {}
    for _, rows in panels:
        for row in rows:
            estimate = read_estimate(row)
            if estimate.value is None:
                missing.setdefault(estimate.reason or "", []).append(style.clean(str(row["level"])))
            else:
                warnings |= dict.fromkeys(reasons_of(estimate))
    without = []
    for reason, found in missing.items():
        names = list(dict.fromkeys(found))
        named = ", ".join(names[:8]) + (f" and {len(names) - 8:,} others" if len(names) > 8 else "")
        without.append(f"No dot for {what} {named}: {reason}.")
    return (*without, *(f"Intervals: {reason}." for reason in warnings))


def _why_none(hazards: pd.DataFrame, term: str) -> str:
    reasons = hazards.loc[hazards["term"] == term, "reason"].dropna()
    return str(reasons.mode().iloc[0]) if len(reasons) else "no trajectory has a decided attempt"
