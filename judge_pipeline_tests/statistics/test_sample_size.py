from __future__ import annotations

import pytest
from statsmodels.stats.power import normal_power, normal_sample_size_one_tail

from judge_pipeline.statistics import sample_size as ours


def test_four_times_the_clusters_halve_the_interval() -> None:
    # 1.96 x 0.0510213... = 0.1, twice what is asked for.
    assert ours.clusters_for_half_width(0.1 / ours.Z95, 30) == 120
    assert ours.clusters_for_half_width(0.05 / ours.Z95, 30) == 30
    assert ours.clusters_for_half_width(0.001, 30) == 2


@pytest.mark.parametrize(("standard_error", "n_clusters", "difference"), [(0.1, 18, 0.05), (0.03, 184, -0.2)])
def test_power_agrees_with_statsmodels(standard_error: float, n_clusters: int, difference: float) -> None:
    needed = ours.clusters_for_power(standard_error, n_clusters, difference)
    deviation = standard_error * n_clusters**0.5
    expected = normal_sample_size_one_tail(abs(difference), 0.8, 0.025, std_null=deviation)
    assert needed == max(2, -(-expected // 1))
    if needed > 2:
        assert normal_power(abs(difference) / deviation, needed, 0.05) >= 0.8
        assert normal_power(abs(difference) / deviation, needed - 1, 0.05) < 0.8


def test_no_number_of_clusters_tells_nothing_from_nothing() -> None:
    with pytest.raises(ValueError, match="never told"):
        ours.clusters_for_power(0.1, 18, 0.0)
