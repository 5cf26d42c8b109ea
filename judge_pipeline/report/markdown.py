"""Table previews as Markdown for asset metadata; untrusted cells stay text, whatever they hold."""

from __future__ import annotations

from typing import Any

import pandas as pd

MAX_CELL_CHARS = 80
MAX_COLUMNS = 24

_SPECIAL = frozenset("\\`*_{}[]<>()#|~!$&:@")
"""What Markdown, its tables, HTML and automatic links give a meaning to; a backslash takes it away."""


def preview(frame: pd.DataFrame, n: int = 10) -> str:
    """The first ``n`` rows as a Markdown table, with how many rows and columns there are in all.

    Cells are cut to 80 characters, on one line, and escaped: code in them cannot become a heading, a link, an image
    or HTML. Missing values are shown as an empty cell.
    """
    columns = list(frame.columns[:MAX_COLUMNS])
    shown = frame.head(n)
    size = f"{len(frame):,} row(s), {len(frame.columns)} column(s)"
    if not columns:
        return size
    lines = [_line([escape(str(name)) for name in columns]), _line(["---"] * len(columns))]
    for row in shown[columns].itertuples(index=False, name=None):
        lines.append(_line([_cell(value) for value in row]))
    more = [f"{size}; the first {len(shown)} rows are shown." if len(shown) < len(frame) else f"{size}."]
    if len(columns) < len(frame.columns):
        more.append(f"Columns not shown: {len(frame.columns) - len(columns)}.")
    return "\n".join([*lines, "", " ".join(more)])


def escape(text: str, limit: int = MAX_CELL_CHARS) -> str:
    """Text as one line of Markdown that shows exactly this text, cut to ``limit`` characters."""
    line = "".join(character if character.isprintable() else " " for character in text[: limit + 1])
    cut = f"{line[: limit - 1]}…" if len(line) > limit else line
    return "".join(f"\\{character}" if character in _SPECIAL else character for character in cut)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return escape(f"{value:.6g}")
    return escape(str(value))
