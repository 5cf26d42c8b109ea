from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from judge_pipeline.statistics.sign_flip import EXACT_CLUSTERS, N_DRAWS, sign_flip_p, smallest_p


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=8))
def test_it_is_scipy_s_exact_permutation_test_of_paired_samples(sums: list[int]) -> None:
    values = np.array(sums, dtype="float64")
    theirs = permutation_test((values,), np.sum, permutation_type="samples", n_resamples=10_000)
    two_sided = float((np.abs(theirs.null_distribution) >= abs(values.sum()) - 1e-9).mean())
    assert sign_flip_p(values, 0) == pytest.approx(two_sided)


def test_many_clusters_are_drawn_and_agree_with_the_normal_approximation() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0.1, 1.0, 200)
    z = values.sum() / np.sqrt((values**2).sum())
    from scipy.special import ndtr

    assert sign_flip_p(values, 1) == pytest.approx(2 * ndtr(-abs(z)), abs=0.02)
    assert sign_flip_p(values, 1) == sign_flip_p(values, 1)


def test_no_difference_is_no_evidence_and_the_same_everywhere_is_the_most() -> None:
    assert sign_flip_p(np.zeros(6), 0) == 1.0
    assert sign_flip_p(np.full(6, 0.3), 0) == smallest_p(6) == 2 / 64
    assert sign_flip_p(np.full(30, 0.3), 0) == smallest_p(30) == 1 / (1 + N_DRAWS)
    assert sign_flip_p(np.array([0.5]), 0) == smallest_p(1) == 1.0
    assert sign_flip_p(np.zeros(0), 0) is None and smallest_p(0) == 1.0
    assert smallest_p(EXACT_CLUSTERS) == 2 / 2**EXACT_CLUSTERS


def test_it_keeps_its_level() -> None:
    """Under the null, 5% of p-values are below 0.05, to within four standard errors."""
    rng = np.random.default_rng(3)
    p_values = [sign_flip_p(rng.normal(0, 1, 10) * rng.exponential(1, 10), 0) or 1.0 for _ in range(1500)]
    assert abs(np.mean(np.array(p_values) <= 0.05) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 1500)
