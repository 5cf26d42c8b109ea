"""The co-creation report of one contest: one HTML page that works offline, prints, and reads on a phone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from judge_pipeline.figures.agreement import cohen_figure
from judge_pipeline.figures.anchors import anchor_figure
from judge_pipeline.figures.canaries import canary_figure
from judge_pipeline.figures.cross_metric import cross_metric_figure, decision_agreement_figure
from judge_pipeline.figures.dynamics import struggle_figure, success_figure, survival_figure
from judge_pipeline.figures.estimates import accepted_share, metrics_by_judge
from judge_pipeline.figures.forest import forest_figure
from judge_pipeline.figures.hazards import hazard_problems_figure, hazard_turns_figure
from judge_pipeline.figures.judges import pr_figure, reliability_figure, roc_figure
from judge_pipeline.figures.patterns import patterns_figure
from judge_pipeline.figures.prompt_code import prompt_code_figure
from judge_pipeline.figures.prompt_space import prompt_space_figure
from judge_pipeline.figures.revision import churn_figure, convergence_figure
from judge_pipeline.figures.struggle_groups import (
    struggle_groups_figure,
    struggle_judges_figure,
    struggle_levels_figure,
)
from judge_pipeline.figures.style import DrawnFigure
from judge_pipeline.figures.success_by_group import LEVELS, success_curves_figure, success_levels_figure
from judge_pipeline.figures.thresholds import threshold_figure
from judge_pipeline.figures.time_to_success import time_curves_figure, time_groups_figure
from judge_pipeline.report import cocreation_views as views
from judge_pipeline.report.anchor_views import anchor_periods
from judge_pipeline.report.anchor_words import drifted, not_drifted
from judge_pipeline.report.canary_views import canaries
from judge_pipeline.report.cautions import cautions
from judge_pipeline.report.compared import differences
from judge_pipeline.report.dynamics_views import dynamics_views
from judge_pipeline.report.findings import findings
from judge_pipeline.report.inputs import CocreationReportInput, ReportProvenance, judge_kinds
from judge_pipeline.report.measurement_views import measurement_views
from judge_pipeline.report.methods_paragraph import methods_paragraph
from judge_pipeline.report.page import render
from judge_pipeline.report.rerating_views import reratings
from judge_pipeline.report.research_questions import questions_view, research_questions
from judge_pipeline.report.view import View

TEMPLATE = "cocreation.html.j2"

PAPER_FIGURES = {
    "roc": "paper 1, Figure 2a", "pr": "paper 1, Figure 2b", "reliability": "paper 1, Figure 3",
    "cross-metric": "paper 1, Figure 4", "cohen": "paper 1, Figure 5", "prompt-code": "paper 1, Figure 6",
    "decision-agreement": "paper 1, Figure 7", "struggle": "paper 1, Figure 8", "survival": "paper 1, Figure 9",
    "success": "paper 1, Figure 10", "prompt-space": "paper 1, Figure 11", "churn-code-ned": "paper 1, Figure 12",
    "churn-codebleu-churn": "paper 1, Figure 13", "convergence": "paper 1, Figure 14",
}  # fmt: skip
"""Which figure of the paper each follows."""


def cocreation_report_html(
    tables: CocreationReportInput, provenance: ReportProvenance, shown: Sequence[View] | None = None
) -> str:
    """The page for one contest, from its tables and where they come from.

    Everything on it follows from the arguments: the same arguments give the same bytes. Tables without rows, judges
    without a verified table and undefined figures are shown as such, with the reason.

    Args:
        tables: the contest's tables.
        provenance: contest, settings, versions, prompts.
        shown: the ``cocreation_views`` of these, where they are made already.

    Returns:
        A complete HTML document in UTF-8, about 5 MB, most of it the drawing library. Nothing is loaded from outside.
    """
    labelled = tables.labelled
    figures = cocreation_figures(labelled)
    context: dict[str, Any] = {
        "provenance": provenance,
        "cautions": cautions(tables, provenance.note),
        "findings": findings(tables),
        "questions": research_questions(tables),
        "figures": {figure.name: figure for figure in figures},
        "numbers": {figure.name: place for place, figure in enumerate(figures, 1)},
        "methods": methods_paragraph(tables, provenance),
        "drift": [*drifted(anchors), *not_drifted(anchors)] if (anchors := labelled.anchor_figures) is not None else [],
    }
    return render(TEMPLATE, figures, context, cocreation_views(tables, provenance) if shown is None else shown)


def cocreation_figures(tables: CocreationReportInput) -> list[DrawnFigure]:
    """The figures of the report in its order; judges are called as the tables call them."""
    curves, metrics = tables.judge_curves, tables.judge_metrics
    drawn = [
        forest_figure(metrics, without_skill(tables)),
        roc_figure(curves, metrics),
        pr_figure(curves, metrics),
        reliability_figure(curves, metrics),
        threshold_figure(curves, metrics),
        cross_metric_figure(metrics),
        cohen_figure(tables.judge_agreement),
        decision_agreement_figure(metrics, tables.judge_agreement),
        prompt_code_figure(tables.prompt_code_ned, tables.prompt_code_summary),
        success_figure(tables.success_at_turn),
        *([] if tables.success_curves is None else success_figures(tables.success_curves)),
        survival_figure(tables.survival),
        *_drawn(
            (tables.survival_curves, time_curves_figure),
            (tables.survival_groups, time_groups_figure),
            (tables.hazards, hazard_turns_figure),
            (tables.hazards, hazard_problems_figure),
        ),
        struggle_figure(tables.struggle_curves, in_doubt=_order_in_doubt(tables.trajectories)),
        *_drawn(
            (tables.struggle_groups, struggle_groups_figure),
            (tables.struggle_groups, struggle_judges_figure),
            (tables.struggle_groups, lambda table: struggle_levels_figure(table, "problem_id")),
            (tables.struggle_groups, lambda table: struggle_levels_figure(table, "participant")),
            (tables.pattern_groups, patterns_figure),
            (tables.revisions, lambda table: churn_figure(table, tables.churn_effects, "code_ned")),
            (tables.revisions, lambda table: churn_figure(table, tables.churn_effects, "codebleu_churn")),
            (tables.convergence, lambda table: convergence_figure(table, tables.churn_summary)),
            (tables.prompt_space, lambda table: prompt_space_figure(table, tables.prompt_space_test)),
        ),
    ]
    if tables.anchor_figures is not None and len(tables.anchor_figures):
        drawn.append(anchor_figure(tables.anchor_figures))
    effects = tables.judge_canary_effects
    if effects is not None and len(effects):
        drawn.append(canary_figure(effects))
    return [replace(figure, source=PAPER_FIGURES.get(figure.name, "")) for figure in drawn]


def _order_in_doubt(trajectories: pd.DataFrame) -> bool:
    after, before = (int(trajectories[f"n_rejected_{when}_first_ac"].sum()) for when in ("after", "before"))
    return after > before


def success_figures(curves: pd.DataFrame) -> list[DrawnFigure]:
    """Success@Turn in every unit, and by each grouping that has groups, from ``success_curves``."""
    grouped = [name for name in LEVELS if (curves["grouped_by"] == name).any()]
    return [success_curves_figure(curves), *(success_levels_figure(curves, name) for name in grouped)]


def _drawn(*made: tuple[pd.DataFrame | None, Callable[[pd.DataFrame], DrawnFigure]]) -> list[DrawnFigure]:
    """The figures whose table was made."""
    return [draw(table) for table, draw in made if table is not None]


def without_skill(tables: CocreationReportInput) -> dict[str, float]:
    """What a judge without skill reaches on test: PR-AUC at the accepted share, Brier score of a constant answer.

    The constant is that of ``judge_differences``, at the accepted share of val; without that table, or labels of val,
    that of test. A figure is left out where judges were measured on tests of different accepted share, since there is
    no one line then; both are where a test has one class only.
    """
    shares = set(accepted_share(tables.judge_curves).values())
    if not shares or not shares.isdisjoint({0.0, 1.0}):
        return {}
    brier = {judge: found["brier"].value for judge, found in metrics_by_judge(tables.judge_metrics).items()}
    of_val = [
        value - row.estimate.value
        for row in differences(tables.judge_differences, "brier", "constant")
        if (value := brier.get(row.judge_1)) is not None and row.estimate.value is not None
    ]
    levels = {"pr_auc": shares, "brier": of_val or [share * (1 - share) for share in shares]}
    found = {name: {round(level, 12) for level in given} for name, given in levels.items()}
    return {name: level.pop() for name, level in found.items() if len(level) == 1}


def cocreation_views(tables: CocreationReportInput, provenance: ReportProvenance) -> Sequence[View]:
    """The tables of the report in its order."""
    kinds, effects = judge_kinds(tables.judge_coverage), tables.judge_canary_effects
    anchors = tables.anchor_figures
    return [
        views.overview(tables.contest_overview),
        views.coverage(tables.judge_coverage, kinds),
        views.scores(tables.judge_metrics, kinds),
        views.decisions(tables.judge_metrics, kinds),
        views.further_metrics(tables.judge_metrics, kinds),
        views.agreement_summary(tables.judge_agreement, kinds),
        views.agreement_pairs(tables.judge_agreement, kinds),
        *measurement_views(tables),
        reratings(tables.rerating_agreement, kinds),
        views.trajectory_counts(tables.trajectories),
        views.success(tables.success_at_turn),
        views.survival(tables.survival),
        *dynamics_views(tables),
        questions_view(research_questions(tables)),
        *([anchor_periods(anchors, kinds)] if anchors is not None and len(anchors) else []),
        *([canaries(effects, kinds)] if effects is not None and len(effects) else []),
        views.set_aside(tables.ingest_quarantine),
        *views.provenance(provenance),
    ]
