from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from judge_pipeline.cocreation.difference_rows import TESTED
from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.cocreation.judge_differences import judge_differences
from judge_pipeline.cocreation.judge_figures import METRICS, STABILITY
from judge_pipeline.cocreation.judged_attempts import PredictionError
from judge_pipeline.cocreation.run_comparison import compare_runs
from judge_pipeline_tests.cocreation import scored_judges

N = 200


def complete(seed: int = 3, n_groups: int = 80) -> pd.DataFrame:
    return scored_judges.simulated(seed, n_groups=n_groups, gaps=0.0)


def noisier(run: pd.DataFrame, by: float, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return run.assign(p_ac=np.clip(run["p_ac"] + rng.normal(0, by, len(run)), 0, 1))


def test_both_sides_are_the_figures_of_judge_metrics_where_both_answered_everything() -> None:
    old, new = complete(), noisier(complete(), 0.2)
    found = compare_runs(old, new, seed=5, n_resamples=N).differences.set_index(["old_judge", "metric"])
    for side, run in (("old", old), ("new", new)):
        own = judge_metrics(run, seed=5, n_resamples=N).set_index(["judge", "metric"])
        assert set(own.index) == set(found.index)
        for mine, theirs in ((side, "value"), (f"{side}_ci95_low", "ci95_low"), (f"{side}_ci95_high", "ci95_high")):
            expected = own[theirs].reindex(found.index)
            # The share of resamples in the plateau has no interval in either table.
            np.testing.assert_allclose(found[mine].to_numpy(), expected.to_numpy(), atol=1e-12)


def test_differences_of_two_judges_of_one_run_are_those_of_judge_differences() -> None:
    run = complete()
    found = compare_runs(run, run, [("a", "b")], seed=5, n_resamples=N).differences.set_index("metric")
    own = judge_differences(run, seed=5, n_resamples=N).query(
        "against == 'judge' and judge_1 == 'a' and judge_2 == 'b'"
    )
    for row in own.to_dict("records"):
        mine = found.loc[row["metric"]]
        assert mine["value"] == pytest.approx(-row["value"], abs=1e-12)
        # Quantiles of the negated replicates are the negated quantiles.
        assert mine["ci95_low"] == pytest.approx(-row["ci95_high"], abs=1e-9)
        assert mine["p_value"] == pytest.approx(row["p_value"], abs=1e-12)


def test_a_run_is_no_drop_and_no_gain_against_itself() -> None:
    run = complete()
    found = compare_runs(run, run, seed=0, n_resamples=N)
    assert set(found.differences["change"].dropna()) == {"not told"}
    assert (found.differences["value"] == 0).all()
    assert len(found.flips) == len(found.drops()) == len(found.undecided()) == 0
    assert (found.agreement.query("statistic == 'cohen'")["value"] == 1).all()


def test_three_trajectories_tell_no_drop_though_every_resample_is_worse() -> None:
    rows = [
        {
            "attempt_id": f"{split}{k}{i}", "judge": "a", "y": i % 2, "split": split,
            "participant": f"{split}{k}", "problem_id": "p",
        }
        for split in ("val", "test") for k in range(3) for i in range(4)
    ]  # fmt: skip
    run = pd.DataFrame(rows)
    old, new = run.assign(p_ac=0.2 + 0.6 * run["y"]), run.assign(p_ac=0.8 - 0.6 * run["y"])
    brier = compare_runs(old, new, seed=0, n_resamples=N).differences.set_index("metric").loc["brier"]
    assert brier["ci95_low"] > 0 and brier["p_value"] > 0.05
    assert brier["change"] == "not told"


def test_a_drop_turned_round_is_a_gain_in_every_figure_whichever_direction_is_better() -> None:
    old, new = complete(), noisier(complete(), 0.6)
    worse = compare_runs(old, new, seed=0, n_resamples=N)
    better = compare_runs(new, old, seed=0, n_resamples=N)
    dropped = {(row["old_judge"], row["metric"]) for row in worse.drops().to_dict("records")}
    gained = better.differences.query("change == 'gain'")
    assert {("a", "roc_auc"), ("a", "brier"), ("a", "log_loss")} <= dropped
    assert dropped <= set(zip(gained["old_judge"], gained["metric"], strict=True))
    assert len(better.drops()) == 0


def test_the_margin_forgives_small_drops_only() -> None:
    found = compare_runs(complete(), noisier(complete(), 0.6), seed=0, n_resamples=N)
    sizes = found.drops(["brier"]).set_index("old_judge")["value"].abs()
    assert len(found.drops(["brier"], margin=sizes.min() + 1e-9)) == len(sizes) - 1
    assert len(found.drops(["brier"], margin=1.0)) == 0
    assert set(found.drops(["brier"])["metric"]) == {"brier"}


def test_only_attempts_that_both_answered_count_and_the_others_are_counted() -> None:
    old, new = complete(), noisier(complete(), 0.2)
    test = sorted(old.query("split == 'test'")["attempt_id"].unique())
    gone_old, gone_new, blank = test[:3], test[3:8], test[8:10]
    left = old[~(old["attempt_id"].isin(gone_old) & (old["judge"] == "a"))]
    right = new[~new["attempt_id"].isin(gone_new)].assign(
        p_ac=lambda run: run["p_ac"].where(~run["attempt_id"].isin(blank))
    )
    found = compare_runs(left, right, seed=0, n_resamples=N)
    counts = found.counts.query("old_judge == 'a' and split == 'test'").iloc[0]
    assert counts["n_only_old"] == len(gone_new) + len(blank)
    assert counts["n_only_new"] == len(gone_old)
    assert counts["n_both"] == len(test) - 10
    both = test[10:]
    thresholds = {side: counts[f"{side}_threshold"] for side in ("old", "new")}
    auc = found.differences.query("old_judge == 'a' and metric == 'brier'").iloc[0]
    assert (auc["n"], auc["n_left_out"]) == (len(both), 10)
    for side, run in (("old", left), ("new", right)):
        mine = run[(run["judge"] == "a") & run["attempt_id"].isin(both)]
        assert auc[side] == pytest.approx(((mine["p_ac"] - mine["y"]) ** 2).mean(), abs=1e-12)
        own = judge_metrics(run, seed=0, n_resamples=N).query("judge == 'a' and metric == 'threshold'")["value"].item()
        assert thresholds[side] == own


def test_flips_are_the_decisions_that_differ_at_each_sides_own_threshold() -> None:
    old, new = complete(), noisier(complete(), 0.3)
    found = compare_runs(old, new, seed=0, n_resamples=N)
    counts = found.counts.query("old_judge == 'b' and split == 'test'").iloc[0]
    merged = old.query("judge == 'b' and split == 'test'").merge(
        new.query("judge == 'b'")[["attempt_id", "p_ac"]], on="attempt_id", suffixes=("_old", "_new")
    )
    accepts = {side: merged[f"p_ac_{side}"] >= counts[f"{side}_threshold"] for side in ("old", "new")}
    flips = found.flips.query("old_judge == 'b'").set_index("attempt_id")
    assert set(flips.index) == set(merged.loc[accepts["old"] != accepts["new"], "attempt_id"])
    labels = merged.set_index("attempt_id")["y"]
    for attempt, row in flips.iterrows():
        assert row["flip"] == ("mended" if row["new_accepts"] == bool(labels[attempt]) else "broken")
    raw = found.agreement.query("old_judge == 'b' and statistic == 'raw_agreement'")["value"].item()
    assert raw == pytest.approx(1 - len(flips) / len(merged), abs=1e-12)


def test_labels_that_one_run_lacks_are_taken_from_the_other() -> None:
    old, new = complete(), noisier(complete(), 0.2)
    unlabelled = sorted(old.query("split == 'test'")["attempt_id"].unique())[:7]
    blank = old.assign(y=old["y"].where(~old["attempt_id"].isin(unlabelled)).astype("float64"))
    full, filled = (compare_runs(run, new, seed=0, n_resamples=N) for run in (old, blank))
    assert (full.n_labels_filled, filled.n_labels_filled) == (0, 7)
    pd.testing.assert_frame_equal(full.differences, filled.differences)


def test_what_answers_cost_is_compared_over_attempts_whose_cost_both_know() -> None:
    old = complete().assign(cost_usd=0.01, latency_ms=np.nan)
    new = complete().assign(cost_usd=lambda run: np.where(run.index % 7 == 0, np.nan, 0.01 + run.index * 1e-5))
    found = compare_runs(old, new, seed=0, n_resamples=N).differences.set_index(["old_judge", "metric"])
    cost = found.loc[("a", "mean_cost_usd")]
    mine = new.query("judge == 'a' and split == 'test'")["cost_usd"]
    assert cost["new"] == pytest.approx(mine.mean(), abs=1e-15)
    assert (cost["n"], cost["n_left_out"]) == (mine.notna().sum(), mine.isna().sum())
    assert cost["change"] == "drop"
    assert np.isnan(cost["p_holm"])
    latency = found.loc[("a", "mean_latency_ms")]
    assert latency["change"] == "undefined"
    assert "old run knows it of 0" in latency["reason"]


def test_undefined_is_no_pass() -> None:
    run = complete()
    rejected = run.assign(y=np.where(run["split"] == "test", 0, run["y"]))
    found = compare_runs(rejected, rejected, seed=0, n_resamples=N)
    undecided = found.undecided()
    assert {"roc_auc", "pr_auc", "balanced_accuracy"} <= set(undecided["metric"])
    assert undecided["reason"].notna().all()
    assert "old:" in undecided["reason"].iloc[0]


def test_tested_figures_are_corrected_within_a_pair() -> None:
    found = compare_runs(complete(), noisier(complete(), 0.3), seed=0, n_resamples=N).differences
    mine = found.query("old_judge == 'a'")
    assert set(mine.loc[mine["p_holm"].notna(), "metric"]) == set(TESTED)
    tested = mine[mine["p_holm"].notna()].sort_values("p_value")
    factors = np.arange(len(tested), 0, -1)
    expected = np.minimum(np.maximum.accumulate(tested["p_value"].to_numpy() * factors), 1)
    np.testing.assert_allclose(tested["p_holm"].to_numpy(), expected, atol=1e-12)
    assert set(mine.loc[mine["ci95_low"].isna(), "metric"]) >= set(STABILITY)
    assert set(mine["metric"]) == set(METRICS)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda run: run.assign(y=1 - run["y"]), "has y 0 in OLD"),
        (lambda run: run.assign(split=run["split"].replace({"val": "test", "test": "val"})), "has split"),
        (lambda run: run.assign(judge="new " + run["judge"]), "no judge is in both runs"),
        (lambda run: run.assign(p_ac=2.0), "p_ac is outside"),
        (lambda run: run.assign(cost_usd=-1.0), "cost_usd is below 0"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(change: object, told: str) -> None:
    with pytest.raises(PredictionError, match=told):
        compare_runs(complete(), change(complete()), seed=0, n_resamples=N)  # type: ignore[operator]


def test_a_judge_that_is_in_neither_run_is_refused() -> None:
    with pytest.raises(PredictionError, match="not in the new run"):
        compare_runs(complete(), complete(), [("a", "nobody")], seed=0, n_resamples=N)


@pytest.mark.slow
def test_judges_of_one_quality_seldom_drop() -> None:
    """Both runs draw their noise from the same law: a drop in ROC-AUC at 2.5% is what the interval promises."""
    drops, n_draws = 0, 60
    for seed in range(n_draws):
        truth = scored_judges.simulated(1000 + seed, n_groups=120, gaps=0.0).query("judge == 'a'")
        runs = [noisier(truth, 0.3, seed=2 * seed + side) for side in (0, 1)]
        drops += len(compare_runs(*runs, seed=0, n_resamples=N).drops(["roc_auc"]))
    assert drops <= binom.ppf(0.999, n_draws, 0.04)
