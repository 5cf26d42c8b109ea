from __future__ import annotations

import math

import pytest

from judge_pipeline.estimate import Estimate


def test_a_missing_value_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Estimate(None, 3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_is_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Estimate(value, 3)


@pytest.mark.parametrize(("n", "n_left_out"), [(-1, 0), (1, -1)])
def test_counts_are_not_negative(n: int, n_left_out: int) -> None:
    with pytest.raises(ValueError, match="negative"):
        Estimate(0.5, n, n_left_out)


def test_json_and_row_hold_the_same() -> None:
    estimate = Estimate(0.25, 36, 2, (0.1, 0.5), "fewer than 50 clusters")
    assert estimate.to_json() == {
        "value": 0.25,
        "n": 36,
        "n_left_out": 2,
        "ci95": [0.1, 0.5],
        "reason": "fewer than 50 clusters",
    }
    row = estimate.to_row()
    assert (row["ci95_low"], row["ci95_high"]) == (0.1, 0.5)
    undefined = Estimate.undefined("one class", n=4)
    assert undefined.to_json()["value"] is None
    assert undefined.to_row()["ci95_low"] is None
