from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from judge_pipeline.statistics import intervals as ours
from judge_pipeline.statistics.intervals import Interval


@pytest.mark.parametrize(("n_clusters", "tail"), [(18, 0.01495), (50, 0.02118), (200, 0.02402), (10**7, 0.025)])
def test_tails_go_further_out_the_fewer_the_clusters(n_clusters: int, tail: float) -> None:
    assert ours.expanded_tail(n_clusters) == pytest.approx(tail, abs=5e-5)
    by_hand = stats.norm.cdf((n_clusters / (n_clusters - 1)) ** 0.5 * stats.t.ppf(0.025, n_clusters - 1))
    assert ours.expanded_tail(n_clusters) == pytest.approx(by_hand, abs=1e-12)


def test_of_a_mean_it_is_the_t_interval() -> None:
    # The mean's bootstrap is near normal with the variance (n - 1) / n s^2 / n, so the expansion gives the t interval.
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    means = x[rng.integers(0, 20, size=(400_000, 20))].mean(axis=1)
    found = ours.bootstrap_interval(means, 20)
    low, high = stats.t.interval(0.95, 19, loc=x.mean(), scale=stats.sem(x))
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.03)
    plain_low, plain_high = np.quantile(means, [0.025, 0.975])
    assert found.low is not None
    assert found.high is not None
    assert found.low < plain_low - 0.03
    assert found.high > plain_high + 0.03


def test_quantiles_skip_and_count_what_is_undefined() -> None:
    values = np.array([np.nan, *np.arange(101.0), np.nan])
    found = ours.bootstrap_interval(values, 10**9)
    assert (found.low, found.high) == (pytest.approx(2.5, abs=1e-6), pytest.approx(97.5, abs=1e-6))
    assert (found.n_undefined, found.n_resamples) == (2, 103)
    assert ours.bootstrap_interval(np.full(4, np.nan), 30) == Interval(None, None, 4, 4)


def test_an_interval_on_the_grid_ends_on_the_grid() -> None:
    values = np.array([0.01, 0.81] * 20)
    assert ours.bootstrap_interval(values, 50, on_grid=True) == Interval(0.01, 0.81, 0, 40)


def test_one_cluster_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two clusters; there are 1"):
        ours.bootstrap_interval(np.arange(10.0), 1)


def test_recentred_replicates_have_the_value_as_their_mean_within_their_range() -> None:
    replicates = np.array([0.3, np.nan, 0.5, 0.4])
    np.testing.assert_allclose(ours.recentred(replicates, 0.2), [0.1, np.nan, 0.3, 0.2], atol=1e-15)
    np.testing.assert_allclose(ours.recentred(replicates, 0.05, low=0.0), [0, np.nan, 0.15, 0.05], atol=1e-15)
    np.testing.assert_allclose(ours.recentred(replicates, 0.2, high=0.25), [0.1, np.nan, 0.25, 0.2], atol=1e-15)
    assert np.isnan(ours.recentred(np.full(3, np.nan), 0.2)).all()


@pytest.mark.parametrize("n_clusters", [2, 5, 18, 200, 10**6])
@pytest.mark.parametrize("seed", range(10))
def test_p_is_below_5_percent_where_the_interval_leaves_out_zero(n_clusters: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    replicates = rng.normal(rng.uniform(1, 4), 1, size=20_000)
    interval = ours.bootstrap_interval(replicates, n_clusters)
    p = ours.two_sided_p(replicates, n_clusters)
    assert p is not None
    assert interval.low is not None
    assert 0 < p <= 1
    if abs(p - 0.05) > 0.001:
        assert (p < 0.05) == (interval.low > 0)
    assert ours.two_sided_p(-replicates, n_clusters) == pytest.approx(p, abs=1e-12)


def test_p_of_hand_worked_counts() -> None:
    replicates = np.array([-1.0] * 9 + [1.0] * 990)
    # Many clusters: twice (1 + 9) / (999 + 1).
    assert ours.two_sided_p(replicates, 10**9) == pytest.approx(0.02, abs=1e-6)
    assert ours.two_sided_p(np.ones(999), 10**9) == pytest.approx(0.002, abs=1e-6)
    few = 2 * stats.t.cdf(stats.norm.ppf(0.01) * (17 / 18) ** 0.5, 17)
    assert ours.two_sided_p(replicates, 18) == pytest.approx(few, abs=1e-12)
    assert ours.two_sided_p(np.zeros(999), 50) == 1
    assert ours.two_sided_p(np.array([-1.0, 1.0]), 50) == 1
    assert ours.two_sided_p(np.full(9, np.nan), 50) is None
    assert ours.two_sided_p(np.ones(9), 1) is None


def test_p_is_uniform_where_nothing_is_there() -> None:
    rng = np.random.default_rng(1)
    values = []
    for _ in range(2000):
        x = rng.normal(size=12)
        replicates = x[rng.integers(0, 12, size=(400, 12))].mean(axis=1)
        values.append(ours.two_sided_p(replicates, 12))
    assert np.mean(np.array(values) < 0.05) == pytest.approx(0.05, abs=0.015)
    assert np.mean(np.array(values) < 0.5) == pytest.approx(0.5, abs=0.04)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    with mock.patch("gc.collect"):  # which statsmodels calls each time: a second, late in a worker's life
        expected = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(ours.holm(p_values), expected, rtol=0, atol=1e-12)


def test_holm_of_nothing_is_nothing() -> None:
    assert ours.holm([]) == []


def test_standard_error_is_that_of_the_mean() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=15)
    means = x[rng.integers(0, 15, size=(200_000, 15))].mean(axis=1)
    assert ours.standard_error(means, 15) == pytest.approx(stats.sem(x), rel=0.01)
    assert ours.standard_error(np.array([0.1, np.nan]), 15) is None
    assert ours.standard_error(means, 1) is None


@pytest.mark.parametrize(
    ("n_resamples", "n_clusters", "enough"),
    [(1, 200, False), (2, 200, False), (20, 200, False), (41, 200, False), (42, 200, True), (2000, 5, True),
     (1000, 5, False), (20, 3, True)],
)  # fmt: skip
def test_so_few_resamples_that_they_do_not_reach_the_ends_are_said(
    n_resamples: int, n_clusters: int, enough: bool
) -> None:
    replicates = np.linspace(0.4, 0.6, n_resamples)
    estimate = ours.estimate_with_interval(0.5, replicates, n=9, n_left_out=0, n_clusters=n_clusters)
    # Of 3 clusters another note says that no resamples would do.
    assert ("Ask for at least" in (estimate.reason or "")) is not enough
    assert (estimate.ci95 is None) is (n_resamples == 1)
    assert ours.has_95_interval(estimate) is (enough and n_clusters >= ours.FEWEST_CLUSTERS)


@pytest.mark.parametrize(
    ("replicates", "n_clusters", "ci95", "words"),
    [
        ([0.4, 0.6], 50, True, None),
        ([0.4, 0.6], 49, True, "49 clusters: with fewer than 50"),
        ([0.4, 0.6, np.nan], 50, True, "undefined in 100 of 300"),
        ([0.5, 0.5], 50, True, "no width"),
        ([0.6, 0.7], 50, True, "outside its interval"),
        ([0.5, 0.6], 1, False, "single cluster"),
        ([np.nan, np.nan], 50, False, "undefined in every resample"),
    ],
)
def test_what_weakens_an_interval_is_said(
    replicates: list[float], n_clusters: int, ci95: bool, words: str | None
) -> None:
    many = np.array(replicates * 100)
    estimate = ours.estimate_with_interval(0.5, many, n=100, n_left_out=2, n_clusters=n_clusters)
    assert (estimate.value, estimate.n, estimate.n_left_out) == (0.5, 100, 2)
    assert (estimate.ci95 is not None) == ci95
    assert (words is None and estimate.reason is None) or (words is not None and words in (estimate.reason or ""))


@pytest.mark.parametrize("n_clusters", [2, 3, 4])
def test_so_few_clusters_are_not_said_to_have_a_95_percent_interval(n_clusters: int) -> None:
    replicates = np.random.default_rng(n_clusters).uniform(0.1, 0.2, 2000)
    found = ours.estimate_with_interval(0.15, replicates, n=9, n_left_out=0, n_clusters=n_clusters)
    assert found.ci95 == pytest.approx((replicates.min(), replicates.max()), abs=1e-3)
    assert (ours.two_sided_p(replicates, n_clusters) or 0) > 0.05
    assert found.reason is not None and "give no 95% interval" in found.reason and "93 to 96%" not in found.reason
    assert not ours.has_95_interval(found)
    assert ours.has_95_interval(ours.estimate_with_interval(0.15, replicates, n=9, n_left_out=0, n_clusters=20))
