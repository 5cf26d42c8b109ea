"""Forest plots: each metric a panel, each judge a row with its value and 95% interval (paper 1, Table IV drawn)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import metrics_by_judge, n_in_words, said, value_words
from judge_pipeline.tables.metric_words import METRICS

if TYPE_CHECKING:
    import plotly.graph_objects as go

FOREST_METRICS = ("roc_auc", "pr_auc", "mcc_test", "brier", "log_loss", "ece")
"""What is drawn unless the caller names something else."""


def forest_figure(
    metrics: pd.DataFrame, references: Mapping[str, float], names: Sequence[str] = FOREST_METRICS
) -> style.DrawnFigure:
    """Forest plots: each metric a panel, each judge a row with its value and 95% interval.

    Args:
        metrics: ``judge_metrics``.
        references: for a metric, the value that a judge without skill reaches on these data, where it is no constant
            (PR-AUC: the accepted share).
        names: the metrics to draw, in order; keys of ``tables.metric_words.METRICS``.
    """
    title = "Figures of each judge with 95% intervals"
    estimates = metrics_by_judge(metrics)
    shown = [name for name in names if any(name in found for found in estimates.values())]
    if not shown:
        return style.not_drawn("metrics", title, "no judge has a figure on test")
    judges = list(estimates)
    counts = [found[name].n for found in estimates.values() for name in shown if name in found]
    subtitle = f"{n_in_words(counts, 'test attempts a judge')}; dashed: a judge without skill"
    facets = style.Facets(len(shown), height=40 * len(judges) + 8, min_width=262, gap_x=28, gap_y=78)
    figure = style.facet_figure(title, subtitle, facets, {}, {"visible": False, "range": [-len(judges), 0.06]}, left=12)
    short = style.short_names(judges, 24)
    annotations: list[dict[str, Any]] = []
    for index, name in enumerate(shown):
        column = {judge: estimates[judge].get(name) for judge in judges}
        words = METRICS[name]
        reference = words.reference if words.reference is not None else references.get(name)
        detail = {"higher": "higher is better", "lower": "lower is better", "neither": ""}[words.better]
        annotations += style.facet_heading(index, f"{words.label} {words.arrow}".strip(), detail)
        annotations += forest_panel(figure, index, column, short, words.span, reference)
    figure.update_layout(annotations=annotations)
    alt = f"{title}, {subtitle}. " + " ".join(said(judges, estimates, name, METRICS[name].label) for name in shown)
    return style.DrawnFigure("metrics", title, subtitle, alt, figure)


def forest_panel(
    figure: go.Figure,
    index: int,
    column: Mapping[str, Estimate | None],
    short: Mapping[str, str],
    span: tuple[float, float] | None,
    reference: float | None,
) -> list[dict[str, Any]]:
    """Draw one panel of a forest plot into a figure of facets.

    Args:
        figure: of ``style.facet_figure``, its y range [-rows, 0.06].
        index: the panel.
        column: row (a judge) -> its estimate, or None: not computed; the row's place fixes its colour.
        short: row -> its name as shown.
        span: values that the x axis holds in any case; None: 0.
        reference: where the dashed line stands; None: nowhere.

    Returns:
        The annotations over the rows: names on the left, figures on the right.
    """
    figure.add_traces(_forest_traces(index, column, reference))
    _forest_axis(figure, index, column, span, reference)
    return _forest_rows(index, column, short)


def _forest_traces(index: int, column: Mapping[str, Estimate | None], reference: float | None) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces = []
    if reference is not None:
        line = {"color": style.MUTED, "width": 1, "dash": "dash"}
        y = [-len(column), 0]
        traces.append(
            go.Scatter(x=[reference] * 2, y=y, mode="lines", line=line, hoverinfo="skip", name="without skill", **axes)
        )
    for position, (judge, estimate) in enumerate(column.items()):
        if estimate is None or estimate.value is None:
            continue
        look = style.series_style(position)
        low, high = estimate.ci95 or (estimate.value, estimate.value)
        error = {"array": [high - estimate.value], "arrayminus": [estimate.value - low], "symmetric": False}
        traces.append(
            go.Scatter(
                x=[estimate.value], y=[-position - 0.72], mode="markers", name=style.plain(judge),
                marker={"color": look.color, "symbol": look.marker, "size": 9},
                error_x={**error, "color": look.color, "thickness": 1.6, "width": 4},
                text=[f"{style.plain(judge)}<br>{value_words(estimate)}<br>n = {estimate.n}"], hoverinfo="text",
                **axes,
            )
        )  # fmt: skip
    return traces


def _forest_axis(
    figure: go.Figure,
    index: int,
    column: Mapping[str, Estimate | None],
    span: tuple[float, float] | None,
    reference: float | None,
) -> None:
    """The panel's x range, wide enough for every interval, the line of a judge without skill included."""
    suffix = style.axis_id(index)
    ends = [0.0] if span is None else list(span)
    for estimate in column.values():
        if estimate is not None and estimate.value is not None:
            ends += [estimate.value, *(estimate.ci95 or ())]
    if reference is not None:
        ends.append(reference)
    margin = 0.03 * (max(ends) - min(ends) or 1.0)
    figure.layout[f"xaxis{suffix}"].update(range=[min(ends) - margin, max(ends) + margin], nticks=6)


def _forest_rows(index: int, column: Mapping[str, Estimate | None], short: Mapping[str, str]) -> list[dict[str, Any]]:
    """Over each row the judge's name on the left and its figure on the right."""
    return [
        note
        for position, (judge, estimate) in enumerate(column.items())
        for note in style.row_heading(
            index, -position - 0.3, short[judge], "not computed" if estimate is None else value_words(estimate)
        )
    ]
