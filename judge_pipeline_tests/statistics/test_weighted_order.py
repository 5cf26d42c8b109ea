from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from judge_pipeline.statistics.weighted_order import OrderedValues, RankedPairs


def drawn(seed: int, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    x, y = rng.integers(0, levels, n) / levels, rng.integers(0, 3, n).astype(float)
    cluster = rng.integers(0, 6, n)
    return x, y, cluster, rng.integers(0, 4, (5, 6)).astype(float)


@given(st.integers(0, 10_000), st.sampled_from([2, 5, 1000]))
def test_medians_and_correlations_are_those_of_the_repeated_sample(seed: int, levels: int) -> None:
    x, y, cluster, weights = drawn(seed, levels)
    medians = OrderedValues(x, cluster).medians(weights)
    rho = RankedPairs(x, y, cluster).spearman(weights)
    for row, median, correlation in zip(weights, medians, rho, strict=True):
        times = row[cluster].astype(int)
        many_x, many_y = np.repeat(x, times), np.repeat(y, times)
        if not len(many_x):
            assert np.isnan(median) and np.isnan(correlation)
            continue
        assert median == pytest.approx(np.median(many_x), abs=1e-15)
        if len(set(many_x)) < 2 or len(set(many_y)) < 2:
            assert np.isnan(correlation)
        else:
            assert correlation == pytest.approx(spearmanr(many_x, many_y).statistic, abs=1e-12)


def test_what_cannot_be_ordered_is_refused() -> None:
    with pytest.raises(ValueError, match="not empty"):
        OrderedValues([], [])
    with pytest.raises(ValueError, match="1 values are missing"):
        OrderedValues([1.0, np.nan], [0, 0])
    with pytest.raises(ValueError, match="equally long"):
        OrderedValues([1.0], [0, 1])
