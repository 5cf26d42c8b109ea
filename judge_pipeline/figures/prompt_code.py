"""Figure of the distance between prompts and code: the histogram of NED on test (paper 1, Figure 6)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import format_interval, format_number, read_estimate

WIDTH = 0.01
"""Width of a bin where all values lie close together; wider bins serve wider spreads."""
MAX_BINS = 50


def prompt_code_figure(ned: pd.DataFrame | None, summary: pd.DataFrame | None) -> style.DrawnFigure:
    """Histogram of prompt-code NED over test attempts, with the mean and its interval.

    Args:
        ned: ``prompt_code_ned``; None where it was never made.
        summary: ``prompt_code_summary``; likewise.
    """
    import plotly.graph_objects as go

    title = "Distance between prompts and code (NED) on test"
    if ned is None or summary is None:
        return style.not_drawn("prompt-code", title, "the table prompt_code_ned was never made; make the report anew")
    found = {row["statistic"]: read_estimate(row) for row in summary.to_dict("records")}
    values = ned["ned"].dropna().to_numpy(np.float64)
    mean, sd = found.get("mean"), found.get("sd")
    if not len(values) or mean is None or mean.value is None:
        reason = (mean.reason if mean else None) or "no test attempt has both prompts and code"
        return style.not_drawn("prompt-code", title, reason)
    left_out = f", {mean.n_left_out:,} left out" if mean.n_left_out else ""
    subtitle = f"n = {mean.n:,} test attempts{left_out}; line: mean; shaded: its 95% interval"
    edges = bin_edges(values)
    counts, _ = np.histogram(values, edges)
    figure = style.new_figure(title, subtitle, height=300, max_width=760)
    hover = [f"{a:.3f} to {b:.3f}<br>{n} attempt(s)" for a, b, n in zip(edges, edges[1:], counts, strict=False)]
    top = float(counts.max()) * 1.08
    if mean.ci95 is not None:
        low, high = mean.ci95
        box = {"x": [low, low, high, high], "y": [0, top, top, 0], "fill": "toself", "line": {"width": 0}}
        shade = style.translucent(style.PALETTE[1], 0.25)
        figure.add_trace(go.Scatter(**box, fillcolor=shade, mode="lines", hoverinfo="skip", name="interval"))
    figure.add_trace(
        go.Bar(
            x=((edges[:-1] + edges[1:]) / 2).tolist(), y=counts.tolist(), width=np.diff(edges).tolist(), text=hover,
            hoverinfo="text", textposition="none", name="attempts",
            marker={"color": style.PALETTE[0], "line": {"color": "#ffffff", "width": 1}},
        )
    )  # fmt: skip
    line = {"color": style.PALETTE[1], "width": 2, "dash": "dash"}
    at = [mean.value, mean.value]
    figure.add_trace(go.Scatter(x=at, y=[0, top], mode="lines", line=line, hoverinfo="skip", name="mean"))
    room = WIDTH / 2
    figure.update_xaxes(
        title={"text": "NED: 0 equal texts, 1 nothing in common"}, range=[edges[0] - room, edges[-1] + room]
    )
    figure.update_yaxes(title={"text": "Test attempts"}, range=[0, top], rangemode="tozero")
    words = (
        f"Mean {_words(mean)}, standard deviation {_words(sd)}; lowest {values.min():.3f}, highest {values.max():.3f}"
    )
    notes = (
        f"{words}.",
        "The prompts are those that judges were shown, cut and with personal data replaced; the distance is of "
        "characters, between one participant's prompts of the whole contest and one program.",
    )
    return style.DrawnFigure("prompt-code", title, subtitle, f"{title}, {subtitle}. {words}.", figure, notes=notes)


def bin_edges(values: np.ndarray) -> np.ndarray:
    """Edges of bins of equal width that end at 1 and hold every value: 0.01 wide, or wider where that were too many."""
    span = 1.0 - float(values.min())
    width = next(w for w in (WIDTH, 0.02, 0.05) if span / w <= MAX_BINS or w == 0.05)
    n = max(1, int(np.ceil(span / width - 1e-9)))
    return np.round(1.0 - width * np.arange(n, -1, -1), 10)


def _words(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "undefined"
    return f"{format_number(estimate.value, 4)} {format_interval(estimate.ci95, 4)}".strip()
