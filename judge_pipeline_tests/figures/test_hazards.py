from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.figures import hazards as figures
from judge_pipeline.figures.hazards import hazard_problems_figure, hazard_turns_figure
from judge_pipeline.figures.style import DrawnFigure
from judge_pipeline.tables.hazards import HAZARDS
from judge_pipeline_tests.report.made_dynamics import made_dynamics
from judge_pipeline_tests.report.made_tables import HOSTILE


def rows(term: str, order: str = "as_recorded") -> pd.DataFrame:
    table = made_dynamics()["hazards"]
    return table[(table["term"] == term) & (table["order"] == order)]


def panel(drawn: DrawnFigure, name: str) -> Any:
    assert drawn.figure is not None
    return next(trace for trace in drawn.figure.data if trace.name == name and trace.xaxis == "x")


def test_turns_carry_the_chances_of_the_table_and_their_intervals() -> None:
    table = rows("turn")
    drawn = hazard_turns_figure(made_dynamics()["hazards"])
    dots = panel(drawn, "chance")
    known = table["value"].notna().to_numpy()
    assert known.any()
    for at, row in enumerate(table.to_dict("records")):
        if not known[at]:
            assert dots.y[at] is None
            continue
        assert dots.y[at] == row["hazard"]
        low, high = (1 / (1 + np.exp(-row[f"ci95_{end}"])) for end in ("low", "high"))
        assert dots.y[at] - dots.error_y.arrayminus[at] == pytest.approx(low)
        assert dots.y[at] + dots.error_y.array[at] == pytest.approx(high)
    assert drawn.figure is not None
    assert list(drawn.figure.layout.xaxis.ticktext) == table["level"].tolist()


def test_problems_stand_by_their_coefficient_and_those_without_are_named() -> None:
    table = rows("problem_id")
    drawn = hazard_problems_figure(made_dynamics()["hazards"])
    dots = panel(drawn, "log odds ratio")
    known = table[table["value"].notna()].sort_values("value", ascending=False)
    assert list(dots.x) == known["value"].tolist()
    assert dots.x[0] - dots.error_x.arrayminus[0] == pytest.approx(known["ci95_low"].iloc[0])
    assert dots.x[0] + dots.error_x.array[0] == pytest.approx(known["ci95_high"].iloc[0])
    said = " ".join(drawn.notes)
    for row in table[table["value"].isna()].to_dict("records"):
        assert row["level"] in said and row["reason"] in said


def test_of_many_problems_the_farthest_from_the_average_are_drawn_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "MAX_PROBLEMS", 3)
    table = rows("problem_id")
    drawn = hazard_problems_figure(made_dynamics()["hazards"].iloc[::-1])  # else it is the one drawn before, of all
    farthest = table["value"].abs().nlargest(3).index
    assert list(panel(drawn, "log odds ratio").x) == table.loc[farthest, "value"].sort_values(ascending=False).tolist()
    assert f"3 of {table['value'].notna().sum()} problems are drawn" in drawn.notes[0]


def test_without_a_model_they_say_why_and_names_stay_text() -> None:
    for draw in (hazard_turns_figure, hazard_problems_figure):
        assert draw(HAZARDS.empty()).reason == "no trajectory has a decided attempt"
        unfitted = made_dynamics()["hazards"].assign(value=np.nan, reason="the features are collinear")
        assert draw(unfitted).reason == "the features are collinear"
    hostile = hazard_problems_figure(
        rows("problem_id").assign(level=lambda t: [f"{k}{HOSTILE}" for k in range(len(t))])
    )
    assert hostile.figure is not None
    assert "<img" not in str(hostile.figure.layout.yaxis.ticktext) + str(panel(hostile, "log odds ratio").text)
