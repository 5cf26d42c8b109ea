from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from judge_pipeline import tables
from judge_pipeline.estimate import Estimate
from judge_pipeline.report.headline import HEADLINE_METRICS, headline, headline_tables, median_turn, success_ends
from judge_pipeline_tests.report.made_tables import MANY_JUDGES, Made, empty_tables, made_tables


def printed(made: Made | None, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, color_system=None)
    for table in headline_tables(headline(made_tables(made) if made else empty_tables())):
        console.print(table)
    return out.getvalue()


def survival(time: np.ndarray, event: np.ndarray) -> pd.DataFrame:
    """The Kaplan-Meier table by lifelines, band included."""
    from lifelines import KaplanMeierFitter

    fitter = KaplanMeierFitter().fit(time, event)
    band = fitter.confidence_interval_survival_function_
    rows = []
    for turn in range(1, int(time.max()) + 1):
        value = float(fitter.survival_function_at_times(turn).iloc[0])
        low, high = band.loc[:turn].iloc[-1]
        at_risk = int((time >= turn).sum())
        row = Estimate(value, len(time), 0, (float(low), float(high))).to_row()
        rows.append({"turn": turn, "n_at_risk": at_risk, "n_events": 0, "n_censored": 0, **row})
    return tables.SURVIVAL.conform(rows)


@pytest.mark.parametrize("seed", range(6))
def test_the_median_and_its_interval_are_those_of_lifelines(seed: int) -> None:
    from lifelines import KaplanMeierFitter
    from lifelines.utils import median_survival_times

    random = np.random.default_rng(seed)
    time, event = random.geometric(0.3, 80), random.random(80) < 0.8
    fitter = KaplanMeierFitter().fit(time, event)
    found = median_turn(survival(time, event))
    assert found.value == fitter.median_survival_time_
    low, high = median_survival_times(fitter.confidence_interval_).iloc[0]
    if np.isfinite(high):
        assert found.ci95 == (low, high)
    else:
        assert found.ci95 is None


def test_a_median_that_is_not_reached_is_undefined_with_the_share_left() -> None:
    found = median_turn(survival(np.array([1, 2, 3, 4]), np.array([True, False, False, False])))
    assert found.value is None
    assert found.reason == "not reached: an estimated 75.0% are still unsolved after turn 4"
    assert found.n == 4


def test_the_ends_of_success_by_turn() -> None:
    rows = [{"turn": k, "n_solved": n, **Estimate(n / 184, 184).to_row()} for k, n in ((6, 159), (1, 157), (4, 158))]
    first, last = success_ends(tables.SUCCESS_AT_TURN.conform(rows))
    assert (first[0], round(first[1].value or 0, 4)) == ("Solved by turn 1, S(1)", 0.8533)
    assert (last[0], round(last[1].value or 0, 4)) == ("Solved by the last turn, S(6)", 0.8641)


def test_the_headline_holds_the_tables_estimates() -> None:
    made = made_tables()
    found = headline(made)
    for row in made.judge_metrics.to_dict("records"):
        if row["metric"] in HEADLINE_METRICS:
            estimate = found.judges[row["judge"]][row["metric"]]
            assert estimate is not None
            assert (estimate.value, estimate.n) == (row["value"], row["n"])
            assert estimate.ci95 == (row["ci95_low"], row["ci95_high"])


@pytest.mark.parametrize("made", [Made(), Made(judges=MANY_JUDGES), Made(one_class=True), None])
def test_it_fits_into_eighty_columns_uncut(made: Made | None) -> None:
    text = printed(made)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_the_terminal_shows_figures_with_n_and_tags() -> None:
    text = printed(Made(unverified={"simulated-noisy": "its file is missing"}))
    assert "n=15" in text
    assert "(embedded)" in text
    assert "Not judged: simulated-noisy." in text
    assert "Median turns to success (Kaplan-Meier)" in text


def test_a_table_that_is_not_verified_is_told_from_one_that_is_not_there() -> None:
    made = made_tables(Made(unverified={"simulated-noisy": "1 of 9 attempts"}))
    coverage = made.judge_coverage.assign(status=made.judge_coverage["status"].replace("not judged", "unverified"))
    assert (coverage["status"] == "unverified").any()
    out = io.StringIO()
    for table in headline_tables(headline(replace(made, judge_coverage=coverage))):
        Console(file=out, width=80).print(table)
    assert "Not verified: simulated-noisy." in out.getvalue()
    assert "Not judged" not in out.getvalue()


def test_a_warning_of_a_few_figures_names_them_and_one_of_most_does_not() -> None:
    made = made_tables()
    metrics, few = made.judge_metrics, made.judge_metrics["metric"].isin(["roc_auc", "mcc_test"])
    said = metrics["reason"].mask(metrics["value"].notna(), "11 clusters are few")
    said = said.mask(few & metrics["value"].notna(), "11 clusters are few; undefined in 5 of 9 resamples")
    out = io.StringIO()
    for table in headline_tables(headline(replace(made, judge_metrics=metrics.assign(reason=said)))):
        Console(file=out, width=80).print(table)
    lines = " ".join(out.getvalue().split())
    assert "ROC-AUC; MCC on test: undefined in 5 of 9 resamples." in lines
    assert "11 clusters are few." in lines and ": 11 clusters" not in lines


def test_an_undefined_figure_has_its_reason_below() -> None:
    assert "Undefined: only one class on test." in printed(Made(one_class=True))


def test_console_markup_in_a_name_is_printed_literally() -> None:
    assert "[red]x[/red]" in printed(Made(judges=("[red]x[/red]", "b"), participants=20))


def test_nothing_measured_says_so() -> None:
    text = printed(None)
    assert "no verified judge" in text
    assert "no trajectory has a decided attempt" in " ".join(text.split())
