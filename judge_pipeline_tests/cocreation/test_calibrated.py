from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk
from sklearn.isotonic import IsotonicRegression

from judge_pipeline.cocreation.calibrated import calibration_maps, judge_calibration, maps_that_saw_more_than_val
from judge_pipeline.cocreation.evaluation import judge_metrics
from judge_pipeline.tables import JUDGE_CALIBRATION, JUDGE_CALIBRATION_MAPS, PREDICTIONS

from . import paper_items
from .scored_judges import JUDGES, simulated


def overconfident(seed: int, n_groups: int = 300) -> pd.DataFrame:
    """Judges whose logits are three times too large."""
    frame = simulated(seed, n_groups=n_groups)
    odds = (frame["p_ac"].clip(0.02, 0.98) / (1 - frame["p_ac"].clip(0.02, 0.98))) ** 3
    return frame.assign(p_ac=(odds / (1 + odds)).round(4))


def row(table: pd.DataFrame, judge: str, name: str, metric: str, quantity: str = "value") -> pd.Series:
    mask = (table["judge"] == judge) & (table["map"] == name)
    found = table[mask & (table["metric"] == metric) & (table["quantity"] == quantity)]
    assert len(found) == 1
    return found.iloc[0]


def calibration(frame: pd.DataFrame, n_resamples: int = 50) -> pd.DataFrame:
    return judge_calibration(frame, calibration_maps(frame), seed=0, n_resamples=n_resamples)


def test_before_is_what_judge_metrics_says_to_the_last_bit() -> None:
    frame = overconfident(0)
    table, metrics = calibration(frame), judge_metrics(frame, seed=0, n_resamples=50)
    for judge in JUDGES:
        for metric in ("log_loss", "brier", "ece", "ece_debiased", "roc_auc"):
            own = metrics[(metrics["judge"] == judge) & (metrics["metric"] == metric)].iloc[0]
            before = row(table, judge, "none", metric)
            for column in ("value", "n", "n_left_out", "ci95_low", "ci95_high"):
                assert before[column] == own[column]


def test_after_is_the_figure_of_mapped_probabilities_and_change_is_the_difference() -> None:
    frame = overconfident(1)
    table = calibration(frame)
    for judge in JUDGES:
        own = frame[frame["judge"] == judge]
        val, test = own[own["split"] == "val"], own[own["split"] == "test"]
        isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(val["p_ac"], val["y"])
        mapped = isotonic.predict(test["p_ac"])
        expected = {
            "brier": sk.brier_score_loss(test["y"], mapped),
            "roc_auc": sk.roc_auc_score(test["y"], mapped),
            "log_loss": sk.log_loss(test["y"], mapped),
        }
        for metric, value in expected.items():
            after = row(table, judge, "isotonic", metric)["value"]
            assert after == pytest.approx(value, abs=1e-12)
            change = row(table, judge, "isotonic", metric, "change")["value"]
            assert change == pytest.approx(after - row(table, judge, "none", metric)["value"], abs=1e-15)


def test_maps_mend_overconfidence_and_the_paired_change_is_sharper_than_its_parts() -> None:
    table = calibration(overconfident(2), n_resamples=400)
    for judge in JUDGES:
        for name in ("platt", "beta", "temperature"):
            change = row(table, judge, name, "log_loss", "change")
            assert change["ci95_high"] < 0
            before, after = row(table, judge, "none", "brier"), row(table, judge, name, "brier")
            assert after["value"] < before["value"]
            # Monotone maps leave the order of the answers as it is, but for what is clipped.
            assert abs(row(table, judge, name, "roc_auc", "change")["value"]) < 0.01
        change = row(table, judge, "platt", "brier", "change")
        width = {q: r["ci95_high"] - r["ci95_low"] for q, r in (("change", change), ("before", before))}
        assert width["change"] < width["before"]


def test_maps_come_from_val_alone() -> None:
    frame = overconfident(3)
    maps = calibration_maps(frame)
    assert maps_that_saw_more_than_val(maps, frame) == []
    other_test = frame.assign(y=frame["y"].where(frame["split"] == "val", 1 - frame["y"]))
    pd.testing.assert_frame_equal(calibration_maps(other_test), maps, check_exact=True)
    on_everything = calibration_maps(frame.assign(split="val"))
    assert maps_that_saw_more_than_val(on_everything, frame) == [
        f"{j}: its maps are not those of val alone" for j in JUDGES
    ]
    edited = maps.assign(value=maps["value"].where(maps.index != 1, maps["value"] + 1e-9))
    assert maps_that_saw_more_than_val(edited, frame) == ["a: its maps are not those of val alone"]


def test_a_judge_that_did_not_answer_on_val_has_no_map() -> None:
    frame = overconfident(4)
    frame = frame[(frame["judge"] != "c") | (frame["split"] != "val")]
    maps = calibration_maps(frame)
    of_c = maps[maps["judge"] == "c"]
    assert of_c["value"].isna().all()
    assert set(of_c["n_val"]) == {0}
    assert maps_that_saw_more_than_val(maps, frame) == []
    table = judge_calibration(frame, maps, seed=0, n_resamples=20)
    assert row(table, "c", "none", "brier")["value"] > 0
    for quantity in ("value", "change"):
        missing = row(table, "c", "platt", "brier", quantity)
        assert np.isnan(missing["value"])
        assert "val is too small: 0 labelled answers" in missing["reason"]


def test_the_items_of_the_paper_have_a_val_too_small_for_maps() -> None:
    table = calibration(paper_items.predictions())
    after = table[table["map"] != "none"]
    assert after["value"].isna().all()
    assert after["reason"].str.contains("val is too small: 8 labelled answers").all()


def test_one_class_on_test_has_no_auc_and_on_val_no_map() -> None:
    frame = overconfident(5)
    table = calibration(frame.assign(y=frame["y"].where(frame["split"] == "val", 1)))
    for name, quantity in (("none", "value"), ("platt", "value"), ("platt", "change")):
        missing = row(table, "a", name, "roc_auc", quantity)
        assert np.isnan(missing["value"])
        assert "only one class" in missing["reason"]
    assert row(table, "a", "platt", "brier")["value"] >= 0
    table = calibration(frame.assign(y=frame["y"].where(frame["split"] == "test", 0)))
    assert "val has only one class" in row(table, "a", "isotonic", "brier")["reason"]


def test_few_answers_on_val_and_clipped_certainties_are_said() -> None:
    table = calibration(overconfident(6, n_groups=60))
    assert "fitted on few answers" in row(table, "a", "platt", "brier")["reason"]
    assert "fitted on few answers" in row(table, "a", "platt", "brier", "change")["reason"]
    assert "few answers" not in (row(table, "a", "none", "brier")["reason"] or "")
    isotonic = row(table, "a", "isotonic", "log_loss")
    assert "of the probabilities are 0 or 1 and were clipped" in isotonic["reason"]


def test_same_seed_same_bytes_whatever_the_order_of_rows() -> None:
    frame = overconfident(7, n_groups=80)
    shuffled = frame.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(calibration_maps(frame), calibration_maps(shuffled), check_exact=True)
    pd.testing.assert_frame_equal(calibration(frame), calibration(shuffled), check_exact=True)


def test_maps_of_other_judges_are_refused_and_nothing_gives_nothing() -> None:
    frame = overconfident(8, n_groups=80)
    maps = calibration_maps(frame, panel=["a"])
    with pytest.raises(ValueError, match="judge b has no platt map"):
        judge_calibration(frame, maps, seed=0, n_resamples=5)
    assert set(judge_calibration(frame, maps, seed=0, n_resamples=5, panel=["a"])["judge"]) == {"a"}
    empty = PREDICTIONS.empty()
    assert calibration_maps(empty).equals(JUDGE_CALIBRATION_MAPS.empty())
    assert judge_calibration(empty, JUDGE_CALIBRATION_MAPS.empty(), seed=0).equals(JUDGE_CALIBRATION.empty())
