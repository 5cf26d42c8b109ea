from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judge_pipeline import tables
from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import dynamics
from judge_pipeline.figures.style import DrawnFigure
from judge_pipeline_tests.report.made_tables import HOSTILE, Made, made_tables


def trace(drawn: DrawnFigure, name: str) -> Any:
    assert drawn.figure is not None
    (found,) = [t for t in drawn.figure.data if t.name == name]
    return found


def struggle(rows: list[tuple[str, str, int, int | None, float | None]]) -> pd.DataFrame:
    return tables.STRUGGLE_CURVES.conform(
        [
            {
                "attempt_id": f"{k:016x}", "participant": u, "problem_id": p, "turn": turn, "y": y, "p_mean": mean,
                "n_judges": 2, "delta_p_mean": None, "reason": None if mean is not None else "not judged by all",
            }
            for k, (u, p, turn, y, mean) in enumerate(rows)
        ]
    )  # fmt: skip


def test_success_carries_the_table_and_holds_its_last_value() -> None:
    table = made_tables().success_at_turn
    drawn = dynamics.success_figure(table)
    assert list(trace(drawn, "estimate").x) == table["turn"].tolist()
    assert list(trace(drawn, "estimate").y) == table["value"].tolist()
    assert list(trace(drawn, "curve").y) == [*table["value"], table["value"].iloc[-1]]
    assert list(trace(drawn, "lower end").y)[:-1] == table["ci95_low"].tolist()
    assert list(trace(drawn, "upper end").y)[:-1] == table["ci95_high"].tolist()
    assert "n = 120 trajectories" in drawn.subtitle


def test_the_papers_success_by_turn_is_said_in_words() -> None:
    rows = [{"turn": k, "n_solved": n, **Estimate(n / 184, 184).to_row()} for k, n in ((1, 157), (4, 158), (6, 159))]
    drawn = dynamics.success_figure(tables.SUCCESS_AT_TURN.conform(rows))
    assert "turn 1: 0.853" in drawn.alt
    assert "turn 6: 0.864" in drawn.alt


def test_survival_carries_the_table_the_censored_and_the_numbers_at_risk() -> None:
    table = made_tables().survival
    drawn = dynamics.survival_figure(table)
    assert list(trace(drawn, "estimate").y) == table["value"].tolist()
    censored = table[table["n_censored"] > 0]
    assert list(trace(drawn, "last observed, unsolved").x) == censored["turn"].tolist()
    assert drawn.figure is not None
    at_risk = {a.x: a.text for a in drawn.figure.layout.annotations if a.xref == "x"}
    expected = {row["turn"]: f"{row['n_at_risk']:,}" for row in table.to_dict("records")}
    assert at_risk.items() <= expected.items()
    assert {0, int(table["turn"].max())} <= set(at_risk)


def test_many_turns_print_few_numbers_at_risk() -> None:
    rows = [
        {"turn": k, "n_at_risk": 500 - k, "n_events": 1, "n_censored": 0, **Estimate(1 - k / 500, 500).to_row()}
        for k in range(200)
    ]
    drawn = dynamics.survival_figure(tables.SURVIVAL.conform(rows))
    assert drawn.figure is not None
    assert sum(a.xref == "x" for a in drawn.figure.layout.annotations) == dynamics.RISK_TICKS


def test_the_representative_trajectory_has_the_most_known_turns() -> None:
    table = struggle(
        [("a", "p", k, 0, None) for k in (1, 2, 3, 4)]
        + [("b", "p", k, 0, 0.5) for k in (1, 2, 3)]
        + [("a", "q", k, 0, 0.5) for k in (1, 2, 3)]
    )
    assert dynamics.representative_trajectory(table) == ("a", "q")
    assert dynamics.representative_trajectory(struggle([("a", "p", 1, 0, 0.5)])) is None


def test_the_struggle_curve_leaves_a_gap_and_marks_outcomes() -> None:
    table = struggle([("a", "p", 1, 0, 0.25), ("a", "p", 2, None, 0.5), ("a", "p", 3, 0, None), ("a", "p", 4, 1, 0.75)])
    drawn = dynamics.struggle_figure(table)
    assert list(trace(drawn, "mean p_ac").y) == [0.25, 0.5, None, 0.75]
    assert trace(drawn, "mean p_ac").connectgaps is False
    assert list(trace(drawn, "accepted").x) == [4]
    assert list(trace(drawn, "not accepted").x) == [1]
    assert list(trace(drawn, "undecided").x) == [2]
    assert drawn.subtitle == "n = 3 of 4 turns with a mean over 2 panel judge(s)"
    assert any("Chosen by rule" in note for note in drawn.notes)


def test_a_named_trajectory_is_drawn_without_the_rule() -> None:
    table = struggle([("a", "p", 1, 0, 0.25), ("b", "p", 1, 0, 0.5), ("b", "p", 2, 1, 0.5)])
    drawn = dynamics.struggle_figure(table, ("a", "p"))
    assert "a on p" in drawn.title
    assert drawn.notes == ()


def test_no_panel_judge_is_the_reason_for_no_curve() -> None:
    drawn = dynamics.struggle_figure(struggle([("a", "p", 1, 0, None), ("a", "p", 2, 0, None)]))
    assert drawn.figure is None
    assert "not judged by all" in (drawn.reason or "")


@pytest.mark.parametrize(
    ("draw", "table"),
    [
        (dynamics.success_figure, tables.SUCCESS_AT_TURN),
        (dynamics.survival_figure, tables.SURVIVAL),
        (dynamics.struggle_figure, tables.STRUGGLE_CURVES),
    ],
)
def test_empty_tables_have_a_reason(draw: Any, table: tables.Table) -> None:
    drawn = draw(table.empty())
    assert drawn.figure is None
    assert drawn.reason


def test_a_single_turn_is_drawn() -> None:
    row = {"turn": 1, "n_solved": 2, **Estimate(0.5, 4, 0, (0.1, 0.9)).to_row()}
    drawn = dynamics.success_figure(tables.SUCCESS_AT_TURN.conform([row]))
    assert list(trace(drawn, "lower end").y) == [0.1, 0.1]
    assert len(set(trace(drawn, "lower end").x)) == 2


def test_hostile_names_are_text() -> None:
    made = made_tables(Made(participant_name=lambda number: f"{HOSTILE}{number}", participants=4))
    drawn = dynamics.struggle_figure(made.struggle_curves)
    assert drawn.figure is not None
    assert "<img" not in drawn.figure.to_json()
