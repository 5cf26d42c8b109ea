from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, roc_auc_score

from judge_pipeline.cocreation.rerating import make_sheet, sample_for_rerating
from judge_pipeline.cocreation.rerating_agreement import rerating_agreement
from judge_pipeline.statistics.agreement import cohen
from judge_pipeline_tests.cocreation import scored_judges


def run() -> pd.DataFrame:
    return scored_judges.simulated(3, n_groups=120)


def strata(predictions: pd.DataFrame) -> pd.Series:
    """The strata anew, by pandas' own bins."""
    of = predictions.groupby("attempt_id").agg(
        y=("y", "first"), low=("p_ac", "min"), high=("p_ac", "max"), mean=("p_ac", "mean")
    )
    spread = pd.cut(of["high"] - of["low"], [-1, 0.2, 0.5, 2], right=False).cat.codes
    mean = pd.cut(of["mean"], [-1, 1 / 3, 2 / 3, 2], right=False).cat.codes
    return of["y"].astype(str) + spread.astype(str) + mean.astype(str)


@pytest.mark.parametrize("n", [2, 17, 60])
def test_every_stratum_has_its_share_of_the_sample(n: int) -> None:
    predictions = run()
    of = strata(predictions)
    chosen = sample_for_rerating(predictions, list(of.index), n, seed=4)
    assert len(chosen) == len(set(chosen)) == n
    drawn, total = Counter(of[chosen]), Counter(of)
    for name, size in total.items():
        assert abs(drawn[name] - n * size / len(of)) < 1, name


def test_the_draw_is_seeded_and_never_larger_than_what_there_is() -> None:
    predictions = run()
    ids = sorted(predictions["attempt_id"].unique())
    assert sample_for_rerating(predictions, ids, 20, 1) == sample_for_rerating(predictions, ids[::-1], 20, 1)
    assert sample_for_rerating(predictions, ids, 20, 1) != sample_for_rerating(predictions, ids, 20, 2)
    assert sample_for_rerating(predictions, ids[:5], 20, 1) == ids[:5]
    assert sample_for_rerating(predictions, [*ids[:3], "nobody answered"], 4, 1) == sorted(
        [*ids[:3], "nobody answered"]
    )


def test_codes_say_nothing_and_each_rater_has_an_order_of_their_own() -> None:
    ids = [f"{i:016x}" for i in range(30)]
    sheet = make_sheet("mini", ids, 3, seed=1)
    assert sheet.keys.equals(make_sheet("mini", ids[::-1], 3, seed=1).keys)
    assert set(sheet.keys["attempt_id"]) == set(ids)
    assert len({*sheet.orders}) == 3
    assert all(sorted(order) == sorted(sheet.keys["item"]) for order in sheet.orders)
    ranks = [ids.index(attempt) for attempt in sheet.keys.sort_values("item")["attempt_id"]]
    assert abs(np.corrcoef(ranks, range(30))[0, 1]) < 0.5
    assert make_sheet("mini", ids, 3, seed=2).name != sheet.name


@pytest.fixture
def rated() -> pd.DataFrame:
    predictions = run()
    rng = np.random.default_rng(2)
    attempts = predictions.drop_duplicates("attempt_id").head(60)
    rows = []
    for rater in ("Ann", "Bo"):
        for attempt in attempts.itertuples():
            said = attempt.y if rng.random() < 0.8 else 1 - attempt.y
            rows.append(
                {
                    "sheet": "S1", "item": attempt.attempt_id, "attempt_id": attempt.attempt_id, "rater": rater,
                    "accepted": "unsure" if rng.random() < 0.1 else ("no", "yes")[said],
                    "s_algo": int(rng.integers(1, 6)) if rng.random() < 0.9 else None, "s_robust": None, "note": None,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def agreement(rated: pd.DataFrame) -> pd.DataFrame:
    predictions = run()
    attempts = predictions.drop_duplicates("attempt_id")
    found = rerating_agreement(rated, predictions, attempts, {"a": 0.5, "b": 0.4, "c": None}, seed=1, n_resamples=200)
    return found.set_index(["rater", "against", "other", "rated", "statistic"]).sort_index()


def test_figures_are_those_of_scikit_learn_over_what_both_answered(rated: pd.DataFrame) -> None:
    found = agreement(rated)
    said = rated[(rated["rater"] == "Ann") & rated["accepted"].isin(["yes", "no"])].set_index("attempt_id")
    judge = run().query("judge == 'a'").set_index("attempt_id").reindex(said.index)
    both = judge["p_ac"].notna()
    mine, p = (said["accepted"] == "yes")[both], judge["p_ac"][both]
    row = found.loc[("Ann", "judge", "a", "decision", "cohen")]
    assert row["value"] == pytest.approx(cohen_kappa_score(mine, p >= 0.5), abs=1e-12)
    assert (row["n"], row["n_left_out"]) == (both.sum(), 60 - both.sum())
    assert row["ci95_low"] < row["value"] < row["ci95_high"]
    auc = found.loc[("Ann", "judge", "a", "p_ac", "roc_auc")]
    assert auc["value"] == pytest.approx(roc_auc_score(mine, p), abs=1e-12)
    scores = rated[(rated["rater"] == "Ann") & rated["s_algo"].notna()].set_index("attempt_id")["s_algo"].astype(int)
    its = run().query("judge == 'a'").set_index("attempt_id")["s_algo"].reindex(scores.index).dropna().astype(int)
    weighted = cohen_kappa_score(scores[its.index], its, weights="quadratic", labels=range(1, 6))
    assert found.loc[("Ann", "judge", "a", "s_algo", "cohen_quadratic"), "value"] == pytest.approx(weighted, abs=1e-12)


def test_people_are_set_beside_the_verdict_and_each_other(rated: pd.DataFrame) -> None:
    found = agreement(rated)
    labels = run().drop_duplicates("attempt_id").set_index("attempt_id")["y"]
    of = {
        rater: rows.set_index("attempt_id")["accepted"].map({"yes": 1, "no": 0})
        for rater, rows in rated.groupby("rater")
    }
    verdict = found.xs(("Ann", "verdict", "decision", "raw_agreement"), level=(0, 1, 3, 4)).iloc[0]
    mine = of["Ann"].dropna()
    assert verdict["value"] == pytest.approx((mine == labels[mine.index]).mean(), abs=1e-12)
    pair = found.loc[("Ann", "person", "Bo", "decision", "cohen")]
    given = [[None if pd.isna(v) else int(v) for v in of[rater]] for rater in ("Ann", "Bo")]
    assert pair["value"] == pytest.approx(cohen(*given).value, abs=1e-12)


def test_what_cannot_be_compared_says_why(rated: pd.DataFrame) -> None:
    found = agreement(rated)
    assert "no threshold" in found.loc[("Ann", "judge", "c", "decision", "cohen"), "reason"]
    assert "no attempt was rated by both" in found.loc[("Ann", "judge", "a", "s_robust", "cohen_quadratic"), "reason"]
    one = agreement(rated.assign(accepted="yes"))
    assert one.loc[("Ann", "judge", "a", "p_ac", "roc_auc"), "reason"] == "the person gave only one answer"
    assert agreement(rated.head(0)).empty
