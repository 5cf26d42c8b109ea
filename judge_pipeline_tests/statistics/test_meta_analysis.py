from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects

from judge_pipeline.statistics.meta_analysis import paule_mandel

EFFECTS = np.array([61.0, 61.4, 62.21, 62.3, 62.34, 62.6, 62.7, 62.84, 65.9])
VARIANCES = np.array([0.2025, 1.21, 0.09, 0.2025, 0.3844, 0.5625, 0.0676, 0.0225, 1.8225])


def test_the_published_example_to_the_last_digit() -> None:
    pooled = paule_mandel(EFFECTS, VARIANCES)
    assert pooled.tau2 == pytest.approx(0.7053937881, abs=5e-10)
    assert pooled.mean == pytest.approx(62.4076198, abs=5e-8)
    assert pooled.se == pytest.approx(0.3380303, abs=5e-8)
    assert pooled.weights.sum() == pytest.approx(1) and pooled.reason is None
    assert pooled.estimate().ci95 == pytest.approx(
        (62.4076198 - 1.96 * 0.3380303, 62.4076198 + 1.96 * 0.3380303), abs=1e-4
    )


def excess(effects: np.ndarray, variances: np.ndarray, tau2: float) -> float:
    w = 1 / (variances + tau2)
    return float(w @ (effects - w @ effects / w.sum()) ** 2) - (len(effects) - 1)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(1e-4, 4)), min_size=2, max_size=15),
    st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_tau2_solves_its_equation_in_any_unit(pairs: list[tuple[float, float]], unit: float) -> None:
    effects, variances = np.array(pairs).T
    pooled = paule_mandel(effects * unit, variances * unit**2)
    assert pooled.tau2 is not None and pooled.mean is not None
    left = excess(effects, variances, pooled.tau2 / unit**2)
    assert abs(left) < 2e-5 or (pooled.tau2 == 0 and left < 0)
    w = 1 / (variances + pooled.tau2 / unit**2)
    assert pooled.mean / unit == pytest.approx(w @ effects / w.sum(), rel=1e-9, abs=1e-9)


def test_tau2_is_found_where_statsmodels_gives_up_without_a_word() -> None:
    effects, variances = np.array([0.0, 1.0]), np.array([1e-20, 1e-20])  # 0.5 / (1e-20 + tau2) = 1
    assert combine_effects(effects, variances, method_re="pm").tau2 < 0.4
    assert paule_mandel(effects, variances).tau2 == pytest.approx(0.5)


def test_no_judge_has_no_mean_and_says_so() -> None:
    pooled = paule_mandel(np.array([]), np.array([]))
    assert (pooled.mean, pooled.tau2, pooled.n) == (None, None, 0)
    assert pooled.estimate().value is None and "nothing to pool" in str(pooled.estimate().reason)


def test_an_effect_without_variance_or_value_is_left_out_and_counted() -> None:
    nothing = paule_mandel(np.zeros(3), np.zeros(3))
    assert nothing.mean is None and nothing.n_left_out == 3 and nothing.reason is not None
    some = paule_mandel(np.append(EFFECTS, [0.0, np.nan]), np.append(VARIANCES, [0.0, 1.0]))
    assert some.mean == pytest.approx(62.4076198, abs=5e-8) and some.n_left_out == 2
    assert some.weights[-2:].tolist() == [0.0, 0.0] and "2 of 11 left out" in str(some.reason)


def test_one_judge_is_itself_without_a_variance_between_judges() -> None:
    pooled = paule_mandel(np.array([0.3]), np.array([0.04]))
    assert (pooled.mean, pooled.se, pooled.tau2) == (0.3, pytest.approx(0.2), None)
    assert "cannot be known" in str(pooled.reason)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="one length"):
        paule_mandel(np.zeros(2), np.zeros(3))
