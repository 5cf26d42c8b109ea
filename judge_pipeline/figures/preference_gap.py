"""What a judge loses to the order of the responses: Acc beside Acc_PC, a row a judge (TRACE, section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import format_number, n_in_words, read_estimate, value_words

if TYPE_CHECKING:
    import plotly.graph_objects as go

_SERIES = {"acc": ("Acc", 0), "acc_pc": ("Acc_PC", 1)}
"""Figure -> what it is called, and its place in the palette: blue circle, vermilion square."""
_ROW = 40


def gap_figure(accuracy: pd.DataFrame) -> style.DrawnFigure:
    """Acc and Acc_PC of each judge, joined by a line, the widest gap first.

    Args:
        accuracy: table PREFERENCE_ACCURACY, of one rule.
    """
    title = "Acc beside Acc_PC: what the order of the responses costs"
    found = _figures(accuracy)
    known = {judge: of for judge, of in found.items() if all(name in of for name in ("acc", "acc_pc", "gap"))}
    if not known:
        reasons = accuracy.loc[(accuracy["figure"] == "gap") & accuracy["reason"].notna(), "reason"]
        return style.not_drawn("gap", title, str(reasons.iloc[0]) if len(reasons) else "no judge has both figures")
    judges = sorted(known, key=lambda judge: -(known[judge]["gap"].value or 0.0))
    subtitle = f"{n_in_words((known[j]['acc'].n for j in judges), 'pairs a judge')}; dashed: chance of Acc_PC, 0.50"
    figure = _empty(title, subtitle, len(judges))
    short = style.short_names(judges, 28)
    annotations: list[dict[str, Any]] = []
    _add_gaps(figure, [known[judge] for judge in judges])
    for name in _SERIES:
        _add_dots(figure, name, [known[judge][name] for judge in judges])
    for place, judge in enumerate(judges):
        annotations += style.row_heading(0, -place - 0.28, short[judge], f"gap {value_words(known[judge]['gap'])}")
    figure.update_layout(annotations=annotations)
    undefined = [judge for judge in found if judge not in known]
    notes = (f"Without both figures, and not drawn: {', '.join(map(style.clean, undefined))}.",) if undefined else ()
    said = "; ".join(_in_words(judge, known[judge]) for judge in judges)
    key = tuple((label, style.series_style(series)) for label, series in _SERIES.values())
    return style.DrawnFigure("gap", title, subtitle, f"{title}, {subtitle}. {said}.", figure, notes=notes, key=key)


def _figures(accuracy: pd.DataFrame) -> dict[str, dict[str, Estimate]]:
    """Judge -> its figures that have a value."""
    rows = accuracy[(accuracy["of"] == "judge") & accuracy["category"].isna()]
    found: dict[str, dict[str, Estimate]] = {}
    for row in rows.to_dict("records"):
        of = found.setdefault(row["name"], {})
        if row["figure"] in ("acc", "acc_pc", "gap") and pd.notna(row["value"]):
            of[row["figure"]] = read_estimate(row)
    return found


def _empty(title: str, subtitle: str, n_judges: int) -> go.Figure:
    import plotly.graph_objects as go

    figure = style.new_figure(title, subtitle, n_judges * _ROW + 64, left=12, min_width=320, max_width=760)
    figure.update_layout(
        xaxis={"title": {"text": "share of pairs"}, "nticks": 8, "range": [-0.03, 1.03]},
        yaxis={"visible": False, "range": [-n_judges, 0.06]},
        width=760,
    )
    line = {"color": style.MUTED, "width": 1, "dash": "dash"}
    figure.add_trace(
        go.Scatter(x=[0.5, 0.5], y=[-n_judges, 0], mode="lines", line=line, hoverinfo="skip", name="chance of Acc_PC")
    )
    return figure


def _add_gaps(figure: go.Figure, of_judges: list[dict[str, Estimate]]) -> None:
    import plotly.graph_objects as go

    x: list[float | None] = []
    y: list[float | None] = []
    for place, of in enumerate(of_judges):
        x += [of["acc"].value, of["acc_pc"].value, None]
        y += [-place - 0.7, -place - 0.7, None]
    line = {"color": style.CONTEXT, "width": 3}
    figure.add_trace(go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", name="gap"))


def _add_dots(figure: go.Figure, name: str, estimates: list[Estimate]) -> None:
    import plotly.graph_objects as go

    label, series = _SERIES[name]
    look = style.series_style(series)
    values = [float(estimate.value or 0.0) for estimate in estimates]
    ends = [estimate.ci95 or (value, value) for estimate, value in zip(estimates, values, strict=True)]
    shift = 0.07 if name == "acc" else -0.07
    error = {
        "array": [high - value for value, (_, high) in zip(values, ends, strict=True)],
        "arrayminus": [value - low for value, (low, _) in zip(values, ends, strict=True)],
        "symmetric": False, "color": look.color, "thickness": 1.4, "width": 3,
    }  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=values, y=[-place - 0.7 + shift for place in range(len(values))], mode="markers", name=label,
            marker={"color": look.color, "symbol": look.marker, "size": 9}, error_x=error,
            text=[f"{label} {value_words(e)}<br>n = {e.n}" for e in estimates], hoverinfo="text",
        )
    )  # fmt: skip


def _in_words(judge: str, of: Mapping[str, Estimate]) -> str:
    values = ", ".join(f"{label} {format_number(of[name].value or 0.0)}" for name, (label, _) in _SERIES.items())
    return f"{style.clean(judge)}: {values}, gap {value_words(of['gap'])}"
