from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics as sk

from judge_pipeline.statistics import thresholds as ours
from judge_pipeline.statistics.score_counts import count_scores

from .score_samples import labelled_scores, samples

CASES = [case for seed in range(5) for case in samples(seed, 4 + 19 * seed)]


def brute_force_mcc(y: np.ndarray, p: np.ndarray) -> list[float | None]:
    """MCC at every i / 100, by scikit-learn where it is defined."""
    return list(_brute_force_mcc(tuple(y), tuple(p)))


@lru_cache
def _brute_force_mcc(labels: tuple[float, ...], scores: tuple[float, ...]) -> list[float | None]:
    y, p = np.array(labels), np.array(scores)
    curve: list[float | None] = []
    for i in range(101):
        decision = p >= i / 100
        constant = len(set(decision)) < 2 or len(set(y)) < 2
        curve.append(None if constant else float(sk.matthews_corrcoef(y, decision)))
    return curve


def test_the_grid_is_that_division() -> None:
    assert ours.GRID.tolist() == [i / 100 for i in range(101)]
    for i in range(101):
        counts = count_scores([1, 0], [i / 100, 0.0])
        assert ours.confusion_at(counts, ours.GRID[[i]]).tp[0, 0] == 1, i


@pytest.mark.parametrize(("y", "p"), CASES)
def test_figures_at_every_threshold_agree_with_scikit_learn(y: np.ndarray, p: np.ndarray) -> None:
    confusion = ours.confusion_at(count_scores(y, p), ours.GRID)
    for place, t in enumerate(ours.GRID):
        decision = (p >= t).astype(float)
        tn, fp, fn, tp = (((y == a) & (decision == b)).sum() for a in (0, 1) for b in (0, 1))
        cells = (confusion.tn, confusion.fp, confusion.fn, confusion.tp)
        assert tuple(cell[0, place] for cell in cells) == (tn, fp, fn, tp)
    expected = [np.nan if value is None else value for value in brute_force_mcc(y, p)]
    np.testing.assert_allclose(ours.mcc(confusion)[0], expected, atol=1e-12)


@pytest.mark.parametrize(("y", "p"), [case for case in CASES if 0 < case[0].sum() < len(case[0])])
@pytest.mark.parametrize("t", [0.05, 0.5, 0.7])
def test_decision_figures_agree_with_scikit_learn(y: np.ndarray, p: np.ndarray, t: float) -> None:
    decision = (p >= t).astype(float)
    confusion = ours.confusion_at(count_scores(y, p), np.array([t]))
    figures = {
        ours.precision: sk.precision_score(y, decision, zero_division=np.nan),
        ours.recall: sk.recall_score(y, decision, zero_division=np.nan),
        ours.f1: sk.f1_score(y, decision, zero_division=np.nan),
        ours.balanced_accuracy: sk.balanced_accuracy_score(y, decision),
        ours.accept_rate: decision.mean(),
    }
    for figure, expected in figures.items():
        np.testing.assert_allclose(figure(confusion)[0, 0], expected, atol=1e-12, err_msg=figure.__name__)


@pytest.mark.parametrize(("y", "p"), CASES)
def test_selects_the_smallest_threshold_that_reaches_the_best(y: np.ndarray, p: np.ndarray) -> None:
    curve = brute_force_mcc(y, p)
    chosen = ours.select_threshold(count_scores(y, p))
    defined = [value for value in curve if value is not None]
    if not defined:
        assert chosen is None
        return
    reaches = [value is not None and value >= max(defined) - 1e-12 for value in curve]
    first = reaches.index(True)
    last = next((i - 1 for i in range(first, 101) if not reaches[i]), 100)
    assert chosen is not None
    assert (chosen.value, chosen.plateau_low, chosen.plateau_high) == (first / 100, first / 100, last / 100)
    assert chosen.mcc == pytest.approx(max(defined), abs=1e-12)


@pytest.mark.parametrize("at", [0.35, 0.41, 0.47, 0.57, 0.07, 0.14, 0.28, 0.29])
def test_a_score_on_the_grid_is_accepted_at_its_own_threshold(at: float) -> None:
    chosen = ours.select_threshold(count_scores([0, 1], [at - 0.005, at]))
    assert chosen is not None
    assert (chosen.value, chosen.plateau_high, chosen.mcc) == (at, at, 1.0)


def test_plateau_is_one_run_of_thresholds() -> None:
    # Accepting from 0.3 or from 0.8 gives the same MCC, with a worse one between: the plateau is the first run only.
    y, p = [0, 1, 0, 1], [0.2, 0.3, 0.5, 0.8]
    curve = ours.mcc(ours.confusion_at(count_scores(y, p), ours.GRID))[0]
    assert curve[30] == pytest.approx(curve[80])
    assert curve[50] < curve[30]
    chosen = ours.select_threshold(count_scores(y, p))
    assert chosen is not None
    assert (chosen.plateau_low, chosen.plateau_high) == (0.21, 0.3)


def test_equal_fractions_tie_though_their_last_bit_differs() -> None:
    # Accepting the 2 best (1 right, 1 wrong) and accepting the 9 best (3 right, 6 wrong) both give 1 / sqrt(21), but
    # in floating point the latter is smaller by one bit. The smallest threshold is that of the latter.
    y = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    p = [0.9, 0.9, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1]
    curve = ours.mcc(ours.confusion_at(count_scores(y, p), ours.GRID))[0]
    assert curve[20] < curve[80]
    assert curve[20] == pytest.approx(21**-0.5, abs=1e-15)
    chosen = ours.select_threshold(count_scores(y, p))
    assert chosen is not None
    assert (chosen.plateau_low, chosen.plateau_high) == (0.11, 0.9)


@given(labelled_scores)
def test_weighted_mcc_equals_that_of_repeated_data(rows: list[tuple[int, float, int]]) -> None:
    y, p, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeated = count_scores(np.repeat(y, w.astype(int)), np.repeat(p, w.astype(int)))
    weighted = count_scores(y, p, w)
    curves = [ours.mcc(ours.confusion_at(counts, ours.GRID)) for counts in (weighted, repeated)]
    np.testing.assert_allclose(curves[0], curves[1], atol=1e-12)
    assert ours.best_indices(curves[0]).tolist() == ours.best_indices(curves[1]).tolist()


def test_constant_decisions_are_undefined_with_a_reason_and_no_warning() -> None:
    confusion = ours.confusion_at(count_scores([1, 0, 1, 1, 0], [0.1] * 5), np.array([0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(ours.mcc(confusion)[0, 0])
        assert np.isnan(ours.precision(confusion)[0, 0])
    assert ours.mcc_reason(confusion) == "MCC is 0/0: constant decisions, all attempts are rejected"
    one_class = ours.confusion_at(count_scores([1, 1], [0.1, 0.9]), np.array([0.5]))
    assert ours.mcc_reason(one_class) == "MCC is 0/0: only one class, all labels are y = 1"
    fine = ours.confusion_at(count_scores([1, 0], [0.9, 0.1]), np.array([0.5]))
    assert ours.mcc_reason(fine) is None


def test_says_why_no_threshold_can_be_chosen() -> None:
    assert "only one class" in ours.no_threshold_reason(count_scores([1, 1], [0.1, 0.9]))
    # Scores that no i / 100 separates.
    inseparable = count_scores([0, 1], [0.501, 0.502])
    assert ours.select_threshold(inseparable) is None
    assert "all attempts or none" in ours.no_threshold_reason(inseparable)
    assert ours.select_threshold(count_scores([], [])) is None
