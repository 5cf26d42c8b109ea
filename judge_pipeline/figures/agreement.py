"""Figure of agreement between judges: the heatmap of pairwise Cohen's kappa (paper 1, Figure 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import (
    format_interval,
    format_number,
    n_in_words,
    pairwise_agreement,
    value_words,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go

KAPPA_COLORS = (
    (0.0, "#8c510a"), (0.25, "#dfc27d"), (0.5, "#f7f7f7"), (0.75, "#80b1d3"), (1.0, "#08519c"),
)  # fmt: skip
"""Brown below chance, white at chance, blue above: told apart by colour-blind readers, and dark at both ends."""

CELL = 38
"""Least width of a cell in pixels at which its value can be read."""
CELL_WITH_INTERVAL = 84
"""The same with the interval under the value."""
MAX_WITH_INTERVAL = 8
"""Judges up to which cells hold their intervals; with more, they stand in the hover text and the table."""


@drawn_once
def cohen_figure(agreement: pd.DataFrame) -> style.DrawnFigure:
    """Pairwise Cohen's kappa of the panel's judges as a heatmap with values; the diagonal is left empty.

    Columns carry the numbers that the rows' names begin with, so that long names need no slanted labels.
    """
    title = "Pairwise Cohen's κ"
    pairs = pairwise_agreement(agreement, "cohen")
    judges = list(dict.fromkeys(judge for pair in pairs for judge in pair))
    if not pairs:
        return style.not_drawn("cohen", title, "agreement needs at least two verified judges of the panel")
    subtitle = f"{n_in_words((estimate.n for estimate in pairs.values()), 'test attempts that all of them answered')}"
    subtitle += "; in brackets: 95% intervals" if len(judges) <= MAX_WITH_INTERVAL else ""
    figure = kappa_heatmap(judges, pairs, title, subtitle, "Judge")
    undefined = [f"{pair[0]} and {pair[1]}: {e.reason}" for pair, e in pairs.items() if e.value is None]
    notes = (
        "The diagonal is 1 by construction and left empty.",
        *(f"Undefined for {style.clean(words)}." for words in undefined),
    )
    return style.DrawnFigure("cohen", title, subtitle, kappas_in_words(title, subtitle, pairs), figure, notes=notes)


def kappa_heatmap(
    judges: list[str], pairs: Mapping[tuple[str, str], Estimate], title: str, subtitle: str, rater: str
) -> go.Figure:
    """Kappas of every two raters, ``judges``, in cells; ``rater`` is what one of them is called."""
    import plotly.graph_objects as go

    short = style.short_names(judges, 22)
    roomy = len(judges) <= MAX_WITH_INTERVAL
    cell = CELL_WITH_INTERVAL if roomy else CELL
    positions = list(range(1, len(judges) + 1))
    both_ways = {**pairs, **{(second, first): estimate for (first, second), estimate in pairs.items()}}
    found = [[both_ways.get((row, column)) for column in judges] for row in judges]
    heatmap = go.Heatmap(
        x=positions,
        y=positions,
        z=[[estimate.value if estimate else None for estimate in row] for row in found],
        text=[[_cell(estimate, roomy) for estimate in row] for row in found],
        texttemplate="%{text}",
        textfont={"size": 12},
        customdata=[[_hover(first, second, both_ways.get((first, second))) for second in judges] for first in judges],
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=[list(stop) for stop in KAPPA_COLORS],
        zmin=-1,
        zmax=1,
        xgap=2,
        ygap=2,
        colorbar={"title": {"text": "κ"}, "thickness": 12, "tickvals": [-1, -0.5, 0, 0.5, 1], "len": 0.9},
    )
    names_width = 7.2 * max(len(f"{number} {short[judge]}") for number, judge in enumerate(judges, 1))
    figure = style.new_figure(
        title,
        subtitle,
        height=(46 if roomy else CELL) * len(judges) + 70,
        top=54,
        left=round(names_width) + 16,
        bottom=16,
        min_width=round(names_width) + cell * len(judges) + 110,
        max_width=round(names_width) + max(90, cell + 20) * len(judges) + 110,
    )
    figure.add_trace(heatmap)
    figure.update_xaxes(
        tickvals=positions, ticktext=[str(number) for number in positions], side="top", showgrid=False, ticks="",
        range=[0.5, len(judges) + 0.5], title={"text": f"{rater}, by its number on the left"},
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=positions, ticktext=[f"{number} {style.plain(short[j])}" for number, j in enumerate(judges, 1)],
        range=[len(judges) + 0.5, 0.5], showgrid=False, ticks="",
    )  # fmt: skip
    figure.update_layout(annotations=_undefined_cells(found))
    return figure


def _cell(estimate: Estimate | None, with_interval: bool) -> str:
    if estimate is None or estimate.value is None:
        return ""
    interval = format_interval(estimate.ci95, 2) if with_interval else ""
    value = format_number(estimate.value, 2)
    return f"{value}<br><span style='font-size:10px'>{interval}</span>" if interval else value


def _hover(first: str, second: str, estimate: Estimate | None) -> str:
    names = f"{style.plain(first)}<br>{style.plain(second)}"
    if estimate is None:
        return names
    reason = "" if estimate.value is not None or not estimate.reason else f"<br>{style.plain(estimate.reason)}"
    return f"{names}<br>κ {value_words(estimate)}<br>n = {estimate.n}{reason}"


def _undefined_cells(found: list[list[Estimate | None]]) -> list[dict[str, Any]]:
    """A dash with a word in each cell that has no value: a heatmap leaves such cells without text."""
    return [
        {
            "x": column + 1, "y": row + 1, "text": "undef.", "showarrow": False,
            "font": {"size": 10, "color": style.MUTED},
        }
        for row, line in enumerate(found)
        for column, estimate in enumerate(line)
        if estimate is not None and estimate.value is None
    ]  # fmt: skip


def kappas_in_words(title: str, subtitle: str, pairs: Mapping[tuple[str, str], Estimate]) -> str:
    """Every pair of raters with its kappa: the figure's text alternative."""
    parts = []
    for (first, second), estimate in pairs.items():
        value = "undefined" if estimate.value is None else format_number(estimate.value)
        interval = f" {format_interval(estimate.ci95)}" if estimate.ci95 else ""
        parts.append(f"{style.clean(first)} and {style.clean(second)} {value}{interval}")
    return f"{title}, {subtitle}. {'; '.join(parts)}."
