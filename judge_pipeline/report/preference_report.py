"""The preference report of one set: one HTML page that works offline, prints, and reads on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judge_pipeline.figures.misalignment import misalignment_figure
from judge_pipeline.figures.preference_accuracy import (
    length_bias_figure,
    position_bias_figure,
    preference_accuracy_figure,
)
from judge_pipeline.figures.preference_agreement import choice_agreement_figure
from judge_pipeline.figures.preference_gap import gap_figure
from judge_pipeline.figures.rubric_scores import rubric_scores_figure
from judge_pipeline.figures.style import DrawnFigure
from judge_pipeline.report import preference_misalignment_views as weighed
from judge_pipeline.report import preference_rubric_views as rubric_views
from judge_pipeline.report import preference_views as views
from judge_pipeline.report.page import render
from judge_pipeline.report.preference_accuracy_views import (
    accuracy_views,
    judge_cells,
    rank_relations,
    under_rule,
)
from judge_pipeline.report.preference_cautions import preference_cautions
from judge_pipeline.report.preference_examples import RULE, Example, examples
from judge_pipeline.report.preference_findings import preference_findings
from judge_pipeline.report.preference_homes import Homes
from judge_pipeline.report.preference_inputs import (
    PreferenceProvenance,
    PreferenceReportInput,
    item_titles,
    labelled,
)
from judge_pipeline.report.view import View
from judge_pipeline.tables.misalignment import EFFECTS

TEMPLATE = "preference.html.j2"

PAPER_FIGURES = {"misalignment-coefficient": "TRACE, Figure 3"}
"""Which figure of the paper each follows."""


def preference_report_html(tables: PreferenceReportInput, provenance: PreferenceProvenance) -> str:
    """The page for one preference set, from its tables and where they come from.

    Everything on it follows from the arguments: the same arguments give the same bytes. Tables that were not made,
    judges without a verified table and undefined figures are shown as such, with the reason.

    Args:
        tables: the set's tables.
        provenance: set, who chose, settings, versions, prompts.

    Returns:
        A complete HTML document in UTF-8, about 5 MB, most of it the drawing library. Nothing is loaded from outside.
    """
    given = labelled(tables)
    figures, shown = preference_figures(given, provenance), examples(given)
    context: dict[str, Any] = {
        "provenance": provenance,
        "head": head(given),
        "cautions": preference_cautions(given, provenance),
        "findings": preference_findings(given, provenance),
        "figures": {figure.name: figure for figure in figures},
        "numbers": {figure.name: place for place, figure in enumerate(figures, 1)},
        "examples": shown,
        "rule_of_examples": RULE,
        "missing": given.missing,
    }
    return render(TEMPLATE, figures, context, preference_views(given, provenance, shown))


def head(given: PreferenceReportInput) -> str:
    """How many pairs there are, and what the importer did with the rows of the files, in a sentence or two."""
    n = len(given.preference_pairs)
    said = f"{n:,} pair{'' if n == 1 else 's'}."
    if given.preference_selection is not None:
        counts = given.preference_selection.groupby("effect")["n"].sum()
        parts = [f"{words} {int(counts[effect]):,}" for effect, words in views.EFFECT_WORDS.items() if effect in counts]
        said += f" Rows of the files: {', '.join(parts)}."
    return said


def preference_figures(given: PreferenceReportInput, provenance: PreferenceProvenance) -> list[DrawnFigure]:
    """The figures of the report in its order; judges and items are called as the tables call them."""
    drawn: list[DrawnFigure] = []
    if given.preference_accuracy is not None:
        rows = under_rule(given.preference_accuracy, provenance.rule)
        makers = (
            preference_accuracy_figure, position_bias_figure, gap_figure, length_bias_figure, choice_agreement_figure
        )  # fmt: skip
        drawn += [make(rows) for make in makers]
    if given.rubric_scores is not None:
        drawn.append(rubric_scores_figure(given.rubric_scores))
    models, tested = given.preference_models, given.misalignment
    if models is not None and tested is not None:
        effects = EFFECTS if len(tested) else ("coefficient",)  # one figure is enough to say that nothing was tested
        drawn += [misalignment_figure(models, tested, effect, provenance.chooser) for effect in effects]
    return [replace(figure, source=PAPER_FIGURES.get(figure.name, "")) for figure in drawn]


def preference_views(
    given: PreferenceReportInput, provenance: PreferenceProvenance, shown: Sequence[Example] = ()
) -> list[View]:
    """The tables of the report in its order.

    Args:
        given: the tables, judges and items called as the page calls them.
        provenance: of the set.
        shown: the pairs that the page shows, to which tables link.
    """
    return [
        *([] if given.dataset_profile is None else [views.profile(given.dataset_profile)]),
        *([] if given.pair_judge_coverage is None else [views.coverage(given.pair_judge_coverage, given.kinds)]),
        *_of_accuracy(given, provenance),
        *_of_rubric(given, provenance),
        *_of_models(given, provenance.chooser),
        *_of_disagreements(given, shown),
        *([] if given.preference_selection is None else [views.selection(given.preference_selection)]),
        *([] if given.preference_quarantine is None else [views.quarantine(given.preference_quarantine)]),
        *views.provenance(provenance),
        views.missing_tables(given, provenance.preference_set),
    ]


def _of_accuracy(given: PreferenceReportInput, provenance: PreferenceProvenance) -> list[View]:
    if given.preference_accuracy is None:
        return []
    rule, words = provenance.rule, provenance.rules.get(provenance.rule, "")
    found = accuracy_views(given.preference_accuracy, given.families, given.kinds, Homes.of(given), rule, words)
    ranks = given.preference_ranks
    own = None if ranks is None else ranks[(ranks[["set_1", "set_2"]] == provenance.preference_set).any(axis=1)]
    return [*found, rank_relations(own)]


def _of_rubric(given: PreferenceReportInput, provenance: PreferenceProvenance) -> list[View]:
    found = [] if given.rubric is None else [rubric_views.rubric_items(given.rubric)]
    if given.rubric_score_agreement is not None:
        found.append(rubric_views.score_reliability(given.rubric_scores, given.rubric_score_agreement, Homes.of(given)))
    if given.rubric_themes is not None:
        found.append(rubric_views.themes(given.rubric_themes, provenance.preference_set, item_titles(given.rubric)))
    return found


def _of_models(given: PreferenceReportInput, chooser: str) -> list[View]:
    models, fits, tested = given.preference_models, given.preference_model_fits, given.misalignment
    cell, homes, found = judge_cells(given.kinds), Homes.of(given), []
    if tested is not None:
        found += [
            weighed.misaligned_items(tested, models, chooser, homes),
            weighed.misaligned_judges(tested, cell, homes),
        ]
    if fits is not None:
        found.append(weighed.model_fits(fits, models, cell, chooser, homes))
    if models is not None:
        order = [] if tested is None else weighed.divergent_items(tested)
        found.append(weighed.coefficients(models, fits, cell, chooser, order, homes))
    return found


def _of_disagreements(given: PreferenceReportInput, shown: Sequence[Example]) -> list[View]:
    if given.rubric_disagreements is None:
        return []
    links = {example.pair_id: f"#{example.anchor}" for example in shown}
    compared = {}
    if (fits := given.preference_model_fits) is not None:
        compared = {str(row["judge"]): int(row["n"]) for row in fits[fits["of"] == "judge"].to_dict("records")}
    return [
        rubric_views.disagreements_by_judge(given.rubric_disagreements, compared),
        rubric_views.disagreement_pairs(given.rubric_disagreements, links),
    ]
