"""Issue 6: where the check of turn order warns, every figure and table of dynamics is there with the order reversed."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from judge_pipeline.cocreation.trajectories import check_turn_order
from judge_pipeline.figures.style import DrawnFigure
from judge_pipeline.report.cocreation_report import cocreation_figures
from judge_pipeline.report.dynamics_views import dynamics_views
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.view import View
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest
from judge_pipeline_tests.report.made_dynamics import made_dynamics
from judge_pipeline_tests.report.test_research_questions import whole

BY_TURN = (
    "success_curves", "survival_curves", "survival_groups", "survival_tests", "hazards", "struggle_groups",
    "trajectory_patterns", "pattern_groups", "revisions", "convergence", "churn_summary", "revision_gains",
    "churn_effects",
)  # fmt: skip
"""Every table of issue 6 that hangs on the order of turns, and that the report shows."""

FIGURES = (
    "success-curves", "success-problem-id", "success-language", "success-participant", "time-curves", "time-groups",
    "hazard-turns", "hazard-problems",
    "struggle", "struggle-groups", "struggle-judges", "struggle-problems", "struggle-participants", "patterns",
    "churn-code-ned", "churn-codebleu-churn", "convergence",
)  # fmt: skip

VIEWS = (
    "patterns", "pattern-groups", "success-curves-table", "survival-curves-table", "time-groups-table", "time-tests",
    "hazards", "churn-effects", "revision-gains", "churn-summary",
)  # fmt: skip

IN_NO_FIGURE = {"prompt-space-test"}
"""Views of tables that know no turns."""


def _in_order() -> CocreationReportInput:
    """The same tables as if the check had not warned."""
    tables = {
        name: frame[frame["order"] == "as_recorded"] for name, frame in made_dynamics().items() if "order" in frame
    }
    started = whole().trajectories.assign(n_rejected_after_first_ac=0)
    return replace(whole(), trajectories=started, **tables)  # type: ignore[arg-type]


def _says_reversed(figure: DrawnFigure) -> bool:
    return "reversed" in " ".join((figure.alt, *figure.notes))


@pytest.fixture(scope="module")
def drawn() -> dict[str, DrawnFigure]:
    return {figure.name: figure for figure in cocreation_figures(whole())}


@pytest.fixture(scope="module")
def views() -> dict[str, View]:
    return {view.name: view for view in dynamics_views(whole())}


def test_the_check_warns_of_this_contest() -> None:
    assert check_turn_order(paper_counts_contest().trajectories).warning is not None


@pytest.mark.parametrize("name", BY_TURN)
def test_the_table_has_both_orders(name: str) -> None:
    rows: pd.DataFrame = made_dynamics()[name]
    counts = rows["order"].value_counts()
    assert set(counts.index) == {"as_recorded", "reversed"}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_has_both_orders(name: str, drawn: dict[str, DrawnFigure]) -> None:
    assert drawn[name].figure is not None
    assert _says_reversed(drawn[name])


@pytest.mark.parametrize("name", VIEWS)
def test_the_table_of_the_page_has_both_orders(name: str, views: dict[str, View]) -> None:
    shown = {cell.text for row in views[name].rows for cell in row}
    assert {"as recorded", "reversed"} <= shown


def test_no_view_of_dynamics_is_forgotten(views: dict[str, View]) -> None:
    assert set(views) - IN_NO_FIGURE == set(VIEWS)


@pytest.mark.slow
def test_nothing_is_reversed_where_the_order_is_not_in_doubt() -> None:
    for figure in cocreation_figures(_in_order()):
        assert not _says_reversed(figure), figure.name
    for view in dynamics_views(_in_order()):
        assert "reversed" not in {cell.text for row in view.rows for cell in row}
