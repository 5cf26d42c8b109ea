"""Figures that a run shows twice, on the page of their asset and in the report, and that take long: drawn once."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.figures.style import DrawnFigure

MOST_KEPT = 4
"""Figures of one kind that are kept; those that were asked for longest ago go first."""

_NULL = "\0"

Draw = TypeVar("Draw", bound="Callable[..., DrawnFigure]")


def drawn_once(draw: Draw) -> Draw:
    """The same function, which draws a table and further arguments once; who gets the figure must not change it.

    Tables are the same where their columns and values are, whatever object they are and wherever they come from.

    Args:
        draw: a table, then texts and numbers -> the figure.
    """
    kept: dict[tuple[str, tuple[Any, ...]], DrawnFigure] = {}

    @functools.wraps(draw)
    def drawn(table: pd.DataFrame, *further: Any) -> DrawnFigure:
        key = (_content_sha256(table), further)
        kept[key] = kept.pop(key) if key in kept else draw(table, *further)
        while len(kept) > MOST_KEPT:
            del kept[next(iter(kept))]
        return kept[key]

    return drawn  # type: ignore[return-value]


def _content_sha256(table: pd.DataFrame) -> str:
    return hashlib.sha256(table.to_csv(index=False, na_rep=_NULL).encode("utf-8", "surrogatepass")).hexdigest()
