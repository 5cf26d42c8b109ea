from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from judge_pipeline import tables
from judge_pipeline.figures.agreement import cohen_figure
from judge_pipeline.figures.cross_metric import PAIRS, cross_metric_figure, decision_agreement_figure
from judge_pipeline.figures.style import MARKER_PATHS, MARKERS
from judge_pipeline_tests.report.made_tables import HOSTILE, Made, made_tables


@pytest.fixture(scope="module")
def made() -> tables.Table:
    return made_tables(Made(participants=20))


def cell(table: pd.DataFrame, **keys: str) -> pd.Series:
    for column, value in keys.items():
        table = table[table[column] == value]
    return table.iloc[0]


def test_figure_4_is_a_cross_of_two_intervals_for_each_judge_and_pair(made) -> None:
    drawn = cross_metric_figure(made.judge_metrics)
    judges = list(dict.fromkeys(made.judge_metrics["judge"]))
    assert [label for label, _ in drawn.key] == judges
    for index, (across, up, part) in enumerate(PAIRS):
        axis = f"x{index + 1 if index else ''}"
        crosses = {t.name: t for t in drawn.figure.data if t.xaxis == axis and t.mode == "markers"}
        assert set(crosses) == set(judges)
        for judge, cross in crosses.items():
            for name, at, whisker in ((across, cross.x, cross.error_x), (up, cross.y, cross.error_y)):
                row = cell(made.judge_metrics, judge=judge, metric=name)
                assert at[0] == row["value"]
                assert at[0] + whisker.array[0] == pytest.approx(row["ci95_high"])
                assert at[0] - whisker.arrayminus[0] == pytest.approx(row["ci95_low"])
        texts = [a.text for a in drawn.figure.layout.annotations if a.xref.startswith(f"{axis} ")]
        assert any(text.startswith(f"<b>({part})") for text in texts)
    assert all(judge in drawn.alt for judge in judges)


def test_a_judge_with_an_undefined_figure_is_named_and_not_drawn(made) -> None:
    metrics = made.judge_metrics.copy()
    mask = (metrics["judge"] == "simulated-noisy") & (metrics["metric"] == "mcc_test")
    metrics.loc[mask, ["value", "ci95_low", "ci95_high"]] = None
    drawn = cross_metric_figure(metrics)
    assert any("simulated-noisy (ROC-AUC and MCC on test, PR-AUC and MCC on test)" in note for note in drawn.notes)
    assert not [t for t in drawn.figure.data if t.name == "simulated-noisy" and t.xaxis == "x"]


def test_figure_7_has_mcc_mean_kappa_and_fleiss_with_their_intervals(made) -> None:
    drawn = decision_agreement_figure(made.judge_metrics, made.judge_agreement)
    means = made.judge_agreement[made.judge_agreement["statistic"] == "judge_mean_cohen"]
    mcc, kappa = (next(t for t in drawn.figure.data if t.xaxis == "x" and t.name == n) for n in
                  ("MCC on test", "Mean κ with the others"))  # fmt: skip
    assert list(kappa.x) == means["value"].tolist()
    expected = [cell(made.judge_metrics, judge=j, metric="mcc_test")["value"] for j in means["judge_1"]]
    assert list(mcc.x) == expected
    fleiss = cell(made.judge_agreement, statistic="fleiss")["value"]
    assert next(t for t in drawn.figure.data if t.name == "Fleiss' κ").x[0] == fleiss
    scaled = next(t for t in drawn.figure.data if t.xaxis == "x2" and t.name == "MCC on test")
    assert (min(scaled.x), max(scaled.x)) == (0, 1)
    widths = [up + down for up, down in zip(mcc.error_x.array, mcc.error_x.arrayminus, strict=True)]
    relative = [up + down for up, down in zip(scaled.error_x.array, scaled.error_x.arrayminus, strict=True)]
    span = max(mcc.x) - min(mcc.x)
    assert relative == pytest.approx([width / span for width in widths])


def test_without_a_panel_neither_is_drawn_and_both_say_why(made) -> None:
    nothing = decision_agreement_figure(made.judge_metrics, tables.JUDGE_AGREEMENT.empty())
    assert nothing.figure is None and "two verified judges" in nothing.reason
    assert cross_metric_figure(tables.JUDGE_METRICS.empty()).figure is None


def test_equal_judges_have_no_relative_profile(made) -> None:
    metrics = made.judge_metrics.copy()
    metrics.loc[metrics["metric"] == "mcc_test", "value"] = 0.4
    drawn = decision_agreement_figure(metrics, made.judge_agreement)
    assert list(next(t for t in drawn.figure.data if t.xaxis == "x2" and t.name == "MCC on test").x) == []


def test_a_hostile_judge_is_text() -> None:
    hostile = made_tables(Made(judges=(f"simulated-{HOSTILE}", HOSTILE), participants=20))
    for drawn in (
        cross_metric_figure(hostile.judge_metrics),
        decision_agreement_figure(hostile.judge_metrics, hostile.judge_agreement),
    ):
        for trace in drawn.figure.data:
            assert "<img" not in (trace.name or "") and "<img" not in "".join(trace.text or ())
        assert not any("<img" in annotation.text for annotation in drawn.figure.layout.annotations)


@pytest.mark.slow
def test_the_heatmap_holds_intervals_while_there_is_room(made) -> None:
    few = cohen_figure(made.judge_agreement)
    row = cell(made.judge_agreement, statistic="cohen")
    assert f"[{row['ci95_low']:.2f}, {row['ci95_high']:.2f}]" in few.figure.data[0].text[0][1]
    many = made_tables(Made(judges=tuple(f"j{k}" for k in range(10)), participants=20))
    assert not any("[" in text for line in cohen_figure(many.judge_agreement).figure.data[0].text for text in line)


def test_every_marker_has_a_path_for_the_key() -> None:
    assert set(MARKERS) == set(MARKER_PATHS)
    assert replace(cross_metric_figure(made_tables().judge_metrics)).key[0][1].path
