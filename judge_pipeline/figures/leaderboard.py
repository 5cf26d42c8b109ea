"""Figure of the leaderboard: how well judges rank attempts against what an answer costs in money and time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import format_number, metrics_by_judge, n_in_words, value_words

PANELS = (
    ("cost_per_1000_usd", None, "Cost of 1,000 attempts, US$", "Accuracy over cost"),
    (
        "latency_median_ms",
        "latency_p95_ms",
        "Latency, ms: median, line to the 95th percentile",
        "Accuracy over latency",
    ),
)


def accuracy_cost_figure(leaderboard: pd.DataFrame) -> style.DrawnFigure:
    """ROC-AUC with its interval over the cost of 1,000 attempts and over the latency, a marker a judge."""
    title = "Accuracy against cost and latency"
    estimates = metrics_by_judge(leaderboard)
    judges = list(estimates)
    panels = [p for p in PANELS if any(_point(found, p[0]) for found in estimates.values())]
    if not panels:
        return style.not_drawn("accuracy-cost", title, "no judge has both an ROC-AUC and a cost or a latency")
    drawn = [judge for judge in judges if any(_point(estimates[judge], p[0]) for p in panels)]
    n = n_in_words((estimates[judge]["roc_auc"].n for judge in drawn), "test attempts a judge")
    subtitle = f"{n}; upright lines: 95% intervals; dashed: chance"
    facets = style.Facets(len(panels), height=300, min_width=360, gap_x=76)
    figure = style.facet_figure(title, subtitle, facets, {}, {"title": {"text": "ROC-AUC"}, "range": [-0.02, 1.02]})
    annotations: list[dict[str, Any]] = []
    for index, (metric, upper, x_title, heading) in enumerate(panels):
        n_shown = sum(_point(found, metric) for found in estimates.values())
        annotations += style.facet_heading(index, heading, f"{n_shown} of {len(judges)} judges")
        _add_panel(figure, index, estimates, metric, upper)
        figure.layout[f"xaxis{style.axis_id(index)}"].update(title={"text": x_title}, rangemode="tozero", nticks=6)
    figure.update_layout(annotations=annotations)
    notes = []
    for metric, _, _, heading in panels:
        missing = [style.clean(judge) for judge in judges if not _point(estimates[judge], metric)]
        notes += [f"{heading}: not shown, since one of the two is undefined: {', '.join(missing)}."] if missing else []
    said = "; ".join(f"{style.clean(judge)}: {_in_words(estimates[judge])}" for judge in judges)
    key = tuple((judge, style.series_style(judges.index(judge))) for judge in drawn)
    alt = f"{title}, {subtitle}. {said}."
    return style.DrawnFigure("accuracy-cost", title, subtitle, alt, figure, notes=tuple(notes), key=key)


def _point(found: Mapping[str, Estimate], metric: str) -> bool:
    return all(name in found and found[name].value is not None for name in ("roc_auc", metric))


def _add_panel(
    figure: Any, index: int, estimates: Mapping[str, Mapping[str, Estimate]], metric: str, upper: str | None
) -> None:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    shown = {judge: found for judge, found in estimates.items() if _point(found, metric)}
    ends = [name for name in (metric, upper) if name is not None]
    right = max((found[name].value or 0.0) for found in shown.values() for name in ends if name in found)
    line = {"color": style.MUTED, "width": 1, "dash": "dash"}
    figure.add_trace(
        go.Scatter(x=[0, right * 1.06 or 1], y=[0.5, 0.5], mode="lines", line=line, hoverinfo="skip", name="chance",
                   showlegend=False, **axes)
    )  # fmt: skip
    for judge, found in shown.items():
        look = style.series_style(list(estimates).index(judge))
        auc, x = found["roc_auc"], found[metric].value or 0.0
        y = auc.value or 0.0
        low, high = auc.ci95 or (y, y)
        end = found[upper].value if upper and upper in found else None
        to_right = {"array": [max(0.0, end - x)], "arrayminus": [0], "symmetric": False} if end is not None else {}
        whisker = {"color": style.translucent(look.color, 0.6), "thickness": 1.2, "width": 3}
        figure.add_trace(
            go.Scatter(
                x=[x], y=[y], mode="markers", name=style.plain(judge), legendgroup=judge, showlegend=index == 0,
                marker={"color": look.color, "symbol": look.marker, "size": 10}, hoverinfo="text",
                error_y={"array": [high - y], "arrayminus": [y - low], "symmetric": False, **whisker},
                error_x={**to_right, **whisker, "visible": bool(to_right)},
                text=[f"{style.plain(judge)}<br>{_in_words(found).replace('; ', '<br>')}"], **axes,
            )
        )  # fmt: skip


def _in_words(found: Mapping[str, Estimate]) -> str:
    parts = [f"ROC-AUC {value_words(found['roc_auc'])}"] if "roc_auc" in found else []
    for name, label, decimals in (
        ("cost_per_1000_usd", "US$ for 1,000 attempts", 2),
        ("latency_median_ms", "ms median latency", 0),
    ):
        value = found[name].value if name in found else None
        parts.append(f"no {label}" if value is None else f"{format_number(value, decimals)} {label}")
    return "; ".join(parts)
