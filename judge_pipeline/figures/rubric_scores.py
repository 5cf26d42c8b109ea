"""How rubric scores lie: which response satisfies an item better, and how often the two orders contradict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

_PARTS = (
    ("A better", style.PALETTE[0], ""),
    ("alike", "#d9d9d9", ""),
    ("orders differ, taken as alike", "#8a8a8a", "/"),
    ("B better", style.PALETTE[5], ""),
    ("no score", "#ffffff", "."),
)
"""What a score can be, its colour and its pattern, so that print without colour still tells."""
_ROW = 42


def rubric_scores_figure(scores: pd.DataFrame) -> style.DrawnFigure:
    """A bar an item: the shares of pairs on which A or B satisfies it better, both alike, or the orders differ.

    Args:
        scores: table RUBRIC_SCORES.
    """
    title = "How rubric scores lie"
    if scores.empty:
        return style.not_drawn("rubric-scores", title, "no pair was scored")
    items = list(dict.fromkeys(scores["item"]))
    n_pairs = scores["pair_id"].nunique()
    shares = {item: _shares(scores[scores["item"] == item]) for item in items}
    subtitle = f"n = {n_pairs:,} pairs; share of pairs"
    figure = _drawn(title, subtitle, items, shares)
    said = [f"{style.clean(item)}: {_in_words(shares[item])}" for item in items]
    notes = (
        "Colours from left to right: A better (blue), alike (light), orders differ and so taken as alike (hatched), B "
        "better (orange), no score (dotted). An item that is nearly always alike tells little.",
    )
    words = f"{title}, {subtitle}. {'; '.join(said)}."
    return style.DrawnFigure("rubric-scores", title, subtitle, words, figure, notes=notes)


def _shares(rows: pd.DataFrame) -> list[float]:
    score, ab, ba = (rows[name].astype("float64") for name in ("score", "score_ab", "score_ba"))
    differ = (score == 0) & ab.notna() & ba.notna() & (ab != ba)
    parts = [score == -1, (score == 0) & ~differ, differ, score == 1, score.isna()]
    return [float(part.mean()) for part in parts]


def _drawn(title: str, subtitle: str, items: Sequence[str], shares: dict[str, list[float]]) -> go.Figure:
    import plotly.graph_objects as go

    figure = style.new_figure(title, subtitle, len(items) * _ROW + 64, left=12, min_width=320, max_width=760)
    short = style.short_names(items, 32)
    rows = [-place - 0.68 for place in range(len(items))]
    for part, (name, color, pattern) in enumerate(_PARTS):
        values = [shares[item][part] for item in items]
        figure.add_trace(
            go.Bar(
                x=values, y=rows, orientation="h", name=name, width=0.4,
                marker={"color": color, "line": {"color": style.MUTED, "width": 0.5},
                        "pattern": {"shape": pattern, "fgcolor": style.INK, "size": 5}},
                text=[f"{style.plain(item)}<br>{name}: {100 * v:.0f}%" for item, v in zip(items, values, strict=True)],
                hoverinfo="text", textposition="none",
            )
        )  # fmt: skip
    annotations: list[dict[str, Any]] = []
    for place, item in enumerate(items):
        at = {"xref": "x domain", "yref": "y", "y": -place - 0.27, "yanchor": "middle", "showarrow": False}
        told = f"tells apart in {100 * (shares[item][0] + shares[item][3]):.0f}%"
        name = style.plain(short[item])
        annotations += [
            {**at, "x": 0, "xanchor": "left", "text": name, "font": {"size": 12, "color": style.INK}},
            {**at, "x": 1, "xanchor": "right", "text": told, "font": {"size": 11, "color": style.MUTED}},
        ]
    figure.update_layout(
        barmode="stack", annotations=annotations, width=760,
        xaxis={"range": [0, 1], "tickformat": ".0%", "title": {"text": "share of pairs"}},
        yaxis={"visible": False, "range": [-len(items), 0.06]},
    )  # fmt: skip
    return figure


def _in_words(shares: Sequence[float]) -> str:
    return ", ".join(f"{name} {100 * share:.0f}%" for (name, _, _), share in zip(_PARTS, shares, strict=True))
