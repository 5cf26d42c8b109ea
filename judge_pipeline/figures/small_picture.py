"""A small picture of a figure as SVG, for places that show no script: the first panel, without legend and hover.

Lines, bands, markers with their intervals, bars, and cells of a heatmap are drawn as the figure has them; whoever wants
more opens the figure's page. The same figure gives the same bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import TYPE_CHECKING, Any

from judge_pipeline.figures.style import clean

if TYPE_CHECKING:
    import plotly.graph_objects as go

WIDTH, HEIGHT = 560, 320
MAX_BYTES = 30_000
"""A picture that would be larger is left out: it is kept with each materialization."""

_LEFT, _LEFT_OF_WORDS, _RIGHT, _TOP, _BOTTOM = 64, 190, 12, 12, 52
_LABEL_CHARS, _MAX_LABELS, _MAX_MARKERS = 26, 14, 400
_LARGEST = 1e15
_DEFAULT = "#4c6ef5"
_AXIS, _GRID, _INK = "#868e96", "#e9ecef", "#343a40"
_DARK_FROM = 0.35
"""Distance from the middle of a colour scale from which on its colours are dark."""


def small_picture(figure: go.Figure, title: str) -> str | None:
    """The SVG of the figure's first panel; None where nothing in it can be drawn, or it would be too large.

    Args:
        figure: a plotly figure of scatter, bar and heatmap traces.
        title: what it shows, for those who cannot see it.
    """
    traces = [trace for trace in figure.data if _is_first_panel(trace) and len(_list(trace.x)) and len(_list(trace.y))]
    if not traces:
        return None
    layout = figure.layout
    left = _LEFT_OF_WORDS if _has_words(layout.yaxis, traces) else _LEFT
    heaps = _heaps(traces) if layout.barmode == "stack" else []
    lying = _is_lying(traces)
    across_values, up_values = ([_values(t, name) for t in traces] for name in ("x", "y"))
    (across_values if lying else up_values).append(heaps)
    across = _Axis.of(across_values, layout.xaxis, left, WIDTH - _RIGHT)
    up = _Axis.of(up_values, layout.yaxis, HEIGHT - _BOTTOM, _TOP)
    if any(trace.type == "bar" for trace in traces):
        across, up = across.with_zero_if(lying), up.with_zero_if(not lying)
    drawn = [*_frame(across, up, layout, left), *_drawn(traces, across, up, beside=layout.barmode in (None, "group"))]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="11" role="img"><title>{escape(_plain(title))}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    )
    svg = f"{head}{''.join(drawn)}</svg>"
    return svg if len(svg.encode()) <= MAX_BYTES else None


@dataclass(frozen=True)
class _Axis:
    """Where a value stands: numbers by their size, words one after another."""

    low: float
    high: float
    start: float
    end: float
    words: tuple[str, ...] = ()
    named: tuple[tuple[Any, str], ...] = ()

    @classmethod
    def of(cls, values: Sequence[list[Any]], axis: Any, start: float, end: float) -> _Axis:
        """The axis that holds all values of all traces."""
        every = [value for of_trace in values for value in of_trace]
        if any(isinstance(value, str) for value in every):
            given = [str(word) for word in _list(axis.categoryarray)]
            words = tuple(dict.fromkeys([*given, *map(str, every)]))
            reverse = axis.autorange == "reversed"
            return cls(-0.5, len(words) - 0.5, end if reverse else start, start if reverse else end, words)
        numbers = [float(value) for value in every if _is_number(value)] or [0.0]
        low, high = min(numbers), max(numbers)
        if axis.range is not None and all(_is_number(value) for value in axis.range):
            low, high = (float(value) for value in axis.range)
        named = tuple(zip(_list(axis.tickvals), map(str, _list(axis.ticktext)), strict=False))
        room = 0.0 if axis.range is not None else (high - low) * 0.05 or 0.5
        return cls(low - room, high + room, start, end, named=named)

    def with_zero_if(self, holds: bool) -> _Axis:
        """The axis from 0 on, where bars stand on it."""
        if not holds or self.words or self.low <= 0:
            return self
        return _Axis(0.0, self.high, self.start, self.end)

    def place(self, value: Any) -> float | None:
        """The pixel; None for what is no number or lies outside."""
        if self.words:
            number = float(self.words.index(str(value))) if str(value) in self.words else math.nan
        else:
            number = float(value) if _is_number(value) else math.nan
        if not math.isfinite(number) or self.high == self.low:
            return None
        share = (number - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1) if -0.001 <= share <= 1.001 else None

    def ticks(self) -> list[tuple[Any, str]]:
        """Values and how they are written."""
        if self.words:
            return [(word, word) for word in self.words[:: math.ceil(len(self.words) / _MAX_LABELS)]]
        if self.named:
            return list(self.named[:: math.ceil(len(self.named) / _MAX_LABELS)])
        step = _nice((self.high - self.low) / 8)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(n * step, f"{n * step:.6g}") for n in range(first, last + 1)]


def _frame(across: _Axis, up: _Axis, layout: Any, left: int) -> Iterable[str]:
    bottom, names = HEIGHT - _BOTTOM, (_text(layout.xaxis.title), _text(layout.yaxis.title))
    for value, label in across.ticks():
        if (x := across.place(value)) is not None:
            yield f'<path d="M{x} {_TOP}V{bottom}" stroke="{_GRID}"/>' + _label(x, bottom + 14, label, "middle")
    rows = [note for note in layout.annotations if note.yref == "y" and note.xref in ("x domain", "paper")]
    for note in rows:
        if (y := up.place(note.y)) is not None:
            x, anchor = (left + 4, "start") if note.x < 0.5 else (WIDTH - _RIGHT - 2, "end")
            yield _label(x, y - 3, str(note.text), anchor, chars=32)
    for value, label in () if rows else up.ticks():
        if (y := up.place(value)) is not None:
            yield f'<path d="M{left} {y}H{WIDTH - _RIGHT}" stroke="{_GRID}"/>' + _label(left - 5, y + 4, label, "end")
    yield f'<path d="M{left} {_TOP}V{bottom}H{WIDTH - _RIGHT}" fill="none" stroke="{_AXIS}"/>'
    yield _label((left + WIDTH) / 2, HEIGHT - 14, names[0], "middle", chars=80)
    yield f'<g transform="rotate(-90 12 {bottom / 2:g})">{_label(12, bottom / 2, names[1], "middle", chars=44)}</g>'


def _drawn(traces: Sequence[Any], across: _Axis, up: _Axis, *, beside: bool) -> Iterable[str]:
    bars = [trace for trace in traces if trace.type == "bar"] if beside else []
    below: dict[Any, float] = {}
    before: list[tuple[float, float]] = []
    for trace in traces:
        if trace.type == "bar":
            yield from _bars(trace, bars.index(trace) if bars else 0, max(len(bars), 1), across, up, below)
            below = {} if beside else _heaped(trace, below)
            continue
        if trace.type == "heatmap":
            yield from _cells(trace, across, up)
            continue
        points = _points(trace, across, up)
        mode = trace.mode or "lines"
        if trace.fill == "tonexty" and before and points:
            yield f'<path d="{_way([*before, *reversed(points)])}Z" fill="{_fill(trace)}"/>'
        elif "lines" in mode and len(points) > 1 and (trace.line.width is None or trace.line.width > 0):
            dash = ' stroke-dasharray="4 3"' if trace.line.dash not in (None, "solid") else ""
            way = f'fill="none" stroke="{_colour(trace)}" stroke-width="1.5"'
            yield f'<path d="{_way(points, stepped=trace.line.shape == "hv")}" {way}{dash}/>'
        yield from _intervals(trace, across, up)
        if "markers" in mode:
            dots = "".join(f'<circle cx="{x}" cy="{y}" r="2.5"/>' for x, y in points[:_MAX_MARKERS])
            yield f'<g fill="{_colour(trace)}" fill-opacity="0.8">{dots}</g>'
        before = points


def _cells(trace: Any, across: _Axis, up: _Axis) -> Iterable[str]:
    from plotly.colors import sample_colorscale

    columns, rows, scale = _list(trace.x), _list(trace.y), [list(stop) for stop in trace.colorscale]
    width, height = (abs((axis.end - axis.start) / (axis.high - axis.low)) for axis in (across, up))
    for y, values in zip(rows, map(_list, _list(trace.z)), strict=False):
        for x, value in zip(columns, values, strict=False):
            middle, centre = across.place(x), up.place(y)
            if not _is_number(value) or middle is None or centre is None:
                continue
            share = min(max((value - trace.zmin) / (trace.zmax - trace.zmin), 0.0), 1.0)
            box = (middle - width / 2 + 1, centre - height / 2 + 1, width - 2, height - 2)
            yield '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" '.format(*box)
            yield f'fill="{sample_colorscale(scale, [share])[0]}"/>'
            ink = "#fff" if abs(share - 0.5) > _DARK_FROM else _INK
            yield _label(middle, centre + 4, f"{value:.2f}", "middle", ink=ink)


def _points(trace: Any, across: _Axis, up: _Axis) -> list[tuple[float, float]]:
    placed = [(across.place(x), up.place(y)) for x, y in zip(_list(trace.x), _list(trace.y), strict=False)]
    return [(x, y) for x, y in placed if x is not None and y is not None]


def _way(points: Sequence[tuple[float, float]], *, stepped: bool = False) -> str:
    (x, y), rest = points[0], points[1:]
    return f"M{x} {y}" + "".join(f"H{px}V{py}" if stepped else f"L{px} {py}" for px, py in rest)


def _intervals(trace: Any, across: _Axis, up: _Axis) -> Iterable[str]:
    for name, axis, other in (("x", across, up), ("y", up, across)):
        error = getattr(trace, f"error_{name}")
        more, less = _list(error.array), _list(error.arrayminus)
        centre, beside = _list(getattr(trace, name)), _list(getattr(trace, "y" if name == "x" else "x"))
        for n, above in enumerate(more):
            below = less[n] if n < len(less) else above
            if not (_is_number(above) and _is_number(below) and n < len(centre) and _is_number(centre[n])):
                continue
            ends = axis.place(centre[n] - below), axis.place(centre[n] + above)
            if (at := other.place(beside[n])) is None or ends[0] is None or ends[1] is None:
                continue
            way = f"M{ends[0]} {at}H{ends[1]}" if name == "x" else f"M{at} {ends[0]}V{ends[1]}"
            yield f'<path d="{way}" stroke="{_colour(trace)}"/>'


def _bars(trace: Any, nth: int, n_bars: int, across: _Axis, up: _Axis, below: Mapping[Any, float]) -> Iterable[str]:
    lying = trace.orientation == "h"
    along, thick = (across, up) if lying else (up, across)
    names, sizes = _names_and_sizes(trace)
    room = abs(thick.end - thick.start) / max(len(names), 1) * 0.8
    width = room / n_bars
    for name, size in zip(names, sizes, strict=False):
        base = below.get(name, 0.0)
        middle, zero = thick.place(name), along.place(max(along.low, base))
        top = along.place(base + size) if _is_number(size) else None
        if middle is None or top is None or zero is None:
            continue
        at, low, long = round(middle - room / 2 + nth * width, 1), min(zero, top), round(abs(top - zero), 1)
        box = (low, at, long, round(width, 1)) if lying else (at, low, round(width, 1), long)
        yield '<rect x="{}" y="{}" width="{}" height="{}" '.format(*box) + f'fill="{_colour(trace)}"/>'


def _names_and_sizes(trace: Any) -> tuple[list[Any], list[Any]]:
    return (_list(trace.y), _list(trace.x)) if trace.orientation == "h" else (_list(trace.x), _list(trace.y))


def _heaped(trace: Any, below: Mapping[Any, float]) -> dict[Any, float]:
    """Where the next bars begin that stand on this trace's."""
    sizes = {name: size for name, size in zip(*_names_and_sizes(trace), strict=False) if _is_number(size)}
    return {**below, **{name: below.get(name, 0.0) + size for name, size in sizes.items()}}


def _heaps(traces: Sequence[Any]) -> list[float]:
    """How high the bars are that stand on one another."""
    below: dict[Any, float] = {}
    for trace in traces:
        if trace.type == "bar":
            below = _heaped(trace, below)
    return list(below.values())


def _values(trace: Any, name: str) -> list[Any]:
    """What the axis must hold: the values, and the ends of their intervals."""
    values = _list(getattr(trace, name))
    if trace.type == "heatmap":
        return values
    error = getattr(trace, f"error_{name}")
    more, less = _list(error.array), _list(error.arrayminus) or _list(error.array)
    ends = [v + a for v, a in zip(values, more, strict=False) if _is_number(v) and _is_number(a)]
    return [*values, *ends, *(v - a for v, a in zip(values, less, strict=False) if _is_number(v) and _is_number(a))]


def _is_first_panel(trace: Any) -> bool:
    shown = trace.visible in (None, True)
    drawn = trace.type in ("scatter", "bar") or (trace.type == "heatmap" and None not in (trace.zmin, trace.zmax))
    return shown and drawn and trace.xaxis in (None, "x") and trace.yaxis in (None, "y")


def _is_lying(traces: Sequence[Any]) -> bool:
    return any(trace.type == "bar" and trace.orientation == "h" for trace in traces)


def _colour(trace: Any) -> str:
    found = [trace.marker.color, *([trace.line.color, trace.fillcolor] if trace.type == "scatter" else [])]
    first = [trace.line.color, *found] if trace.type == "scatter" and "lines" in (trace.mode or "lines") else found
    return escape(next((colour for colour in first if isinstance(colour, str)), _DEFAULT))


def _fill(trace: Any) -> str:
    own = trace.fillcolor
    return escape(own) if isinstance(own, str) else f'{_colour(trace)}" fill-opacity="0.15'


def _has_words(axis: Any, traces: Sequence[Any]) -> bool:
    return bool(_list(axis.ticktext)) or any(isinstance(value, str) for trace in traces for value in _list(trace.y))


def _text(title: Any) -> str:
    return str(title.text or "")


def _label(x: float, y: float, text: str, anchor: str, chars: int = _LABEL_CHARS, ink: str = _INK) -> str:
    shown = _plain(text)
    short = shown if len(shown) <= chars else f"{shown[: chars - 1]}…"
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{ink}">{escape(short)}</text>'


def _plain(text: str) -> str:
    """Text of a plotly figure, which is read with tags and entities, without these and on one line."""
    return clean(unescape(re.sub(r"<[^>]*>", " ", text))).strip()


def _list(values: Any) -> list[Any]:
    plain: Callable[[], list[Any]] | None = getattr(values, "tolist", None)
    return [] if values is None else plain() if plain else list(values)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def _nice(step: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step)) if step > 0 else 1.0
    return next((m * power for m in (1.0, 2.0, 5.0) if m * power >= step * (1 - 1e-9)), 10.0 * power)
