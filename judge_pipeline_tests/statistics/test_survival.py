from __future__ import annotations

import warnings

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from statsmodels.stats.proportion import proportion_confint

from judge_pipeline.statistics.survival import kaplan_meier, success_at_turn


@pytest.mark.parametrize("seed", range(25))
def test_kaplan_meier_agrees_with_lifelines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    time = rng.geometric(rng.uniform(0.1, 0.9), n) - int(rng.integers(0, 2))  # often with times of 0
    event = rng.random(n) < rng.choice([0.0, 0.5, 0.85, 1.0])
    ours = kaplan_meier(time, event)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = KaplanMeierFitter().fit(time, event)
    at = oracle.timeline.astype(int)
    assert at.tolist() == sorted({0, *time.tolist()})
    np.testing.assert_allclose(ours.value[at], oracle.survival_function_.iloc[:, 0], atol=1e-12)
    table = oracle.event_table
    assert ours.n_at_risk[at].tolist() == table["at_risk"].tolist()
    assert ours.n_events[at].tolist() == table["observed"].tolist()
    assert ours.n_censored[at].tolist() == table["censored"].tolist()
    band = oracle.confidence_interval_.to_numpy()
    inside = (ours.value[at] > 0) & (ours.value[at] < 1)
    np.testing.assert_allclose(ours.ci95_low[at][inside], band[inside, 0], atol=1e-12)
    np.testing.assert_allclose(ours.ci95_high[at][inside], band[inside, 1], atol=1e-12)
    outside = ~inside
    outside[0] &= ours.value[0] < 1
    assert np.isnan(ours.ci95_low[at][outside]).all()


@pytest.mark.parametrize(
    ("time", "event", "share", "low"),
    [
        ([0, 0, 0], [True] * 3, [0.0], [np.nan]),
        ([0, 0], [True, False], [0.5], [0.00598]),
        ([0, 1, 2], [False] * 3, [1.0, 1.0, 1.0], [1.0, np.nan, np.nan]),
        ([0, 0, 1, 2, 5], [True, False, True, False, True], [0.8, 8 / 15, 8 / 15, 8 / 15, 8 / 15, 0], None),
    ],
)
def test_times_of_zero_and_all_censored(
    time: list[int], event: list[bool], share: list[float], low: list[float] | None
) -> None:
    curve = kaplan_meier(time, event)
    np.testing.assert_allclose(curve.value, share, atol=1e-12)
    if low is not None:
        np.testing.assert_allclose(curve.ci95_low, low, atol=1e-5)


def test_only_where_something_happened_it_is_the_same() -> None:
    time, event = [0, 3, 3, 9, 700], [True, True, False, False, True]
    every, some = kaplan_meier(time, event), kaplan_meier(time, event, every_turn=False)
    assert some.turn.tolist() == [0, 3, 9, 700]
    for name in ("n_at_risk", "n_events", "n_censored", "value", "ci95_low", "ci95_high"):
        np.testing.assert_array_equal(getattr(some, name), getattr(every, name)[some.turn])


def test_turns_without_an_event_keep_the_share() -> None:
    curve = kaplan_meier([1, 1, 4], [True, False, True])
    assert curve.turn.tolist() == [0, 1, 2, 3, 4]
    assert curve.n_at_risk.tolist() == [3, 3, 1, 1, 1]
    assert curve.value.tolist() == [1, pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(2 / 3), 0]
    assert (curve.ci95_low[0], curve.ci95_high[0]) == (1.0, 1.0)
    assert np.isnan(curve.ci95_low[-1])


def test_success_at_turn_of_the_paper() -> None:
    # 184 trajectories: 157 solved at turn 1, one more at turn 4, one more at turn 6, up to 30 turns.
    first = np.array([1.0] * 157 + [4.0, 6.0] + [np.nan] * 25)
    curve = success_at_turn(first, 30)
    shown = {k: round(curve.value[k - 1], 4) for k in (1, 3, 4, 5, 6, 30)}
    assert shown == {1: 0.8533, 3: 0.8533, 4: 0.8587, 5: 0.8587, 6: 0.8641, 30: 0.8641}
    assert curve.n_solved[[0, 3, 5]].tolist() == [157, 158, 159]
    low, high = proportion_confint(curve.n_solved, 184, method="wilson")
    np.testing.assert_allclose(curve.ci95_low, low, atol=1e-12)
    np.testing.assert_allclose(curve.ci95_high, high, atol=1e-12)
