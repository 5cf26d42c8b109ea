"""Figures that set one figure of the judges against another (paper 1, Figures 4 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.drawn_once import drawn_once
from judge_pipeline.figures.estimates import (
    format_number,
    judge_agreement_means,
    metrics_by_judge,
    n_in_words,
    overall_agreement,
    value_words,
)
from judge_pipeline.tables.metric_words import METRICS, MetricWords

if TYPE_CHECKING:
    import plotly.graph_objects as go

PAIRS = (("roc_auc", "mcc_test", "a"), ("pr_auc", "mcc_test", "a"), ("ece", "log_loss", "b"), ("ece", "brier", "b"))
"""What Figure 4 sets against what: (a) ranking and decision, (b) calibration and scoring."""

DECISION = style.SeriesStyle(style.PALETTE[0], "circle")
AGREEMENT = style.SeriesStyle(style.PALETTE[1], "diamond")
RELATIVE_RANGE = (-0.75, 1.75)
"""What the relative profiles show; intervals that reach beyond are cut at the frame."""


@drawn_once
def cross_metric_figure(metrics: pd.DataFrame) -> style.DrawnFigure:
    """Ranking against decisions, calibration against scoring; every judge a cross of two intervals (Figure 4)."""
    title = "Cross-metric comparison: (a) ranking and decision, (b) calibration and scoring"
    estimates = metrics_by_judge(metrics)
    judges = list(estimates)
    pairs = [pair for pair in PAIRS if any(_both(found, pair[0], pair[1]) for found in estimates.values())]
    if not pairs:
        return style.not_drawn("cross-metric", title, "no judge has two figures on test to set against each other")
    counts = [found[name].n for found in estimates.values() for name in ("roc_auc", "ece") if name in found]
    subtitle = f"{n_in_words(counts, 'test attempts a judge')}; lines: 95% intervals; dashed: a judge without skill"
    figure = style.facet_figure(title, subtitle, style.Facets(len(pairs), height=260, min_width=360, gap_x=76), {}, {})
    annotations: list[dict[str, Any]] = []
    missing: dict[str, list[str]] = {}
    for index, (across, up, part) in enumerate(pairs):
        _cross_panel(figure, index, estimates, across, up)
        for judge, found in estimates.items():
            if _both(found, across, up) is None:
                missing.setdefault(judge, []).append(f"{METRICS[across].label} and {METRICS[up].label}")
        annotations += style.facet_heading(index, f"({part}) {METRICS[up].label}", f"over {METRICS[across].label}")
    figure.update_layout(annotations=annotations)
    notes = [
        f"Not shown, since one of the two is undefined: {style.clean(j)} ({', '.join(p)})." for j, p in missing.items()
    ]
    notes.append("With intervals this wide, a trend over a few judges shows little: read crosses, not their centres.")
    alt = f"{title}, {subtitle}. {_cross_words(estimates)}"
    key = tuple((judge, style.series_style(position)) for position, judge in enumerate(judges))
    return style.DrawnFigure("cross-metric", title, subtitle, alt, figure, notes=tuple(notes), key=key)


def decision_agreement_figure(metrics: pd.DataFrame, agreement: pd.DataFrame) -> style.DrawnFigure:
    """MCC on test beside each judge's mean pairwise kappa, raw (a) and scaled to the judges' range (b) (Figure 7)."""
    title = "Decisions and agreement: (a) MCC on test and mean pairwise κ, (b) relative profiles"
    estimates, means = metrics_by_judge(metrics), judge_agreement_means(agreement)
    known = {
        judge: (estimates[judge]["mcc_test"], mean)
        for judge, mean in means.items()
        if judge in estimates and "mcc_test" in estimates[judge]
    }
    if not any(value.value is not None for pair in known.values() for value in pair):
        return style.not_drawn("decision-agreement", title, "agreement needs at least two verified judges of the panel")
    fleiss = overall_agreement(agreement, "fleiss")
    counts = [estimate.n for pair in known.values() for estimate in pair]
    subtitle = f"{n_in_words(counts, 'test attempts')}; lines: 95% intervals; dashed: Fleiss' κ of the panel"
    facets = style.Facets(2, height=52 * len(known) + 8, min_width=300, gap_x=36, gap_y=84)
    rows = {"visible": False, "range": [-len(known), 0.06]}
    figure = style.facet_figure(title, subtitle, facets, {}, rows, left=12)
    scales = [_relative([pair[which].value for pair in known.values()]) for which in (0, 1)]
    short = style.short_names(list(known), 24)
    annotations: list[dict[str, Any]] = []
    for index, scaled in enumerate((False, True)):
        figure.add_traces(_profile_traces(index, known, scales if scaled else None))
        annotations += _row_names(index, short, known if not scaled else None)
    if fleiss is not None and fleiss.value is not None:
        figure.add_trace(_upright(0, fleiss.value, len(known)))
    span = [end for pair in known.values() for e in pair if e.value is not None for end in (e.value, *(e.ci95 or ()))]
    figure.layout.xaxis.update(range=[min(span) - 0.06, max(span) + 0.06], nticks=6)
    ticks = {"range": list(RELATIVE_RANGE), "tickvals": [0, 1], "ticktext": ["lowest judge", "highest judge"]}
    figure.layout.xaxis2.update(**ticks)
    of_panel = "no Fleiss' κ" if fleiss is None else f"Fleiss' κ {value_words(fleiss)}"
    annotations += style.facet_heading(0, "(a) As measured", of_panel)
    annotations += style.facet_heading(1, "(b) Relative profiles", "each figure scaled to its lowest and highest judge")
    figure.update_layout(annotations=annotations)
    notes = (
        "Scaling to the judges' range makes any difference look large; the intervals, scaled alike and cut at the "
        "frame, say how much of it is noise.",
        "An overlay to interpret, not a ranking: a judge may agree with others and be wrong with them.",
    )
    said = "; ".join(
        f"{style.clean(judge)}: MCC {value_words(mcc)}, mean κ {value_words(kappa)}"
        for judge, (mcc, kappa) in known.items()
    )
    alt = f"{title}, {subtitle}. {of_panel}. {said}."
    key = (("MCC on test", DECISION), ("Mean Cohen's κ with the other judges", AGREEMENT))
    return style.DrawnFigure("decision-agreement", title, subtitle, alt, figure, notes=notes, key=key)


def _both(found: Mapping[str, Estimate], across: str, up: str) -> tuple[Estimate, Estimate] | None:
    pair = found.get(across), found.get(up)
    if pair[0] is None or pair[1] is None or pair[0].value is None or pair[1].value is None:
        return None
    return pair[0], pair[1]


def _cross_panel(
    figure: go.Figure, index: int, estimates: Mapping[str, Mapping[str, Estimate]], across: str, up: str
) -> None:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    pairs = {judge: _both(found, across, up) for judge, found in estimates.items()}
    ranges = []
    for side, name in enumerate((across, up)):
        ranges.append(_range(METRICS[name], [pair[side] for pair in pairs.values() if pair is not None]))
        figure.layout[f"{'xy'[side]}axis{suffix}"].update(
            range=ranges[side], title={"text": METRICS[name].label}, nticks=6
        )
    for side, name in enumerate((across, up)):
        reference = METRICS[name].reference
        if reference is not None:
            ends = [[reference, reference], ranges[1 - side]]
            line = {"color": style.MUTED, "width": 1, "dash": "dash"}
            figure.add_trace(
                go.Scatter(x=ends[side], y=ends[1 - side], mode="lines", line=line, hoverinfo="skip",
                           name="without skill", showlegend=False, **axes)
            )  # fmt: skip
    for position, (judge, pair) in enumerate(pairs.items()):
        if pair is not None:
            look = style.series_style(position)
            words = f"{style.plain(judge)}<br>{METRICS[across].label} {value_words(pair[0])}<br>"
            figure.add_trace(
                go.Scatter(
                    x=[pair[0].value], y=[pair[1].value], mode="markers", name=style.plain(judge), legendgroup=judge,
                    showlegend=index == 0, marker={"color": look.color, "symbol": look.marker, "size": 10},
                    error_x=_whisker(pair[0], look.color), error_y=_whisker(pair[1], look.color), hoverinfo="text",
                    text=[f"{words}{METRICS[up].label} {value_words(pair[1])}<br>n = {pair[0].n}"], **axes,
                )
            )  # fmt: skip


def _whisker(estimate: Estimate, color: str) -> dict[str, Any]:
    assert estimate.value is not None
    low, high = estimate.ci95 or (estimate.value, estimate.value)
    ends = {"array": [high - estimate.value], "arrayminus": [estimate.value - low], "symmetric": False}
    return {**ends, "color": style.translucent(color, 0.6), "thickness": 1.2, "width": 3}


def _range(words: MetricWords, estimates: Sequence[Estimate]) -> list[float]:
    ends = [end for e in estimates if e.value is not None for end in (e.value, *(e.ci95 or ()))]
    ends += [words.reference] if words.reference is not None else []
    room = 0.06 * (max(ends) - min(ends) or 1.0)
    return [min(ends) - room, max(ends) + room]


def _cross_words(estimates: Mapping[str, Mapping[str, Estimate]]) -> str:
    names = dict.fromkeys(name for pair in PAIRS for name in pair[:2])
    parts = []
    for judge, found in estimates.items():
        figures = ", ".join(f"{METRICS[name].label} {value_words(found[name])}" for name in names if name in found)
        parts.append(f"{style.clean(judge)}: {figures}")
    return f"{'; '.join(parts)}."


def _relative(values: Sequence[float | None]) -> tuple[float, float] | None:
    """Lowest value and range, by which a figure is scaled; None where fewer than two differ."""
    known = [value for value in values if value is not None]
    if len(known) < 2 or max(known) - min(known) < 1e-12:
        return None
    return min(known), max(known) - min(known)


def _profile_traces(
    index: int,
    known: Mapping[str, tuple[Estimate, Estimate]],
    scales: Sequence[tuple[float, float] | None] | None,
) -> list[go.Scatter]:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    traces = []
    for which, (look, name) in enumerate(((DECISION, "MCC on test"), (AGREEMENT, "Mean κ with the others"))):
        scale = (0.0, 1.0) if scales is None else scales[which]
        x, y, up, down, hover = [], [], [], [], []
        for position, (judge, pair) in enumerate(known.items()):
            estimate = pair[which]
            if estimate.value is None or scale is None:
                continue
            at, low, high = (
                (v - scale[0]) / scale[1] for v in (estimate.value, *(estimate.ci95 or [estimate.value] * 2))
            )
            x.append(at)
            y.append(-position - 0.52 - 0.26 * which)
            up.append(high - at)
            down.append(at - low)
            hover.append(f"{style.plain(judge)}<br>{name} {value_words(estimate)}<br>n = {estimate.n}")
        error = {"array": up, "arrayminus": down, "symmetric": False, "color": look.color, "thickness": 1.5, "width": 3}
        traces.append(
            go.Scatter(x=x, y=y, mode="markers", marker={"symbol": look.marker, "color": look.color, "size": 9},
                       error_x=error, text=hover, hoverinfo="text", name=name, showlegend=index == 0, **axes)
        )  # fmt: skip
    return traces


def _upright(index: int, at: float, rows: int) -> go.Scatter:
    import plotly.graph_objects as go

    suffix = style.axis_id(index)
    line = {"color": style.MUTED, "width": 1, "dash": "dash"}
    return go.Scatter(x=[at, at], y=[-rows, 0], mode="lines", line=line, hoverinfo="skip", name="Fleiss' κ",
                      showlegend=False, xaxis=f"x{suffix}", yaxis=f"y{suffix}")  # fmt: skip


def _row_names(
    index: int, short: Mapping[str, str], known: Mapping[str, tuple[Estimate, Estimate]] | None
) -> list[dict[str, Any]]:
    rows = []
    for position, judge in enumerate(short):
        said = None
        if known is not None:
            said = " · ".join("undef." if e.value is None else format_number(e.value, 2) for e in known[judge])
        rows += style.row_heading(index, -position - 0.2, short[judge], said)
    return rows
