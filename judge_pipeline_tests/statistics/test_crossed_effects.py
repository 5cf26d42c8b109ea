from __future__ import annotations

import warnings

import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS
from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

from judge_pipeline.statistics.crossed_effects import NotFittedError, fit_crossed_effects


def drawn(seed: int, n: int, n_u: int, n_p: int, sd: tuple[float, float]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    u, p, x = rng.integers(0, n_u, n), rng.integers(0, n_p, n), rng.random(n)
    y = 0.3 * x + rng.normal(0, sd[0], n_u)[u] + rng.normal(0, sd[1], n_p)[p] + rng.normal(0, 0.5, n)
    return x, y, u, p


def oracle(x: np.ndarray, y: np.ndarray, u: np.ndarray, p: np.ndarray) -> object:
    names, indicators = [], []
    for codes in (u, p):
        levels, place = np.unique(codes, return_inverse=True)
        indicators.append([np.eye(len(levels))[place]])
        names.append([[str(level) for level in levels]])
    effects = VCSpec(["u", "p"], names, indicators)
    exog = np.column_stack([np.ones(len(x)), x])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MixedLM(y, exog, groups=np.zeros(len(x)), exog_vc=effects).fit(reml=True)


@pytest.mark.parametrize(
    ("seed", "n", "n_u", "n_p", "sd"),
    [(0, 333, 15, 13, (0.3, 0.2)), (1, 120, 6, 5, (0.5, 0.5)), (2, 500, 30, 8, (0.2, 0.4))],
)
def test_it_is_what_statsmodels_fits(seed: int, n: int, n_u: int, n_p: int, sd: tuple[float, float]) -> None:
    data = drawn(seed, n, n_u, n_p, sd)
    ours, theirs = fit_crossed_effects(*data), oracle(*data)
    assert ours.slope == pytest.approx(theirs.fe_params[1], abs=1e-4)
    assert ours.slope_se == pytest.approx(theirs.bse_fe[1], rel=1e-2)
    assert ours.variances[2] == pytest.approx(theirs.scale, rel=1e-3)
    # statsmodels orders components by name: p, u.
    assert sorted(ours.variances[:2]) == pytest.approx(sorted(theirs.vcomp), rel=1e-2, abs=1e-4)
    assert ours.n == n


def test_effects_of_no_variance_leave_least_squares() -> None:
    rng = np.random.default_rng(3)
    x = np.tile(rng.random(20), 4)
    u, p = np.repeat([0, 1, 2, 3], 20), np.tile(np.arange(20) % 5, 4)
    y = x + np.tile(rng.normal(0, 0.1, 20), 4) * np.repeat([1, -1, 1, -1], 20)
    fit = fit_crossed_effects(x, y, u, p)
    assert fit.variances[:2] == pytest.approx((0, 0), abs=1e-6)
    least = OLS(y, np.column_stack([np.ones(80), x])).fit()
    assert fit.slope == pytest.approx(least.params[1], abs=1e-6)
    assert fit.slope_se == pytest.approx(least.bse[1], rel=1e-3)


def test_one_level_is_no_effect_and_the_order_of_rows_does_not_matter() -> None:
    x, y, u, p = drawn(4, 100, 1, 6, (0.0, 0.3))
    fit = fit_crossed_effects(x, y, u, p)
    assert fit.variances[0] is None and fit.variances[1] is not None
    order = np.random.default_rng(0).permutation(100)
    again = fit_crossed_effects(x[order], y[order], u[order], p[order] + 7)
    assert again.slope == pytest.approx(fit.slope, abs=1e-6)
    alone = fit_crossed_effects(x, y, u, u)
    assert alone.variances[:2] == (None, None)
    assert alone.slope == pytest.approx(np.polyfit(x, y, 1)[0], abs=1e-9)


def test_what_cannot_be_fitted_says_why() -> None:
    x, y, u, p = drawn(5, 50, 4, 3, (0.1, 0.1))
    with pytest.raises(NotFittedError, match="9 observations are too few"):
        fit_crossed_effects(x[:9], y[:9], u[:9], p[:9])
    with pytest.raises(NotFittedError, match="churn is the same in all 50"):
        fit_crossed_effects(x * 0, y, u, p)
    with pytest.raises(NotFittedError, match="progress is the same in all 50"):
        fit_crossed_effects(x, y * 0, u, p)
