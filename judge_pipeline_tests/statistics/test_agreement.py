from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from judge_pipeline.statistics import agreement as ours
from judge_pipeline.statistics.agreement import DecisionCounts


@pytest.mark.parametrize("seed", range(40))
def test_cohen_agrees_with_scikit_learn_and_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, 5)
    a, b = rng.integers(0, labels, size=(2, 3 + 5 * seed))
    estimate = ours.cohen(a.tolist(), b.tolist())
    assert estimate.value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
    table = np.histogram2d(a, b, bins=[np.arange(labels + 1)] * 2)[0]
    with np.errstate(invalid="ignore"):
        oracle = cohens_kappa(table, return_results=False)
    assert float(ours.cohen_of_tables(table)) == pytest.approx(oracle, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_fleiss_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_raters, n_labels = rng.integers(2, 7), rng.integers(2, 5)
    counts = rng.multinomial(n_raters, rng.dirichlet(np.ones(n_labels)), size=3 + 5 * seed)
    estimate = ours.fleiss(counts)
    assert estimate.value == pytest.approx(fleiss_kappa(counts), abs=1e-12)
    assert (estimate.n, estimate.n_left_out) == (len(counts), 0)


@pytest.mark.parametrize("seed", range(20))
def test_decisions_of_a_panel_give_the_same_as_each_pair_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_judges = int(rng.integers(2, 6))
    decisions = rng.random((2 + 6 * seed, n_judges)) < rng.random(n_judges)
    counts = DecisionCounts(decisions)
    tables = counts.pair_tables()[0]
    for place, (i, j) in enumerate(combinations(range(n_judges), 2)):
        a, b = decisions[:, i], decisions[:, j]
        expected = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
        assert tables[place].tolist() == expected
        raw = float(ours.raw_agreement_of_tables(tables[place]))
        assert raw == pytest.approx((a == b).mean(), abs=1e-12)
    ratings = np.column_stack([decisions.sum(axis=1), (~decisions).sum(axis=1)])
    value = ours.fleiss_of_counts(counts.level_counts, counts.level_weights())[0]
    if 0 < ratings[:, 0].sum() < ratings.sum():
        assert value == pytest.approx(fleiss_kappa(ratings), abs=1e-12)
    else:
        assert np.isnan(value)
    everyone = ours.mean_pair_agreement_of_counts(counts.level_counts, counts.level_weights())[0]
    pairs = [(decisions[:, i] == decisions[:, j]).mean() for i, j in combinations(range(n_judges), 2)]
    assert everyone == pytest.approx(np.mean(pairs), abs=1e-12)


@given(
    st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30),
    st.integers(1, 5),
)
def test_weighted_figures_equal_those_of_repeated_data(rows: list[tuple[bool, bool, bool, int]], size: int) -> None:
    decisions = np.array([row[:3] for row in rows])
    cluster = np.arange(len(rows)) // size
    weights = np.array([rows[c * size][3] for c in range(cluster.max() + 1)], dtype=float)
    repeated = DecisionCounts(np.repeat(decisions, weights[cluster].astype(int), axis=0))
    clustered = DecisionCounts(decisions, cluster)
    tables = clustered.pair_tables(weights[None]), repeated.pair_tables()
    np.testing.assert_array_equal(*tables)
    np.testing.assert_array_equal(ours.cohen_of_tables(tables[0]), ours.cohen_of_tables(tables[1]))
    levels = clustered.level_weights(weights[None]), repeated.level_weights()
    kappas = [ours.fleiss_of_counts(clustered.level_counts, part) for part in levels]
    np.testing.assert_array_equal(*kappas)


def test_one_label_from_everyone_has_raw_agreement_one_and_no_kappa() -> None:
    counts = DecisionCounts(np.ones((5, 3), dtype=bool))
    tables = counts.pair_tables()
    assert np.isnan(ours.cohen_of_tables(tables)).all()
    assert (ours.raw_agreement_of_tables(tables) == 1).all()
    assert np.isnan(ours.fleiss_of_counts(counts.level_counts, counts.level_weights())[0])
    assert ours.mean_pair_agreement_of_counts(counts.level_counts, counts.level_weights())[0] == 1
    for estimate in (ours.fleiss([[3, 0], [3, 0]]), ours.cohen([1, 1], [1, 1])):
        assert estimate.value is None
        assert estimate.reason == ours.ONE_LABEL
        assert estimate.n == 2


def test_fleiss_uses_complete_items_only_and_counts_the_rest() -> None:
    estimate = ours.fleiss([[3, 0], [1, 1], [0, 3]])
    assert (estimate.value, estimate.n, estimate.n_left_out) == (1.0, 2, 1)


@pytest.mark.parametrize("counts", [[], [[1, 0], [0, 1]], np.zeros((3, 2))])
def test_fleiss_of_fewer_than_two_raters_is_undefined(counts: object) -> None:
    estimate = ours.fleiss(np.reshape(np.asarray(counts, dtype=float), (-1, 2)))
    assert estimate.value is None
    assert "two or more raters" in (estimate.reason or "")


def test_cohen_leaves_out_what_one_rater_left_out() -> None:
    estimate = ours.cohen(["a", None, "b", "b"], ["a", "b", None, "a"])
    assert (estimate.n, estimate.n_left_out) == (2, 2)
    assert estimate.value == pytest.approx(cohen_kappa_score(["a", "b"], ["a", "a"]))
    assert ours.cohen([None], ["a"]).value is None


def test_refuses_what_is_no_table() -> None:
    with pytest.raises(ValueError, match="table"):
        ours.fleiss([1, 2, 3])
    with pytest.raises(ValueError, match="same items"):
        ours.cohen([1], [1, 2])
