from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from judge_pipeline.statistics import rank_correlation as ours


def table_of(x: np.ndarray, y: np.ndarray, rows: int, columns: int) -> np.ndarray:
    table = np.zeros((rows, columns))
    np.add.at(table, (x, y), 1.0)
    return table


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_scipy_and_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 2 + seed % 3
    x = rng.integers(0, rows, 12 + 5 * seed)
    y = np.clip(x + rng.integers(0, 4, len(x)), 0, 4)
    table = table_of(x, y, rows, 5)
    assert float(ours.spearman_of_tables(table)) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert float(ours.kendall_tau_b_of_tables(table)) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    if rows == 2:
        assert float(ours.roc_auc_of_tables(table)) == pytest.approx(roc_auc_score(x, y), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), max_size=25))
def test_undefined_exactly_where_a_side_is_constant(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array([pair[i] for pair in pairs], dtype=int) for i in (0, 1))
    table = table_of(x, y, 2, 5)
    one_class, one_score = len(set(x.tolist())) < 2, len(set(y.tolist())) < 2
    assert np.isnan(ours.roc_auc_of_tables(table)) == one_class
    for figure in (ours.spearman_of_tables, ours.kendall_tau_b_of_tables):
        value = float(figure(table))
        assert np.isnan(value) == (one_class or one_score)
        assert np.isnan(value) or -1 - 1e-12 <= value <= 1 + 1e-12


def test_worked_by_hand() -> None:
    # Rejected at 1, 2; accepted at 2, 3: of 4 pairs three are concordant and one is tied.
    table = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    assert float(ours.roc_auc_of_tables(table)) == 3.5 / 4
    assert float(ours.kendall_tau_b_of_tables(table)) == pytest.approx(3 / np.sqrt(4 * 5))
    stacked = np.stack([table, table[:, ::-1]])
    np.testing.assert_allclose(ours.roc_auc_of_tables(stacked), [0.875, 0.125])
