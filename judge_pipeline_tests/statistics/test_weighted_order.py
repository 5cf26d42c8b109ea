from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from judge_pipeline.statistics import weighted_order
from judge_pipeline.statistics.weighted_order import Medians, OrderedValues, RankedPairs


def drawn(seed: int, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    x, y = rng.integers(0, levels, n) / levels, rng.integers(0, 3, n).astype(float)
    cluster = rng.integers(0, 6, n)
    return x, y, cluster, rng.integers(0, 4, (5, 6)).astype(float)


@given(st.integers(0, 10_000), st.sampled_from([2, 5, 1000]))
def test_medians_and_correlations_are_those_of_the_repeated_sample(seed: int, levels: int) -> None:
    x, y, cluster, weights = drawn(seed, levels)
    medians = Medians([(x, cluster), (y, cluster)], 6).under(weights)[:, 0]
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


@given(st.integers(0, 1000), st.sampled_from([1, 40, 100]))
def test_correlations_are_the_same_bit_for_bit_however_many_resamples_go_together(seed: int, elements: int) -> None:
    x, y, cluster, weights = drawn(seed, 5)
    ranked = RankedPairs(x, y, cluster)
    whole = ranked.spearman(weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_order, "_CACHED_ELEMENTS", elements)
        np.testing.assert_array_equal(ranked.spearman(weights), whole)
        assert ranked.spearman(weights[:0]).shape == (0,)


def test_what_cannot_be_ordered_is_refused() -> None:
    with pytest.raises(ValueError, match="not empty"):
        OrderedValues([], [])
    with pytest.raises(ValueError, match="1 values are missing"):
        OrderedValues([1.0, np.nan], [0, 0])
    with pytest.raises(ValueError, match="equally long"):
        OrderedValues([1.0], [0, 1])


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0])
def test_medians_of_large_samples_are_those_of_the_repeated_sample_wherever_they_fall(spread: float) -> None:
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 300, 6000)
    values = rng.normal(0, 1, 6000) + spread * rng.normal(0, 1, 300)[cluster]
    weights = rng.multinomial(300, np.full(300, 1 / 300), 40).astype(float)
    # Rows that no resample would give, whose medians lie far from the sample's.
    weights[0], weights[1] = np.where(np.arange(300) == 5, 300, 0), 0
    weights[2] = np.where(np.isin(np.arange(300), np.unique(cluster[values > 2 * values.std()])), 3, 0)
    found = Medians([(values, cluster)], 300).under(weights)[:, 0]
    for row, median in zip(weights, found, strict=True):
        many = np.repeat(values, row[cluster].astype(int))
        assert np.isnan(median) if not len(many) else median == np.median(many)
