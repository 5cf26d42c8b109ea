"""Prompt space: participants by the words of Q_u, coloured by solved rate (paper 1, eq. 26-28, Figure 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import count, format_number, number, text

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_NAMED = 40
"""Points beyond which their names are shown on hovering only."""

_SCALE = ((0.0, "#0d2a63"), (0.35, "#2e7ebc"), (0.65, "#7fb8a4"), (1.0, "#f2cf4a"))
"""From dark to light, so that it is read without colours, too."""
_TITLE = "Participants by the words of their prompts"


@drawn_once
def prompt_space_figure(space: pd.DataFrame, test: pd.DataFrame | None) -> style.DrawnFigure:
    """The map of participants, a point each; or why there is none.

    Args:
        space: ``prompt_space``.
        test: ``prompt_space_test``, for how true the map is; None where it was never made.
    """
    placed = space[space["x"].notna()]
    if not len(placed):
        reasons = space["reason"].dropna()
        common = reasons[reasons.str.contains("participants")]
        why = str((common if len(common) else reasons).mode().iloc[0]) if len(reasons) else "there is no participant"
        return style.not_drawn("prompt-space", _TITLE, why)
    perplexity = format_number(float(placed["perplexity"].iloc[0]), 1)
    left_out = f", {len(space) - len(placed):,} left out" if len(space) > len(placed) else ""
    subtitle = f"n = {len(placed):,} participants{left_out}; t-SNE of TF-IDF of Q_u, perplexity {perplexity}"
    figure = style.new_figure(_TITLE, subtitle, 460, left=20, right=92, bottom=24, min_width=320, max_width=760)
    bare = {"showgrid": False, "showticklabels": False, "ticks": "", "mirror": True, "title": {"text": ""}}
    figure.update_layout(xaxis={**bare, **_range(placed["x"])}, yaxis={**bare, **_range(placed["y"])})
    known = placed[placed["solved_rate"].notna()]
    figure.add_trace(_points(known, len(placed) <= MAX_NAMED))
    unknown = placed[placed["solved_rate"].isna()]
    if len(unknown):
        figure.add_trace(_points(unknown, len(placed) <= MAX_NAMED))
    notes = [
        "Who is drawn near uses like words. Axes have no unit, and how far apart groups lie means nothing.",
        *_how_true(test),
    ]
    if len(unknown):
        notes.append(f"Hollow: {len(unknown):,} without a decided problem.")
    rates = known["solved_rate"].astype("float64")
    span = f"; solved rates {rates.min():.2f} to {rates.max():.2f}" if len(rates) else ""
    return style.DrawnFigure(
        "prompt-space", _TITLE, subtitle, f"{_TITLE}, {subtitle}{span}. {' '.join(notes)}", figure, notes=tuple(notes)
    )


def _points(rows: pd.DataFrame, named: bool) -> go.Scatter:
    import plotly.graph_objects as go

    records: list[dict[Any, Any]] = rows.to_dict("records")
    names = style.short_names([str(row["participant"]) for row in records], 14)
    rates = [number(row["solved_rate"]) for row in records]
    marker: dict[str, Any] = {
        "size": 11 if named else 8,
        "line": {"color": "#ffffff" if named else "#444444", "width": 1},
    }
    if rates and rates[0] is not None:
        bar = {
            "title": {"text": "Solved rate", "font": {"size": 11}}, "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "thickness": 12, "len": 0.7, "outlinewidth": 0, "tickfont": {"size": 11},
        }  # fmt: skip
        marker |= {"color": rates, "cmin": 0, "cmax": 1, "colorscale": [list(step) for step in _SCALE], "colorbar": bar}
    else:
        marker |= {"color": style.MUTED, "symbol": "circle-open"}
    return go.Scatter(
        x=[float(row["x"]) for row in records], y=[float(row["y"]) for row in records], marker=marker,
        mode="markers+text" if named else "markers", text=[style.plain(names[str(r["participant"])]) for r in records],
        textposition="top center", textfont={"size": 10, "color": style.MUTED}, hovertext=list(map(_said, records)),
        hoverinfo="text", cliponaxis=False, name="participants",
    )  # fmt: skip


def _said(row: dict[Any, Any]) -> str:
    rate, expected = number(row["solved_rate"]), number(row["expected_rate"])
    lines = [f"<b>{style.plain(str(row['participant']))}</b>"]
    if rate is None:
        lines.append("no decided problem")
    else:
        lines.append(f"solved {rate:.3f} of {count(row['n_problems']):,} problems")
        lines += [] if expected is None else [f"everybody on these problems: {expected:.3f}"]
    terms = text(row["near_terms"])
    return "<br>".join([*lines, *([f"words here: {style.plain(terms[:120])}"] if terms else [])])


def _range(values: pd.Series) -> dict[str, Any]:
    """An axis that leaves room for names."""
    low, high = float(values.min()), float(values.max())
    room = 0.12 * (high - low) or 1.0
    return {"range": [low - room, high + room]}


def _how_true(test: pd.DataFrame | None) -> list[str]:
    rows = {} if test is None else {row["statistic"]: row for row in test[test["value"].notna()].to_dict("records")}
    if not {"neighbours_kept", "trustworthiness"} <= rows.keys():
        return []
    kept, trust = rows["neighbours_kept"], rows["trustworthiness"]
    return [
        f"Of the {count(kept['k'])} nearest to each in TF-IDF, {100 * kept['value']:.0f}% are among the "
        f"{count(kept['k'])} nearest here (by chance {100 * kept['null_mean']:.0f}%); trustworthiness "
        f"{trust['value']:.3f}, at most 1."
    ]
