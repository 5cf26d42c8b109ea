from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

from judge_pipeline.statistics import calibration_maps as ours
from judge_pipeline.statistics.logistic import CLIP, clipped_logit, log_likelihood_loss

MAPS = ("platt", "beta", "temperature", "isotonic")


def answers(seed: int, n: int = 60) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Labels, and answers that are overconfident, some of them 0 and 1."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n)
    y = (rng.random(n) < truth).astype(float)
    y[:2] = (0, 1)
    p = np.round(1 / (1 + np.exp(-3 * (truth - 0.4) - rng.normal(0, 1, n))), 2 if seed % 2 else 6)
    return y, np.clip(p * 1.1 - 0.05, 0, 1)


def parameters(name: str, y: NDArray[np.float64], p: NDArray[np.float64]) -> ours.Parameters:
    fitted = ours.fit_map(name, y, p)
    assert fitted.parameters is not None
    return fitted.parameters


@pytest.mark.parametrize("seed", range(20))
def test_platt_agrees_with_statsmodels_and_with_scikit_learns_own(seed: int) -> None:
    y, p = answers(seed)
    found = parameters("platt", y, p)
    features = sm.add_constant(clipped_logit(p))
    accepted = y.sum()
    targets = np.where(y == 1, (accepted + 1) / (accepted + 2), 1 / (len(y) - accepted + 2))
    oracle = sm.GLM(targets, features, family=sm.families.Binomial()).fit(tol=1e-15, maxiter=300).params
    np.testing.assert_allclose([found["intercept", 0], found["slope", 0]], oracle, rtol=1e-9, atol=1e-10)
    # scikit-learn writes 1 / (1 + exp(a f + b)), and stops at a tolerance.
    a, b = _sigmoid_calibration(clipped_logit(p), y)
    np.testing.assert_allclose([-b, -a], oracle, atol=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_temperature_agrees_with_a_search(seed: int) -> None:
    y, p = answers(seed)
    found = parameters("temperature", y, p)["inverse_temperature", 0]
    logits, targets = clipped_logit(p)[:, None], ours.smoothed_targets(y)

    def loss(inverse: float) -> float:
        return log_likelihood_loss(logits, targets, np.array([inverse]))

    searched = minimize_scalar(loss, bounds=(0, 20), method="bounded", options={"xatol": 1e-10})
    assert found == pytest.approx(searched.x, abs=1e-6)
    assert loss(found) <= searched.fun + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_beta_is_the_best_map_with_a_and_b_not_negative(seed: int) -> None:
    y, p = answers(seed, n=25)
    if seed % 3 == 0:
        p = 1 - p
    if seed % 3 == 1:
        p = np.clip(p / 2 + 0.4 * np.random.default_rng(seed).random(len(p)), 0, 1)
    found = parameters("beta", y, p)
    inside = np.clip(p, CLIP, 1 - CLIP)
    features = np.column_stack([np.ones(len(p)), np.log(inside), -np.log(1 - inside)])
    targets = ours.smoothed_targets(y)
    bounds = [(None, None), (0, None), (0, None)]
    searched = min(
        (
            minimize(lambda c: log_likelihood_loss(features, targets, c), start, bounds=bounds, tol=1e-14)
            for start in ([0.0, 1, 1], [0.0, 0, 1], [0.0, 1, 0])
        ),
        key=lambda result: result.fun,
    )
    coefficients = np.array([found["c", 0], found["a", 0], found["b", 0]])
    assert (coefficients[1:] >= 0).all()
    assert log_likelihood_loss(features, targets, coefficients) <= searched.fun + 1e-9
    np.testing.assert_allclose(coefficients, searched.x, atol=5e-3)


@pytest.mark.parametrize("seed", range(20))
def test_isotonic_knots_give_back_scikit_learns_prediction(seed: int) -> None:
    y, p = answers(seed)
    oracle = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y)
    grid = np.concatenate([np.linspace(0, 1, 201), p])
    found = ours.apply_map("isotonic", parameters("isotonic", y, p), grid)
    np.testing.assert_allclose(found, oracle.predict(grid), atol=1e-12)


@given(st.integers(0, 10_000), st.sampled_from(MAPS))
@settings(deadline=None)
def test_maps_give_probabilities_and_rising_maps_rise(seed: int, name: str) -> None:
    y, p = answers(seed, n=12 + seed % 40)
    found = parameters(name, y, p)
    mapped = ours.apply_map(name, found, np.linspace(0, 1, 101))
    assert ((mapped >= 0) & (mapped <= 1)).all()
    direction = -1 if found.get(("slope", 0), 1.0) < 0 else 1
    assert (np.diff(mapped) * direction >= -1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["platt", "temperature", "beta"])
def test_known_maps_are_found_again(name: str) -> None:
    rng = np.random.default_rng(5)
    p = rng.random(200_000)
    true = {
        "platt": {("intercept", 0): -0.5, ("slope", 0): 0.6},
        "temperature": {("inverse_temperature", 0): 0.4},
        "beta": {("a", 0): 0.5, ("b", 0): 1.5, ("c", 0): 0.2},
    }[name]
    y = (rng.random(len(p)) < ours.apply_map(name, true, p)).astype(float)
    found = parameters(name, y, p)
    assert found == pytest.approx(true, abs=0.03)


def test_separated_answers_have_a_map_all_the_same() -> None:
    y = np.array([0.0] * 8 + [1.0] * 8)
    p = np.where(y == 1, np.linspace(0.6, 0.95, 16), np.linspace(0.05, 0.4, 16))
    for name in MAPS:
        found = ours.fit_map(name, y, p)
        assert found.parameters is not None
        assert all(np.isfinite(value) for value in found.parameters.values())


def test_a_judge_whose_confidence_says_nothing_or_the_contrary_is_told() -> None:
    y, p = answers(1)
    reverse = ours.fit_map("platt", y, 1 - p)
    assert "the slope is negative" in (reverse.reason or "")
    temperature = ours.fit_map("temperature", y, 1 - p)
    assert temperature.parameters == {("inverse_temperature", 0): 0.0}
    assert "1 / T is 0" in (temperature.reason or "")
    beta = ours.fit_map("beta", y, 1 - p)
    assert beta.parameters is not None
    assert (beta.parameters["a", 0], beta.parameters["b", 0]) == (0, 0)
    assert ours.apply_map("beta", beta.parameters, p) == pytest.approx((ours.smoothed_targets(y)).mean())


def test_few_answers_are_said_and_clips_are_counted() -> None:
    y, p = answers(1, n=40)
    p[0], p[1] = 0.0, 1.0
    reason = ours.fit_map("platt", y, p).reason or ""
    assert "fitted on few answers: 40 on val" in reason
    assert f"{int(((p < CLIP) | (p > 1 - CLIP)).sum())} of 40 answers on val lie beyond" in reason
    assert "fewer than 1000" in (ours.fit_map("isotonic", y, p).reason or "")
    y, p = answers(0, n=200)
    assert "few answers" not in (ours.fit_map("platt", y, p).reason or "")


@pytest.mark.parametrize("name", MAPS)
def test_no_map_without_answers_of_both_classes(name: str) -> None:
    y, p = answers(0, n=9)
    small = ours.fit_map(name, y, p)
    assert (small.parameters, small.n) == (None, 9)
    assert "9 labelled answers, and a map needs 10" in (small.reason or "")
    one_class = ours.fit_map(name, np.ones(20), np.linspace(0, 1, 20))
    assert one_class.parameters is None
    assert "only one class: all 20 labelled answers are of y = 1" in (one_class.reason or "")


def test_no_map_of_an_answer_that_never_varies() -> None:
    y = np.array([0.0, 1.0] * 10)
    for name, level in (("platt", 0.7), ("beta", 0.7), ("temperature", 0.5)):
        assert ours.fit_map(name, y, np.full(20, level)).parameters is None
    two = np.where(y == 1, 0.6, 0.4)
    assert "2 distinct value(s)" in (ours.fit_map("beta", y, two).reason or "")
    constant = ours.fit_map("isotonic", y, np.full(20, 0.7))
    assert constant.parameters == {("knot_p_ac", 1): 0.7, ("knot_value", 1): 0.5}
    assert ours.apply_map("isotonic", constant.parameters, np.array([0.0, 1.0])).tolist() == [0.5, 0.5]
