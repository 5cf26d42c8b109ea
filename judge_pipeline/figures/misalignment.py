"""How much each rubric item counts for people and for judges, the most divergent first (TRACE, Figure 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import style
from judge_pipeline.figures.estimates import format_number, n_in_words, p_words, read_estimate, value_words
from judge_pipeline.tables.misalignment import EFFECTS

if TYPE_CHECKING:
    import plotly.graph_objects as go

MAX_ITEMS = 16
"""Items that are drawn, the most divergent first."""

_ROW = 54
_TITLE = 34
"""Characters of an item's title that stand beside its difference on a phone."""
_PEOPLE, _POOLED = 4, 0
"""Places of the two series in the palette: black and blue."""
_SHIFT = 0.11
"""How far the two stand from the middle of a row."""


def misalignment_figure(
    models: pd.DataFrame, tested: pd.DataFrame, effect: str = "coefficient", chooser: str = "people"
) -> style.DrawnFigure:
    """A row an item: people's effect and the judges' pooled one with intervals, each judge's as a tick.

    Sorted by the size of the difference, without regard to tests. A star marks what our paired test finds.

    Args:
        models: table PREFERENCE_MODELS.
        tested: table MISALIGNMENT.
        effect: the measure, a key of ``tables.misalignment.EFFECTS``.
        chooser: what those whose choices the labels are shall be called; "the labels" where no person chose.
    """
    title = f"What {chooser} and judges weigh"
    name = f"misalignment-{effect.replace('_', '-')}"
    pooled = tested[(tested["effect"] == effect) & tested["judge"].isna()]
    ours = pooled[pooled["test"] == "paired"].set_index("item")
    known = ours[ours["value"].notna()]
    if known.empty:
        reasons = [reason for reason in ours["reason"] if reason]
        return style.not_drawn(name, title, reasons[0] if reasons else "no rubric item was tested")
    items = known["value"].abs().sort_values(ascending=False, kind="stable").index[:MAX_ITEMS].tolist()
    effects = models[models["effect"] == effect]
    people = {row["item"]: read_estimate(row) for row in effects[effects["of"] == "people"].to_dict("records")}
    theirs = pooled_effects(tested, effect)
    counts = [int(n) for n in known["n"]]
    n_judges = n_in_words((int(n) for n in known["n_judges"]), "judges")
    subtitle = (
        f"{EFFECTS[effect]}; {n_in_words(counts, 'pairs')}, {n_judges.removeprefix('n = ')}; on the right: judges less "
        f"{chooser}, corrected p, ★ misaligned"
    )
    figure = _drawn(title, subtitle, len(items))
    judges = effects[effects["of"] == "judge"]
    short = style.short_names(items, _TITLE)
    annotations: list[dict[str, Any]] = []
    said = []
    _add_judges(figure, items, judges)
    _add_series(figure, chooser, _PEOPLE, _SHIFT, [people[item] for item in items])
    _add_series(figure, "judges, pooled", _POOLED, -_SHIFT, [theirs[item] for item in items])
    for place, item in enumerate(items):
        verdict = _verdict(known.loc[item])
        annotations += style.row_heading(0, -place - 0.2, short[item], verdict, size=12)
        values = f"{chooser} {value_words(people[item])}, judges {value_words(theirs[item])}"
        said.append(f"{style.clean(item)}: {values}, difference {verdict}.")
    figure.update_layout(annotations=annotations)
    words, notes = f"{title}, {subtitle}. {' '.join(said)}", _notes(ours, items, pooled, chooser)
    return style.DrawnFigure(
        name, title, subtitle, words, figure, notes=notes,
        key=((chooser, style.series_style(_PEOPLE)), ("judges, pooled", style.series_style(_POOLED))),
    )  # fmt: skip


def pooled_effects(tested: pd.DataFrame, effect: str) -> dict[str, Estimate]:
    """Item -> the judges' pooled effect, where there is one.

    Its interval is Paule-Mandel's, which the paper's test gives less the people's effect.

    Args:
        tested: table MISALIGNMENT.
        effect: the measure.
    """
    pooled = tested[(tested["effect"] == effect) & tested["judge"].isna() & (tested["test"] == "trace_pooled")]
    found = {}
    for row in pooled[pooled["judges"].notna() & pooled["people"].notna()].to_dict("records"):
        difference, people = read_estimate(row), float(row["people"])
        ends = difference.ci95 and (difference.ci95[0] + people, difference.ci95[1] + people)
        found[row["item"]] = Estimate(float(row["judges"]), difference.n, difference.n_left_out, ends)
    return found


def _verdict(row: pd.Series) -> str:
    star = "★ " if pd.notna(row["misaligned"]) and bool(row["misaligned"]) else ""
    p = None if pd.isna(row["p_bh"]) else float(row["p_bh"])
    shown = format_number(float(row["value"]), 2)
    sign = "+" if float(shown) > 0 else ""
    return f"{star}{sign}{shown}, {p_words(p)}"


def _notes(ours: pd.DataFrame, items: list[str], pooled: pd.DataFrame, chooser: str) -> tuple[str, ...]:
    paper = pooled[pooled["test"] == "trace_pooled"]
    n_paper, n_ours = int(paper["misaligned"].fillna(False).sum()), int(ours["misaligned"].fillna(False).sum())
    notes = [
        f"Misaligned by our paired test: {n_ours} of {len(ours)} items. The paper's, which takes the effect of "
        f"{chooser} as known, names {n_paper}; where there is nothing to find, it names about half of all items.",
        "Ticks are single judges. The pooled interval takes them as independent, which on the same pairs they are not.",
    ]
    if (unknown := int(ours["value"].isna().sum())) > 0:
        notes.append(f"{unknown} of {len(ours)} items have no difference; the table says why.")
    if (rest := len(ours) - unknown - len(items)) > 0:
        notes.append(f"{rest} of {len(ours)} items are not drawn: those that differ least.")
    return tuple(notes)


def _drawn(title: str, subtitle: str, n_items: int) -> go.Figure:
    import plotly.graph_objects as go

    figure = style.new_figure(title, subtitle, n_items * _ROW + 70, left=18, right=18, min_width=320, max_width=900)
    figure.update_layout(
        xaxis={
            "title": {"text": "above 0: chooses what satisfies the item better"},
            "nticks": 7,
            "ticklabeloverflow": "allow",
        },
        yaxis={"visible": False, "range": [-n_items, 0.1]},
        width=900,
    )
    line = {"color": style.MUTED, "width": 1, "dash": "dash"}
    figure.add_trace(
        go.Scatter(x=[0, 0], y=[-n_items, 0.1], mode="lines", line=line, hoverinfo="skip", name="counts for nothing")
    )
    return figure


def _add_judges(figure: go.Figure, items: list[str], judges: pd.DataFrame) -> None:
    """A tick for each judge, in the pooled effect's line."""
    import plotly.graph_objects as go

    each = judges[judges["value"].notna() & judges["item"].isin(items)]
    tick = {"symbol": "line-ns-open", "size": 9, "color": style.series_style(_POOLED).color, "opacity": 0.45}
    texts = [f"{style.plain(j)}<br>{format_number(v, 2)}" for j, v in zip(each["judge"], each["value"], strict=True)]
    heights = [_height(items.index(item), -_SHIFT) for item in each["item"]]
    figure.add_trace(
        go.Scatter(
            x=each["value"].tolist(), y=heights, mode="markers", marker=tick, text=texts, hoverinfo="text",
            name="a judge",
        )
    )  # fmt: skip


def _add_series(figure: go.Figure, name: str, series: int, shift: float, estimates: list[Estimate]) -> None:
    """One estimate a row, with its interval."""
    import plotly.graph_objects as go

    look = style.series_style(series)
    drawn = [(place, e.value, e) for place, e in enumerate(estimates) if e.value is not None]
    ends = [estimate.ci95 or (value, value) for _, value, estimate in drawn]
    error = {
        "array": [high - value for (_, value, _), (_, high) in zip(drawn, ends, strict=True)],
        "arrayminus": [value - low for (_, value, _), (low, _) in zip(drawn, ends, strict=True)],
        "symmetric": False, "color": look.color, "thickness": 1.6, "width": 4,
    }  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=[value for _, value, _ in drawn], y=[_height(place, shift) for place, _, _ in drawn], mode="markers",
            name=name, marker={"color": look.color, "symbol": look.marker, "size": 9}, error_x=error,
            text=[f"{name}<br>{value_words(estimate)}" for _, _, estimate in drawn], hoverinfo="text",
        )
    )  # fmt: skip


def _height(place: int, shift: float) -> float:
    return -place - 0.66 + shift
