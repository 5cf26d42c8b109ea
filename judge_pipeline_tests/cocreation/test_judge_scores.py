from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from judge_pipeline.cocreation.judge_scores import judge_scores
from judge_pipeline.tables import JUDGE_SCORES, PREDICTIONS

from .scored_judges import simulated


def row(table: pd.DataFrame, judge: str, score: str, metric: str) -> pd.Series:
    found = table[(table["judge"] == judge) & (table["score"] == score) & (table["metric"] == metric)]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scipy_and_scikit_learn_and_has_intervals(seed: int) -> None:
    frame = simulated(seed, n_groups=120)
    table = judge_scores(frame, seed=0, n_resamples=200)
    test = frame[frame["split"] == "test"]
    for judge, own in test.groupby("judge"):
        for score in ("s_algo", "s_robust"):
            expected = {
                "roc_auc": roc_auc_score(own["y"], own[score]),
                "spearman": stats.spearmanr(own["y"], own[score]).statistic,
                "kendall_tau_b": stats.kendalltau(own["y"], own[score]).statistic,
            }
            for metric, value in expected.items():
                found = row(table, str(judge), score, metric)
                assert found["value"] == pytest.approx(value, abs=1e-12)
                assert found["ci95_low"] < value < found["ci95_high"]
                assert found["n"] == len(own)
                assert found["n"] + found["n_left_out"] == test["attempt_id"].nunique()


def test_same_seed_same_bytes_whatever_the_order_of_rows() -> None:
    frame = simulated(0)
    again = judge_scores(frame.sample(frac=1, random_state=1), seed=3, n_resamples=50)
    pd.testing.assert_frame_equal(judge_scores(frame, seed=3, n_resamples=50), again, check_exact=True)


def test_undefined_is_null_with_its_reason() -> None:
    frame = simulated(0)
    frame.loc[frame["judge"] == "a", "s_algo"] = 3
    frame.loc[frame["judge"] == "b", "s_algo"] = np.nan
    table = judge_scores(frame, seed=0, n_resamples=20)
    assert row(table, "a", "s_algo", "roc_auc")["value"] == 0.5
    assert "have the same s_algo" in row(table, "a", "s_algo", "spearman")["reason"]
    assert "no attempt of test has both a label and a s_algo" in row(table, "b", "s_algo", "roc_auc")["reason"]
    assert row(table, "b", "s_robust", "roc_auc")["value"] > 0.5
    one_class = judge_scores(frame.assign(y=1), seed=0, n_resamples=20)
    assert one_class["value"].isna().all()
    assert "only one class" in row(one_class, "c", "s_algo", "kendall_tau_b")["reason"]


def test_without_scores_there_is_no_row() -> None:
    without = simulated(0).drop(columns=["s_algo", "s_robust"])
    assert judge_scores(without, seed=0, n_resamples=5).equals(JUDGE_SCORES.empty())
    assert judge_scores(PREDICTIONS.empty(), seed=0).equals(JUDGE_SCORES.empty())
