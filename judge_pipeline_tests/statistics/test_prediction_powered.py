from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.statistics import prediction_powered as ours
from judge_pipeline.statistics.bootstrap import ClusterResamples
from judge_pipeline.statistics.intervals import bootstrap_interval
from judge_pipeline.statistics.prediction_powered import ClusteredMeans


def test_ppi_by_hand() -> None:
    # Labelled: y = 1, 0, 1, 1; predictions .8, .4, .6, .9. Unlabelled predictions: .5, .7, .3.
    labels, labelled, unlabelled = np.array([0.75]), np.array([0.675]), np.array([0.5])
    assert ours.ppi_mean(labels, labelled, unlabelled, 1.0)[0] == pytest.approx(0.575)
    assert ours.ppi_mean(labels, labelled, unlabelled, 0.0)[0] == 0.75
    assert ours.ppi_mean(labels, labelled, unlabelled, np.array([0.5]))[0] == pytest.approx(0.6625)


def test_rogan_gladen_by_hand() -> None:
    # 1,000 people, 100 ill, sensitivity .9 and specificity .8: 90 + 180 are positive.
    assert ours.rogan_gladen(np.array([0.27]), np.array([0.9]), np.array([0.8]))[0] == pytest.approx(0.1)
    assert ours.rogan_gladen(np.array([0.1]), np.array([0.9]), np.array([0.8]))[0] == pytest.approx(-1 / 7)
    coin = ours.rogan_gladen(np.array([0.5, 0.5]), np.array([0.5, 0.3]), np.array([0.5, 0.5]))
    assert np.isnan(coin).all()


@pytest.mark.parametrize("seed", range(20))
def test_covariance_of_lone_observations_is_the_sample_covariance_over_n(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 5 + 10 * seed
    columns = rng.random((n, 2))
    means = ClusteredMeans(columns, np.arange(n), n)
    expected = np.cov(columns, rowvar=False) / n
    for i, j in ((0, 0), (0, 1), (1, 1)):
        assert means.covariance(i, j)[0] == pytest.approx(expected[i, j], abs=1e-12)
    np.testing.assert_allclose(means.means()[0], columns.mean(axis=0), atol=1e-15)


@pytest.mark.parametrize("seed", range(10))
def test_covariance_of_clusters_is_that_of_their_residual_totals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cluster = np.sort(rng.integers(0, 12, 50))
    cluster = np.unique(cluster, return_inverse=True)[1]
    columns = rng.random((50, 2)) + cluster[:, None] / 10
    g = cluster.max() + 1
    totals = np.array([(columns - columns.mean(axis=0))[cluster == c].sum(axis=0) for c in range(g)])
    expected = g / (g - 1) * (totals.T @ totals) / 50**2
    # A thirteenth cluster that holds nothing does not count.
    means = ClusteredMeans(columns, cluster, g + 1)
    assert means.covariance(0, 1)[0] == pytest.approx(expected[0, 1], abs=1e-12)
    assert means.covariance(1, 1)[0] == pytest.approx(expected[1, 1], abs=1e-12)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 3)), min_size=2, max_size=20))
def test_weighted_figures_equal_those_of_repeated_clusters(rows: list[tuple[float, float, int]]) -> None:
    columns = np.array([row[:2] for row in rows])
    weights = np.array([row[2] for row in rows], dtype=float)
    repeated = np.repeat(columns, weights.astype(int), axis=0)
    n = len(repeated)
    own = ClusteredMeans(columns, np.arange(len(rows)), len(rows))
    other = ClusteredMeans(repeated, np.arange(n), n)
    np.testing.assert_allclose(own.means(weights[None]), other.means(), atol=1e-12)
    np.testing.assert_allclose(own.covariance(0, 1, weights[None]), other.covariance(0, 1), atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_tuning_is_that_of_ppi_plus_plus_and_makes_the_variance_smallest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, more = 40, 400
    truth = rng.random(n + more)
    y = (rng.random(n) < truth[:n]).astype(float)
    f = np.clip(truth + rng.normal(0, 0.2, n + more), 0, 1)
    covariance = np.cov(y, f[:n])[0, 1] / n
    variances = f[:n].var(ddof=1) / n, f[n:].var(ddof=1) / more
    tuned = ours.power_tuning(np.array([covariance]), np.array([variances[0]]), np.array([variances[1]]))[0]
    # Angelopoulos, Duchi and Zrnic (2023), Example 6.1: Cov / ((1 + n/N) Var), where both parts share one variance.
    assert tuned == pytest.approx(np.cov(y, f[:n])[0, 1] / ((1 + n / more) * f.var(ddof=1)), rel=0.35)

    def variance(tuning: float) -> float:
        return tuning**2 * sum(variances) - 2 * tuning * covariance

    assert all(variance(tuned) <= variance(other) + 1e-15 for other in np.linspace(0, 1, 101))


def test_predictions_without_spread_or_against_the_labels_are_not_used() -> None:
    zero, some = np.array([0.0]), np.array([0.01])
    assert ours.power_tuning(zero, zero, zero)[0] == 0
    assert ours.power_tuning(np.array([1e-20]), np.array([1e-18]), zero)[0] == 0
    assert ours.power_tuning(-some, some, some)[0] == 0
    assert ours.power_tuning(np.array([1.0]), some, some)[0] == 1
    assert np.isnan(ours.power_tuning(np.array([np.nan]), some, some)[0])


def test_one_cluster_has_no_covariance_and_none_has_no_mean() -> None:
    one = ClusteredMeans(np.array([[0.5], [0.7]]), np.array([0, 0]), 1)
    assert np.isnan(one.covariance(0, 0)[0])
    empty = ClusteredMeans(np.zeros((0, 1)), np.zeros(0, dtype=np.int64), 0)
    assert np.isnan(empty.means()[0, 0])


@pytest.mark.slow
def test_intervals_hold_the_truth_in_clustered_data_and_predictions_make_them_shorter() -> None:
    """1,000 contests of 60 labelled and 400 unlabelled trajectories; the judge is biased by 0.1."""
    rng = np.random.default_rng(11)
    n_labelled, n_unlabelled, truth = 60, 400, 0.5
    covered = {"labels": 0, "ppi": 0, "ppi++": 0, "judge": 0}
    widths = dict.fromkeys(covered, 0.0)
    n_contests = 1000
    for contest in range(n_contests):
        sizes = rng.integers(1, 4, n_labelled + n_unlabelled)
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        chance = rng.beta(1, 1, len(sizes))[cluster]
        y = (rng.random(len(cluster)) < chance).astype(float)
        f = np.clip(0.6 * chance + 0.3 + rng.normal(0, 0.1, len(cluster)), 0, 1)
        known = cluster < n_labelled
        val = ClusteredMeans(np.column_stack([y, f])[known], cluster[known], n_labelled)
        rest = ClusteredMeans(f[~known, None], cluster[~known] - n_labelled, n_unlabelled)
        ((w_val, w_rest),) = ClusterResamples((n_labelled, n_unlabelled), 300, contest).blocks(300)
        labels, on_val, elsewhere = val.means(w_val)[:, 0], val.means(w_val)[:, 1], rest.means(w_rest)[:, 0]
        tuning = ours.power_tuning(
            val.covariance(0, 1, w_val), val.covariance(1, 1, w_val), rest.covariance(0, 0, w_rest)
        )
        found = {
            "labels": labels,
            "ppi": ours.ppi_mean(labels, on_val, elsewhere, 1.0),
            "ppi++": ours.ppi_mean(labels, on_val, elsewhere, tuning),
            "judge": elsewhere,
        }
        for name, replicates in found.items():
            interval = bootstrap_interval(replicates, n_unlabelled if name == "judge" else n_labelled)
            assert interval.low is not None
            assert interval.high is not None
            covered[name] += interval.low <= truth <= interval.high
            widths[name] += interval.high - interval.low
    for name in ("labels", "ppi", "ppi++"):
        assert 0.93 <= covered[name] / n_contests <= 0.975, (name, covered[name])
    # The judge alone is precise about the wrong number.
    assert covered["judge"] < 0.05 * n_contests
    assert widths["ppi++"] <= 1.005 * widths["ppi"]
    assert widths["ppi++"] < 0.9 * widths["labels"]


@pytest.mark.slow
def test_rogan_gladen_holds_the_truth_where_labels_are_like_the_rest() -> None:
    rng = np.random.default_rng(12)
    n_labelled, n_unlabelled, truth, n_contests = 120, 600, 0.3, 1000
    covered = 0
    for contest in range(n_contests):
        y = (rng.random(n_labelled + n_unlabelled) < truth).astype(float)
        decision = np.where(y == 1, rng.random(len(y)) < 0.85, rng.random(len(y)) < 0.25).astype(float)
        columns = np.column_stack([y, y * decision, (1 - y) * (1 - decision), decision])
        val = ClusteredMeans(columns[:n_labelled], np.arange(n_labelled), n_labelled)
        rest = ClusteredMeans(columns[n_labelled:], np.arange(n_unlabelled), n_unlabelled)
        ((w_val, w_rest),) = ClusterResamples((n_labelled, n_unlabelled), 300, contest).blocks(300)
        share, totals = val.means(w_val), val.totals(w_val) + rest.totals(w_rest)
        replicates = ours.rogan_gladen(
            totals[:, 3] / totals[:, 4], share[:, 1] / share[:, 0], share[:, 2] / (1 - share[:, 0])
        )
        interval = bootstrap_interval(replicates, n_labelled)
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= truth <= interval.high
    assert 0.93 <= covered / n_contests <= 0.975, covered
