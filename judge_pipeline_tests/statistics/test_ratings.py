from __future__ import annotations

from itertools import combinations

import krippendorff as oracle
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from judge_pipeline.statistics import agreement, gwet, krippendorff
from judge_pipeline.statistics.krippendorff import Level, MeasuredRatings
from judge_pipeline.statistics.ratings import MISSING, RatingCounts

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")

# Krippendorff's own example of four observers and twelve units, with gaps; labels 1 to 5.
KRIPPENDORFF_2011 = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
).T


def gappy(seed: int, n_items: int, n_raters: int, n_labels: int) -> NDArray[np.int64]:
    """Ratings that agree somewhat, a fifth of them missing."""
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, n_labels, n_items)[:, None]
    codes = np.clip(centre + rng.integers(-1, 2, (n_items, n_raters)), 0, n_labels - 1)
    return np.where(rng.random(codes.shape) < 0.2, MISSING, codes)


def oracle_alpha(codes: NDArray[np.int64], n_labels: int, level: str) -> float:
    ratings = np.where(codes == MISSING, np.nan, codes.astype(float))
    return float(oracle.alpha(ratings.T, level_of_measurement=level, value_domain=np.arange(n_labels)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(40))
def test_alpha_agrees_with_the_package_krippendorff(seed: int, level: Level) -> None:
    n_labels, n_raters = 2 + seed % 4, 2 + seed % 5
    codes = gappy(seed, 8 + 3 * seed, n_raters, n_labels)
    ours = krippendorff.alpha_of_coincidences(RatingCounts(codes, n_labels).coincidences(), level)
    assert ours[0] == pytest.approx(oracle_alpha(codes, n_labels, level), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_alpha_of_measured_values_agrees_with_the_package_krippendorff(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.clip(rng.random((3 + 4 * seed, 1)) + rng.normal(0, 0.2, (3 + 4 * seed, 2 + seed % 4)), 0, 1)
    values = np.round(values, 2) if seed % 2 else values
    values[rng.random(values.shape) < 0.2] = np.nan
    ours = MeasuredRatings(values).alpha()[0]
    assert ours[0] == pytest.approx(oracle.alpha(values.T, level_of_measurement="interval"), abs=1e-12)
    for place, (i, j) in enumerate(combinations(range(values.shape[1]), 2)):
        both = values[:, [i, j]][~np.isnan(values[:, [i, j]]).any(axis=1)]
        if len(np.unique(both)) > 1:
            pair = oracle.alpha(both.T, level_of_measurement="interval")
            assert ours[1 + place] == pytest.approx(pair, abs=1e-12)


def test_the_published_values_of_krippendorffs_example() -> None:
    codes = KRIPPENDORFF_2011 - 1
    coincidences = RatingCounts(codes, 5).coincidences()
    # Krippendorff (2011) prints 0.743, 0.815, 0.849 for these data.
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}
    for level in LEVELS:
        assert round(float(krippendorff.alpha_of_coincidences(coincidences, level)[0]), 3) == published[level]


def test_the_published_values_of_gwets_ac1_for_the_same_data() -> None:
    sums = RatingCounts(KRIPPENDORFF_2011 - 1, 5).items()
    # Gwet's package irrCAC prints 0.77544 and 0.81818 (its data set of four raters).
    assert round(float(gwet.ac1_of_items(sums)[0]), 5) == 0.77544
    assert round(float(gwet.raw_agreement_of_items(sums)[0]), 5) == 0.81818


@pytest.mark.parametrize("seed", range(30))
def test_ac1_agrees_with_its_definition_item_by_item(seed: int) -> None:
    n_labels = 2 + seed % 3
    codes = gappy(seed, 3 + 4 * seed, 2 + seed % 4, n_labels)
    observed, shares = [], []
    for row in codes:
        rated = row[row != MISSING]
        if len(rated) >= 2:
            observed.append(np.mean([a == b for a, b in combinations(rated, 2)]))
        if len(rated):
            shares.append([np.mean(rated == label) for label in range(n_labels)])
    pi = np.mean(shares, axis=0)
    by_chance = (pi * (1 - pi)).sum() / (n_labels - 1)
    expected = (np.mean(observed) - by_chance) / (1 - by_chance)
    sums = RatingCounts(codes, n_labels).items()
    assert gwet.ac1_of_items(sums)[0] == pytest.approx(expected, abs=1e-12)
    assert gwet.raw_agreement_of_items(sums)[0] == pytest.approx(np.mean(observed), abs=1e-12)


def test_ac1_of_two_raters_worked_by_hand() -> None:
    # 118 + 2 of 125 agree; pi = (118 + 5/2) / 125 = 0.964: Gwet (2008), the paradox that AC1 was made for.
    table = np.array([[118.0, 5.0], [0.0, 2.0]])
    pi = (2 * 118 + 5) / 250
    expected = (120 / 125 - 2 * pi * (1 - pi)) / (1 - 2 * pi * (1 - pi))
    assert float(gwet.ac1_of_tables(table)) == pytest.approx(expected, abs=1e-12)
    assert float(agreement.cohen_of_tables(table)) < 0.45
    assert expected > 0.95


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_weighted_kappa_agrees_with_scikit_learn(seed: int, power: int) -> None:
    codes = gappy(seed, 5 + 4 * seed, 3, 5)
    tables = RatingCounts(codes, 5).pair_tables()[0]
    values = agreement.weighted_cohen_of_tables(tables, power)
    for place, (i, j) in enumerate(combinations(range(3), 2)):
        both = (codes[:, i] != MISSING) & (codes[:, j] != MISSING)
        weights = {1: "linear", 2: "quadratic"}[power]
        expected = cohen_kappa_score(codes[both, i], codes[both, j], weights=weights, labels=range(5))
        assert values[place] == pytest.approx(expected, abs=1e-12)


def test_two_labels_have_one_kappa_whatever_the_weights() -> None:
    tables = np.array([[[20.0, 5.0], [10.0, 15.0]], [[3.0, 0.0], [2.0, 0.0]]])
    plain = agreement.cohen_of_tables(tables)
    for power in (1, 2):
        np.testing.assert_allclose(agreement.weighted_cohen_of_tables(tables, power), plain, atol=1e-15)
    assert plain[0] == pytest.approx(0.4)


def test_prevalence_and_bias_index_by_hand() -> None:
    table = np.array([[40.0, 15.0], [5.0, 20.0]])
    assert float(agreement.prevalence_index_of_tables(table)) == pytest.approx(20 / 80)
    assert float(agreement.bias_index_of_tables(table)) == pytest.approx(10 / 80)
    assert np.isnan(agreement.bias_index_of_tables(np.zeros((2, 2))))


ratings_and_weights = st.lists(
    st.tuples(*[st.integers(-1, 4)] * 3, st.integers(0, 3)), min_size=1, max_size=20
)  # fmt: skip


@given(ratings_and_weights, st.integers(1, 4))
def test_weighted_figures_equal_those_of_repeated_items(rows: list[tuple[int, ...]], size: int) -> None:
    codes = np.array([row[:3] for row in rows])
    cluster = np.arange(len(rows)) // size
    weights = np.array([rows[c * size][3] for c in range(cluster.max() + 1)], dtype=float)
    repeated_codes = np.repeat(codes, weights[cluster].astype(int), axis=0)
    clustered, repeated = RatingCounts(codes, 5, cluster), RatingCounts(repeated_codes, 5)
    np.testing.assert_allclose(clustered.pair_tables(weights[None]), repeated.pair_tables())
    for level in LEVELS:
        alphas = [
            krippendorff.alpha_of_coincidences(c, level)
            for c in (clustered.coincidences(weights[None]), repeated.coincidences())
        ]
        np.testing.assert_allclose(*alphas, atol=1e-12)
    ac1 = [gwet.ac1_of_items(sums) for sums in (clustered.items(weights[None]), repeated.items())]
    np.testing.assert_allclose(*ac1, atol=1e-12)
    values = [np.where(c == MISSING, np.nan, c / 5) for c in (codes, repeated_codes)]
    measured = MeasuredRatings(values[0], cluster), MeasuredRatings(values[1])
    for figure in ("alpha", "mean_abs_difference"):
        found = getattr(measured[0], figure)(weights[None]), getattr(measured[1], figure)()
        np.testing.assert_allclose(*found, atol=1e-12)


@given(ratings_and_weights)
def test_measured_and_interval_coincidences_are_one_alpha(rows: list[tuple[int, ...]]) -> None:
    codes = np.array([row[:3] for row in rows])
    of_labels = krippendorff.alpha_of_coincidences(RatingCounts(codes, 5).coincidences(), "interval")[0]
    of_values = MeasuredRatings(np.where(codes == MISSING, np.nan, codes / 5)).alpha()[0, 0]
    np.testing.assert_allclose(of_labels, of_values, atol=1e-12)


@given(st.integers(0, 4), st.integers(2, 6), st.sampled_from([0.1, 0.3, 0.7, 1 / 3, 1.0]))
def test_ratings_that_are_all_the_same_have_no_alpha(label: int, n_items: int, value: float) -> None:
    counts = RatingCounts(np.full((n_items, 3), label), 5)
    for level in LEVELS:
        assert np.isnan(krippendorff.alpha_of_coincidences(counts.coincidences(), level)).all()
    assert gwet.ac1_of_items(counts.items())[0] == 1
    assert np.isnan(agreement.weighted_cohen_of_tables(counts.pair_tables(), 1)).all()
    # One item differs, and is not drawn: what is left is one value, however it is written in binary.
    values = np.full((n_items, 3), value)
    values[0] = 0.0
    weights = np.array([[0.0, *[1.0] * (n_items - 1)]])
    assert np.isnan(MeasuredRatings(values).alpha(weights)).all()
    assert (MeasuredRatings(values).mean_abs_difference(weights) == 0).all()


def test_nothing_rated_twice_gives_nothing() -> None:
    codes = np.array([[0, MISSING], [MISSING, 1]])
    counts = RatingCounts(codes, 2)
    assert np.isnan(krippendorff.alpha_of_coincidences(counts.coincidences(), "nominal"))
    assert np.isnan(gwet.ac1_of_items(counts.items()))
    measured = MeasuredRatings(np.where(codes == MISSING, np.nan, codes.astype(float)))
    assert np.isnan(measured.alpha()).all()
    empty = RatingCounts(np.zeros((0, 2), dtype=np.int64), 2)
    assert np.isnan(gwet.ac1_of_items(empty.items()))
    assert MeasuredRatings(np.zeros((0, 3))).alpha().shape == (1, 4)


@pytest.mark.parametrize("n_raters", [0, 1])
def test_fewer_than_two_raters_have_no_pairs(n_raters: int) -> None:
    counts = RatingCounts(np.zeros((3, n_raters), dtype=np.int64), 2)
    assert counts.pair_tables().shape == (1, 0, 2, 2)
    assert np.isnan(krippendorff.alpha_of_coincidences(counts.coincidences(), "nominal"))


@given(st.integers(2, 5), st.integers(2, 4), st.integers(0, 2**31))
def test_perfect_agreement_is_one(n_raters: int, n_labels: int, seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, n_labels, 12)
    assume(len(set(labels.tolist())) > 1)
    counts = RatingCounts(np.repeat(labels[:, None], n_raters, axis=1), n_labels)
    for level in LEVELS:
        assert krippendorff.alpha_of_coincidences(counts.coincidences(), level)[0] == pytest.approx(1, abs=1e-12)
    assert gwet.ac1_of_items(counts.items())[0] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("codes", [np.array([0, 1]), np.array([[2, 0]]), np.array([[-2, 0]])])
def test_refuses_what_is_no_rating(codes: NDArray[np.int64]) -> None:
    with pytest.raises(ValueError, match="whole numbers from -1 to 1"):
        RatingCounts(codes, 2)
