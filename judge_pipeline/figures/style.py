"""One look for every figure: a palette safe for colour-blind readers, markers, facets, legible in print.

A figure with many judges is drawn as facets, one panel a judge, because ten overlaid step curves cannot be read. How
many panels stand side by side depends on the width at hand: the geometry is stated in ``layout.meta`` in pixels, so
that a page can lay the same figure out again for a phone (``report/templates/report.js`` does).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#000000", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours without yellow, which is too faint on white; their purple darkened for the same reason."""
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon", "pentagon", "hourglass")

MARKER_PATHS = {
    "circle": "M8 3a5 5 0 1 0 .01 0z",
    "square": "M3.5 3.5h9v9h-9z",
    "diamond": "M8 1.8 14.2 8 8 14.2 1.8 8z",
    "triangle-up": "M8 2.5 14 13H2z",
    "cross": "M6 2.5h4V6h3.5v4H10v3.5H6V10H2.5V6H6z",
    "x": "M4.8 2 8 5.2 11.2 2 14 4.8 10.8 8 14 11.2 11.2 14 8 10.8 4.8 14 2 11.2 5.2 8 2 4.8z",
    "star": "m8 1.5 1.9 4.3 4.6.4-3.5 3.1 1 4.6L8 11.5l-4 2.4 1-4.6L1.5 6.2l4.6-.4z",
    "hexagon": "M4.8 2.5h6.4L14.4 8l-3.2 5.5H4.8L1.6 8z",
    "pentagon": "m8 2 6 4.4-2.3 7H4.3L2 6.4z",
    "hourglass": "M3 2.5h10L8 8l5 5.5H3L8 8z",
}
"""Plotly's markers as SVG paths in a box of 16 by 16."""

INK = "#1a1a1a"
MUTED = "#595959"
GRID = "#e2e2e2"
CONTEXT = "#bdbdbd"
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK JP", "Hiragino Sans", sans-serif'

TITLE_SPACE = 60
"""Height in pixels that title and subtitle take over a figure; a page that prints them itself takes it away."""
NOMINAL_WIDTH = 960
"""Width in pixels that a figure is laid out for until a page says otherwise."""


@dataclass(frozen=True, slots=True)
class DrawnFigure:
    """A figure with what must stand beside it.

    Attributes:
        name: a slug: anchor, file name, id.
        title: what it shows.
        subtitle: what it rests on, with n.
        alt: the figure in words, for those who cannot see it.
        figure: the plotly figure, or None where there is nothing to draw.
        reason: why there is nothing to draw.
        notes: what a reader must know to read it, one sentence each.
        key: what each series is called and how it is drawn, where the figure itself does not say so.
        source: the figure of the paper that it follows, where there is one.

    Texts are plain, not HTML: whoever shows them escapes them.

    Raises:
        ValueError: neither a figure nor a reason, or both.
    """

    name: str
    title: str
    subtitle: str
    alt: str
    figure: go.Figure | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    key: tuple[tuple[str, SeriesStyle], ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if (self.figure is None) == (self.reason is None):
            raise ValueError(f"figure {self.name}: it is either drawn or has a reason why not")


def not_drawn(name: str, title: str, reason: str, subtitle: str = "n = 0") -> DrawnFigure:
    """A figure that cannot be drawn, and why."""
    return DrawnFigure(name, title, subtitle, f"{title}, {subtitle}: not drawn, {reason}", reason=reason)


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """Colour and marker of one series. No two of the first 70 share both, so that print without colour still tells."""

    color: str
    marker: str

    @property
    def path(self) -> str:
        """The marker as an SVG path in a box of 16 by 16, for a key outside the figure."""
        return MARKER_PATHS[self.marker]


def series_style(index: int) -> SeriesStyle:
    """The style of the series at a position, the same in every figure that lists the series in the same order."""
    return SeriesStyle(PALETTE[index % len(PALETTE)], MARKERS[index % len(MARKERS)])


def clean(text: str) -> str:
    """Text on one line, without control, direction-changing or unpaired surrogate characters."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() or character == "\u00a0" else " " for character in text)


def plain(text: str) -> str:
    """Untrusted text for a plotly figure, which reads tags and entities in every text it is given."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short_names(names: Sequence[str], limit: int = 28) -> dict[str, str]:
    """A shorter name for each, cut in the middle where it is over the limit, and still different from each other."""
    shortened: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        tidy = clean(name)
        keep = limit - 1
        short = tidy if len(tidy) <= limit else f"{tidy[: keep - keep // 2]}…{tidy[len(tidy) - keep // 2 :]}"
        number = 2
        candidate = short
        while candidate in taken:
            candidate = f"{short} ({number})"
            number += 1
        taken.add(candidate)
        shortened[name] = candidate
    return shortened


@cache
def template() -> go.layout.Template:
    """The template of every figure; figures copy it."""
    import plotly.graph_objects as go

    axis = {
        "showline": True,
        "linecolor": MUTED,
        "linewidth": 1,
        "gridcolor": GRID,
        "gridwidth": 1,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": MUTED,
        "title": {"standoff": 6, "font": {"size": 12}},
        "tickfont": {"size": 11},
    }
    layout = {
        "font": {"family": FONT, "size": 12, "color": INK},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "colorway": list(PALETTE),
        "xaxis": axis,
        "yaxis": axis,
        "hoverlabel": {"bgcolor": "#ffffff", "font": {"family": FONT, "size": 12, "color": INK}, "align": "left"},
        "dragmode": False,
        "hovermode": "closest",
        "showlegend": False,
    }
    return go.layout.Template(layout=layout)


def new_figure(
    title: str,
    subtitle: str,
    height: float,
    top: int = 12,
    left: int = 56,
    right: int = 16,
    bottom: int = 52,
    **meta: Any,
) -> go.Figure:
    """An empty figure in the house's look, with title and subtitle for when it stands alone.

    Args:
        title: plain text.
        subtitle: plain text, with n.
        height: height in pixels without the title, margins included.
        top: upper margin in pixels without the title.
        left: left margin.
        right: right margin.
        bottom: lower margin.
        meta: what a page needs to draw it at another width: ``min_width``, ``max_width``, ``facets``.
    """
    import plotly.graph_objects as go

    heading = {
        "text": plain(title),
        "subtitle": {"text": plain(subtitle), "font": {"size": 12, "color": MUTED}},
        "font": {"size": 15},
        "x": 0,
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"l": 12, "t": 10},
    }
    layout = {  # not a Layout: plotly would copy and check it, template and all, a second time
        "template": template(),
        "title": heading,
        "height": height + TITLE_SPACE,
        "margin": {"l": left, "r": right, "t": top + TITLE_SPACE, "b": bottom},
        "meta": {"title_space": TITLE_SPACE, **meta},
    }
    return go.Figure(layout=layout)


@dataclass(frozen=True, slots=True)
class Facets:
    """Panels of one figure, left to right and top to bottom, measured in pixels.

    Attributes:
        count: how many panels.
        height: height of one panel's axes, at most.
        min_width: width under which a panel is not squeezed.
        gap_x: space between columns (tick labels live there).
        gap_y: space between rows (ticks of the upper row, titles of the lower).
        square: whether a panel is kept about as high as it is wide.
    """

    count: int
    height: int = 220
    min_width: int = 160
    gap_x: int = 56
    gap_y: int = 84
    square: bool = False

    def meta(self) -> dict[str, Any]:
        """What a page needs to lay the panels out for another width (``layout.meta.facets``)."""
        return asdict(self)

    def panel(self, inner_width: float) -> tuple[int, float, float]:
        """Panels side by side, width and height of one, in a given width of the plotting area."""
        fitting = int((inner_width + self.gap_x) // (self.min_width + self.gap_x))
        columns = max(1, min(self.count, fitting))
        width = (inner_width - (columns - 1) * self.gap_x) / columns
        if self.square:
            return columns, min(width, 1.3 * self.height), min(self.height, 1.1 * width)
        return columns, width, self.height

    def inner_height(self, inner_width: float) -> float:
        """Height of the plotting area in pixels for a given width of it."""
        columns, _, height = self.panel(inner_width)
        rows = -(-self.count // columns)
        return rows * height + (rows - 1) * self.gap_y

    def domains(self, inner_width: float) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        """For each panel its x and y domain in fractions of the plotting area."""
        columns, width, height = self.panel(inner_width)
        inner_height = self.inner_height(inner_width)
        found = []
        for index in range(self.count):
            row, column = divmod(index, columns)
            left = column * (width + self.gap_x) / inner_width
            top = 1 - row * (height + self.gap_y) / inner_height
            x_domain = (left, min(1.0, left + width / inner_width))
            found.append((x_domain, (max(0.0, top - height / inner_height), top)))
        return found


def facet_figure(
    title: str, subtitle: str, facets: Facets, x_axis: dict[str, Any], y_axis: dict[str, Any], left: int = 56
) -> go.Figure:
    """An empty figure of facets whose panels share the axes' looks; panel i has axes ``axis_id(i)``."""
    right = 28  # headings may reach over the last panel's edge
    inner = NOMINAL_WIDTH - left - right
    height = facets.inner_height(inner) + 40 + 52
    figure = new_figure(title, subtitle, height, top=40, left=left, right=right, bottom=52, facets=facets.meta())
    figure.update_layout(width=NOMINAL_WIDTH)
    for index, (x_domain, y_domain) in enumerate(facets.domains(inner)):
        suffix = axis_id(index)
        figure.layout[f"xaxis{suffix}"] = {**x_axis, "domain": x_domain, "anchor": f"y{suffix}"}
        figure.layout[f"yaxis{suffix}"] = {**y_axis, "domain": y_domain, "anchor": f"x{suffix}"}
    return figure


def axis_id(index: int) -> str:
    """What plotly appends to ``x``, ``y``, ``xaxis`` and ``yaxis`` for panel ``index`` (from 0)."""
    return "" if index == 0 else str(index + 1)


def row_heading(index: int, height: float, left: str, right: str | None = None, size: int = 11) -> list[dict[str, Any]]:
    """Annotations over a row of panel ``index``: what it is about on the left, its figure on the right.

    Args:
        index: of the panel, from 0.
        height: in the units of its y axis.
        left: untrusted text.
        right: the same; None: nothing stands there.
        size: of the left text, in points.
    """
    suffix = axis_id(index)
    place = {
        "xref": f"x{suffix} domain", "yref": f"y{suffix}", "y": height, "yanchor": "middle", "showarrow": False,
        "bgcolor": "rgba(255,255,255,0.8)", "borderpad": 0,
    }  # fmt: skip
    found = [{**place, "x": 0, "xanchor": "left", "text": plain(left), "font": {"size": size, "color": INK}}]
    if right is not None:
        found.append({**place, "x": 1, "xanchor": "right", "text": plain(right), "font": {"size": 11, "color": MUTED}})
    return found


def facet_heading(index: int, title: str, detail: str) -> list[dict[str, Any]]:
    """The two lines over a panel, as annotations that move with it; the texts are plain."""
    suffix = axis_id(index)
    place = {
        "xref": f"x{suffix} domain",
        "yref": f"y{suffix} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "align": "left",
    }
    return [
        {**place, "text": f"<b>{plain(title)}</b>", "yshift": 19, "font": {"size": 12, "color": INK}},
        {**place, "text": plain(detail), "yshift": 4, "font": {"size": 11, "color": MUTED}},
    ]


def band_traces(index: int, position: int, band: pd.DataFrame | None) -> list[go.Scatter]:
    """The band of a curve in panel ``index``, in the colour of the series at ``position``; nothing without a band.

    Args:
        index: the panel.
        position: the place of the series among all.
        band: columns x, ci95_low and ci95_high, in order of x; points without both ends leave a gap.
    """
    import plotly.graph_objects as go

    known = None if band is None else band[band["ci95_low"].notna() & band["ci95_high"].notna()]
    if known is None or not len(known):
        return []
    suffix = axis_id(index)
    axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", **axes}
    x = known["x"].tolist()
    return [
        go.Scatter(x=x, y=known["ci95_low"].tolist(), name="lower end", **edge),
        go.Scatter(
            x=x, y=known["ci95_high"].tolist(), name="upper end", fill="tonexty",
            fillcolor=translucent(series_style(position).color), **edge,
        ),
    ]  # fmt: skip


def translucent(color: str, alpha: float = 0.16) -> str:
    """A colour ``#rrggbb`` as one that lets what is behind it through."""
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"
