"""Figures that a run shows twice, on the page of their asset and in the report: drawn once.

For figures of tables about as large as the figure: of others, telling whether a table is the same may take longer than
to draw it again.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from judge_pipeline.figures.style import DrawnFigure

MOST_KEPT = 4
"""Figures of one kind that are kept; those that were asked for longest ago go first."""

_NULL = "\0"

Draw = TypeVar("Draw", bound="Callable[..., DrawnFigure]")


def drawn_once(draw: Draw) -> Draw:
    """The same function, which draws the same arguments once; who gets the figure must not change it.

    Tables are the same where their columns and values are, whatever object they are and wherever they come from.

    Args:
        draw: tables, texts and numbers, in their places -> the figure.
    """
    kept: dict[tuple[Any, ...], DrawnFigure] = {}

    @functools.wraps(draw)
    def drawn(*given: Any) -> DrawnFigure:
        key = tuple(map(_content, given))
        kept[key] = kept.pop(key) if key in kept else draw(*given)
        while len(kept) > MOST_KEPT:
            del kept[next(iter(kept))]
        return kept[key]

    return drawn  # type: ignore[return-value]


def _content(given: Any) -> Any:
    """What two tables of the same content have in common; any other argument is itself."""
    import pandas as pd

    if not isinstance(given, pd.DataFrame):
        return given
    text = given.to_csv(index=False, na_rep=_NULL)
    return "table", hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
