"""Position skew before and after swap-consistency filtering, a row a configuration (CriterAlign, Table 6 drawn)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import format_number, read_estimate, value_words
from judge_pipeline.tables.criteria_ablation import SKEW_LEVELS

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from judge_pipeline.estimate import Estimate

NAME = "criteria-skew"

_TITLES = {"criterion": "Verdicts on criteria", "majority": "Majorities of criteria"}
_STAGES = {"before": ("before SCF", 1), "after": ("after SCF", 0)}
"""Stage -> what it is called, and its place in the palette: vermilion square, blue circle."""
_ROW = 44


def criteria_skew_figure(ablation: pd.DataFrame, called: Mapping[str, str]) -> style.DrawnFigure:
    """A less B before SCF and after it, of verdicts and of majorities; dashed: that of the labels.

    Args:
        ablation: table CRITERIA_ABLATION.
        called: judge -> what it is called on the page.
    """
    title = "Position skew before and after filtering"
    found = _found(ablation)
    if not found:
        return style.not_drawn(NAME, title, "no configuration asks in both orders")
    keys = list(found)
    n_judges = len({judge for judge, _ in keys})
    rows = [name if n_judges == 1 else f"{called.get(judge, judge)}: {name}" for judge, name in keys]
    labels = {own["label_skew"].value for own in found.values() if "label_skew" in own}
    level = next(iter(labels)) if len(labels) == 1 else None
    dashed = "labels differ by row" if level is None else f"dashed: labels, {format_number(level, 2)}"
    subtitle = "share of A less share of B, 95% intervals; y_A stands first in order AB"
    facets = style.Facets(2, height=_ROW * len(rows) + 8, min_width=290, gap_x=36, gap_y=78)
    figure = style.facet_figure(
        title, subtitle, facets, {}, {"visible": False, "range": [-len(rows), 0.06]}, left=12
    )  # fmt: skip
    short = style.short_names(rows, 32)
    annotations: list[dict[str, Any]] = []
    for index, kind in enumerate(SKEW_LEVELS):
        annotations += style.facet_heading(index, _TITLES[kind], dashed)
        column = list(found.values())
        annotations += _panel(figure, index, kind, column, [short[row] for row in rows], level)
    figure.update_layout(annotations=annotations)
    key = tuple((words, style.series_style(place)) for words, place in _STAGES.values())
    words = "; ".join(_in_words(row, found[key_]) for row, key_ in zip(rows, keys, strict=True))
    return style.DrawnFigure(NAME, title, subtitle, f"{title}, {subtitle}. {words}.", figure, key=key)


def _found(ablation: pd.DataFrame) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Judge and configuration -> its figures of Table 6."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in ablation[ablation["paper_table"] == "6"].to_dict("records"):
        if "skew" in row["figure"]:
            found.setdefault((row["judge"], row["configuration"]), {})[row["figure"]] = read_estimate(row)
    return found


def _panel(
    figure: go.Figure, index: int, kind: str, column: Sequence[Mapping[str, Estimate]], names: Sequence[str],
    level: float | None,
) -> list[dict[str, Any]]:  # fmt: skip
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    if level is not None:
        line = {"color": style.MUTED, "width": 1, "dash": "dash"}
        figure.add_trace(
            go.Scatter(
                x=[level] * 2, y=[-len(names), 0], mode="lines", line=line, hoverinfo="skip", name="labels", **axes
            )
        )
    ends = [-0.2, 0.2]
    for stage, (words, place) in _STAGES.items():
        look, shift = style.series_style(place), 0.08 if stage == "before" else -0.08
        for row, own in enumerate(column):
            estimate = own[f"{kind}_skew_{stage}"]
            if estimate.value is None:
                continue
            low, high = estimate.ci95 or (estimate.value, estimate.value)
            ends += [low, high]
            error = {"array": [high - estimate.value], "arrayminus": [estimate.value - low], "symmetric": False}
            figure.add_trace(
                go.Scatter(
                    x=[estimate.value], y=[-row - 0.7 + shift], mode="markers", name=words,
                    marker={"color": look.color, "symbol": look.marker, "size": 9},
                    error_x={**error, "color": look.color, "thickness": 1.4, "width": 3},
                    text=[f"{style.plain(names[row])}<br>{words} {value_words(estimate)}<br>n = {estimate.n}"],
                    hoverinfo="text", **axes,
                )
            )  # fmt: skip
    margin = 0.05 * (max(ends) - min(ends))
    figure.layout[f"xaxis{suffix}"].update(range=[min(ends) - margin, max(ends) + margin], nticks=6)
    return [
        note
        for row, own in enumerate(column)
        for note in style.row_heading(
            index, -row - 0.28, names[row], _from_to(own[f"{kind}_skew_before"], own[f"{kind}_skew_after"])
        )
    ]


def _from_to(before: Estimate, after: Estimate) -> str:
    return " → ".join("undefined" if own.value is None else format_number(own.value, 2) for own in (before, after))


def _in_words(row: str, own: Mapping[str, Estimate]) -> str:
    parts = [
        f"{_TITLES[kind].lower()} {value_words(own[f'{kind}_skew_before'])} before and "
        f"{value_words(own[f'{kind}_skew_after'])} after"
        for kind in SKEW_LEVELS
    ]
    return f"{style.clean(row)}: {', '.join(parts)}"
