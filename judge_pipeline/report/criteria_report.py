"""The criteria report of one set: one HTML page that works offline, prints, and reads on a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge_pipeline.figures.criteria_calls import criteria_calls_figure
from judge_pipeline.figures.criteria_gains import criteria_gains_figure
from judge_pipeline.figures.criteria_skew import criteria_skew_figure
from judge_pipeline.figures.style import DrawnFigure
from judge_pipeline.report import criteria_evidence_views as evidence
from judge_pipeline.report import criteria_views as views
from judge_pipeline.report.criteria_cautions import criteria_cautions
from judge_pipeline.report.criteria_findings import criteria_findings
from judge_pipeline.report.criteria_inputs import CriteriaReportInput
from judge_pipeline.report.criteria_pairs import RULE, CriteriaExample, criteria_examples
from judge_pipeline.report.page import render
from judge_pipeline.report.preference_inputs import PreferenceProvenance
from judge_pipeline.report.preference_views import provenance as provenance_views
from judge_pipeline.report.view import Cell, Heading, View

if TYPE_CHECKING:
    import pandas as pd

TEMPLATE = "criteria.html.j2"

_ELSEWHERE = ("paper-6", "paper-7")
"""Tables of the paper that stand in sections of their own."""

ARRANGED = ("1", "2", "3", "3a", "3b", "5", "8")
"""Tables of the paper whose rows are configurations, each with its Acc and gains."""


def criteria_report_html(given: CriteriaReportInput, provenance: PreferenceProvenance) -> str:
    """The page for one preference set, from its tables and where they come from.

    Everything on it follows from the arguments: the same arguments give the same bytes. Tables that were not made and
    undefined figures are shown as such, with the reason. No published number stands on it.

    Args:
        given: what each configuration came to, its ablation, guidance and judges.
        provenance: set, who chose, settings, versions, prompts.

    Returns:
        A complete HTML document in UTF-8, about 5 MB, most of it the drawing library. Nothing is loaded from outside.
    """
    figures, shown = criteria_figures(given), criteria_examples(given)
    found = criteria_views(given, provenance, shown)
    context: dict[str, Any] = {
        "provenance": provenance,
        "head": head(given),
        "cautions": criteria_cautions(given, provenance),
        "findings": criteria_findings(given),
        "figures": {figure.name: figure for figure in figures},
        "numbers": {figure.name: place for place, figure in enumerate(figures, 1)},
        "gains": [figure.name for figure in figures if figure.name.startswith("gains-")],
        "costs": [figure.name for figure in figures if figure.name.startswith("costs-")],
        "paper": [
            view.name for view in found if view.name.startswith("paper-") and view.name not in ("paper-6", "paper-7")
        ],
        "guidance": given.guidance,
        "examples": shown,
        "rule_of_examples": RULE,
        "missing": given.missing,
    }
    return render(TEMPLATE, figures, context, found)


def head(given: CriteriaReportInput) -> str:
    """How many configurations of how many judges, on how many pairs, in a sentence."""
    n, judges = len(given.judged), len(given.judges)
    most = max((len(own.criteria_decisions) for own in given.judged), default=0)
    return (
        f"{n:,} configuration{'' if n == 1 else 's'} of {judges:,} judge{'' if judges == 1 else 's'}, on up to "
        f"{most:,} validation pairs of {len(given.preference_pairs):,} pairs."
    )


def criteria_figures(given: CriteriaReportInput) -> list[DrawnFigure]:
    """The figures of the report in its order."""
    return ablation_figures(given.criteria_ablation, {judge: given.called(judge) for judge in given.judges})


def ablation_figures(ablation: pd.DataFrame | None, called: Mapping[str, str]) -> list[DrawnFigure]:
    """What judges reach and gain, their position skew, and what it takes; nothing where nobody judged.

    Args:
        ablation: table CRITERIA_ABLATION.
        called: judge -> what it is called on the page, in the order of the figures.
    """
    if ablation is None or ablation.empty:
        return []
    judges = [(place, judge, name) for place, (judge, name) in enumerate(called.items(), 1)]
    return [
        *(criteria_gains_figure(ablation, judge, f"gains-{place}", name) for place, judge, name in judges),
        replace(criteria_skew_figure(ablation, called), source="CriterAlign, Table 6"),
        *(criteria_calls_figure(ablation, judge, f"costs-{place}", name) for place, judge, name in judges),
    ]


def criteria_views(
    given: CriteriaReportInput, provenance: PreferenceProvenance, shown: Sequence[CriteriaExample] = ()
) -> list[View]:
    """The tables of the report in its order.

    Args:
        given: the tables.
        provenance: of the set.
        shown: the pairs that the page shows, to which tables link.
    """
    links = {example.pair_id: f"#{example.anchor}" for example in reversed(shown)}
    return [
        views.configurations(given),
        *_of_ablation(given),
        *([] if given.criteria_aspects is None else [evidence.aspects(given, given.criteria_aspects)]),
        *([] if given.decisive_criteria is None else [evidence.decisive(given, given.decisive_criteria, links)]),
        *provenance_views(provenance),
        missing_tables(given, provenance.preference_set),
    ]


def _of_ablation(given: CriteriaReportInput) -> list[View]:
    ablation = given.criteria_ablation
    if ablation is None:
        return []
    there = set(ablation["paper_table"].dropna())
    known = [table for table in ARRANGED if table in there]
    further = sorted(there - {*ARRANGED, "4", "6", "7"})
    arranged = [views.paper_table(given, ablation, table) for table in (*known, *further)]
    return [
        *arranged,
        *([views.synthesizers(given, ablation)] if "4" in there else []),
        views.floors(ablation),
        views.all_configurations(given, ablation),
        views.categories(given, ablation),
        evidence.skew(given, ablation),
        evidence.filtering(given, ablation),
        views.calls(given, ablation),
        views.savings(given, ablation),
    ]


def missing_tables(given: CriteriaReportInput, preference_set: str) -> View:
    """Which tables the report could not show, and what makes them."""
    view = View(
        "missing", "Tables that are not there", (Heading("Table"), Heading("What it holds"), Heading("What to run")),
        empty="All tables are there.",
    )  # fmt: skip
    words = {name: schema.description for name, schema in given.schemas().items()}
    for name in given.missing:
        run = f"Materialize the asset {name} for {preference_set} in the UI"
        view.rows.append([Cell(name), Cell(words.get(name, "What each configuration decided.")), Cell(run)])
    return view
