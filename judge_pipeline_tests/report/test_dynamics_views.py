from __future__ import annotations

from dataclasses import replace

import pytest

from judge_pipeline.figures.estimates import format_number
from judge_pipeline.report.cocreation_report import cocreation_figures, cocreation_views
from judge_pipeline.report.dynamics_views import dynamics_views
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline.report.table_files import table_files
from judge_pipeline.tables.dynamics_words import ORDERS, TIME_UNITS
from judge_pipeline_tests.report.made_dynamics import made_dynamics
from judge_pipeline_tests.report.made_tables import made_tables
from judge_pipeline_tests.report.test_cocreation_report import PROVENANCE, parsed


@pytest.fixture(scope="module")
def whole() -> CocreationReportInput:
    return replace(made_tables(), **made_dynamics())  # type: ignore[arg-type]


def test_every_row_of_the_tables_is_in_a_view(whole: CocreationReportInput) -> None:
    made, found = made_dynamics(), {view.name: view for view in dynamics_views(whole)}
    for name, table in (
        ("time-groups-table", "survival_groups"), ("hazards", "hazards"), ("churn-effects", "churn_effects"),
        ("revision-gains", "revision_gains"), ("churn-summary", "churn_summary"),
    ):  # fmt: skip
        assert len(found[name].rows) == len(made[table])
        assert all(len(row) == len(found[name].headings) for row in found[name].rows)


@pytest.mark.parametrize(
    ("name", "table", "shown"),
    [("success-curves-table", "success_curves", ["n_solved"]),
     ("survival-curves-table", "survival_curves", ["n_at_risk", "n_events", "n_censored"])],
)  # fmt: skip
def test_curves_show_the_times_of_a_change_and_no_change_is_lost(
    name: str, table: str, shown: list[str], whole: CocreationReportInput
) -> None:
    (view,) = [view for view in dynamics_views(whole) if view.name == name]
    rows = made_dynamics()[table]
    rows = rows[rows["grouped_by"] == "all"]
    assert 0 < len(view.rows) < len(rows)
    at = {(r[0].text, r[1].text, int(r[2].text.replace(",", ""))): r for r in view.rows}
    for (unit, order), curve in rows.groupby(["time_unit", "order"]):
        named = (TIME_UNITS[str(unit)], ORDERS[str(order)])
        last = None
        for row in curve.sort_values("time").to_dict("records"):
            found = at.get((*named, row["time"]))
            if found is not None:
                assert [cell.text for cell in found[3 : 3 + len(shown)]] == [f"{row[c]:,}" for c in shown]
                last = found[3 + len(shown)].text
            else:  # what a reader takes from the row above is true of a time without a row
                assert format_number(row["value"]) == last
        assert (*named, curve["time"].min()) in at and (*named, curve["time"].max()) in at


def test_patterns_count_what_the_rule_can_say(whole: CocreationReportInput) -> None:
    rows = made_dynamics()["trajectory_patterns"]
    as_recorded = rows[rows["order"] == "as_recorded"]
    (view,) = [view for view in dynamics_views(whole) if view.name == "patterns"]
    counted = [cell.text for cell in view.rows[0]][2:5]
    known = as_recorded["recovered"].dropna()
    assert counted == [str(int(known.sum())), str(len(known)), str(len(as_recorded) - len(known))]


def test_tests_show_whole_groupings_and_count_pairs(whole: CocreationReportInput) -> None:
    tests = made_dynamics()["survival_tests"]
    (view,) = [view for view in dynamics_views(whole) if view.name == "time-tests"]
    assert len(view.rows) == int(tests["first_level"].isna().sum())
    assert f"Of {int(tests['first_level'].notna().sum()):,} pairs" in view.remarks[0]


@pytest.mark.slow
def test_the_page_shows_each_figure_and_table_once_in_the_order_of_their_numbers(whole: CocreationReportInput) -> None:
    document = parsed(whole)
    names = [figure.name for figure in cocreation_figures(whole)]
    assert [(node.attributes["id"] or "").removeprefix("figure-") for node in document.css("figure")] == names
    shown = [node.attributes["data-table"] for node in document.css("[data-table]")]
    for view in dynamics_views(whole):
        assert shown.count(view.name) == 1
    assert document.css_first("#revision") is not None


@pytest.mark.slow
def test_an_older_output_without_these_tables_has_the_rest() -> None:
    older = made_tables()
    document = parsed(older)
    assert document.css_first("#revision") is None
    assert document.css_first("#people") is not None
    assert dynamics_views(older) == []


@pytest.mark.slow
def test_the_tables_are_files_too(whole: CocreationReportInput) -> None:
    files = table_files(cocreation_views(whole, PROVENANCE))
    assert {"churn-effects.csv", "revision-gains.tex", "hazards.csv", "time-groups-table.csv"} <= set(files)
