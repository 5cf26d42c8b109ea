from __future__ import annotations

from itertools import combinations
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from statsmodels.stats.multitest import multipletests

from judge_pipeline.cocreation.comparisons import COMPARED, KAPPAS, LEVELS
from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.cocreation.judge_agreement import judge_agreement
from judge_pipeline.cocreation.judge_differences import judge_differences
from judge_pipeline.tables import JUDGE_DIFFERENCES, PREDICTIONS

from . import paper_items
from .test_evaluation import figure, simulated


def row_of(
    table: pd.DataFrame, metric: str, first: str | None, second: str | None = None, against: str | None = None
) -> pd.Series:
    mask = table["metric"] == metric
    for column, name in (("judge_1", first), ("judge_2", second)):
        mask &= table[column].isna() if name is None else table[column] == name
    if against is not None:
        mask &= table["against"] == against
    rows = table[mask]
    assert len(rows) == 1
    return rows.iloc[0]


def test_every_pair_and_every_level_is_there_once() -> None:
    table = judge_differences(simulated(0), seed=0, n_resamples=20)
    assert len(table) == 3 * len(COMPARED) + 3 * len(LEVELS) + 3 + 2
    for first, second in combinations("abc", 2):
        for metric in COMPARED:
            row_of(table, metric, first, second, "judge")
        row_of(table, "cohen", first, second, "chance")
    for metric, against in LEVELS.items():
        assert table.loc[(table["metric"] == metric) & table["judge_2"].isna(), "against"].tolist() == [against] * 3
    assert set(KAPPAS) <= set(table["metric"])


def test_differences_are_those_of_the_figures() -> None:
    frame = simulated(1)
    table = judge_differences(frame, seed=0, n_resamples=20)
    metrics = judge_metrics(frame, seed=0, n_resamples=20)
    for first, second in combinations("abc", 2):
        for metric in COMPARED:
            expected = figure(metrics, first, metric)["value"] - figure(metrics, second, metric)["value"]
            assert row_of(table, metric, first, second, "judge")["value"] == pytest.approx(expected, abs=1e-12)
    agreement = judge_agreement(frame, seed=0, n_resamples=20)
    kappas = agreement[(agreement["statistic"] == "cohen") & (agreement["rated"] == "decision")]
    for row in kappas.to_dict("records"):
        found = row_of(table, "cohen", row["judge_1"], row["judge_2"])
        assert found["value"] == pytest.approx(row["value"], abs=1e-12)
        assert (found["ci95_low"], found["ci95_high"]) == (row["ci95_low"], row["ci95_high"])


def test_levels_are_those_of_a_judge_without_skill() -> None:
    frame = simulated(2)
    table = judge_differences(frame, seed=0, n_resamples=20)
    own = frame[frame["judge"] == "a"]
    test, val = own[own["split"] == "test"], own[own["split"] == "val"]
    y, p, constant = test["y"], test["p_ac"], np.full(len(test), val["y"].mean())
    expected = {
        "roc_auc": sk.roc_auc_score(y, p) - 0.5,
        "pr_auc": sk.average_precision_score(y, p) - y.mean(),
        "log_loss": sk.log_loss(y, p) - sk.log_loss(y, constant),
        "brier": sk.brier_score_loss(y, p) - sk.brier_score_loss(y, constant),
    }
    for metric, value in expected.items():
        assert row_of(table, metric, "a", None)["value"] == pytest.approx(value, abs=1e-12), metric
    metrics = judge_metrics(frame, seed=0, n_resamples=20)
    for metric, level in (("mcc_test", 0), ("balanced_accuracy", 0.5), ("ece_squared_debiased", 0), ("roc_auc", 0.5)):
        row, of_judge = row_of(table, metric, "a", None), figure(metrics, "a", metric)
        assert row["value"] == pytest.approx(of_judge["value"] - level, abs=1e-12)
        assert row["ci95_low"] == pytest.approx(of_judge["ci95_low"] - level, abs=1e-12)


@pytest.mark.slow
def test_the_interval_of_a_difference_is_that_of_a_loop_over_resampled_trajectories() -> None:
    frame = simulated(3, n_groups=120, judges=("a", "b"))
    row = row_of(judge_differences(frame, seed=0), "roc_auc", "a", "b")
    test = frame[frame["split"] == "test"].pivot(
        index=["participant", "attempt_id", "y"], columns="judge", values="p_ac"
    )
    test = test.reset_index()
    groups = [rows.to_numpy() for rows in test.groupby("participant").groups.values()]
    rng = np.random.default_rng(99)
    values = []
    for _ in range(500):
        drawn = test.iloc[np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))])]
        values.append(sk.roc_auc_score(drawn["y"], drawn["a"]) - sk.roc_auc_score(drawn["y"], drawn["b"]))
    low, high = np.quantile(values, [0.021, 0.979])
    assert row["ci95_low"] == pytest.approx(low, abs=0.03)
    assert row["ci95_high"] == pytest.approx(high, abs=0.03)
    share = min(np.mean(np.array(values) <= 0), np.mean(np.array(values) >= 0))
    assert row["p_value"] == pytest.approx(2 * share, abs=0.08)


@pytest.mark.slow
def test_holm_corrects_over_the_rows_of_a_metric_and_what_it_is_set_against() -> None:
    table = judge_differences(simulated(4, judges=("a", "b", "c", "d")), seed=0, n_resamples=60)
    families = 0
    for _, family in table.groupby(["metric", "against"]):
        defined = family[family["p_value"].notna()]
        with mock.patch("gc.collect"):  # which statsmodels calls each time: two seconds, late in a worker's life
            expected = multipletests(defined["p_value"], method="holm")[1]
        np.testing.assert_allclose(defined["p_holm"].astype(float), expected, rtol=0, atol=1e-12)
        families += len(defined) > 1
    assert families > 10


def test_a_judge_and_its_twin_do_not_differ() -> None:
    frame = simulated(5, judges=("a",))
    table = judge_differences(pd.concat([frame, frame.assign(judge="twin")]), seed=0, n_resamples=50)
    pairs = table[table["against"] == "judge"]
    assert (pairs["value"] == 0).all()
    assert (pairs["p_value"] == 1).all()
    assert pairs["trajectories_for_power"].isna().all()
    assert pairs["needed_reason"].str.contains("resampling does not move").all()


def test_only_attempts_that_both_answered_are_compared() -> None:
    frame = simulated(6, judges=("a", "b"))
    test_ids = frame.loc[frame["split"] == "test", "attempt_id"].unique()
    missing = frame["attempt_id"].isin(test_ids[:9]) & (frame["judge"] == "b")
    table = judge_differences(frame[~missing], seed=0, n_resamples=20)
    row = row_of(table, "brier", "a", "b")
    assert (row["n"], row["n_left_out"]) == (len(test_ids) - 9, 9)
    kept = frame[~frame["attempt_id"].isin(test_ids[:9])]
    expected = judge_metrics(kept, seed=0, n_resamples=5)
    difference = figure(expected, "a", "brier")["value"] - figure(expected, "b", "brier")["value"]
    assert row["value"] == pytest.approx(difference, abs=1e-12)
    assert row_of(table, "brier", "a", None)["n"] == len(test_ids)


def test_needed_numbers_follow_from_the_standard_error() -> None:
    table = judge_differences(simulated(7, n_groups=120, judges=("a", "b")), seed=0)
    row = row_of(table, "roc_auc", "a", "b")
    error = (row["ci95_high"] - row["ci95_low"]) / 2 / 1.96
    n = row["n_trajectories"]
    assert row["trajectories_for_width"] == pytest.approx(n * (1.96 * error / 0.05) ** 2, rel=0.15)
    assert row["trajectories_for_power"] == pytest.approx(n * (2.8016 * error / row["value"]) ** 2, rel=0.15)
    assert row["attempts_for_width"] == np.ceil(row["trajectories_for_width"] * row["n"] / n)
    log_loss = row_of(table, "log_loss", "a", "b")
    assert pd.isna(log_loss["trajectories_for_width"])
    assert "no bounds" in log_loss["needed_reason"]
    assert log_loss["trajectories_for_power"] >= 2


def test_what_is_undefined_has_a_reason_and_no_p() -> None:
    frame = simulated(0)
    frame = frame[frame["split"] != "val"]
    table = judge_differences(frame, seed=0, n_resamples=20)
    row = row_of(table, "mcc_test", "a", "b")
    assert np.isnan(row["value"])
    assert row["reason"].startswith("a: no threshold can be chosen on val")
    assert "; b: no threshold" in row["reason"]
    assert pd.isna(row["p_value"])
    assert pd.isna(row["p_holm"])
    assert row["needed_reason"] == "undefined difference"
    assert "no constant forecast" in row_of(table, "brier", "a", None)["reason"]
    assert row_of(table, "roc_auc", "a", None)["p_value"] <= 1
    undefined = table[table["value"].isna()]
    assert undefined["reason"].str.len().min() > 10


def test_the_36_items_tell_no_kappa_but_two_from_chance() -> None:
    table = judge_differences(paper_items.predictions(), seed=0, n_resamples=500)
    row = row_of(table, "fleiss", None, None)
    assert row["value"] == pytest.approx(paper_items.FLEISS, abs=5e-6)
    assert row["p_value"] > 0.05
    assert row["n_trajectories"] == 18
    assert row["trajectories_for_power"] > 18


def test_same_seed_same_bytes_whatever_the_order_of_rows() -> None:
    frame = simulated(1)
    first = judge_differences(frame, seed=7, n_resamples=50)
    again = judge_differences(frame.sample(frac=1, random_state=0), seed=7, n_resamples=50)
    pd.testing.assert_frame_equal(first, again, check_exact=True)


def test_a_panel_limits_the_kappas_alone() -> None:
    table = judge_differences(simulated(0), seed=0, n_resamples=20, panel=["a", "b"])
    assert (table["metric"] == "cohen").sum() == 1
    assert len(table[table["against"] == "judge"]) == 3 * len(COMPARED)
    alone = judge_differences(simulated(0, judges=("a",)), seed=0, n_resamples=20)
    assert not set(alone["metric"]) & set(KAPPAS)


def test_a_single_trajectory_has_neither_interval_nor_p() -> None:
    table = judge_differences(simulated(0).assign(participant="E1"), seed=0, n_resamples=20)
    row = row_of(table, "roc_auc", "a", "b")
    assert np.isnan(row["ci95_low"])
    assert pd.isna(row["p_value"])
    assert "single cluster" in row["reason"]


def test_nothing_in_nothing_out() -> None:
    assert judge_differences(PREDICTIONS.empty(), seed=0).equals(JUDGE_DIFFERENCES.empty())


def with_rejected(n_rejected: int, seed: int) -> pd.DataFrame:
    """A judge that answers by chance, and 40 trajectories of one attempt in each split, few of them rejected."""
    rng = np.random.default_rng(seed)
    rows = [
        (
            f"{split}{i}",
            "J",
            float(rng.random()),
            int(i >= (n_rejected if split == "test" else 20)),
            split,
            f"{split}{i}",
            "P",
        )
        for split in ("val", "test")
        for i in range(40)
    ]
    return pd.DataFrame(rows, columns=["attempt_id", "judge", "p_ac", "y", "split", "participant", "problem_id"])


@pytest.mark.parametrize("n_rejected", [2, 3, 4])
def test_few_rejected_attempts_show_no_judge_to_beat_chance(n_rejected: int) -> None:
    """Resampling hardly moves 2 rejected attempts: a third of all intervals without skill would leave out 0.5."""
    for seed in range(12):
        table = judge_differences(with_rejected(n_rejected, seed), seed=0, n_resamples=200)
        for metric in ("roc_auc", "pr_auc", "balanced_accuracy"):
            row = row_of(table, metric, "J", None, "chance")
            assert row["p_value"] > 0.05
            assert f"only {n_rejected} of 40 trajectories hold rejected attempts" in row["reason"]
            assert row["n_trajectories"] == 40


def test_one_rejected_attempt_gives_no_interval_and_no_test() -> None:
    given = with_rejected(1, 0)
    row = row_of(judge_differences(given, seed=0, n_resamples=50), "roc_auc", "J", None, "chance")
    assert pd.isna(row["p_value"]) and pd.isna(row["p_holm"]) and pd.isna(row["ci95_low"])
    metrics = judge_metrics(given, seed=0, n_resamples=50).set_index("metric")
    for metric in ("roc_auc", "pr_auc", "balanced_accuracy", "mcc_test"):
        assert pd.isna(metrics.loc[metric, "ci95_low"]), metric
        assert "only 1 of 40 trajectories holds rejected attempts" in metrics.loc[metric, "reason"]
    assert metrics.loc["brier", "ci95_low"] < metrics.loc["brier", "ci95_high"]


def test_five_rejected_attempts_are_resampled_as_any() -> None:
    row = row_of(judge_differences(with_rejected(5, 0), seed=0, n_resamples=50), "roc_auc", "J", None, "chance")
    assert "only" not in row["reason"] and row["p_value"] is not None
