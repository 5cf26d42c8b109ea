from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from statsmodels.stats.inter_rater import fleiss_kappa

from judge_pipeline.cocreation.evaluation import (
    PredictionError,
    judge_agreement,
    judge_curves,
    judge_metrics,
    thresholds_that_saw_more_than_val,
)
from judge_pipeline.cocreation.judge_figures import METRICS, RECENTRED
from judge_pipeline.tables import JUDGE_AGREEMENT, JUDGE_CURVES, JUDGE_METRICS, PREDICTIONS

from . import paper_items, scored_judges


def figure(table: pd.DataFrame, judge: str, metric: str) -> pd.Series:
    return table[(table["judge"] == judge) & (table["metric"] == metric)].iloc[0]


def agreement(table: pd.DataFrame, statistic: str, first: str | None = None, second: str | None = None) -> pd.Series:
    mask = table["statistic"] == statistic
    for column, name in (("judge_1", first), ("judge_2", second)):
        mask &= table[column].isna() if name is None else table[column] == name
    return table[mask].iloc[0]


def simulated(seed: int, n_groups: int = 60, judges: tuple[str, ...] = ("a", "b", "c")) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for group in range(n_groups):
        split = ("val", "test", "test", "train")[group % 4]
        ease = rng.normal()
        for turn in range(int(rng.integers(1, 5))):
            y = int(rng.random() < 1 / (1 + np.exp(-ease)))
            for judge in judges:
                p_ac = float(np.clip(np.round(1 / (1 + np.exp(-ease - y - rng.normal())), 2), 0, 1))
                rows.append((f"{group}-{turn}", judge, p_ac, y, split, f"E{group}", "P"))
    columns = ["attempt_id", "judge", "p_ac", "y", "split", "participant", "problem_id"]
    return pd.DataFrame(rows, columns=columns)


def test_the_36_items_give_the_published_figures() -> None:
    frame = paper_items.predictions()
    metrics = judge_metrics(frame, seed=0, n_resamples=50)
    for judge in paper_items.JUDGES:
        assert figure(metrics, judge, "threshold")["value"] == paper_items.THRESHOLDS[judge]
        row = figure(metrics, judge, "mcc_test")
        assert row["value"] == pytest.approx(paper_items.MCC[judge], abs=5e-6)
        assert (row["n"], row["n_left_out"]) == (36, 0)
    table = judge_agreement(frame, seed=0, n_resamples=50)
    for (first, second), value in paper_items.COHEN.items():
        assert agreement(table, "cohen", first, second)["value"] == pytest.approx(value, abs=5e-6)
    for judge, value in paper_items.JUDGE_MEAN_COHEN.items():
        assert agreement(table, "judge_mean_cohen", judge)["value"] == pytest.approx(value, abs=5e-6)
    assert agreement(table, "mean_cohen")["value"] == pytest.approx(paper_items.MEAN_COHEN, abs=5e-6)
    assert agreement(table, "fleiss")["value"] == pytest.approx(paper_items.FLEISS, abs=5e-6)
    assert set(table["n"]) == {36}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scikit_learn_and_statsmodels_on_simulated_judges(seed: int) -> None:
    frame = simulated(seed)
    metrics = judge_metrics(frame, seed=0, n_resamples=5)
    decisions = {}
    for judge, own in frame.groupby("judge"):
        test, val = own[own["split"] == "test"], own[own["split"] == "val"]
        t = figure(metrics, str(judge), "threshold")["value"]
        best = max(sk.matthews_corrcoef(val["y"], val["p_ac"] >= i / 100) for i in range(101))
        assert figure(metrics, str(judge), "mcc_val")["value"] == pytest.approx(best, abs=1e-12)
        decisions[judge] = (test.set_index("attempt_id")["p_ac"] >= t).astype(int)
        y, p, d = test["y"], test["p_ac"], decisions[judge].to_numpy()
        expected = {
            "roc_auc": sk.roc_auc_score(y, p),
            "pr_auc": sk.average_precision_score(y, p),
            "log_loss": sk.log_loss(y, p),
            "brier": sk.brier_score_loss(y, p),
            "mcc_test": sk.matthews_corrcoef(y, d),
            "mcc_test_reselected": sk.matthews_corrcoef(y, d),
            "precision": sk.precision_score(y, d),
            "recall": sk.recall_score(y, d),
            "f1": sk.f1_score(y, d),
            "balanced_accuracy": sk.balanced_accuracy_score(y, d),
            "accept_rate": d.mean(),
        }
        for metric, value in expected.items():
            assert figure(metrics, str(judge), metric)["value"] == pytest.approx(value, abs=1e-12), metric
    table = judge_agreement(frame, seed=0, n_resamples=5)
    wide = pd.DataFrame(decisions)
    kappas = {}
    for first, second in combinations("abc", 2):
        kappas[first, second] = sk.cohen_kappa_score(wide[first], wide[second])
        row = agreement(table, "cohen", first, second)
        assert row["value"] == pytest.approx(kappas[first, second], abs=1e-12)
        raw = agreement(table, "raw_agreement", first, second)["value"]
        assert raw == pytest.approx((wide[first] == wide[second]).mean(), abs=1e-12)
    assert agreement(table, "mean_cohen")["value"] == pytest.approx(np.mean(list(kappas.values())), abs=1e-12)
    ratings = np.column_stack([wide.sum(axis=1), 3 - wide.sum(axis=1)])
    assert agreement(table, "fleiss")["value"] == pytest.approx(fleiss_kappa(ratings), abs=1e-12)


def test_tables_hold_every_figure_of_every_judge_in_order() -> None:
    metrics = judge_metrics(simulated(0), seed=0, n_resamples=5)
    assert [*metrics["metric"][: len(METRICS)]] == [*METRICS]
    assert metrics["judge"].unique().tolist() == ["a", "b", "c"]
    assert set(metrics.loc[metrics["split"] == "val", "metric"]) == {
        "mcc_val", "threshold", "threshold_plateau_low", "threshold_plateau_high", "threshold_in_plateau",
        "threshold_stability",
    }  # fmt: skip


def test_same_seed_same_bytes_whatever_the_order_of_rows() -> None:
    frame = simulated(1)
    for function in (judge_metrics, judge_agreement):
        first = function(frame, seed=7, n_resamples=100)
        again = function(frame.sample(frac=1, random_state=0), seed=7, n_resamples=100)
        pd.testing.assert_frame_equal(first, again, check_exact=True)
        other = function(frame, seed=8, n_resamples=100)
        assert not first["ci95_low"].equals(other["ci95_low"])


def test_judges_share_their_resamples() -> None:
    frame = simulated(2, judges=("a", "b"))
    twin = frame[frame["judge"] == "a"].assign(judge="twin of a")
    metrics = judge_metrics(pd.concat([frame, twin]), seed=0, n_resamples=200)
    columns = ["metric", "value", "n", "ci95_low", "ci95_high", "reason"]
    of_a, of_twin = (metrics.loc[metrics["judge"] == j, columns].reset_index(drop=True) for j in ("a", "twin of a"))
    pd.testing.assert_frame_equal(of_a, of_twin, check_exact=True)
    alone = judge_metrics(pd.concat([frame, twin]), seed=0, n_resamples=200, panel=["a"])
    pd.testing.assert_frame_equal(alone[columns], of_a, check_exact=True)


@pytest.mark.slow
def test_the_interval_of_auc_is_that_of_a_loop_over_resampled_trajectories() -> None:
    frame = simulated(3, n_groups=120, judges=("a",))
    row = figure(judge_metrics(frame, seed=0, n_resamples=2000), "a", "roc_auc")
    test = frame[frame["split"] == "test"].reset_index(drop=True)
    groups = [rows.to_numpy() for rows in test.groupby("participant").groups.values()]
    y, p = test["y"].to_numpy(), test["p_ac"].to_numpy()
    rng = np.random.default_rng(99)
    values = []
    for _ in range(1500):
        drawn = np.concatenate([groups[i] for i in rng.integers(0, len(groups), len(groups))])
        values.append(sk.roc_auc_score(y[drawn], p[drawn]))
    low, high = np.quantile(values, [0.025, 0.975])
    assert row["ci95_low"] == pytest.approx(low, abs=0.02)
    assert row["ci95_high"] == pytest.approx(high, abs=0.02)
    assert row["reason"] is None


def test_reselecting_the_threshold_widens_its_interval() -> None:
    metrics = judge_metrics(simulated(5, n_groups=80), seed=0, n_resamples=500)
    fixed, reselected = (figure(metrics, "a", name) for name in ("mcc_test", "mcc_test_reselected"))
    assert fixed["value"] == reselected["value"]
    assert reselected["ci95_low"] < fixed["ci95_low"]


def test_the_interval_of_the_threshold_ends_on_the_grid() -> None:
    # So few resamples that an interpolated quantile would fall between two grid points.
    for seed in range(5):
        row = figure(judge_metrics(simulated(5, n_groups=80), seed=seed, n_resamples=7), "a", "threshold")
        assert row["ci95_low"] < row["ci95_high"]
        assert {row["ci95_low"], row["ci95_high"]} <= {i / 100 for i in range(101)}


@pytest.mark.slow
def test_stability_is_the_share_of_resamples_of_val_that_choose_much_the_same_threshold() -> None:
    frame = simulated(5, n_groups=80, judges=("a",))
    metrics = judge_metrics(frame, seed=3, n_resamples=300)
    t = figure(metrics, "a", "threshold")["value"]
    high = figure(metrics, "a", "threshold_plateau_high")["value"]
    val = frame[frame["split"] == "val"].sort_values(["participant", "attempt_id"])
    groups = sorted(val["participant"].unique())
    rng = np.random.default_rng([3, 1])
    chosen = []
    for drawn in rng.integers(0, len(groups), size=(300, len(groups))):
        rows = pd.concat([val[val["participant"] == groups[i]] for i in drawn])
        # MCC is Pearson's correlation of two 0/1 variables.
        decisions = rows["p_ac"].to_numpy()[:, None] >= np.arange(101) / 100
        with np.errstate(invalid="ignore"):
            scores = np.corrcoef(rows["y"], decisions, rowvar=False)[0, 1:]
        chosen.append(int(np.argmax(np.nan_to_num(scores, nan=-2) >= np.nanmax(scores) - 1e-9)) / 100)
    assert len(set(chosen)) > 3
    near, inside = figure(metrics, "a", "threshold_stability"), figure(metrics, "a", "threshold_in_plateau")
    assert near["value"] == pytest.approx(np.mean([abs(c - t) < 0.0500001 for c in chosen]), abs=1e-12)
    assert inside["value"] == pytest.approx(np.mean([t - 1e-9 <= c <= high + 1e-9 for c in chosen]), abs=1e-12)
    assert 0 < inside["value"] <= near["value"] < 1
    assert near["n"] == len(val)


def test_a_single_val_trajectory_says_nothing_about_stability() -> None:
    frame = simulated(0)
    frame.loc[frame["split"] == "val", "participant"] = "one"
    row = figure(judge_metrics(frame, seed=0, n_resamples=20), "a", "threshold_stability")
    assert np.isnan(row["value"])
    assert "it needs two trajectories" in row["reason"]


def test_figures_that_repeated_rows_shift_lie_inside_their_interval() -> None:
    for seed in range(4):
        metrics = judge_metrics(simulated(seed, n_groups=48), seed=0, n_resamples=200)
        shifted = metrics[metrics["metric"].isin(RECENTRED)]
        assert len(shifted) == 3 * len(RECENTRED)
        assert not shifted["reason"].fillna("").str.contains("outside").any()
        assert (shifted["ci95_low"] <= shifted["value"] + 1e-12).all()
        assert (shifted["value"] <= shifted["ci95_high"] + 1e-12).all()
        errors = shifted[shifted["metric"].isin(["ece", "ece_equal_mass", "ece_debiased", "brier_reliability"])]
        assert (errors["ci95_low"] >= 0).all()


def test_the_parts_of_the_brier_score_add_up_in_the_table() -> None:
    metrics = judge_metrics(simulated(1), seed=0, n_resamples=5)
    for judge in "abc":
        part = {name: figure(metrics, judge, f"brier_{name}")["value"] for name in (
            "reliability", "resolution", "uncertainty", "within_variance", "within_covariance"
        )}  # fmt: skip
        total = part["reliability"] - part["resolution"] + part["uncertainty"]
        total += part["within_variance"] - part["within_covariance"]
        assert total == pytest.approx(figure(metrics, judge, "brier")["value"], abs=1e-12)


def test_a_debiased_ece_of_zero_is_said_to_prove_nothing() -> None:
    # Two attempts of each score, one accepted: the gap of 0.05 is far below what chance makes of two attempts.
    rows = [
        (f"{split}-{i}-{k}", "a", 0.45 + 0.01 * (i % 3), k, split, f"E{i}", "P")
        for split in ("val", "test")
        for i in range(12)
        for k in (0, 1)
    ]
    columns = ["attempt_id", "judge", "p_ac", "y", "split", "participant", "problem_id"]
    metrics = judge_metrics(pd.DataFrame(rows, columns=columns), seed=0, n_resamples=20)
    debiased, squared = figure(metrics, "a", "ece_debiased"), figure(metrics, "a", "ece_squared_debiased")
    assert debiased["value"] == 0
    assert squared["value"] < 0
    assert f"0 stands for a squared gap of {squared['value']:.4f}" in debiased["reason"]
    assert "does not show that the judge is calibrated" in debiased["reason"]


def test_what_is_not_judged_yet_is_left_out_and_counted() -> None:
    frame = simulated(0).astype({"y": "Float64"})
    test_ids = frame.loc[frame["split"] == "test", "attempt_id"].unique()
    pending, unanswered = test_ids[:3], test_ids[3:5]
    frame.loc[frame["attempt_id"].isin(pending), "y"] = pd.NA
    frame.loc[frame["attempt_id"].isin(unanswered) & (frame["judge"] == "b"), "p_ac"] = np.nan
    metrics = judge_metrics(frame, seed=0, n_resamples=20)
    a, b = figure(metrics, "a", "brier"), figure(metrics, "b", "brier")
    assert (a["n"], a["n_left_out"]) == (len(test_ids) - 3, 3)
    assert (b["n"], b["n_left_out"]) == (len(test_ids) - 5, 5)
    assert f"answered {len(test_ids) - 2} of {len(test_ids)} attempts of test" in b["reason"]
    assert "unverified" not in (a["reason"] or "")
    table = judge_agreement(frame, seed=0, n_resamples=20)
    # Table V is over the attempts that all answered; what allows gaps keeps those that two judges answered.
    complete = table["statistic"].isin(["cohen", "raw_agreement", "mean_cohen", "fleiss", "prevalence"])
    assert set(table.loc[complete, "n"]) == {len(test_ids) - 5}
    assert set(table.loc[complete, "n_left_out"]) == {5}
    assert agreement(table, "gwet_ac1")["n"] == len(test_ids) - 3
    assert agreement(table, "gwet_ac1", "a", "b")["n"] == len(test_ids) - 5
    assert agreement(table, "gwet_ac1", "a", "c")["n"] == len(test_ids) - 3
    # An unanswered row and an absent row are the same.
    absent = judge_metrics(frame.dropna(subset="p_ac"), seed=0, n_resamples=20)
    pd.testing.assert_frame_equal(metrics, absent)


def test_without_val_nothing_is_decided() -> None:
    frame = simulated(0)
    frame = frame[frame["split"] != "val"]
    metrics = judge_metrics(frame, seed=0, n_resamples=20)
    for metric in ("mcc_val", "threshold", "mcc_test", "mcc_test_reselected", "precision", "accept_rate"):
        row = figure(metrics, "a", metric)
        assert np.isnan(row["value"])
        assert "no threshold can be chosen on val: no attempt has both" in row["reason"]
    assert figure(metrics, "a", "roc_auc")["value"] > 0.5
    table = judge_agreement(frame, seed=0, n_resamples=20)
    on_decisions = table[table["rated"] == "decision"]
    assert on_decisions["value"].isna().all()
    assert on_decisions["reason"].str.contains("no threshold could be chosen on val for a, b, c").all()
    assert agreement(table, "krippendorff_interval")["value"] > 0


def test_one_class_has_no_auc_and_names_the_class() -> None:
    frame = simulated(0)
    frame.loc[frame["split"] == "test", "y"] = 1
    metrics = judge_metrics(frame, seed=0, n_resamples=20)
    for metric in ("roc_auc", "pr_auc", "balanced_accuracy", "mcc_test"):
        row = figure(metrics, "a", metric)
        assert np.isnan(row["value"])
        assert "y = 1" in row["reason"]
    assert figure(metrics, "a", "brier")["value"] > 0
    curves = judge_curves(frame, n_resamples=20)
    assert set(curves["curve"]) == {"reliability", "mcc_val"}


def test_constant_decisions_have_no_mcc() -> None:
    frame = simulated(0)
    frame.loc[frame["split"] == "test", "p_ac"] = 0.0
    metrics = judge_metrics(frame, seed=0, n_resamples=20)
    assert "constant decisions, all attempts are rejected" in figure(metrics, "a", "mcc_test")["reason"]
    assert "no attempt of test is accepted at t*" in figure(metrics, "a", "precision")["reason"]
    assert figure(metrics, "a", "f1")["value"] == 0
    table = judge_agreement(frame, seed=0, n_resamples=20)
    for statistic, pair in (("cohen", ("a", "b")), ("fleiss", (None, None)), ("mean_cohen", (None, None))):
        row = agreement(table, statistic, *pair)
        assert np.isnan(row["value"])
        assert "0/0" in row["reason"]
    assert "(reject); raw agreement is 1" in agreement(table, "cohen", "a", "b")["reason"]
    assert agreement(table, "raw_agreement")["value"] == 1


def test_a_pair_without_kappa_is_left_out_of_means_and_counted() -> None:
    frame = simulated(0)
    frame.loc[(frame["split"] == "test") & (frame["judge"] != "c"), "p_ac"] = 1.0
    table = judge_agreement(frame, seed=0, n_resamples=20)
    assert np.isnan(agreement(table, "cohen", "a", "b")["value"])
    with_c = [agreement(table, "cohen", other, "c") for other in "ab"]
    assert [row["value"] for row in with_c] == [0, 0]
    assert "a decides the same on every item" in with_c[0]["reason"]
    mean = agreement(table, "mean_cohen")
    assert mean["value"] == 0
    assert "1 of 3 pairs have no kappa" in mean["reason"]
    assert "1 of 2 pairs" in agreement(table, "judge_mean_cohen", "a")["reason"]


def test_a_single_trajectory_has_no_interval() -> None:
    frame = simulated(0).assign(participant="E1")
    row = figure(judge_metrics(frame, seed=0, n_resamples=20), "a", "roc_auc")
    assert row["value"] > 0
    assert np.isnan(row["ci95_low"])
    assert "single cluster" in row["reason"]


def test_few_trajectories_and_attempts_as_clusters_are_said() -> None:
    metrics = judge_metrics(simulated(0, n_groups=40), seed=0, n_resamples=100)
    auc = figure(metrics, "a", "roc_auc")
    assert "20 clusters: with fewer than 50" in auc["reason"]
    needed = re.search(r"within 0.05 of the AUC takes about (\d+) trajectories \((\d+) attempts\)", auc["reason"])
    assert needed is not None
    width = auc["ci95_high"] - auc["ci95_low"]
    assert int(needed[1]) == pytest.approx(20 * (width / 0.1) ** 2, rel=0.6)
    assert int(needed[2]) == pytest.approx(int(needed[1]) * auc["n"] / 20, abs=1)
    lone = judge_metrics(simulated(0).drop(columns=["participant", "problem_id"]), seed=0, n_resamples=20)
    assert "each such attempt is its own cluster" in figure(lone, "a", "roc_auc")["reason"]


def test_clipped_certainties_are_counted_beside_the_log_loss() -> None:
    frame = simulated(0)
    ids = frame.loc[(frame["split"] == "test") & (frame["y"] == 1), "attempt_id"].unique()[:2]
    mask = frame["attempt_id"].isin(ids) & (frame["judge"] == "a")
    frame.loc[mask, "p_ac"] = 0.0
    metrics = judge_metrics(frame, seed=0, n_resamples=20)
    count = figure(metrics, "a", "log_loss_n_clipped")["value"]
    test = frame[(frame["judge"] == "a") & (frame["split"] == "test")]
    assert count == test["p_ac"].isin([0.0, 1.0]).sum()
    assert count >= 2
    assert f"{count:g} of the probabilities are 0 or 1" in figure(metrics, "a", "log_loss")["reason"]


@pytest.mark.parametrize("panel", [["a"], []])
def test_agreement_needs_two_judges(panel: list[str]) -> None:
    table = judge_agreement(simulated(0), seed=0, n_resamples=20, panel=panel)
    assert table["value"].isna().all()
    assert table["reason"].str.contains("needs two judges").all()


def test_a_panel_of_some_judges() -> None:
    table = judge_agreement(simulated(0), seed=0, n_resamples=20, panel=["c", "a"])
    assert table[["judge_1", "judge_2"]].dropna().drop_duplicates().to_numpy().tolist() == [["a", "c"]]
    with pytest.raises(PredictionError, match="judge\\(s\\) z of the panel have no predictions; there are a, b, c"):
        judge_agreement(simulated(0), seed=0, panel=["a", "z"])


def test_curves_end_where_they_should() -> None:
    curves = judge_curves(simulated(0), n_resamples=20)
    for (_, kind), points in curves.groupby(["judge", "curve"]):
        assert points["point"].tolist() == [*range(1, len(points) + 1)]
        first, last = points.iloc[0], points.iloc[-1]
        if kind == "roc":
            assert [first["x"], first["y"], last["x"], last["y"]] == [0, 0, 1, 1]
        elif kind == "pr":
            assert [first["x"], first["y"], last["x"]] == [0, 1, 1]
        elif kind == "reliability":
            assert points["ci95_low"].notna().all()
            assert points["threshold"].isna().all()


def test_nothing_in_nothing_out() -> None:
    empty = PREDICTIONS.empty()
    assert judge_metrics(empty, seed=0).equals(JUDGE_METRICS.empty())
    assert judge_curves(empty).equals(JUDGE_CURVES.empty())
    table = judge_agreement(empty, seed=0)
    assert table["value"].isna().all()
    assert [*table.columns] == JUDGE_AGREEMENT.column_names


def test_only_train_gives_reasons_throughout() -> None:
    metrics = judge_metrics(simulated(0).assign(split="train"), seed=0, n_resamples=5)
    missing = metrics["value"].isna()
    assert missing[metrics["metric"] != "log_loss_n_clipped"].all()
    assert metrics.loc[missing, "reason"].str.len().min() > 10
    assert set(metrics["n"]) == {0}


def test_a_threshold_that_saw_test_data_is_found_out() -> None:
    predictions = scored_judges.simulated(3)
    metrics = judge_metrics(predictions, seed=0, n_resamples=20)
    assert thresholds_that_saw_more_than_val(metrics, predictions) == []
    # A threshold chosen on val and test together, as if test had been val.
    leaked = judge_metrics(predictions.assign(split="val"), seed=0, n_resamples=20)
    told = thresholds_that_saw_more_than_val(leaked, predictions)
    assert told
    assert all("when chosen from val alone" in line for line in told)
    # No val at all: there is no threshold, and none may be claimed.
    without = predictions[predictions["split"] == "test"]
    assert thresholds_that_saw_more_than_val(judge_metrics(without, seed=0, n_resamples=20), without) == []
    assert len(thresholds_that_saw_more_than_val(metrics, without)) == 3
