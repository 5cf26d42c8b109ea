from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from judge_pipeline.statistics import bootstrap as ours
from judge_pipeline.statistics.bootstrap import ClusterResamples, replicate
from judge_pipeline.statistics.discrimination import roc_auc
from judge_pipeline.statistics.intervals import bootstrap_interval
from judge_pipeline.statistics.score_counts import SortedScores


def all_weights(plan: ClusterResamples, n_rows: int) -> list[np.ndarray]:
    return [np.concatenate(parts) for parts in zip(*plan.blocks(n_rows), strict=True)]


def test_the_draws_do_not_depend_on_the_size_of_blocks() -> None:
    plan = ClusterResamples((13, 4), n_resamples=57, seed=5)
    for one, other in zip(all_weights(plan, 57), all_weights(plan, 10), strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_resample_draws_as_many_clusters_as_there_are() -> None:
    test, val = all_weights(ClusterResamples((13, 4), n_resamples=200, seed=1), 64)
    assert (test.sum(axis=1) == 13).all()
    assert (val.sum(axis=1) == 4).all()
    # Each cluster is drawn once on average, with the variance of a multinomial, 1 - 1/13.
    assert test.mean() == 1
    assert test.var() == pytest.approx(1 - 1 / 13, rel=0.1)


def test_strata_do_not_disturb_each_other() -> None:
    alone = all_weights(ClusterResamples((13, 0), n_resamples=20, seed=1), 20)[0]
    beside = all_weights(ClusterResamples((13, 40), n_resamples=20, seed=1), 20)[0]
    np.testing.assert_array_equal(alone, beside)


def test_strata_of_one_size_draw_apart() -> None:
    test, val = all_weights(ClusterResamples((13, 13), n_resamples=20, seed=1), 20)
    assert (test != val).any()


def test_another_seed_draws_otherwise() -> None:
    plans = [ClusterResamples((30,), n_resamples=5, seed=seed) for seed in (0, 1)]
    assert (all_weights(plans[0], 5)[0] != all_weights(plans[1], 5)[0]).any()


def test_replicates_are_the_figure_on_the_resampled_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    cluster = np.sort(rng.integers(0, 12, 50))
    y, p = rng.integers(0, 2, 50).astype(float), np.round(rng.random(50), 1)
    plan = ClusterResamples((12,), n_resamples=40, seed=9)
    scores = SortedScores(y, p, cluster)
    monkeypatch.setattr(ours, "BLOCK_ELEMENTS", 50 * 7)
    replicates = replicate(plan, lambda w: {"auc": roc_auc(scores.count(w[0]))}, n_observations=50)["auc"]
    for weights, value in zip(all_weights(plan, 40)[0], replicates, strict=True):
        rows = np.concatenate([np.flatnonzero(cluster == c).repeat(int(w)) for c, w in enumerate(weights)])
        if 0 < y[rows].sum() < len(rows):
            assert value == pytest.approx(roc_auc_score(y[rows], p[rows]), abs=1e-12)
        else:
            assert np.isnan(value)


def test_intervals_of_clustered_data_are_wider_than_those_of_single_rows() -> None:
    # Twenty trajectories of thirty equal attempts carry the information of twenty attempts, not of six hundred.
    rng = np.random.default_rng(0)
    y, p = np.repeat(rng.integers(0, 2, 20), 30).astype(float), np.repeat(rng.random(20), 30)
    by_cluster = SortedScores(y, p, np.repeat(np.arange(20), 30))
    by_row = SortedScores(y, p)
    widths = []
    for scores, size in ((by_cluster, 20), (by_row, 600)):
        plan = ClusterResamples((size,), n_resamples=300, seed=0)
        values = replicate(plan, lambda w, s=scores: {"auc": roc_auc(s.count(w[0]))}, n_observations=600)["auc"]
        interval = bootstrap_interval(values, size)
        assert interval.low is not None
        assert interval.high is not None
        widths.append(interval.high - interval.low)
    assert widths[0] > 4 * widths[1]
