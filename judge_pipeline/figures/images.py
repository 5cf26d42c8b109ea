"""Figures as PNG or SVG, drawn by Chromium through kaleido, which comes with the extra ``images``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from judge_pipeline.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

ImageFormat = Literal["png", "svg"]

SCALE = 2
"""Pixels of a PNG file for each pixel of the layout: a figure 16 cm wide is printed at about 300 dots an inch."""

_UID = re.compile(r'id="defs-([0-9a-f]{6})"')
_TRACE = re.compile(r'class="trace \w+ trace([0-9a-f]{6})"')


class ImageError(RuntimeError):
    """Images cannot be made here. The message names the remedy."""


def images(figures: Iterable[style.DrawnFigure], form: ImageFormat = "png") -> dict[str, bytes]:
    """File name -> content of each figure that is drawn, all from one browser, since starting one takes seconds.

    The same figure gives the same bytes with the same browser and fonts. An image carries title, n and key; notes and
    the text alternative stand in the report only. Nothing is fetched: the browser's page has the drawing library of
    the installed plotly, and no MathJax.

    Raises:
        ImageError: kaleido or a browser is missing, or the browser fails.
    """
    try:
        import kaleido
    except ImportError:
        raise ImageError(
            "images need the package kaleido, which is not installed. Remedy: install judge-pipeline[images]"
        ) from None
    alone = {f"{drawn.name}.{form}": standing_alone(drawn) for drawn in figures if drawn.figure is not None}
    try:
        found = asyncio.run(_draw(kaleido, alone, form))
    except Exception as error:  # kaleido and its browser raise of many kinds
        raise ImageError(_in_words(error)) from error
    return {name: _with_fixed_ids(data) if form == "svg" else data for name, data in found.items()}


def standing_alone(drawn: style.DrawnFigure) -> go.Figure:
    """The figure for a page of its own: at a fixed width, with its title, and its key as a legend below."""
    import plotly.graph_objects as go

    assert drawn.figure is not None
    figure = go.Figure(drawn.figure)
    meta = figure.layout.meta
    width = style.NOMINAL_WIDTH if meta.get("facets") else min(meta.get("max_width") or 760, style.NOMINAL_WIDTH)
    figure.update_layout(width=max(width, meta.get("min_width") or 0))
    if drawn.key:
        # Wrapped rows of a legend: about 7 px a letter, and 20 px a row.
        letters = sum(len(label) + 6 for label, _ in drawn.key)
        rows = -(-7 * letters // round(figure.layout.width))
        below = 20 * rows + 16
        inner = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
        figure.update_layout(
            showlegend=True,
            height=figure.layout.height + below,
            margin={"b": figure.layout.margin.b + below},
            legend={"orientation": "h", "x": 0, "xanchor": "left", "y": -56 / inner, "yanchor": "top"},
        )
    return figure


async def _draw(kaleido: Any, figures: Mapping[str, go.Figure], form: ImageFormat) -> dict[str, bytes]:
    found = {}
    page = kaleido.PageGenerator(mathjax=False)
    async with kaleido.Kaleido(n=1, page_generator=page) as browser:
        for name, figure in figures.items():
            size = {"width": round(figure.layout.width), "height": round(figure.layout.height)}
            options = {"format": form, "scale": SCALE if form == "png" else 1, **size}
            found[name] = await browser.calc_fig(figure.to_dict(), opts=options)
    return found


def _in_words(error: Exception) -> str:
    if type(error).__name__ in ("ChromeNotFoundError", "BrowserFailedError", "BrowserClosedError"):
        text = "images need Chromium or Chrome, and none could be started. Remedy: install one (Debian: apt install "
        return f"{text}chromium), or name its path in the environment variable BROWSER_PATH"
    text = " ".join(str(error).split())[:300]
    return f"the browser could not draw the figures: {text or type(error).__name__}"


def _with_fixed_ids(data: bytes) -> bytes:
    """The SVG file with ids that do not change from drawing to drawing."""
    svg = data.decode("utf-8")
    for uid in dict.fromkeys(_UID.findall(svg)):
        svg = svg.replace(uid, "figure")
    for number, uid in enumerate(dict.fromkeys(_TRACE.findall(svg)), 1):
        svg = re.sub(rf"\btrace{uid}\b", f"trace{number}", svg)
    return svg.encode("utf-8")
