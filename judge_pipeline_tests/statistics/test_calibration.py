from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from statsmodels.stats.proportion import proportion_confint

from judge_pipeline.statistics import calibration as ours
from judge_pipeline.statistics.ratios import wilson_interval
from judge_pipeline.statistics.score_counts import count_scores

from .score_samples import labelled_scores, samples

CASES = [case for seed in range(10) for case in samples(seed, 4 + 17 * seed)]


def plain_ece(y: np.ndarray, p: np.ndarray, members: list[np.ndarray]) -> float:
    gaps = [mask.sum() / len(y) * abs(y[mask].mean() - p[mask].mean()) for mask in members if mask.any()]
    return float(sum(gaps))


def equal_width_members(p: np.ndarray, n_bins: int) -> list[np.ndarray]:
    first = [(p >= 0) & (p <= 1 / n_bins)]
    return first + [(p > b / n_bins) & (p <= (b + 1) / n_bins) for b in range(1, n_bins)]


def equal_mass_bins(p: np.ndarray, n_bins: int) -> np.ndarray:
    """Rank by rank, in plain Python: a score's bin is that of the first of its equals."""
    ranked = sorted(p)
    return np.array([ranked.index(score) * n_bins // len(p) for score in p])


@pytest.mark.parametrize(("y", "p"), CASES)
@pytest.mark.parametrize("n_bins", [1, 10, 15])
def test_ece_agrees_with_a_loop_over_bins(y: np.ndarray, p: np.ndarray, n_bins: int) -> None:
    counts = count_scores(y, p)
    assert ours.ece(counts, n_bins)[0] == pytest.approx(plain_ece(y, p, equal_width_members(p, n_bins)), abs=1e-12)
    bins = equal_mass_bins(p, n_bins)
    by_mass = plain_ece(y, p, [bins == b for b in range(n_bins)])
    assert ours.ece_equal_mass(counts, n_bins)[0] == pytest.approx(by_mass, abs=1e-12)


def test_bins_are_open_below_and_closed_above() -> None:
    # 0.2, 0.4, 0.6 and 0.8 are edges of 15 bins: each belongs to the bin that it closes.
    scores = np.array([0.0, 1 / 15, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ours.equal_width_bin(scores).tolist() == [0, 0, 2, 5, 8, 11, 14]
    just_above = np.nextafter(scores[1:-1], 1)
    assert ours.equal_width_bin(just_above).tolist() == [1, 3, 6, 9, 12]


def test_closure_changes_the_figure() -> None:
    # At the edge 0.2: closed above puts 0.2 with 0.15 (gap 0.325); closed below would part them (0.85/2 + 0.2/2).
    counts = count_scores([1, 0], [0.15, 0.2])
    assert ours.ece(counts)[0] == pytest.approx(0.325, abs=1e-12)


@given(labelled_scores)
def test_weighted_figures_equal_those_of_repeated_data(rows: list[tuple[int, float, int]]) -> None:
    y, p, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeated = count_scores(np.repeat(y, w.astype(int)), np.repeat(p, w.astype(int)))
    weighted = count_scores(y, p, w)
    for figure in (ours.ece, ours.ece_equal_mass, ours.ece_debiased):
        np.testing.assert_allclose(figure(weighted), figure(repeated), rtol=1e-12, atol=1e-12)


def test_many_weight_rows_are_each_its_own_row() -> None:
    y, p = samples(5, 80)[0]
    weights = np.random.default_rng(1).integers(0, 3, size=(9, 80)).astype(float)
    weights[4] = 0
    block = count_scores(y, p, weights)
    for figure in (ours.ece, ours.ece_equal_mass, ours.ece_debiased):
        single = [float(figure(count_scores(y, p, row))[0]) for row in weights]
        np.testing.assert_allclose(figure(block), single, rtol=1e-12, atol=1e-12)
        assert np.isnan(figure(block)[4])


@pytest.mark.parametrize(("y", "p"), [case for case in CASES if len(case[0]) > 30])
def test_debiased_ece_agrees_with_a_loop_over_bins(y: np.ndarray, p: np.ndarray) -> None:
    bins = equal_mass_bins(p, 15)
    terms, n = [], 0
    for b in range(15):
        labels, scores = y[bins == b], p[bins == b]
        if len(labels) >= 2:
            terms.append(len(labels) * ((labels.mean() - scores.mean()) ** 2 - labels.var(ddof=1) / len(labels)))
            n += len(labels)
    counts = count_scores(y, p)
    assert ours.squared_gap_debiased(counts)[0] == pytest.approx(sum(terms) / n, abs=1e-12)
    assert ours.ece_debiased(counts)[0] == pytest.approx(max(sum(terms) / n, 0) ** 0.5, abs=1e-9)


def test_only_the_debiased_estimate_is_right_on_average_at_36_attempts() -> None:
    rng = np.random.default_rng(0)
    plug_in, debiased = [], []
    for _ in range(600):
        p = rng.random(36)
        counts = count_scores((rng.random(36) < p).astype(float), p)
        plug_in.append(ours.ece(counts)[0])
        debiased.append(ours.squared_gap_debiased(counts)[0])
    # The judge is calibrated, so both should be 0.
    assert np.mean(plug_in) > 0.15
    assert abs(np.mean(debiased)) < 3 * np.std(debiased) / 600**0.5


def test_debiased_ece_needs_two_attempts_in_a_bin() -> None:
    assert np.isnan(ours.ece_debiased(count_scores([0, 1, 1], [0.1, 0.2, 0.3]))[0])
    # With q = 1/2 and two attempts the variance of q, 1/4, is more than the gap of 0.05 squared.
    assert ours.ece_debiased(count_scores([0, 1], [0.45, 0.45]))[0] == 0


@pytest.mark.parametrize(("y", "p"), CASES[:25])
def test_reliability_bins_hold_every_attempt_and_give_the_ece(y: np.ndarray, p: np.ndarray) -> None:
    counts = count_scores(y, p)
    bins = ours.reliability_bins(counts)
    assert bins.n.sum() == len(y)
    assert (bins.n > 0).all()
    assert ((bins.mean_score > bins.low) | (bins.low == 0)).all()
    assert (bins.mean_score <= bins.high + 1e-12).all()
    rebuilt = (bins.n * np.abs(bins.accepted_share - bins.mean_score)).sum() / len(y)
    assert rebuilt == pytest.approx(ours.ece(counts)[0], abs=1e-12)
    low, high = proportion_confint(bins.accepted_share * bins.n, bins.n, method="wilson")
    assert bins.ci95_low == pytest.approx(low, abs=1e-12)
    assert bins.ci95_high == pytest.approx(high, abs=1e-12)


def test_wilson_interval_at_the_ends_and_of_nothing() -> None:
    low, high = wilson_interval([0, 5, 0], [5, 5, 0])
    oracle_low, oracle_high = proportion_confint(np.array([0, 5]), np.array([5, 5]), method="wilson")
    assert low[:2] == pytest.approx(oracle_low, abs=1e-12)
    assert high[:2] == pytest.approx(oracle_high, abs=1e-12)
    assert (low[0], high[1]) == (0.0, 1.0)
    assert np.isnan([low[2], high[2]]).all()


def test_nothing_is_undefined_not_zero() -> None:
    counts = count_scores([], [])
    for figure in (ours.ece, ours.ece_equal_mass, ours.ece_debiased):
        assert np.isnan(figure(counts)).all()
    assert len(ours.reliability_bins(counts).n) == 0
