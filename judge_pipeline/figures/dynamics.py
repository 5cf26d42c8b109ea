"""Figures of how people get there: Success@Turn, Kaplan-Meier, struggle curve (paper 1, Figures 8-10).

Each function takes tables (``success_at_turn``, ``survival``, ``struggle_curves``) and returns a ``DrawnFigure``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import format_interval, format_number, number, read_estimate

if TYPE_CHECKING:
    import plotly.graph_objects as go

BAND = "rgba(0,114,178,0.18)"
LINE = style.PALETTE[0]
RISK_TICKS = 7
"""Turns at which the numbers at risk are printed."""
MIN_TURNS = 2
"""Turns with a known p_mean that a trajectory needs before its curve shows any change."""


@drawn_once
def success_figure(success: pd.DataFrame) -> style.DrawnFigure:
    """S(k), the share of all trajectories solved by turn k, with its 95% band (paper 1, eq. 14, Figure 10)."""
    title = "Success@Turn"
    rows = success[success["value"].notna()].sort_values("turn")
    if not len(rows):
        return style.not_drawn("success", title, _first_reason(success, "no trajectory has a decided attempt"))
    first, last = (read_estimate(row) for row in (rows.iloc[0], rows.iloc[-1]))
    subtitle = f"n = {last.n:,} trajectories, solved or not; band: 95% interval"
    figure = style.new_figure(title, subtitle, height=320, max_width=760)
    turns = [int(turn) for turn in rows["turn"]]
    hover = [
        f"turn {turn}<br>S = {_share(row)}<br>solved {int(row['n_solved']):,} of {int(row['n']):,}"
        for turn, row in zip(turns, rows.to_dict("records"), strict=True)
    ]
    _add_step_with_band(figure, rows, turns, hover, markers=len(turns) <= 40)
    figure.update_xaxes(title={"text": "Turn k"}, **_turn_axis(turns))
    figure.update_yaxes(title={"text": "Share solved by turn k"}, range=[-0.02, 1.02], tickformat=".0%")
    alt = (
        f"{title}, {subtitle}. Solved at turn {turns[0]}: {_words(first.value)} {format_interval(first.ci95)}; "
        f"by turn {turns[-1]}: {_words(last.value)} {format_interval(last.ci95)}."
    )
    return style.DrawnFigure("success", title, subtitle, alt, figure)


@drawn_once
def survival_figure(survival: pd.DataFrame) -> style.DrawnFigure:
    """Kaplan-Meier estimate of still being unsolved, with band and numbers at risk (paper 1, eq. 25, Figure 9)."""
    title = "Kaplan-Meier: still unsolved after turn k"
    rows = survival[survival["value"].notna()].sort_values("turn")
    if not len(rows):
        return style.not_drawn("survival", title, _first_reason(survival, "no trajectory has a decided attempt"))
    n, last = int(rows["n_at_risk"].max()), read_estimate(rows.iloc[-1])
    subtitle = f"n = {n:,} trajectories; band: 95% interval; circles: last observed, unsolved"
    figure = style.new_figure(title, subtitle, height=360, bottom=92, max_width=760)
    turns = [int(turn) for turn in rows["turn"]]
    hover = [
        f"turn {turn}<br>unsolved {_share(row)}<br>at risk {int(row['n_at_risk']):,}, solved here "
        f"{int(row['n_events']):,}, last observed here {int(row['n_censored']):,}"
        for turn, row in zip(turns, rows.to_dict("records"), strict=True)
    ]
    _add_step_with_band(figure, rows, turns, hover, markers=False)
    _add_censored(figure, rows)
    _add_numbers_at_risk(figure, rows)
    figure.update_xaxes(title={"text": "Turn k"}, **_turn_axis(turns))
    figure.update_yaxes(title={"text": "Share still unsolved"}, range=[-0.02, 1.02], tickformat=".0%")
    alt = (
        f"{title}, {subtitle}. After turn {turns[-1]}, {_words(last.value)} {format_interval(last.ci95)} are "
        f"estimated to be unsolved."
    )
    return style.DrawnFigure("survival", title, subtitle, alt, figure)


def representative_trajectory(struggle: pd.DataFrame) -> tuple[str, str] | None:
    """The trajectory (u, p) with the most turns that carry a p_mean; ties go to the first by name.

    None where no trajectory has two such turns: a single turn shows no change.
    """
    known = struggle[struggle["p_mean"].notna()]
    turns = known.groupby(["participant", "problem_id"], sort=True).size()
    if not len(turns) or turns.max() < MIN_TURNS:
        return None
    participant, problem = turns.index[int(np.argmax(turns.to_numpy()))]
    return str(participant), str(problem)


def struggle_figure(
    struggle: pd.DataFrame, trajectory: tuple[str, str] | None = None, in_doubt: bool = False
) -> style.DrawnFigure:
    """Mean judge confidence over the turns of one trajectory (paper 1, eq. 10, Figure 8).

    Args:
        struggle: ``struggle_curves``.
        trajectory: (participant, problem); by default ``representative_trajectory``.
        in_doubt: whether the check of turn order warns.
    """
    title = "Struggle curve"
    chosen = trajectory or representative_trajectory(struggle)
    if chosen is None:
        return style.not_drawn("struggle", title, _why_no_curve(struggle))
    rows = struggle[(struggle["participant"] == chosen[0]) & (struggle["problem_id"] == chosen[1])].sort_values("turn")
    names = f"{style.clean(chosen[0])} on {style.clean(chosen[1])}"
    known = int(rows["p_mean"].notna().sum())
    judges = int(rows["n_judges"].max())
    subtitle = f"n = {known} of {len(rows)} turns with a mean over {judges} panel judge(s)"
    title = f"Struggle curve of {names}"
    figure = style.new_figure(title, subtitle, height=340, top=36, max_width=760)
    _add_struggle(figure, rows)
    turns = [int(turn) for turn in rows["turn"]]
    figure.update_xaxes(title={"text": "Turn k"}, **_turn_axis(turns))
    figure.update_yaxes(title={"text": "Mean p_ac of the panel"}, range=[-0.03, 1.03])
    figure.update_layout(
        showlegend=True, legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.01, "yanchor": "bottom"}
    )
    notes = () if trajectory else ("Chosen by rule: the trajectory with the most turns that carry a mean confidence.",)
    if in_doubt:
        notes = (*notes, "With turns reversed it is the same curve, read from right to left.")
    said = "; ".join(
        f"turn {int(row['turn'])} {_words(number(row['p_mean']))} ({_outcome(row['y'])})"
        for row in rows.head(40).to_dict("records")
    )
    return style.DrawnFigure("struggle", title, subtitle, f"{title}, {subtitle}. {said}.", figure, notes=notes)


def _add_step_with_band(
    figure: go.Figure, rows: pd.DataFrame, turns: Sequence[int], hover: Sequence[str], markers: bool
) -> None:
    """The step curve, its band behind it. Each ends a little after the last turn, where its value still holds."""
    import plotly.graph_objects as go

    known = rows[rows["ci95_low"].notna() & rows["ci95_high"].notna()]
    edge = {"mode": "lines", "line": {"width": 0, "shape": "hv"}, "hoverinfo": "skip"}
    end = [turns[-1] + _room(turns)]
    at = [float(turn) for turn in known["turn"]]
    at += end if at and at[-1] == turns[-1] else []
    for name, column, fill in (("lower end", "ci95_low", None), ("upper end", "ci95_high", "tonexty")):
        ends = known[column].tolist()
        y = ends + ends[-1:] * (len(at) - len(ends))
        figure.add_trace(go.Scatter(x=at, y=y, name=name, fill=fill, fillcolor=BAND, **edge))
    values = rows["value"].tolist()
    line = {"color": LINE, "width": 2, "shape": "hv"}
    figure.add_trace(
        go.Scatter(x=[*turns, *end], y=[*values, values[-1]], mode="lines", line=line, hoverinfo="skip", name="curve")
    )
    figure.add_trace(
        go.Scatter(
            x=list(turns), y=values, mode="markers", marker={"size": 6, "color": LINE}, name="estimate",
            text=list(hover), hoverinfo="text", opacity=1 if markers else 0,
        )
    )  # fmt: skip


def _add_censored(figure: go.Figure, rows: pd.DataFrame) -> None:
    """An open circle on the curve wherever a trajectory was last observed unsolved."""
    import plotly.graph_objects as go

    censored = rows[rows["n_censored"] > 0]
    figure.add_trace(
        go.Scatter(
            x=[int(turn) for turn in censored["turn"]], y=censored["value"].tolist(), mode="markers",
            marker={"symbol": "circle", "size": 7, "color": "#ffffff", "line": {"width": 1.5, "color": LINE}},
            hoverinfo="skip", name="last observed, unsolved",
        )
    )  # fmt: skip


def _add_numbers_at_risk(figure: go.Figure, rows: pd.DataFrame) -> None:
    """A row of numbers under the turn axis, at no more turns than there is room for on a phone."""
    places = np.unique(np.linspace(0, len(rows) - 1, min(RISK_TICKS, len(rows))).round().astype(int))
    below = {"yref": "paper", "y": 0, "yanchor": "top", "showarrow": False}
    heading = {"text": "At risk just before turn k", "font": {"size": 11, "color": style.MUTED}}
    figure.add_annotation(**below, **heading, x=0, xref="x domain", xanchor="left", yshift=-46)
    for row in rows.iloc[places].to_dict("records"):
        figure.add_annotation(
            **below, text=f"{int(row['n_at_risk']):,}", x=int(row["turn"]), xref="x", yshift=-62,
            font={"size": 11, "color": style.INK},
        )  # fmt: skip


def _add_struggle(figure: go.Figure, rows: pd.DataFrame) -> None:
    import plotly.graph_objects as go

    turns = [int(turn) for turn in rows["turn"]]
    values = [number(value) for value in rows["p_mean"]]
    figure.add_trace(
        go.Scatter(
            x=turns, y=values, mode="lines", line={"color": style.CONTEXT, "width": 1.5}, hoverinfo="skip",
            name="mean p_ac", showlegend=False, connectgaps=False,
        )
    )  # fmt: skip
    looks = (("accepted", 1, "circle", style.PALETTE[2]), ("not accepted", 0, "x", style.PALETTE[1]))
    for name, label, symbol, color in (*looks, ("undecided", None, "diamond-open", style.MUTED)):
        wanted = [k for k, y in enumerate(rows["y"]) if number(y) == label and values[k] is not None]
        figure.add_trace(
            go.Scatter(
                x=[turns[k] for k in wanted], y=[values[k] for k in wanted], mode="markers", name=name,
                marker={"symbol": symbol, "size": 10, "color": color}, hoverinfo="text", showlegend=bool(wanted),
                text=[f"turn {turns[k]}, {name}<br>mean p_ac {values[k]:.3f}" for k in wanted],
            )
        )  # fmt: skip


def _turn_axis(turns: Sequence[int]) -> dict[str, Any]:
    """Whole turns only, and room left and right of the first and last."""
    low, high = min(turns), max(turns)
    room = _room(turns)
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if (high - low) / s <= 16)
    return {"range": [low - room, high + room], "tick0": 0, "dtick": step, "tickformat": "d"}


def _room(turns: Sequence[int]) -> float:
    """Space left of the first and right of the last turn, in turns."""
    return max(0.3, 0.03 * (max(turns) - min(turns)))


def _share(row: Any) -> str:
    estimate = read_estimate(row)
    return f"{_words(estimate.value)} {format_interval(estimate.ci95)}".strip()


def _words(value: float | None) -> str:
    return "undefined" if value is None else format_number(value)


def _outcome(label: Any) -> str:
    return {1.0: "accepted", 0.0: "not accepted", None: "undecided"}[number(label)]


def _first_reason(table: pd.DataFrame, otherwise: str) -> str:
    reasons = table["reason"].dropna()
    return str(reasons.iloc[0]) if len(reasons) else otherwise


def _why_no_curve(struggle: pd.DataFrame) -> str:
    """Why no trajectory has a curve: the reason given most often, or that none has two judged turns."""
    reasons = struggle.loc[struggle["p_mean"].isna(), "reason"].dropna()
    common = f"; most often: {reasons.mode().iloc[0]}" if len(reasons) else ""
    return f"no trajectory has two turns with a mean confidence over the panel{common}"
