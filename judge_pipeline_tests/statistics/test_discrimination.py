from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics as sk

from judge_pipeline.statistics import discrimination as ours
from judge_pipeline.statistics.score_counts import count_scores

from .score_samples import labelled_scores, samples

CASES = [case for seed in range(20) for case in samples(seed, 5 + 13 * seed)]


@pytest.mark.parametrize(("y", "p"), CASES)
def test_agrees_with_scikit_learn(y: np.ndarray, p: np.ndarray) -> None:
    counts = count_scores(y, p)
    assert ours.log_loss(counts)[0] == pytest.approx(sk.log_loss(y, p, labels=[0, 1]), abs=1e-12, rel=1e-12)
    assert ours.brier(counts)[0] == pytest.approx(np.mean((p - y) ** 2), abs=1e-12)
    if 0 < y.sum() < len(y):
        assert ours.brier(counts)[0] == pytest.approx(sk.brier_score_loss(y, p), abs=1e-12)
        assert ours.roc_auc(counts)[0] == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)
        assert ours.average_precision(counts)[0] == pytest.approx(sk.average_precision_score(y, p), abs=1e-12)
    else:
        assert np.isnan(ours.roc_auc(counts)[0])
        assert np.isnan(ours.average_precision(counts)[0])


@pytest.mark.parametrize(("y", "p"), [case for case in CASES if 0 < case[0].sum() < len(case[0])][:40])
def test_curves_agree_with_scikit_learn(y: np.ndarray, p: np.ndarray) -> None:
    counts = count_scores(y, p)
    fpr, tpr, thresholds = sk.roc_curve(y, p, drop_intermediate=False)
    roc = ours.roc_curve_points(counts)
    assert roc is not None
    assert roc.x == pytest.approx(fpr, abs=1e-12)
    assert roc.y == pytest.approx(tpr, abs=1e-12)
    assert roc.threshold[1:] == pytest.approx(thresholds[1:], abs=1e-12)
    assert np.isnan(roc.threshold[0])
    assert roc.n.tolist() == [0, *[float((p >= t).sum()) for t in roc.threshold[1:]]]
    precision, recall, _ = sk.precision_recall_curve(y, p)
    pr = ours.pr_curve_points(counts)
    assert pr is not None
    assert pr.x == pytest.approx(recall[::-1], abs=1e-12)
    assert pr.y == pytest.approx(precision[::-1], abs=1e-12)


@given(labelled_scores)
def test_weighted_figures_equal_those_of_repeated_data(rows: list[tuple[int, float, int]]) -> None:
    y, p, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeated = count_scores(np.repeat(y, w.astype(int)), np.repeat(p, w.astype(int)))
    weighted = count_scores(y, p, w)
    for figure in (ours.roc_auc, ours.average_precision, ours.log_loss, ours.brier, ours.n_clipped):
        np.testing.assert_allclose(figure(weighted), figure(repeated), rtol=1e-12, atol=1e-12)


def test_many_weight_rows_are_each_its_own_row() -> None:
    y, p = samples(3, 60)[1]
    weights = np.random.default_rng(0).integers(0, 4, size=(7, 60)).astype(float)
    block = ours.roc_auc(count_scores(y, p, weights))
    assert block.tolist() == [float(ours.roc_auc(count_scores(y, p, row))[0]) for row in weights]


def test_one_wrong_certainty_decides_the_log_loss_and_is_counted() -> None:
    counts = count_scores([1, 0, 0], [0.0, 0.0, 1.0])
    assert ours.n_clipped(counts)[0] == 3
    # Two certainties are wrong; each costs -log(eps) = 36.04.
    assert ours.log_loss(counts)[0] == pytest.approx(2 * 36.0436533891 / 3, rel=1e-9)
    assert ours.n_clipped(count_scores([1, 0], [0.01, 0.99]))[0] == 0


def test_one_class_has_no_curves() -> None:
    counts = count_scores([1, 1, 1], [0.1, 0.5, 0.9])
    assert ours.roc_curve_points(counts) is None
    assert ours.pr_curve_points(counts) is None


def test_nothing_is_undefined_not_zero() -> None:
    counts = count_scores([], [])
    for figure in (ours.roc_auc, ours.average_precision, ours.log_loss, ours.brier):
        assert np.isnan(figure(counts)).all()
