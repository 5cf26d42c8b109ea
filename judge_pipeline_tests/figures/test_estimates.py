from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline import tables
from judge_pipeline.estimate import Estimate
from judge_pipeline.figures import estimates
from judge_pipeline.tables.metric_words import METRICS


def test_an_estimate_comes_back_as_it_was_written() -> None:
    given_ = {
        "a": Estimate(0.25, 36, 2, (0.1, 0.4), "few clusters"),
        "b": Estimate.undefined("one class", 12),
        "c": Estimate(1.0, 3),
    }
    table = tables.JUDGE_METRICS.conform(
        [{"judge": "j", "metric": name, "split": "test", **e.to_row()} for name, e in given_.items()]
    )
    assert estimates.metrics_by_judge(table) == {"j": given_}


def test_half_an_interval_is_none_and_a_missing_reason_is_said() -> None:
    row = {"value": 0.5, "n": 4, "n_left_out": 0, "ci95_low": 0.1, "ci95_high": float("nan"), "reason": None}
    assert estimates.read_estimate(row).ci95 is None
    assert estimates.read_estimate({**row, "value": None}).reason == estimates.NO_REASON


def test_the_accepted_share_is_the_mean_label() -> None:
    random = np.random.default_rng(3)
    y, p = random.integers(0, 2, 200), random.random(200)
    bins = np.clip((p * 15).astype(int), 0, 14)
    rows = [
        {
            "judge": "j", "curve": "reliability", "point": k, "x": p[bins == b].mean(), "y": y[bins == b].mean(),
            "threshold": None, "n": int((bins == b).sum()), "ci95_low": None, "ci95_high": None, "reason": None,
        }
        for k, b in enumerate(np.unique(bins), 1)
    ]  # fmt: skip
    assert estimates.accepted_share(tables.JUDGE_CURVES.conform(rows))["j"] == pytest.approx(y.mean(), abs=1e-12)
    assert estimates.accepted_share(tables.JUDGE_CURVES.empty()) == {}


@given(st.floats(-1000, 1000), st.integers(0, 4))
def test_a_formatted_number_is_the_rounded_number_without_a_minus_zero(value: float, decimals: int) -> None:
    shown = estimates.format_number(value, decimals)
    assert float(shown) == pytest.approx(value, abs=0.5 * 10**-decimals + 1e-9)
    assert not (float(shown) == 0 and shown.startswith("-"))


@pytest.mark.parametrize(
    ("value", "expected"), [(None, None), (pd.NA, None), (float("nan"), None), (float("inf"), None), (3, 3.0)]
)
def test_missing_cells_are_none(value: object, expected: float | None) -> None:
    assert estimates.number(value) == expected


def test_counts_in_words() -> None:
    assert estimates.n_in_words([36, 36], "attempts") == "n = 36 attempts"
    assert estimates.n_in_words([24, 1036], "attempts") == "n = 24 to 1,036 attempts"
    assert estimates.n_in_words([], "attempts") == "n = 0 attempts"


def test_every_metric_of_the_paper_has_words() -> None:
    named = {"roc_auc", "pr_auc", "log_loss", "brier", "ece", "mcc_val", "threshold", "mcc_test"}
    assert named <= set(METRICS)
