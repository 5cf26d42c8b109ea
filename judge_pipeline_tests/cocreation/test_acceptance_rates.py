from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation.acceptance_rates import acceptance_rates
from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.tables import ACCEPTANCE_RATES, PREDICTIONS

from . import paper_items
from .scored_judges import JUDGES, simulated

METHODS = ("labels_only", "judge_mean", "judge_decisions", "ppi", "ppi_plus_plus", "rogan_gladen")


def contest(seed: int, n_groups: int = 300, **options: float) -> pd.DataFrame:
    """A tenth of the trajectories in val, a tenth in test, the rest in train."""
    frame = simulated(seed, n_groups=n_groups, **options)
    place = frame["participant"].str[1:].astype(int) % 10
    return frame.assign(split=np.select([place == 0, place == 1], ["val", "test"], "train"))


def row(table: pd.DataFrame, judge: str, method: str) -> pd.Series:
    found = table[(table["judge"] == judge) & (table["method"] == method)]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("seed", range(3))
def test_every_method_by_its_formula(seed: int) -> None:
    frame = contest(seed)
    table = acceptance_rates(frame, seed=0, n_resamples=50)
    thresholds = judge_metrics(frame, seed=0, n_resamples=5).query("metric == 'threshold'").set_index("judge")["value"]
    for judge in JUDGES:
        own = frame[frame["judge"] == judge]
        val, rest = own[own["split"] == "val"], own[own["split"] != "val"]
        accepts = own["p_ac"] >= thresholds[judge]
        sensitivity = accepts[val.index][val["y"] == 1].mean()
        specificity = (~accepts[val.index][val["y"] == 0]).mean()
        expected = {
            "labels_only": val["y"].mean(),
            "judge_mean": own["p_ac"].mean(),
            "judge_decisions": accepts.mean(),
            "ppi": rest["p_ac"].mean() + (val["y"] - val["p_ac"]).mean(),
            "rogan_gladen": (accepts.mean() + specificity - 1) / (sensitivity + specificity - 1),
        }
        for method, value in expected.items():
            found = row(table, judge, method)
            if not 0 <= value <= 1:
                assert np.isnan(found["value"])
                continue
            assert found["value"] == pytest.approx(value, abs=1e-12)
            assert found["truth"] == pytest.approx(own["y"].mean())
            assert (found["n_labelled"], found["n_unlabelled"]) == (len(val), len(rest))
            assert 0 <= found["ci95_low"] <= value <= found["ci95_high"] <= 1
        corrected = row(table, judge, "rogan_gladen")
        assert corrected["sensitivity"] == pytest.approx(sensitivity)
        assert corrected["specificity"] == pytest.approx(specificity)
        assert "where t* was chosen" in corrected["reason"] or np.isnan(corrected["value"])
        tuned = row(table, judge, "ppi_plus_plus")
        lam = tuned["power_tuning"]
        expected_tuned = val["y"].mean() + lam * (rest["p_ac"].mean() - val["p_ac"].mean())
        assert tuned["value"] == pytest.approx(expected_tuned, abs=1e-12)
        assert row(table, judge, "ppi")["power_tuning"] == 1
        assert row(table, judge, "labels_only")["n"] == len(val)


def test_labels_of_train_and_test_move_nothing_but_the_truth() -> None:
    frame = contest(3)
    table = acceptance_rates(frame, seed=0, n_resamples=50)
    turned = frame.assign(y=frame["y"].where(frame["split"] == "val", 1))
    other = acceptance_rates(turned, seed=0, n_resamples=50)
    assert (table["truth"] < other["truth"]).all()
    pd.testing.assert_frame_equal(table.drop(columns="truth"), other.drop(columns="truth"), check_exact=True)


@pytest.mark.slow
def test_a_good_judge_shortens_the_interval_and_a_biased_one_alone_is_wrong() -> None:
    frame = contest(4, n_groups=1500, gaps=0.0)
    frame["p_ac"] = (0.55 * frame["y"] + 0.35).clip(0, 1)
    table = acceptance_rates(frame, seed=0, n_resamples=400)
    widths = {m: row(table, "a", m)["ci95_high"] - row(table, "a", m)["ci95_low"] for m in METHODS}
    assert widths["ppi_plus_plus"] < 0.8 * widths["labels_only"]
    alone, corrected = row(table, "a", "judge_mean"), row(table, "a", "ppi_plus_plus")
    assert alone["ci95_low"] > alone["truth"]
    assert corrected["ci95_low"] <= corrected["truth"] <= corrected["ci95_high"]


def test_estimates_and_intervals_beyond_the_range_are_said_and_not_cut_in_silence() -> None:
    frame = contest(5, n_groups=100)
    of_val = frame["split"] == "val"
    frame["y"] = frame["y"].where(~of_val, 1)
    frame["p_ac"] = frame["p_ac"].where(~of_val, 0.2).where(of_val, 0.9)
    table = acceptance_rates(frame, seed=0, n_resamples=50)
    beyond = row(table, "a", "ppi")
    assert np.isnan(beyond["value"])
    assert "the estimate is 1.7000, outside [0, 1]" in beyond["reason"]
    frame = contest(6, n_groups=100)
    frame.loc[frame["split"] == "val", "y"] = (frame["attempt_id"].str[0] != "1").astype(int)
    found = acceptance_rates(frame, seed=0, n_resamples=200)
    cut = found[found["reason"].fillna("").str.contains("is cut to")]
    assert len(cut)
    assert ((cut["ci95_low"] == 0) | (cut["ci95_high"] == 1)).all()


def test_a_judge_no_better_than_a_coin_cannot_be_corrected() -> None:
    frame = contest(7, n_groups=200)
    val = frame["split"] == "val"
    frame.loc[val, "p_ac"] = 1.0 - frame["y"]
    table = acceptance_rates(frame, seed=0, n_resamples=50)
    corrected = row(table, "a", "rogan_gladen")
    assert np.isnan(corrected["value"])
    assert "on val do not add up to more than 1" in corrected["reason"] or "outside [0, 1]" in corrected["reason"]
    tuned = row(table, "a", "ppi_plus_plus")
    assert tuned["power_tuning"] == 0
    assert tuned["value"] == row(table, "a", "labels_only")["value"]
    assert "lambda is 0" in tuned["reason"]


def test_what_is_missing_is_named() -> None:
    frame = contest(8, n_groups=100)
    without_val = acceptance_rates(frame[frame["split"] != "val"], seed=0, n_resamples=20)
    for method in ("labels_only", "ppi", "ppi_plus_plus", "rogan_gladen"):
        missing = row(without_val, "a", method)
        assert np.isnan(missing["value"])
        assert "no attempt of val has both a label and an answer" in missing["reason"]
    assert row(without_val, "a", "judge_mean")["value"] > 0
    assert "no threshold can be chosen on val" in row(without_val, "a", "judge_decisions")["reason"]
    only_val = acceptance_rates(frame[frame["split"] == "val"], seed=0, n_resamples=20)
    assert "answered no attempt of train or test" in row(only_val, "a", "ppi")["reason"]
    assert row(only_val, "a", "labels_only")["value"] > 0
    pending = frame.assign(y=frame["y"].astype("Float64"))
    pending.loc[pending["attempt_id"].isin(pending["attempt_id"].unique()[:5]), "y"] = pd.NA
    left_out = acceptance_rates(pending, seed=0, n_resamples=20)
    answered = pending[(pending["judge"] == "a") & pending["y"].notna()]
    assert row(left_out, "a", "judge_mean")["n"] == len(answered)
    assert row(left_out, "a", "judge_mean")["n_left_out"] == pending["attempt_id"].nunique() - len(answered)


def test_the_same_bytes_again_and_the_items_of_the_paper() -> None:
    frame = contest(9, n_groups=80)
    again = acceptance_rates(frame.sample(frac=1, random_state=0), seed=2, n_resamples=50)
    pd.testing.assert_frame_equal(acceptance_rates(frame, seed=2, n_resamples=50), again, check_exact=True)
    table = acceptance_rates(paper_items.predictions(), seed=0, n_resamples=50)
    assert (table["n_labelled"] == 8).all()
    assert (table["n_unlabelled"] == 36).all()
    assert row(table, "Claude", "rogan_gladen")["sensitivity"] == 1
    assert acceptance_rates(PREDICTIONS.empty(), seed=0).equals(ACCEPTANCE_RATES.empty())
