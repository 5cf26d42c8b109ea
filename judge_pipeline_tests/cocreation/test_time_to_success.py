from __future__ import annotations

import time as clock
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from lifelines import KaplanMeierFitter
from lifelines.statistics import multivariate_logrank_test
from lifelines.utils import restricted_mean_survival_time

from judge_pipeline.cocreation.success_by_group import success_curves, survival_groups
from judge_pipeline.cocreation.time_to_success import CURVE_POINTS, survival_curves, survival_tests
from judge_pipeline.cocreation.trajectory_times import trajectory_times
from judge_pipeline.statistics.intervals import holm
from judge_pipeline.tables import PROMPT_LOGS
from judge_pipeline_tests.cocreation.timed_attempts import (
    attempts_of,
    many_attempts,
    prompt_logs_of,
    trajectories_of,
)
from judge_pipeline_tests.paper_counts_contest import PARTICIPANTS, paper_counts_contest

UNITS = ["turns", "minutes_since_first_attempt", "minutes_since_first_prompt"]


@pytest.fixture(scope="module")
def times() -> pd.DataFrame:
    c = paper_counts_contest()
    groups = {u: "first half" if i < 8 else "second half" for i, u in enumerate(PARTICIPANTS)}
    return trajectory_times(c.attempts, c.prompt_logs, c.trajectories, participant_groups=groups)


def _of(table: pd.DataFrame, order: str = "as_recorded", unit: str = "turns", by: str = "all") -> pd.DataFrame:
    return table[(table["order"] == order) & (table["time_unit"] == unit) & (table["grouped_by"] == by)]


def _raw(times: pd.DataFrame, order: str, unit: str) -> pd.DataFrame:
    return times[(times["order"] == order) & (times["time_unit"] == unit) & times["time"].notna()]


def test_success_at_turn_of_the_paper_in_both_orders(times: pd.DataFrame) -> None:
    curves = success_curves(times, seed=1, n_resamples=200)
    s = _of(curves).set_index("time")
    assert s["value"].loc[[1, 4, 6, 30]].round(4).tolist() == [0.8533, 0.8587, 0.8641, 0.8641]
    assert (s["n"] == 184).all() and (s["n_clusters"] == 15).all()
    assert ((s["cluster_low"] < s["value"]) & (s["value"] < s["cluster_high"])).all()
    turned = _of(curves, "reversed").set_index("time")
    assert turned.loc[1, "value"] < s.loc[1, "value"] and turned.loc[30, "value"] == s.loc[30, "value"]


def test_the_cluster_interval_is_wider_where_participants_differ() -> None:
    words = {(f"u{i}", f"P{j}"): "A" if i % 2 else "W" for i in range(20) for j in range(10)}
    attempts = attempts_of(words)
    table = trajectory_times(attempts, PROMPT_LOGS.empty(), trajectories_of(attempts))
    first = _of(success_curves(table, seed=1)).iloc[0]
    assert first["value"] == 0.5
    # Half of the participants solve all, half nothing: 20 observations, not 200.
    assert first["cluster_high"] - first["cluster_low"] > 2.5 * (first["ci95_high"] - first["ci95_low"])


@pytest.mark.slow
@pytest.mark.parametrize("order_unit", [("as_recorded", unit) for unit in UNITS] + [("reversed", "turns")])
def test_curves_and_figures_are_those_of_lifelines(times: pd.DataFrame, order_unit: tuple[str, str]) -> None:
    curves = _of(survival_curves(times), *order_unit, by="language")
    figures = _of(survival_groups(times, seed=1, n_resamples=100), *order_unit, by="language")
    for language, rows in _raw(times, *order_unit).groupby("language"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            oracle = KaplanMeierFitter().fit(rows["time"].astype(int), rows["event"].astype(bool))
        curve = curves[curves["level"] == language].set_index("time")
        at = oracle.timeline.astype(int)
        shown = [t for t in at if t in curve.index]
        assert curve.loc[shown, "value"].tolist() == pytest.approx(
            list(oracle.survival_function_.iloc[:, 0][shown]), abs=1e-12
        )
        assert (curve["n_events"].sum(), curve["n_censored"].sum()) == (rows["event"].sum(), (~rows["event"]).sum())
        mine = figures[figures["level"] == language].set_index("statistic")
        assert mine.loc["median", "value"] == oracle.median_survival_time_
        horizon = int(mine.loc["restricted_mean", "horizon"])
        assert mine.loc["restricted_mean", "value"] == pytest.approx(restricted_mean_survival_time(oracle, t=horizon))
        assert mine.loc["solved_by_horizon", "value"] == pytest.approx(1 - oracle.predict(horizon))


def test_numbers_at_risk_are_those_of_the_span() -> None:
    attempts = attempts_of({("u", "P1"): "A", ("u", "P2"): "WW", ("v", "P1"): "WWWA", ("v", "P2"): "?"})
    times = trajectory_times(attempts, PROMPT_LOGS.empty(), trajectories_of(attempts))
    rows = _of(survival_curves(times))
    columns = ["time", "n_at_risk", "n_events", "n_censored", "n", "n_left_out"]
    assert rows[columns].to_numpy().tolist() == [
        [0, 3, 0, 0, 3, 1], [1, 3, 1, 0, 3, 1], [2, 2, 0, 1, 3, 1], [3, 1, 0, 0, 3, 1], [4, 1, 1, 0, 3, 1],
    ]  # fmt: skip
    assert rows["value"].tolist() == pytest.approx([1, 2 / 3, 2 / 3, 2 / 3, 0])
    solved = _of(success_curves(times, seed=1, n_resamples=100))
    assert (solved["n"] == 4).all() and solved["value"].tolist() == [0.25, 0.25, 0.25, 0.5]


def test_long_curves_are_thinned_without_losing_anyone() -> None:
    rng = np.random.default_rng(0)
    words = {(f"u{i % 40}", f"P{i // 40}"): "WA" for i in range(800)}
    minutes = {key: [0, float(m)] for key, m in zip(words, rng.integers(0, 3000, 800), strict=True)}
    attempts = attempts_of(words, minutes)
    times = trajectory_times(attempts, PROMPT_LOGS.empty(), trajectories_of(attempts))
    rows = _of(survival_curves(times), unit="minutes_since_first_attempt")
    assert len(rows) <= CURVE_POINTS
    assert rows["n_events"].sum() == 800 and rows["value"].iloc[-1] == pytest.approx(0, abs=1e-12)
    ended = rows["n_events"].cumsum().shift(fill_value=0)
    assert (rows["n_at_risk"] == 800 - ended).all()


def test_a_wrong_date_costs_no_memory() -> None:
    attempts = attempts_of({("u", "P1"): "WA", ("v", "P1"): "WA"}, {("u", "P1"): [0, 5], ("v", "P1"): [-30_000_000, 0]})
    times = trajectory_times(attempts, PROMPT_LOGS.empty(), trajectories_of(attempts))
    tracemalloc.start()
    rows = _of(survival_curves(times), unit="minutes_since_first_attempt")
    figures = _of(survival_groups(times, seed=1, n_resamples=100), unit="minutes_since_first_attempt")
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert rows["time"].tolist() == [0, 5, 30_000_000] and rows["value"].tolist() == [1, 0.5, 0]
    assert figures.set_index("statistic").loc["restricted_mean", "value"] == 5 + 55 / 2


def test_log_rank_tests_are_those_of_lifelines_and_corrected(times: pd.DataFrame) -> None:
    tests = survival_tests(times)
    over_all = _of(tests, by="problem_id").iloc[0]
    raw = _raw(times, "as_recorded", "turns")
    oracle = multivariate_logrank_test(raw["time"].astype(int), raw["problem_id"], raw["event"].astype(bool))
    assert pd.isna(over_all["first_level"])
    assert (over_all["chi2"], over_all["p_value"]) == pytest.approx((oracle.test_statistic, oracle.p_value))
    pairs = _of(tests, by="problem_id").iloc[1:]
    assert len(pairs) == 13 * 12 / 2
    known = pairs[pairs["p_value"].notna()]
    assert known["p_holm"].tolist() == pytest.approx(holm(known["p_value"].tolist()))
    assert pairs.loc[pairs["p_value"].isna(), "reason"].notna().all()
    whole = tests[(tests["order"] == "reversed") & tests["first_level"].isna()]
    assert whole["p_holm"].tolist() == pytest.approx(holm(whole["p_value"].tolist()))
    assert whole["grouped_by"].tolist() == ["problem_id", "participant", "language", "participant_group"]


def test_groups_without_known_times_are_named(times: pd.DataFrame) -> None:
    tests = _of(survival_tests(times), unit=UNITS[1], by="participant")
    assert tests.iloc[0]["reason"] == "left out, since no time is known: E015" and tests.iloc[0]["degrees"] == 13
    of_e015 = tests[tests["second_level"] == "E015"]
    assert of_e015["p_value"].isna().all() and (of_e015["reason"] == "no time is known in: E015").all()
    figures = _of(survival_groups(times, seed=1, n_resamples=100), unit=UNITS[1], by="participant")
    mine = figures[figures["level"] == "E015"]
    assert mine["value"].isna().all() and (mine["reason"] == "the time of turn 1 is unknown").all()
    assert (mine["n_left_out"] > 0).all()


def test_too_many_groups_are_said_to_be_too_many(times: pd.DataFrame) -> None:
    tests = survival_tests(times, max_levels=5)
    row = _of(tests, by="problem_id")
    assert row["reason"].tolist() == ["13 groups are more than dynamics.max_levels"]
    assert set(survival_groups(times, seed=1, n_resamples=100, max_levels=5)["grouped_by"]) == {
        "all", "language", "participant_group",
    }  # fmt: skip


def test_all_censored_all_at_once_and_a_short_observation() -> None:
    never = attempts_of({("u", "P1"): "WW", ("v", "P1"): "W"})
    times = trajectory_times(never, prompt_logs_of([]), trajectories_of(never))
    rows = _of(survival_groups(times, seed=1, n_resamples=100)).set_index("statistic")
    assert pd.isna(rows.loc["median", "value"])
    assert rows.loc["median", "reason"] == "more than half are unsolved when observation ends"
    assert (rows.loc["restricted_mean", "value"], rows.loc["restricted_mean", "horizon"]) == (2, 2)
    assert rows.loc["restricted_mean", "reason"].startswith("observed up to 2 only, not 10")
    once = attempts_of({("u", "P1"): "A", ("v", "P1"): "A"}, {("u", "P1"): [0], ("v", "P1"): [9]})
    times = trajectory_times(once, prompt_logs_of([]), trajectories_of(once))
    rows = _of(survival_groups(times, seed=1, n_resamples=100), unit=UNITS[1]).set_index("statistic")
    assert rows.loc["median", "value"] == 0 and rows.loc["restricted_mean", "value"] == 0
    assert rows.loc["solved_by_horizon", "value"] == 1
    assert survival_tests(times).empty is False


@pytest.mark.slow
def test_the_same_seed_gives_the_same_tables(times: pd.DataFrame) -> None:
    for build in (success_curves, survival_groups):
        pd.testing.assert_frame_equal(build(times, seed=7, n_resamples=100), build(times, seed=7, n_resamples=100))


def test_no_attempts_no_rows() -> None:
    attempts = attempts_of({})
    times = trajectory_times(attempts, PROMPT_LOGS.empty(), trajectories_of(attempts))
    assert times.empty and survival_curves(times).empty and survival_tests(times).empty
    assert success_curves(times, seed=1).empty and survival_groups(times, seed=1).empty


@pytest.mark.slow
def test_100_000_attempts_take_seconds() -> None:
    attempts = many_attempts(33_000)
    started = clock.process_time()
    times = trajectory_times(attempts, PROMPT_LOGS.empty(), trajectories_of(attempts))
    survival_curves(times)
    survival_tests(times)
    success_curves(times, seed=1)
    survival_groups(times, seed=1)
    # Three times the data took 12 s on busy cores; the bound is for what grows faster than the data.
    assert clock.process_time() - started < 20
