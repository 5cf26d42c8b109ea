"""What accuracy costs: requests a pair beside Acc, a marker a configuration of one judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_pipeline.figures import style
from judge_pipeline.figures.criteria_figures import configurations_of, figures_of, highest_floor
from judge_pipeline.figures.estimates import format_number, n_in_words, value_words

if TYPE_CHECKING:
    import pandas as pd


def criteria_calls_figure(ablation: pd.DataFrame, judge: str, name: str, called: str) -> style.DrawnFigure:
    """Acc with its interval over requests a pair; dashed: the highest floor.

    Args:
        ablation: table CRITERIA_ABLATION.
        judge: the judge.
        name: a slug for the figure.
        called: what the judge is called on the page.
    """
    import plotly.graph_objects as go

    title = f"What accuracy of {called} costs"
    acc, asked = (figures_of(ablation, judge, figure) for figure in ("acc", "n_requests_per_pair"))
    tokens = figures_of(ablation, judge, "tokens_in_per_pair")
    points = [
        (each, float(acc[each].value or 0.0), float(asked[each].value or 0.0))
        for each in configurations_of(ablation, judge)
        if each in acc and each in asked and acc[each].value is not None and asked[each].value is not None
    ]
    if not points:
        return style.not_drawn(name, title, "of no configuration both Acc and its calls are known")
    floor, level = highest_floor(ablation)
    dashed = "" if level is None else f"; dashed: {floor}, {format_number(level, 2)}"
    subtitle = f"{n_in_words((acc[each].n for each, _, _ in points), 'pairs a configuration')}; 95% intervals{dashed}"
    figure = style.new_figure(title, subtitle, 360, min_width=320, max_width=760)
    most = max(x for _, _, x in points)
    if level is not None:
        line = {"color": style.MUTED, "width": 1, "dash": "dash"}
        figure.add_trace(go.Scatter(x=[0, 1.05 * most], y=[level] * 2, mode="lines", line=line, hoverinfo="skip"))
    key, words = [], []
    for place, (each, y, x) in enumerate(points):
        look = style.series_style(place)
        low, high = acc[each].ci95 or (y, y)
        spent = tokens.get(each)
        shown = "" if spent is None or spent.value is None else f", {spent.value:,.0f} prompt tokens"
        said = f"{format_number(x, 1)} requests{shown} a pair, Acc {value_words(acc[each])}"
        figure.add_trace(
            go.Scatter(
                x=[x], y=[y], mode="markers", name=style.plain(each),
                marker={"color": look.color, "symbol": look.marker, "size": 11},
                error_y={"array": [high - y], "arrayminus": [y - low], "symmetric": False, "color": look.color,
                         "thickness": 1.4, "width": 3},
                text=[f"{style.plain(each)}<br>{said}"], hoverinfo="text",
            )
        )  # fmt: skip
        key.append((each, look))
        words.append(f"{style.clean(each)}: {said}")
    figure.update_layout(
        xaxis={"title": {"text": "requests a pair"}, "range": [0, 1.08 * most], "nticks": 8},
        yaxis={"title": {"text": "Acc"}, "range": [0, 1]},
        width=760,
    )
    return style.DrawnFigure(
        name, title, subtitle, f"{title}, {subtitle}. {'; '.join(words)}.", figure, key=tuple(key),
        notes=("Answers that configurations share are counted for each of them, and asked for once.",),
    )  # fmt: skip
