from __future__ import annotations

import numpy as np
import pytest

from judge_pipeline.statistics import ratio_bootstrap
from judge_pipeline.statistics.ratio_bootstrap import Clusters, Term, replicated_ratios


def test_replicates_are_the_figure_of_the_drawn_clusters() -> None:
    rng = np.random.default_rng(1)
    index = rng.integers(0, 12, 60)
    top, bottom = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    ones = np.ones(60)
    clusters = Clusters(index, 12, seed=5, n_resamples=40)
    found = replicated_ratios({"d": [Term(top, ones), Term(bottom, ones, -0.5)]}, clusters)["d"]
    assert found.value == pytest.approx(top.mean() - bottom.mean() / 2)
    stream = np.random.default_rng([5, 0])
    drawn = stream.integers(0, 12, size=(40, 12))
    for row, replicate in zip(drawn, found.replicates, strict=True):
        rows = np.concatenate([np.flatnonzero(index == cluster) for cluster in row])
        assert replicate == pytest.approx(top[rows].mean() - bottom[rows].mean() / 2)


def test_an_empty_denominator_is_undefined_and_says_why() -> None:
    clusters = Clusters(np.arange(4), 4, n_resamples=10)
    found = replicated_ratios({"x": [Term(np.zeros(4), np.zeros(4))]}, clusters)["x"]
    assert np.isnan(found.value) and found.n_clusters == 0 and found.p_value() is None
    estimate = found.estimate(n=0, n_left_out=4, undefined="nothing there", warnings=("careful",))
    assert (estimate.value, estimate.reason) == (None, "nothing there; careful")


def test_no_figure_is_no_work() -> None:
    assert replicated_ratios({}, Clusters(np.arange(3), 3)) == {}


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_many_clusters_that_are_alike_are_added_up_first_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    rng = np.random.default_rng(2)
    right, asked = rng.integers(0, 2, 500) * share, np.ones(500)
    figures = {"acc": [Term(right, asked)], "half": [Term(right * (np.arange(500) % 2), asked)]}
    clusters = Clusters(rng.integers(0, 300, 500), 300, n_resamples=50)
    plain = replicated_ratios(figures, clusters)
    monkeypatch.setattr(ratio_bootstrap, "MANY_CLUSTERS", 10)
    for name, of in replicated_ratios(figures, clusters).items():
        np.testing.assert_array_equal(of.replicates, plain[name].replicates)
        assert of.value == plain[name].value
