from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge_pipeline import tables
from judge_pipeline.figures import judges, style
from judge_pipeline.figures.agreement import cohen_figure
from judge_pipeline.figures.forest import FOREST_METRICS, forest_figure
from judge_pipeline.report.inputs import CocreationReportInput
from judge_pipeline_tests.report.made_tables import HOSTILE, MANY_JUDGES, Made, made_tables


@pytest.fixture(scope="module")
def made() -> CocreationReportInput:
    return made_tables(Made(judges=MANY_JUDGES))


@pytest.fixture(scope="module")
def one_class() -> CocreationReportInput:
    return made_tables(Made(one_class=True))


def traces(drawn: style.DrawnFigure, name: str | None = None) -> list[Any]:
    assert drawn.figure is not None
    return [trace for trace in drawn.figure.data if name is None or trace.name == name]


def points(curves: pd.DataFrame, judge: str, curve: str) -> pd.DataFrame:
    return curves[(curves["judge"] == judge) & (curves["curve"] == curve)].sort_values("point")


def metric_row(made: CocreationReportInput, judge: str, metric: str) -> pd.Series:
    rows = made.judge_metrics
    return rows[(rows["judge"] == judge) & (rows["metric"] == metric)].iloc[0]


@pytest.mark.parametrize(("draw", "curve"), [(judges.roc_figure, "roc"), (judges.pr_figure, "pr")])
def test_a_curve_carries_the_points_of_the_table(made: CocreationReportInput, draw: Any, curve: str) -> None:
    drawn = draw(made.judge_curves, made.judge_metrics)
    for judge in MANY_JUDGES:
        expected = points(made.judge_curves, judge, curve)
        (trace,) = traces(drawn, judge)
        assert list(trace.x) == expected["x"].tolist()
        assert list(trace.y) == expected["y"].tolist()


def test_the_panels_of_the_others_hold_all_other_curves(made: CocreationReportInput) -> None:
    grey = traces(judges.roc_figure(made.judge_curves, made.judge_metrics), "other judges")
    assert len(grey) == len(MANY_JUDGES)
    assert all(list(trace.y).count(None) == len(MANY_JUDGES) - 1 for trace in grey)


def test_the_floor_of_precision_recall_is_the_accepted_share(made: CocreationReportInput) -> None:
    drawn = judges.pr_figure(made.judge_curves, made.judge_metrics)
    # The table's own precision at full recall and lowest threshold is the share of accepted attempts.
    full = points(made.judge_curves, "qwen-coder", "pr").query("x == 1")["y"].min()
    for trace in traces(drawn, "without skill"):
        assert list(trace.y) == pytest.approx([full, full])


@pytest.mark.parametrize(("recall", "shape"), [([1.0, 0.5, 0.0], "hv"), ([0.0, 0.5, 1.0], "vh")])
def test_precision_holds_back_to_the_next_lower_recall(recall: list[float], shape: str) -> None:
    """The area under the drawn steps is the average precision, whichever way the table runs."""
    precision = [0.6, 0.8, 1.0] if recall[0] == 1 else [1.0, 0.8, 0.6]
    rows = [
        {"judge": "j", "curve": "pr", "point": k, "x": x, "y": y, "threshold": None, "n": 9, "ci95_low": None,
         "ci95_high": None, "reason": None}
        for k, (x, y) in enumerate(zip(recall, precision, strict=True), 1)
    ]  # fmt: skip
    drawn = judges.pr_figure(tables.JUDGE_CURVES.conform(rows), tables.JUDGE_METRICS.empty())
    (trace,) = traces(drawn, "j")
    assert trace.line.shape == shape
    x, y = np.array(trace.x), np.array(trace.y)
    held = y[:-1] if shape == "hv" else y[1:]
    assert float(np.sum(np.abs(np.diff(x)) * held)) == pytest.approx(0.5 * 0.6 + 0.5 * 0.8)


def test_reliability_carries_bins_intervals_and_counts(made: CocreationReportInput) -> None:
    drawn = judges.reliability_figure(made.judge_curves, made.judge_metrics)
    counts = traces(drawn, "counts")
    for judge, shown in zip(MANY_JUDGES, counts, strict=True):
        expected = points(made.judge_curves, judge, "reliability")
        (trace,) = traces(drawn, judge)
        assert list(trace.x) == expected["x"].tolist()
        assert list(trace.y) == expected["y"].tolist()
        assert np.array(trace.y) + np.array(trace.error_y.array) == pytest.approx(expected["ci95_high"].to_numpy())
        assert np.array(trace.y) - np.array(trace.error_y.arrayminus) == pytest.approx(expected["ci95_low"].to_numpy())
        assert [int(text) for text in shown.text] == expected["n"].tolist()


def test_every_panel_names_its_judge_with_figure_interval_and_n(made: CocreationReportInput) -> None:
    drawn = judges.roc_figure(made.judge_curves, made.judge_metrics)
    assert drawn.figure is not None
    texts = " ".join(annotation.text for annotation in drawn.figure.layout.annotations)
    row = metric_row(made, "qwen-coder", "roc_auc")
    assert "<b>qwen-coder</b>" in texts
    assert f"AUC {row['value']:.2f} [{row['ci95_low']:.2f}, {row['ci95_high']:.2f}], n = {row['n']}" in texts


def test_one_class_says_so_instead_of_drawing(one_class: CocreationReportInput) -> None:
    drawn = judges.roc_figure(one_class.judge_curves, one_class.judge_metrics)
    assert drawn.figure is None
    assert "only one class on test" in (drawn.reason or "")
    assert "n = 12" in drawn.subtitle


def test_a_judge_without_a_curve_is_named_with_its_reason(made: CocreationReportInput) -> None:
    curves = made.judge_curves[made.judge_curves["judge"] != "qwen-coder"]
    drawn = judges.roc_figure(curves, made.judge_metrics)
    assert any(note.startswith("No panel for qwen-coder:") for note in drawn.notes)
    assert not traces(drawn, "qwen-coder")


def test_a_long_curve_is_thinned_with_its_ends_kept_and_says_so() -> None:
    n = 5000
    rows = pd.DataFrame(
        {"judge": "j", "curve": "roc", "point": range(1, n + 1), "x": np.linspace(0, 1, n), "y": np.linspace(0, 1, n),
         "threshold": np.linspace(1, 0, n), "n": n, "ci95_low": None, "ci95_high": None, "reason": None}
    )  # fmt: skip
    drawn = judges.roc_figure(tables.JUDGE_CURVES.conform(rows), tables.JUDGE_METRICS.empty())
    (trace,) = traces(drawn, "j")
    assert len(trace.x) == judges.MAX_POINTS
    assert (trace.x[0], trace.x[-1]) == (0.0, 1.0)
    assert any("5,000 points" in note for note in drawn.notes)


def test_forest_rows_carry_value_and_interval(made: CocreationReportInput) -> None:
    drawn = forest_figure(made.judge_metrics, {"pr_auc": 0.66})
    assert drawn.figure is not None
    for panel, metric in enumerate(FOREST_METRICS):
        axis = f"x{style.axis_id(panel)}"
        for judge in MANY_JUDGES:
            row = metric_row(made, judge, metric)
            (trace,) = [t for t in traces(drawn, judge) if t.xaxis == axis]
            assert trace.x[0] == row["value"]
            assert trace.x[0] + trace.error_x.array[0] == pytest.approx(row["ci95_high"])
            assert trace.x[0] - trace.error_x.arrayminus[0] == pytest.approx(row["ci95_low"])
            low, high = drawn.figure.layout[f"xaxis{style.axis_id(panel)}"].range
            assert low <= row["ci95_low"] <= row["ci95_high"] <= high
    floors = {t.xaxis: t.x[0] for t in traces(drawn, "without skill")}
    assert floors == {"x": 0.5, "x2": 0.66, "x3": 0.0}


def test_forest_says_undefined_instead_of_a_dot(one_class: CocreationReportInput) -> None:
    drawn = forest_figure(one_class.judge_metrics, {})
    assert drawn.figure is not None
    assert not [t for t in traces(drawn, "simulated-sharp") if t.xaxis == "x"]
    first = [a.text for a in drawn.figure.layout.annotations if a.xref == "x domain"]
    assert first.count("undefined") == 5


def test_heatmap_is_symmetric_and_equals_the_table(made: CocreationReportInput) -> None:
    drawn = cohen_figure(made.judge_agreement)
    (trace,) = traces(drawn)
    z = trace.z
    assert drawn.figure is not None
    names = [text.split(" ", 1)[1] for text in drawn.figure.layout.yaxis.ticktext]
    pairs = made.judge_agreement[made.judge_agreement["statistic"] == "cohen"]
    order = list(dict.fromkeys([*pairs["judge_1"], *pairs["judge_2"]]))
    assert len(names) == len(order)
    for row in pairs.to_dict("records"):
        a, b = order.index(row["judge_1"]), order.index(row["judge_2"])
        assert z[a][b] == z[b][a] == row["value"]
        assert trace.text[a][b] == f"{row['value']:.2f}".replace("-0.00", "0.00")
    assert all(z[k][k] is None for k in range(len(order)))


def test_an_undefined_kappa_is_shown_as_such_with_its_reason() -> None:
    row = {
        "statistic": "cohen", "rated": "decision", "judge_1": "a", "judge_2": "b",
        "value": None, "n": 9, "n_left_out": 0, "ci95_low": None,
        "ci95_high": None, "reason": "one label from everyone",
    }  # fmt: skip
    drawn = cohen_figure(tables.JUDGE_AGREEMENT.conform([row]))
    assert drawn.figure is not None
    assert [a.text for a in drawn.figure.layout.annotations] == ["undef.", "undef."]
    assert "Undefined for a and b: one label from everyone." in drawn.notes


@pytest.mark.parametrize("draw", [judges.roc_figure, judges.pr_figure, judges.reliability_figure])
def test_a_hostile_judge_is_text(draw: Any) -> None:
    made = made_tables(Made(judges=(HOSTILE, "b"), participants=20))
    drawn = draw(made.judge_curves, made.judge_metrics)
    assert drawn.figure is not None
    written = drawn.figure.to_json()
    assert "<img" not in written
    assert "\\u003cimg" not in written
    assert "<a " not in written


def test_nothing_to_draw_has_reasons() -> None:
    curves, metrics = tables.JUDGE_CURVES.empty(), tables.JUDGE_METRICS.empty()
    for drawn in (
        judges.roc_figure(curves, metrics),
        judges.pr_figure(curves, metrics),
        judges.reliability_figure(curves, metrics),
        forest_figure(metrics, {}),
        cohen_figure(tables.JUDGE_AGREEMENT.empty()),
    ):
        assert drawn.figure is None
        assert drawn.reason


def test_the_text_alternative_says_each_judges_figure(made: CocreationReportInput) -> None:
    drawn = judges.roc_figure(made.judge_curves, made.judge_metrics)
    for judge in MANY_JUDGES:
        assert f"{judge} {metric_row(made, judge, 'roc_auc')['value']:.3f}" in drawn.alt
