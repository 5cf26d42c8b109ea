from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline import tables
from judge_pipeline.figures.judges import roc_figure
from judge_pipeline.figures.thresholds import threshold_figure
from judge_pipeline_tests.report.made_tables import THRESHOLD, Made, made_tables


@pytest.fixture(scope="module")
def made():
    return made_tables(Made(participants=20))


def _points(curves: pd.DataFrame, judge: str, curve: str) -> pd.DataFrame:
    return curves[(curves["judge"] == judge) & (curves["curve"] == curve)]


def test_the_curve_its_band_the_plateau_and_t_star_are_drawn(made) -> None:
    drawn = threshold_figure(made.judge_curves, made.judge_metrics)
    for index, judge in enumerate(dict.fromkeys(made.judge_metrics["judge"])):
        rows = _points(made.judge_curves, judge, "mcc_val")
        traces = {t.name: t for t in drawn.figure.data if t.xaxis == f"x{index + 1 if index else ''}"}
        assert [y for y in traces[judge].y if y is not None] == rows["y"].tolist()
        assert list(traces["upper end"].y) == rows["ci95_high"].tolist()
        assert traces["t*"].x[0] == THRESHOLD
        assert min(traces["plateau"].x) == pytest.approx(0.48 - 0.005)
        assert max(traces["plateau"].x) == pytest.approx(0.52 + 0.005)
    assert "t* 0.50" in drawn.alt and "plateau 0.48 to 0.52" in drawn.alt and "n = " in drawn.subtitle


def test_a_threshold_without_mcc_breaks_the_line(made) -> None:
    judge = made.judge_metrics["judge"].iloc[0]
    rows = _points(made.judge_curves, judge, "mcc_val")
    holed = rows[(rows["x"] < 0.4) | (rows["x"] > 0.5)].assign(point=lambda t: range(1, len(t) + 1))
    drawn = threshold_figure(tables.JUDGE_CURVES.conform(holed), tables.JUDGE_METRICS.empty())
    assert list(drawn.figure.data[-1].y).count(None) == 1


def test_without_a_threshold_it_says_why() -> None:
    made = made_tables(Made(one_class=True))
    drawn = threshold_figure(made.judge_curves, made.judge_metrics)
    assert drawn.figure is None and drawn.reason


def test_roc_curves_carry_the_band_of_the_table(made) -> None:
    judge = made.judge_metrics["judge"].iloc[0]
    rows = _points(made.judge_curves, judge, "roc_band")
    upper = next(t for t in roc_figure(made.judge_curves, made.judge_metrics).figure.data if t.name == "upper end")
    assert list(upper.y) == rows["ci95_high"].tolist()
