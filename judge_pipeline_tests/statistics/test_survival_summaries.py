from __future__ import annotations

import warnings

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from lifelines.utils import median_survival_times, restricted_mean_survival_time

from judge_pipeline.statistics.survival import kaplan_meier
from judge_pipeline.statistics.survival_summaries import WeightedTimes, median_time, restricted_mean


def _drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 120))
    time = rng.geometric(rng.uniform(0.1, 0.9), n) - int(rng.integers(0, 2))
    return time, rng.random(n) < rng.choice([0.0, 0.5, 0.85, 1.0])


@pytest.mark.parametrize("seed", range(30))
def test_medians_and_restricted_means_agree_with_lifelines(seed: int) -> None:
    time, event = _drawn(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = KaplanMeierFitter().fit(time, event)
        ends = median_survival_times(oracle.confidence_interval_).to_numpy()[0]
    curve = kaplan_meier(time, event)
    median = median_time(curve)
    assert median.value == _finite(oracle.median_survival_time_)
    assert median.low == _finite(ends[0])
    if (curve.value > 0).all():  # where the share is 0 lifelines makes up a band of no width
        assert median.high == _finite(ends[1])
    for horizon in (1, 3, int(time.max())):
        if horizon <= time.max() and horizon:
            ours = restricted_mean(curve, horizon)
            assert ours.value == pytest.approx(restricted_mean_survival_time(oracle, t=horizon), abs=1e-12)


def _finite(number: float) -> float | None:
    return None if np.isinf(number) else float(number)


def test_all_censored_and_all_at_time_zero() -> None:
    never = kaplan_meier([1, 2, 3], [False] * 3)
    assert median_time(never).value is None
    assert (restricted_mean(never, 2).value, restricted_mean(never, 2).low) == (2.0, None)
    at_once = kaplan_meier([0, 0, 0], [True] * 3)
    assert (median_time(at_once).value, median_time(at_once).low, median_time(at_once).high) == (0.0, 0.0, None)
    assert restricted_mean(at_once, 5).value == 0.0


def test_restricted_mean_worked_by_hand() -> None:
    # 4 trajectories: solved at 1, solved at 2, censored at 2, solved at 4. S: 1, 3/4, 1/2, 0. Area to 3: 1 + 3/4 + 1/2.
    ours = restricted_mean(kaplan_meier([1, 2, 2, 4], [True, True, False, True]), 3)
    assert ours.value == pytest.approx(2.25)
    variance = (3 / 4 + 1 / 2) ** 2 * 1 / (4 * 3) + (1 / 2) ** 2 * 1 / (3 * 2)
    assert ours.low == pytest.approx(2.25 - 1.959963984540054 * variance**0.5)


def test_greenwoods_error_is_the_spread_over_samples() -> None:
    rng = np.random.default_rng(5)
    means, halves = [], []
    for _ in range(400):
        latent, stop = rng.geometric(0.3, 150), rng.integers(1, 12, 150)
        found = restricted_mean(kaplan_meier(np.minimum(latent, stop), latent <= stop), 8)
        means.append(found.value)
        halves.append((found.high - found.low) / 2 / 1.96)
    assert np.mean(halves) == pytest.approx(np.std(means), rel=0.12)


@pytest.mark.parametrize("seed", range(15))
def test_weights_are_how_often_a_cluster_counts(seed: int) -> None:
    time, event = _drawn(seed)
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 4, len(time))
    weights = np.vstack([np.ones(4), rng.integers(0, 3, 4), [0, 0, 0, 0]]).astype(float)
    ours = WeightedTimes(time, event, cluster, 4)
    figures = ours.figures(weights, 3)
    for row, weight in enumerate(weights):
        times = weight[cluster].astype(int)
        again, solved = np.repeat(time, times), np.repeat(event, times)
        if not len(again):
            assert all(np.isnan(values[row]) for values in figures.values())
            continue
        curve = kaplan_meier(again, solved)
        median = median_time(curve).value
        assert np.isnan(figures["median"][row]) if median is None else figures["median"][row] == median
        assert figures["restricted_mean"][row] == pytest.approx(restricted_mean(curve, 3).value)
        unsolved = curve.value[min(3, len(curve.value) - 1)]
        assert figures["solved_by_horizon"][row] == pytest.approx(1 - unsolved)
