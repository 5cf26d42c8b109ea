"""Figures of single assets: a page that works offline, and their main numbers as Markdown for the UI.

What each asset shows is what the report shows of it, drawn by the same functions, from the asset's own table and the
tables that it was made from.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judge_pipeline.figures.agreement import cohen_figure
from judge_pipeline.figures.criteria_figures import of_judges
from judge_pipeline.figures.cross_metric import cross_metric_figure
from judge_pipeline.figures.dynamics import struggle_figure, success_figure, survival_figure
from judge_pipeline.figures.forest import forest_figure
from judge_pipeline.figures.hazards import hazard_problems_figure, hazard_turns_figure
from judge_pipeline.figures.judges import pr_figure, reliability_figure, roc_figure
from judge_pipeline.figures.misalignment import misalignment_figure
from judge_pipeline.figures.patterns import patterns_figure
from judge_pipeline.figures.preference_accuracy import position_bias_figure, preference_accuracy_figure
from judge_pipeline.figures.prompt_code import prompt_code_figure
from judge_pipeline.figures.prompt_space import prompt_space_figure
from judge_pipeline.figures.revision import churn_figure, convergence_figure
from judge_pipeline.figures.small_picture import small_picture
from judge_pipeline.figures.struggle_groups import (
    struggle_groups_figure,
    struggle_judges_figure,
    struggle_levels_figure,
)
from judge_pipeline.figures.style import DrawnFigure
from judge_pipeline.figures.time_to_success import time_curves_figure, time_groups_figure
from judge_pipeline.report import cocreation_views, dynamics_views
from judge_pipeline.report.cocreation_report import PAPER_FIGURES, success_figures
from judge_pipeline.report.criteria_report import ablation_figures
from judge_pipeline.report.inputs import judge_kinds
from judge_pipeline.report.markdown import escape
from judge_pipeline.report.page import render
from judge_pipeline.report.preference_inputs import PEOPLE, chooser_of
from judge_pipeline.report.prompt_space_views import prompt_space_view
from judge_pipeline.report.view import Cell, View
from judge_pipeline.tables import JUDGE_METRICS
from judge_pipeline.tables.misalignment import EFFECTS

if TYPE_CHECKING:
    import pandas as pd

    Tables = Mapping[str, pd.DataFrame]

TEMPLATE = "asset_figures.html.j2"
LIBRARY = "plotly.js"
"""The file that holds the drawing library (``page.plotly_js``), one for all pages of a contest."""
MAX_CHARS = 900
"""Characters of a figure in words that the preview shows; the page holds all of them."""
MAX_ROWS = 12
"""Rows of a table that the preview shows."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What an asset shows: figures from its tables, and a table of its numbers where the report has one."""

    figures: Callable[[Tables], Sequence[DrawnFigure]]
    view: Callable[[pd.DataFrame], View] | None = None


def _judge_curves(tables: Tables) -> list[DrawnFigure]:
    """Without the metrics, which are no input of the curves: their page shows them."""
    curves, none = tables["judge_curves"], JUDGE_METRICS.empty()
    return [draw(curves, none) for draw in (roc_figure, pr_figure, reliability_figure)]


def _judge_metrics(tables: Tables) -> list[DrawnFigure]:
    return [cross_metric_figure(tables["judge_metrics"]), forest_figure(tables["judge_metrics"], {})]


def _prompt_code(tables: Tables) -> list[DrawnFigure]:
    return [prompt_code_figure(tables["prompt_code_ned"], tables["prompt_code_summary"])]


def _hazards(tables: Tables) -> list[DrawnFigure]:
    return [draw(tables["hazards"]) for draw in (hazard_turns_figure, hazard_problems_figure)]


def _struggle(tables: Tables) -> list[DrawnFigure]:
    curves = tables["struggle_curves"]
    return [struggle_figure(curves, in_doubt=_order_in_doubt(curves))]


def _order_in_doubt(curves: pd.DataFrame) -> bool:
    """Whether the check of turn order warns: most rejections of solved trajectories follow the first accepted one."""
    turn = curves["turn"].astype("float64")
    first = turn.where((curves["y"] == 1).fillna(False)).groupby([curves["participant"], curves["problem_id"]])
    away = (turn - first.transform("min"))[(curves["y"] == 0).fillna(False)]
    return bool((away > 0).sum() > (away < 0).sum())


def _struggle_groups(tables: Tables) -> list[DrawnFigure]:
    groups = tables["struggle_groups"]
    levels = (struggle_levels_figure(groups, name) for name in ("problem_id", "participant"))
    return [struggle_groups_figure(groups), struggle_judges_figure(groups), *levels]


def _churn(tables: Tables) -> list[DrawnFigure]:
    measures = ("code_ned", "codebleu_churn")
    return [churn_figure(tables["revisions"], tables.get("churn_effects"), measure) for measure in measures]


def _convergence(tables: Tables) -> list[DrawnFigure]:
    return [convergence_figure(tables["convergence"], tables.get("churn_summary"))]


def _prompt_space(tables: Tables) -> list[DrawnFigure]:
    return [prompt_space_figure(tables["prompt_space"], tables.get("prompt_space_test"))]


def _preference_accuracy(tables: Tables) -> list[DrawnFigure]:
    """Under the set's scoring rule, whose rows come first."""
    accuracy = tables["preference_accuracy"]
    own = accuracy[accuracy["rule"] == accuracy["rule"].iloc[0]] if len(accuracy) else accuracy
    return [preference_accuracy_figure(own), position_bias_figure(own)]


def _misalignment(tables: Tables, chosen_by: str = PEOPLE) -> list[DrawnFigure]:
    models, tested, chooser = tables["preference_models"], tables["misalignment"], chooser_of(chosen_by)
    return [misalignment_figure(models, tested, effect, chooser) for effect in EFFECTS]


def _criteria_ablation(tables: Tables) -> list[DrawnFigure]:
    judges = sorted(of_judges(tables["criteria_ablation"])["judge"].unique())
    return ablation_figures(tables["criteria_ablation"], dict(zip(judges, judges, strict=True)))


_LOOKS = {
    "judge_metrics": _Look(_judge_metrics),
    "judge_curves": _Look(_judge_curves),
    "judge_agreement": _Look(lambda t: [cohen_figure(t["judge_agreement"])]),
    "prompt_code_summary": _Look(_prompt_code),
    "success_at_turn": _Look(lambda t: [success_figure(t["success_at_turn"])], cocreation_views.success),
    "success_curves": _Look(lambda t: success_figures(t["success_curves"]), dynamics_views.success_curves),
    "survival": _Look(lambda t: [survival_figure(t["survival"])], cocreation_views.survival),
    "survival_curves": _Look(lambda t: [time_curves_figure(t["survival_curves"])], dynamics_views.survival_curves),
    "survival_groups": _Look(lambda t: [time_groups_figure(t["survival_groups"])], dynamics_views.time_groups),
    "hazards": _Look(_hazards, dynamics_views.hazards),
    "struggle_curves": _Look(_struggle),
    "struggle_groups": _Look(_struggle_groups),
    "pattern_groups": _Look(lambda t: [patterns_figure(t["pattern_groups"])], dynamics_views.pattern_groups),
    "revisions": _Look(_churn),
    "churn_effects": _Look(_churn, dynamics_views.effects),
    "convergence": _Look(_convergence),
    "churn_summary": _Look(_convergence, dynamics_views.summary),
    "prompt_space": _Look(_prompt_space),
    "prompt_space_test": _Look(_prompt_space, prompt_space_view),
    "preference_accuracy": _Look(_preference_accuracy),
    "misalignment": _Look(_misalignment),
    "criteria_ablation": _Look(_criteria_ablation),
}
OF_PREFERENCE_SETS = {
    "preference_accuracy": "preference_report.html",
    "misalignment": "preference_report.html",
    "criteria_ablation": "criteria_report.html",
}
"""Those of preference sets, each with the report that shows its figures; all others are of contests."""
ASSETS_WITH_FIGURES = frozenset(_LOOKS)
"""The assets that show figures."""


def asset_figures(asset: str, tables: Tables, chosen_by: str | None = None) -> tuple[list[DrawnFigure], list[View]]:
    """The figures of an asset, and its table of numbers, which is left out where the report has none.

    Args:
        asset: one of ``ASSETS_WITH_FIGURES``.
        tables: name -> table: the asset's own, and those that it was made from. Where ``judge_coverage`` is among
            them, or ``pair_judge_coverage``, judges are called by their labels.
        chosen_by: who or what chose, of a preference set: nothing is said of people where no person chose.
    """
    look = _LOOKS[asset]
    coverage = tables.get("pair_judge_coverage" if asset in OF_PREFERENCE_SETS else "judge_coverage")
    tables = {**tables, asset: _labelled(tables[asset], coverage)}
    drawn = _misalignment(tables, chosen_by) if asset == "misalignment" and chosen_by else look.figures(tables)
    figures = [replace(figure, source=PAPER_FIGURES.get(figure.name, figure.source)) for figure in drawn]
    return figures, [] if look.view is None else [look.view(tables[asset])]


def figures_page(
    asset: str,
    partition: str,
    figures: Sequence[DrawnFigure],
    views: Sequence[View],
    code_version: str,
    chosen_by: str | None = None,
) -> str:
    """The page of an asset's figures, to lie beside ``LIBRARY``; the same for the same input.

    Args:
        asset: the asset.
        partition: the contest, or the preference set.
        figures: what ``asset_figures`` gives.
        views: likewise.
        code_version: of the asset.
        chosen_by: who or what chose, of a preference set.
    """
    of_set = asset in OF_PREFERENCE_SETS
    context = {
        "asset": asset,
        "partition": partition,
        "kind": "Preference set" if of_set else "Contest",
        "report": OF_PREFERENCE_SETS.get(asset, "cocreation_report.html"),
        "chosen_by": chosen_by,
        "figures": figures,
        "provenance": {"code_version": code_version},
    }
    return render(TEMPLATE, figures, context, views, library_beside=LIBRARY)


def figures_markdown(figures: Sequence[DrawnFigure], views: Sequence[View]) -> str:
    """Each figure in words, with its intervals, and the first rows of the table; untrusted names stay text."""
    said = " ".join(figure.alt for figure in figures)
    notes = dict.fromkeys(note for figure in figures for note in figure.notes if note not in said)
    shown_notes = (escape(note, MAX_CHARS) for note in notes)
    return "\n\n".join([*map(_in_words, figures), *shown_notes, *(_as_markdown(view) for view in views)])


def first_picture(figures: Sequence[DrawnFigure]) -> str | None:
    """The first figure that is drawn, as Markdown that holds the picture itself; None where there is none."""
    for figure in figures:
        if figure.figure is not None and (svg := small_picture(figure.figure, figure.alt)):
            held = base64.b64encode(svg.encode("utf-8", "replace")).decode()
            return f"![{escape(figure.title)}](data:image/svg+xml;base64,{held})"
    return None


def _labelled(table: pd.DataFrame, coverage: pd.DataFrame | None) -> pd.DataFrame:
    """The table, every judge called by its label, so that none is shown without its tags."""
    if coverage is None:
        return table
    labels = {judge: kind.label for judge, kind in judge_kinds(coverage).items()}
    judges = [name for name in ("judge", "judge_1", "judge_2") if name in table]
    if judges:
        return table.assign(**{name: table[name].map(lambda judge: labels.get(judge, judge)) for name in judges})
    if {"of", "name"} <= set(table.columns):
        named = table["name"].where(table["of"] != "judge", table["name"].map(lambda judge: labels.get(judge, judge)))
        return table.assign(name=named)
    return table


def _in_words(figure: DrawnFigure) -> str:
    source = f" ({escape(figure.source)})" if figure.source else ""
    said = f"Not drawn: {figure.reason}." if figure.reason else figure.alt.removeprefix(f"{figure.title}, ")
    return f"**{escape(figure.title)}**{source}\n\n{escape(said, MAX_CHARS)}"


def _as_markdown(view: View) -> str:
    """The first rows of a table, with its remarks; smaller lines of a cell follow in the same cell."""
    caption = f"**{escape(view.caption, MAX_CHARS)}**"
    if not view.rows:
        return f"{caption}\n\n{escape(view.empty, MAX_CHARS)}"
    lines = [_row([escape(heading.text) for heading in view.headings]), _row(["---"] * len(view.headings))]
    lines += [_row([_cell(cell) for cell in row]) for row in view.rows[:MAX_ROWS]]
    more = [f"{MAX_ROWS} of {len(view.rows):,} rows are shown."] if len(view.rows) > MAX_ROWS else []
    remarks = [*(f"{note}." for note in view.common), *view.remarks, *more]
    return "\n\n".join([caption, "\n".join(lines), *(escape(remark, MAX_CHARS) for remark in remarks)])


def _cell(cell: Cell) -> str:
    return escape("; ".join([" ".join([cell.text, *(f"[{tag}]" for tag in cell.tags)]), *cell.below]))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
