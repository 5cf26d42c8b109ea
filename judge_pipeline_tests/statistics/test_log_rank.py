from __future__ import annotations

import numpy as np
import pytest
from lifelines.statistics import logrank_test, multivariate_logrank_test

from judge_pipeline.statistics.log_rank import log_rank


@pytest.mark.parametrize("seed", range(20))
def test_it_agrees_with_lifelines_with_ties_and_zero_times(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(2, 6)), int(rng.integers(40, 150))
    group = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    time = rng.geometric(0.3, n) - int(rng.integers(0, 2))
    event = rng.random(n) < 0.7
    ours = log_rank(time, event, group, np.arange(n))
    oracle = multivariate_logrank_test(time, group, event)
    assert ours.chi2 == pytest.approx(oracle.test_statistic, rel=1e-9)
    assert ours.p_value == pytest.approx(oracle.p_value, rel=1e-9)
    assert ours.degrees == k - 1


def test_two_groups_worked_by_hand() -> None:
    # Times 1 and 2 in A solved, 3 in B solved, 4 in B not. Observed in A: 2; expected: 2/4 + 1/3 = 5/6.
    # Variance: 1/2 x 1/2 + 1/3 x 2/3 = 17/36.
    ours = log_rank([1, 2, 3, 4], [True, True, True, False], [0, 0, 1, 1], [0, 1, 2, 3])
    assert ours.chi2 == pytest.approx((2 - 5 / 6) ** 2 / (17 / 36))
    a, b = np.array([1, 2]), np.array([3, 4])
    assert ours.p_value == pytest.approx(logrank_test(a, b, [1, 1], [1, 0]).p_value)


def test_without_an_event_there_is_no_test() -> None:
    ours = log_rank([1, 2, 3], [False] * 3, [0, 1, 0], [0, 1, 2])
    assert (ours.chi2, ours.p_value, ours.p_clustered) == (None, None, None)
    assert ours.reason == "no event is informative"


def test_many_independent_clusters_give_nearly_the_same_p() -> None:
    rng = np.random.default_rng(3)
    group = np.arange(4000) % 2
    time = rng.geometric(np.where(group == 0, 0.3, 0.28))
    event = rng.random(4000) < 0.8
    ours = log_rank(time, event, group, np.arange(4000))
    assert ours.p_clustered == pytest.approx(ours.p_value, abs=0.02)


def test_clusters_that_share_a_group_and_a_pace_do_not_make_differences() -> None:
    """Whole clusters belong to a group, and each has a pace of its own: the groups are equal."""
    rng = np.random.default_rng(4)
    naive, clustered = [], []
    for _ in range(300):
        pace = rng.uniform(0.05, 0.8, 20)
        cluster = np.repeat(np.arange(20), 12)
        time = rng.geometric(pace[cluster])
        found = log_rank(np.minimum(time, 15), time <= 15, cluster % 2, cluster)
        naive.append(found.p_value < 0.05)
        clustered.append(found.p_clustered < 0.05)
    assert np.mean(naive) > 0.25
    # 300 draws at 5%: within three standard errors, and a little for few clusters.
    assert 0.01 <= np.mean(clustered) <= 0.10


def test_too_few_clusters_have_a_reason() -> None:
    ours = log_rank([1, 2, 3, 4], [True] * 4, [0, 1, 0, 1], [0, 0, 1, 1])
    assert ours.p_value is not None and ours.p_clustered is None
    assert ours.clustered_reason == "2 clusters are too few for 1 degrees of freedom"
