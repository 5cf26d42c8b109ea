from __future__ import annotations

import time as clock

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from judge_pipeline.cocreation.hazards import hazards
from judge_pipeline.statistics.discrete_hazard import NotFittedError, fit_hazard
from judge_pipeline_tests.cocreation.timed_attempts import attempts_of, many_attempts, trajectories_of
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest


def _hazards(attempts: pd.DataFrame, order: str = "as_recorded") -> pd.DataFrame:
    table = hazards(attempts, trajectories_of(attempts))
    return table[table["order"] == order].set_index(["term", "level"])


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_and_its_errors_are_those_of_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 400
    x = np.column_stack([np.ones(n), rng.integers(0, 2, n), rng.integers(0, 3, n)]).astype(float)
    y = (rng.random(n) < 1 / (1 + np.exp(-x @ [-1, 1, 0.3]))).astype(float)
    cluster = rng.integers(0, 25, n)
    features, cell = np.unique(x, axis=0, return_inverse=True)
    ours = fit_hazard(features, cell.ravel(), y, cluster)
    oracle = sm.GLM(y, x, family=sm.families.Binomial()).fit(
        tol=1e-13, cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    np.testing.assert_allclose(ours.coefficients, oracle.params, atol=1e-8)
    np.testing.assert_allclose(ours.covariance, oracle.cov_params() * 25 / 24, rtol=1e-6)


def test_separated_and_collinear_features_are_not_fitted() -> None:
    x = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(NotFittedError, match="without bound"):
        fit_hazard(x, np.arange(4), np.array([0.0, 1.0, 1.0, 1.0]), np.arange(4))
    with pytest.raises(NotFittedError, match="collinear"):
        fit_hazard(np.ones((4, 2)), np.arange(4), np.array([0.0, 1.0, 0.0, 1.0]), np.arange(4))


def test_of_one_problem_hazards_are_shares() -> None:
    words = {"a": "A", "b": "WA", "c": "WW", "d": "WWW", "e": "A?", "f": "?A", "g": "WAW"}
    table = _hazards(attempts_of({(u, "P1"): letters for u, letters in words.items()}))
    assert table.loc[("turn", "1"), ["n", "n_events"]].tolist() == [6, 2]
    assert table.loc[("turn", "1"), "hazard"] == pytest.approx(2 / 6)
    assert table.loc[("turn", "2"), ["n", "n_events"]].tolist() == [5, 3]
    assert table.loc[("turn", "2"), "hazard"] == pytest.approx(3 / 5)
    assert table.loc[("turn", "3"), ["n", "n_left_out"]].tolist() == [0, 1]
    assert table.loc[("turn", "3"), "reason"] == "none of its tries succeeded"


def test_planted_effects_are_found() -> None:
    rng = np.random.default_rng(2)
    effect = {"P1": -1.0, "P2": 0.0, "P3": 1.0}
    words = {}
    for i in range(400):
        for problem, beta in effect.items():
            letters = ""
            while len(letters) < 4 and not letters.endswith("A"):
                letters += "A" if rng.random() < 1 / (1 + np.exp(0.5 - beta)) else "W"
            words[(f"u{i}", problem)] = letters
    table = _hazards(attempts_of(words))
    for problem, beta in effect.items():
        row = table.loc[("problem_id", problem)]
        assert row["ci95_low"] < beta < row["ci95_high"] and row["ci95_high"] - row["ci95_low"] < 0.5
    for turn in ("1", "2", "3"):
        assert table.loc[("turn", turn), "ci95_low"] < -0.5 < table.loc[("turn", turn), "ci95_high"]
    assert table.loc[("problem_id", "P1"), "p_holm"] < 0.001
    assert table["value"].loc["problem_id"].sum() == pytest.approx(0, abs=1e-9)


def test_of_the_papers_counts_in_both_orders() -> None:
    c = paper_counts_contest()
    recorded, turned = (_hazards(c.attempts, order) for order in ("as_recorded", "reversed"))
    assert recorded.loc[("turn", "1"), ["n_events"]].tolist()[0] <= 157
    assert recorded.loc[("turn", "2"), "reason"] == "none of its tries succeeded"
    assert turned.loc[("turn", "2"), "hazard"] > 0
    assert (recorded["n_clusters"] == 15).all()
    known = turned.loc["problem_id"]
    assert known["reason"].notna().all()  # 15 participants are too few for as many coefficients, and it is said


def test_nothing_to_model() -> None:
    assert hazards(attempts_of({}), trajectories_of(attempts_of({}))).empty
    table = _hazards(attempts_of({("u", "P1"): "W", ("v", "P1"): "W"}))
    assert table["value"].isna().all() and (table["reason"] == "none of its tries succeeded").all()


@pytest.mark.slow
def test_300_000_attempts_take_seconds() -> None:
    attempts = many_attempts(100_000)
    table = trajectories_of(attempts)
    started = clock.perf_counter()
    hazards(attempts, table)
    # 3 s on two busy cores when written; the bound is for what grows faster than the data.
    assert clock.perf_counter() - started < 30
