from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import brier_score_loss

from judge_pipeline.statistics.brier_decomposition import PARTS, brier_decomposition
from judge_pipeline.statistics.calibration import equal_width_bin
from judge_pipeline.statistics.discrimination import brier
from judge_pipeline.statistics.score_counts import count_scores

from .score_samples import labelled_scores, samples

CASES = [case for seed in range(12) for case in samples(seed, 4 + 17 * seed)]
SIGNS = (1, -1, 1, 1, -1)


def in_a_loop(y: np.ndarray, p: np.ndarray, n_bins: int) -> list[float]:
    bins = equal_width_bin(p, n_bins)
    parts = np.zeros(5)
    for b in set(bins.tolist()):
        labels, scores = y[bins == b], p[bins == b]
        gap, lift = scores.mean() - labels.mean(), labels.mean() - y.mean()
        covariance = ((scores - scores.mean()) * (labels - labels.mean())).sum()
        parts += [len(labels) * gap**2, len(labels) * lift**2, 0, len(labels) * scores.var(), 2 * covariance]
    parts[2] = len(y) * y.mean() * (1 - y.mean())
    return [float(part / len(y)) for part in parts]


@pytest.mark.parametrize(("y", "p"), CASES)
@pytest.mark.parametrize("n_bins", [1, 15])
def test_each_part_agrees_with_a_loop_and_all_add_up_to_scikit_learn(y: np.ndarray, p: np.ndarray, n_bins: int) -> None:
    parts = brier_decomposition(count_scores(y, p), n_bins)
    assert [float(parts[name][0]) for name in PARTS] == pytest.approx(in_a_loop(y, p, n_bins), abs=1e-12)
    total = sum(sign * parts[name][0] for sign, name in zip(SIGNS, PARTS, strict=True))
    assert total == pytest.approx(brier_score_loss(y, p, labels=[0, 1], pos_label=1), abs=1e-12)


@given(labelled_scores)
def test_weighted_parts_equal_those_of_repeated_data_and_add_up(rows: list[tuple[int, float, int]]) -> None:
    y, p, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    weighted, repeated = count_scores(y, p, w), count_scores(np.repeat(y, w.astype(int)), np.repeat(p, w.astype(int)))
    parts = brier_decomposition(weighted)
    for name, of_repeated in brier_decomposition(repeated).items():
        np.testing.assert_allclose(parts[name], of_repeated, rtol=0, atol=1e-12)
    total = sum(sign * parts[name] for sign, name in zip(SIGNS, PARTS, strict=True))
    np.testing.assert_allclose(total, brier(weighted), rtol=0, atol=1e-12)


def test_many_weight_rows_are_each_its_own_row() -> None:
    y, p = samples(5, 80)[0]
    weights = np.random.default_rng(1).integers(0, 3, size=(9, 80)).astype(float)
    weights[4] = 0
    block = brier_decomposition(count_scores(y, p, weights))
    for name, values in block.items():
        single = [float(brier_decomposition(count_scores(y, p, row))[name][0]) for row in weights]
        np.testing.assert_allclose(values, single, rtol=0, atol=1e-12)
        assert np.isnan(values[4])


def test_nothing_is_undefined_not_zero() -> None:
    for values in brier_decomposition(count_scores([], [])).values():
        assert np.isnan(values).all()
