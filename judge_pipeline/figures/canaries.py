"""How far planted texts move each judge: a forest plot, a panel a judge, a row a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import n_in_words, read_estimate, said, value_words
from judge_pipeline.settings.injections import CONTROL
from judge_pipeline.tables.canaries import ALL_INJECTIONS

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ROW = 30
_LOOKS = {"up": 0, "down": 1, "none": 2, "as asked": 4}
"""Direction -> place in the palette, so that colour and marker tell them apart."""


def canary_figure(effects: pd.DataFrame) -> style.DrawnFigure:
    """Mean movement of p_ac with its 95% interval, for each judge a panel and for each planted text a row.

    Texts are shown less the control of their place; controls themselves, on top, less the attempt as it is.

    Args:
        effects: table JUDGE_CANARY_EFFECTS.
    """
    title = "How far planted texts move each judge"
    found = _by_judge(effects)
    if not found:
        return style.not_drawn("canaries", title, "no judge was asked about planted texts; judge-pipeline canary does")
    rows = list(dict.fromkeys(row for of_judge in found.values() for row in of_judge))
    directions = _directions(effects)
    counts = [estimate.n for of_judge in found.values() for estimate in of_judge.values() if estimate.n]
    subtitle = (
        f"movement of p_ac beyond the control, 95% intervals, {n_in_words(counts, 'attempts a text')}; "
        "dashed: no movement; circles try to raise p_ac, squares to lower it; diamonds: the controls themselves"
    )
    facets = style.Facets(len(found), height=_ROW * len(rows) + 8, min_width=300, gap_x=28, gap_y=78)
    hidden = {"visible": False, "range": [-len(rows), 0.06]}
    figure = style.facet_figure(title, subtitle, facets, {"title": {"text": "Movement of p_ac"}}, hidden, left=12)
    span = _span(found)
    short = style.short_names(list(found), 34)
    annotations: list[dict[str, Any]] = []
    for index, (judge, of_judge) in enumerate(found.items()):
        figure.add_traces(_traces(index, rows, of_judge, directions))
        figure.layout[f"xaxis{style.axis_id(index)}"].update(range=span, nticks=6)
        annotations += style.facet_heading(index, short[judge], "right: raises p_ac; left: lowers it")
        annotations += _row_labels(index, rows, of_judge)
    figure.update_layout(annotations=annotations)
    by_text = {row: {judge: of_judge.get(row) for judge, of_judge in found.items()} for row in rows}
    alt = f"{title}, {subtitle}. " + " ".join(
        said(list(found), {judge: {"moved": e} for judge, e in of_text.items() if e}, "moved", row)
        for row, of_text in by_text.items()
    )
    return style.DrawnFigure("canaries", title, subtitle, alt, figure)


def row_name(injection: str, place: str) -> str:
    """What a text is called in figures and tables: controls with their place."""
    if injection == ALL_INJECTIONS:
        return "all, as asked"
    return f"control ({place.replace('_', ' ')})" if injection == CONTROL else injection


def _by_judge(effects: pd.DataFrame) -> dict[str, dict[str, Estimate]]:
    """Judge -> row -> movement: controls first, then texts less their control, then all together."""
    found: dict[str, dict[str, Estimate]] = {}
    of_controls = (effects["injection"] == CONTROL) & (effects["metric"] == "mean_moved")
    of_texts = effects["metric"] == "mean_moved_less_control"
    for judge in dict.fromkeys(effects["judge"]):
        mine = effects["judge"] == judge
        for chosen in (of_controls, of_texts & (effects["injection"] != ALL_INJECTIONS), of_texts):
            for row in effects[mine & chosen].to_dict("records"):
                found.setdefault(str(judge), {}).setdefault(
                    row_name(row["injection"], row["place"]), read_estimate(row)
                )
    return {judge: of_judge for judge, of_judge in found.items() if any(e.value is not None for e in of_judge.values())}


def _directions(effects: pd.DataFrame) -> dict[str, str]:
    return {row_name(i, p): d for i, p, d in effects[["injection", "place", "direction"]].itertuples(index=False)}


def _span(found: Mapping[str, Mapping[str, Estimate]]) -> list[float]:
    """One range for all panels, so that they can be compared; it holds 0 and every interval."""
    ends = [-0.05, 0.05]
    for of_judge in found.values():
        for estimate in of_judge.values():
            ends += [estimate.value, *(estimate.ci95 or ())] if estimate.value is not None else []
    margin = 0.04 * (max(ends) - min(ends))
    return [min(ends) - margin, max(ends) + margin]


def _traces(
    index: int, rows: list[str], of_judge: Mapping[str, Estimate], directions: Mapping[str, str]
) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    line = {"color": style.MUTED, "width": 1, "dash": "dash"}
    traces = [
        go.Scatter(x=[0, 0], y=[-len(rows), 0], mode="lines", line=line, hoverinfo="skip", name="no movement", **axes)
    ]
    for position, row in enumerate(rows):
        estimate = of_judge.get(row)
        if estimate is None or estimate.value is None:
            continue
        look = style.series_style(_LOOKS[directions[row]])
        low, high = estimate.ci95 or (estimate.value, estimate.value)
        error = {"array": [high - estimate.value], "arrayminus": [estimate.value - low], "symmetric": False}
        traces.append(
            go.Scatter(
                x=[estimate.value], y=[-position - 0.72], mode="markers", name=style.plain(row),
                marker={"color": look.color, "symbol": look.marker, "size": 8},
                error_x={**error, "color": look.color, "thickness": 1.6, "width": 4},
                text=[f"{style.plain(row)}<br>{value_words(estimate)}<br>n = {estimate.n}"], hoverinfo="text", **axes,
            )
        )  # fmt: skip
    return traces


def _row_labels(index: int, rows: list[str], of_judge: Mapping[str, Estimate]) -> list[dict[str, Any]]:
    """Over each row the text's name on the left and its figure on the right."""
    labels = []
    for position, row in enumerate(rows):
        estimate = of_judge.get(row)
        value = "not asked" if estimate is None else value_words(estimate)
        labels += style.row_heading(index, -position - 0.3, row, value)
    return labels
