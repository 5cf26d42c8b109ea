"""Curves and bands against scikit-learn on the same rows, and bands against rows that are really repeated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from judge_pipeline.cocreation.judge_curves import BAND_GRID, judge_curves, precision_at, roc_at
from judge_pipeline.statistics.score_counts import count_scores
from judge_pipeline.tables import JUDGE_CURVES


def drawn(seed: int, n_groups: int = 40, skill: float = 1.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for group in range(n_groups):
        for turn in range(int(rng.integers(1, 4))):
            y = int(rng.random() < 0.5)
            p = round(float(1 / (1 + np.exp(-skill * (2 * y - 1) - rng.normal()))), 2)
            rows.append((f"{group}-{turn}", "a", p, y, ("val", "test")[group % 2], f"E{group}", "P"))
    return pd.DataFrame(rows, columns=["attempt_id", "judge", "p_ac", "y", "split", "participant", "problem_id"])


labelled = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.sampled_from([0.0, 0.1, 0.35, 0.5, 0.9, 1.0]), st.integers(0, 3)),
    min_size=2,
    max_size=25,
)


@given(labelled)
def test_a_weighted_curve_is_that_of_repeated_rows(rows: list[tuple[int, float, int]]) -> None:
    y, p, weights = (np.array(column) for column in zip(*rows, strict=True))
    counts = count_scores(y, p, weights)
    roc, precision = roc_at(counts, BAND_GRID)[0], precision_at(counts, BAND_GRID)[0]
    many_y, many_p = np.repeat(y, weights), np.repeat(p, weights)
    if len(set(many_y.tolist())) < 2:
        assert np.isnan(roc).all() and np.isnan(precision).all()
        return
    fpr, tpr, _ = sk.roc_curve(many_y, many_p, drop_intermediate=False)
    highest = pd.Series(tpr).groupby(np.round(fpr, 12)).max()
    assert roc == pytest.approx(np.interp(BAND_GRID, highest.index, highest.to_numpy()), abs=1e-9)
    points = [(r, q) for q, r, _ in zip(*_pr(many_y, many_p), strict=True)]
    for at, found in zip(BAND_GRID, precision, strict=True):
        reached = [(r, q) for r, q in points if r >= at - 1e-9 and r > 0]
        least = min(r for r, _ in reached)
        assert found == pytest.approx(max(q for r, q in reached if r == least))


def _pr(y: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Precision and recall at each distinct score; at equal recall the higher threshold has the higher precision."""
    cuts = np.unique(p)
    taken = p[None] >= cuts[:, None]
    tp = (taken & (y == 1)).sum(axis=1)
    return tp / taken.sum(axis=1), tp / (y == 1).sum(), cuts


def test_every_curve_is_there_in_order_with_its_band() -> None:
    frame = drawn(1)
    curves = judge_curves(frame, seed=3, n_resamples=200)
    assert set(curves["curve"]) == {"roc", "roc_band", "pr", "pr_band", "reliability", "mcc_val"}
    for name in ("roc_band", "pr_band", "mcc_val"):
        rows = curves[curves["curve"] == name]
        assert rows["x"].is_monotonic_increasing
        assert (rows["ci95_low"] <= rows["ci95_high"]).all()
        assert (rows["ci95_low"] < rows["ci95_high"]).any()
    assert curves.loc[curves["curve"] == "roc_band", "x"].tolist() == BAND_GRID.tolist()
    assert JUDGE_CURVES.conform(curves).equals(curves)
    assert judge_curves(frame, seed=3, n_resamples=200).equals(curves)


def test_mcc_on_val_is_scikit_learns_at_each_threshold() -> None:
    frame = drawn(2)
    val = frame[frame["split"] == "val"]
    rows = judge_curves(frame, n_resamples=20).query("curve == 'mcc_val'")
    assert set(rows["n"]) == {len(val)}
    for t, found in zip(rows["x"], rows["y"], strict=True):
        assert found == pytest.approx(sk.matthews_corrcoef(val["y"], val["p_ac"] >= t), abs=1e-12)
    constant = {i / 100 for i in range(101)} - set(rows["x"])
    assert constant and all((val["p_ac"] >= t).nunique() == 1 for t in constant)


def test_a_wider_sample_has_a_narrower_band() -> None:
    def width(n_groups: int) -> float:
        rows = judge_curves(drawn(5, n_groups, skill=0.2), n_resamples=200).query(
            "curve == 'roc_band' and 0.1 < x < 0.9"
        )
        return float((rows["ci95_high"] - rows["ci95_low"]).mean())

    assert width(400) < width(40) / 2


def test_without_val_there_is_no_threshold_curve_and_without_test_no_other() -> None:
    frame = drawn(4)
    assert "mcc_val" not in set(judge_curves(frame[frame["split"] == "test"], n_resamples=20)["curve"])
    assert set(judge_curves(frame[frame["split"] == "val"], n_resamples=20)["curve"]) == {"mcc_val"}
