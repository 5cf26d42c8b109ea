from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from judge_pipeline.statistics.nearness import (
    kept_share,
    nearest_others,
    neighbour_likeness,
    permutation_test,
    similarity_likeness,
)

LINE = np.abs(np.subtract.outer([0.0, 1.0, 2.5, 10.0, 11.0, 12.5], [0.0, 1.0, 2.5, 10.0, 11.0, 12.5]))
"""Two groups of three on a line; within each the middle one is nearest to both."""


def test_the_nearest_by_hand_and_of_equally_near_ones_the_first() -> None:
    assert nearest_others(LINE, 2).tolist() == [[1, 2], [0, 2], [1, 0], [4, 5], [3, 5], [4, 3]]
    assert nearest_others(np.ones((3, 3)), 1).tolist() == [[1], [0], [0]]
    with pytest.raises(ValueError, match="3 points have no 3 nearest others"):
        nearest_others(np.zeros((3, 3)), 3)


def test_kept_share_by_hand() -> None:
    assert kept_share(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[2, 1], [0, 3], [3, 4]])) == pytest.approx(3 / 6)


def test_neighbour_likeness_by_hand() -> None:
    figure = neighbour_likeness(nearest_others(LINE, 2))
    # z = -0.5 three times, then 0.5: everybody equals their neighbours.
    assert figure(np.array([[0, 0, 0, 1, 1, 1.0]]))[0] == pytest.approx(1.0)
    # z = (-.5, .5, -.5, .5, -.5, .5): products of each with the mean of the two nearest, over 1.5.
    products = [-0.5 * 0.0, 0.5 * -0.5, -0.5 * 0.0, 0.5 * 0.0, -0.5 * 0.5, 0.5 * 0.0]
    assert figure(np.array([[0, 1, 0, 1, 0, 1.0]]))[0] == pytest.approx(sum(products) / 1.5)


def test_over_all_permutations_neighbour_likeness_has_the_known_mean() -> None:
    values = np.array(list(permutations([0.0, 0.2, 0.9, 0.4, 0.7, 1.0])))
    assert neighbour_likeness(nearest_others(LINE, 2))(values).mean() == pytest.approx(-1 / 5)


@given(st.integers(5, 9), st.integers(0, 10**6))
def test_similarity_likeness_is_the_correlation_over_pairs(n: int, seed: int) -> None:
    stream = np.random.default_rng(seed)
    similarity = stream.random((n, n))
    similarity = (similarity + similarity.T) / 2
    values = stream.random((3, n))
    pairs = list(combinations(range(n), 2))
    for row, found in zip(values, similarity_likeness(similarity)(values), strict=True):
        oracle = pearsonr([similarity[i, j] for i, j in pairs], [-((row[i] - row[j]) ** 2) for i, j in pairs])
        assert found == pytest.approx(oracle.statistic, abs=1e-9)


def test_the_p_value_is_that_of_all_permutations() -> None:
    figure = neighbour_likeness(nearest_others(LINE, 2))
    values = np.array([0.0, 0.1, 0.0, 1.0, 0.9, 0.4])
    every = figure(np.array(list(permutations(values))))
    exact = (every >= figure(values[None])[0] - 1e-10).mean()
    test = permutation_test(values, figure, seed=3, n_permutations=20_000)
    assert test.p_value == pytest.approx(exact, abs=0.008)
    assert test.null_mean == pytest.approx(-1 / 5, abs=0.01)
    assert (test.null_low, test.null_high) == pytest.approx(tuple(np.quantile(every, (0.025, 0.975))), abs=0.03)


def test_p_is_never_0_repeats_with_its_seed_and_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = neighbour_likeness(nearest_others(LINE, 2))
    values = np.array([0.0, 0, 0, 1, 1, 1])
    one = permutation_test(values, figure, seed=1, n_permutations=99)
    assert one.p_value >= 1 / 100
    assert one == permutation_test(values, figure, seed=1, n_permutations=99)
    monkeypatch.setattr("judge_pipeline.statistics.nearness._BLOCK", 60)
    assert one == permutation_test(values, figure, seed=1, n_permutations=99)
