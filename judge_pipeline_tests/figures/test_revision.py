from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline import tables
from judge_pipeline.figures import revision
from judge_pipeline.figures.patterns import patterns_figure
from judge_pipeline.figures.struggle_groups import (
    struggle_groups_figure,
    struggle_judges_figure,
    struggle_levels_figure,
)
from judge_pipeline.figures.success_by_group import success_curves_figure, success_levels_figure
from judge_pipeline.figures.time_to_success import time_curves_figure, time_groups_figure
from judge_pipeline.tables.revision import CONVERGENCE, REVISIONS
from judge_pipeline.tables.struggle import PATTERN_GROUPS, STRUGGLE_GROUPS
from judge_pipeline.tables.time_to_success import SUCCESS_CURVES, SURVIVAL_CURVES, SURVIVAL_GROUPS
from judge_pipeline_tests.report.made_dynamics import made_dynamics


@pytest.mark.parametrize("measure", ["code_ned", "codebleu_churn"])
def test_every_revision_with_both_is_a_point(measure: str) -> None:
    made = made_dynamics()
    drawn = revision.churn_figure(made["revisions"], made["churn_effects"], measure)
    assert drawn.figure is not None
    known = made["revisions"].dropna(subset=[measure, "delta_p_mean"])
    points = sorted((x, y) for t in drawn.figure.data if t.mode == "markers" for x, y in zip(t.x, t.y, strict=True))
    assert points == sorted(zip(known[measure], known["delta_p_mean"], strict=True))
    effects = made["churn_effects"]
    wanted = (effects["measure"] == measure) & (effects["progress"] == "delta_p_mean")
    wanted &= (effects["statistic"] == "spearman") & (effects["revisions"] == "all")
    for rho in effects[wanted]["value"]:
        assert f"ρ {rho:.2f}".replace("-0.00", "0.00") in drawn.alt


def test_more_points_than_fit_are_drawn_by_a_fixed_draw_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revision, "MAX_POINTS", 50)
    given = made_dynamics()["revisions"].iloc[::-1]  # not as other tests draw it: each table is drawn once
    first = revision.churn_figure(given, None, "code_ned")
    shuffled = revision.churn_figure(given.sample(frac=1, random_state=1), None, "code_ned")
    assert first.figure is not None
    assert shuffled.figure is not None

    def points(figure: object) -> list[tuple[float, float]]:
        return sorted((x, y) for t in figure.data if t.mode == "markers" for x, y in zip(t.x, t.y, strict=True))  # type: ignore[attr-defined]

    assert len(points(first.figure)) == 100
    assert points(first.figure) == points(shuffled.figure)
    assert any("50 of 333" in note for note in first.notes)


def test_convergence_tells_the_reference_from_the_rest() -> None:
    made = made_dynamics()
    drawn = revision.convergence_figure(made["convergence"], made["churn_summary"])
    assert drawn.figure is not None
    whole = made["convergence"]
    for own, name in ((True, "the reference"), (False, "other attempts")):
        counted = sum(sum(t.y) for t in drawn.figure.data if t.name == name)
        assert counted == whole.loc[whole["is_reference"] == own, "codebleu"].notna().sum()
    assert "n = 314, 15 left out" in drawn.alt


def test_the_mean_without_the_reference_stands_where_it_is_not_cut() -> None:
    given = made_dynamics()
    drawn = revision.convergence_figure(given["convergence"], given["churn_summary"])
    assert drawn.figure is not None
    assert all(len(note.text) <= 50 for note in drawn.figure.layout.annotations), "a phone shows about 57 characters"
    orders = given["convergence"]["order"].nunique()
    assert len([note for note in drawn.notes if "mean without the accepted program itself" in note]) == orders


def test_success_of_one_turn_has_its_band() -> None:
    rows = made_dynamics()["success_curves"]
    rows = rows[(rows["grouped_by"] == "problem_id") & (rows["time"] == 1) & (rows["order"] == "as_recorded")]
    one = rows[rows["time_unit"] == "turns"].head(2)
    drawn = success_levels_figure(one, "problem_id")
    assert drawn.figure is not None
    for index, row in enumerate(one.to_dict("records")):
        in_panel = [t for t in drawn.figure.data if t.xaxis == ("x", "x2")[index]]
        upper, lower, line, dots = (
            next(t for t in in_panel if t.name == name)
            for name in ("upper end", "lower end", "curve", "order as recorded")
        )
        assert list(dots.x) == [1]
        assert list(dots.y) == [row["value"]]
        for trace, value in ((upper, row["ci95_high"]), (lower, row["ci95_low"]), (line, row["value"])):
            assert list(trace.y) == [value, value]
            assert trace.x[1] - trace.x[0] >= 0.5, "wide enough to be seen"
        first, last = drawn.figure.layout[("xaxis", "xaxis2")[index]].range
        assert first < 1 < upper.x[1] <= last
        assert drawn.figure.layout[("xaxis", "xaxis2")[index]].dtick == 1, "a tick at the turn, too"


def test_success_holds_on_after_its_last_step() -> None:
    drawn = success_curves_figure(made_dynamics()["success_curves"])
    assert drawn.figure is not None
    for line in (t for t in drawn.figure.data if t.name == "curve"):
        assert line.x[-1] > line.x[-2]
        assert line.y[-1] == line.y[-2]


def test_time_curves_carry_the_table_and_numbers_at_risk() -> None:
    curves = made_dynamics()["survival_curves"]
    drawn = time_curves_figure(curves)
    assert drawn.figure is not None
    whole = curves[(curves["grouped_by"] == "all") & curves["value"].notna()]
    values = [list(t.y) for t in drawn.figure.data if t.name == "curve"]
    assert values == [
        part.sort_values("time")["value"].tolist() for _, part in whole.groupby(["order", "time_unit"], sort=False)
    ]
    turns = whole[(whole["order"] == "as_recorded") & (whole["time_unit"] == "turns")]
    printed = {a.x: a.text for a in drawn.figure.layout.annotations if a.xref == "x"}
    assert len(printed) > 1
    assert printed.items() <= {r["time"]: f"{r['n_at_risk']:,}" for r in turns.to_dict("records")}.items()


def test_groups_carry_the_interval_over_clusters() -> None:
    groups = made_dynamics()["survival_groups"]
    drawn = time_groups_figure(groups)
    assert drawn.figure is not None
    wanted = (groups["order"] == "as_recorded") & (groups["time_unit"] == "turns")
    rows = groups[wanted & (groups["statistic"] == "restricted_mean") & (groups["grouped_by"] == "problem_id")]
    dots, turned = [t for t in drawn.figure.data if t.xaxis == "x"]
    assert len(turned.x) == len(dots.x) and max(turned.y) < max(dots.y)
    assert list(dots.x) == rows["value"].tolist()
    np.testing.assert_allclose(np.array(dots.x) + np.array(dots.error_x.array), rows["cluster_high"].astype(float))


def test_struggle_of_groups_draws_the_panel_only() -> None:
    groups = made_dynamics()["struggle_groups"]
    drawn = struggle_groups_figure(groups)
    assert drawn.figure is not None
    panel = groups[groups["judge"].isna() & (groups["statistic"] == "confidence")]
    solved = panel[(panel["level"] == "solved") & (panel["order"] == "as_recorded")].sort_values("turn")
    assert solved["value"].tolist() in [list(t.y) for t in drawn.figure.data if t.name == "mean p_ac"]


@pytest.mark.slow
def test_the_panel_is_seen_until_a_judge_is_chosen() -> None:
    drawn = struggle_levels_figure(made_dynamics()["struggle_groups"], "problem_id")
    assert drawn.figure is not None
    choices = drawn.figure.layout.meta["choices"]
    assert choices == ["the panel (mean)", "claude", "deepseek", "gemini", "openai"]
    assert {trace.meta["choice"] for trace in drawn.figure.data} == set(range(len(choices)))
    assert all(trace.visible == (trace.meta["choice"] == 0) for trace in drawn.figure.data)
    assert all(note.visible == (note.name == "0") for note in drawn.figure.layout.annotations)


def test_empty_tables_are_not_drawn_and_say_why() -> None:
    for drawn in (
        revision.churn_figure(REVISIONS.empty(), None, "code_ned"),
        revision.convergence_figure(CONVERGENCE.empty(), None),
        time_curves_figure(SURVIVAL_CURVES.empty()),
        time_groups_figure(SURVIVAL_GROUPS.empty()),
        struggle_groups_figure(STRUGGLE_GROUPS.empty()),
        struggle_judges_figure(STRUGGLE_GROUPS.empty()),
        struggle_levels_figure(STRUGGLE_GROUPS.empty(), "participant"),
        patterns_figure(PATTERN_GROUPS.empty()),
        success_curves_figure(SUCCESS_CURVES.empty()),
        success_levels_figure(SUCCESS_CURVES.empty(), "problem_id"),
    ):
        assert drawn.figure is None
        assert drawn.reason


def test_an_unjudged_contest_has_churn_but_no_figure_of_progress() -> None:
    rows = made_dynamics()["revisions"].assign(delta_p_mean=None, delta_p_mean_reason="no panel judge judged it")
    drawn = revision.churn_figure(REVISIONS.conform(rows), None, "code_ned")
    assert drawn.reason is not None
    assert "no panel judge judged it" in drawn.reason


def test_the_tables_of_the_paper_count_contest_are_those_of_the_schema() -> None:
    by_name = {table.name: table for table in tables.ALL_TABLES}
    for name, frame in made_dynamics().items():
        pd.testing.assert_frame_equal(by_name[name].conform(frame), frame)
