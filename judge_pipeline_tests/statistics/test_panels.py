from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from judge_pipeline.statistics import panels as ours


@pytest.mark.parametrize("seed", range(15))
def test_the_stacker_is_scikit_learns_logistic_regression_on_logits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, judges = 40 + 10 * seed, 2 + seed % 4
    y = (rng.random(n) < 0.5).astype(float)
    p = np.clip(expit(y[:, None] - 0.5 + rng.normal(0, 1.5, (n, judges))), 0.001, 0.999)
    fitted = ours.fit_stacker(y, p)
    assert fitted.coefficients is not None
    oracle = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-13, max_iter=1000).fit(logit(p), y)
    np.testing.assert_allclose(fitted.coefficients, [oracle.intercept_[0], *oracle.coef_[0]], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.stacked(p, fitted.coefficients), oracle.predict_proba(logit(p))[:, 1], atol=1e-8)
    assert (fitted.n, fitted.n_accepted) == (n, y.sum())


def test_the_three_means_by_hand() -> None:
    p = np.array([[0.2, 0.5, 0.9], [0.1, 0.1, 0.1], [0.3, np.nan, 0.4]])
    np.testing.assert_allclose(ours.mean(p), [1.6 / 3, 0.1, np.nan])
    np.testing.assert_allclose(ours.median(p), [0.5, 0.1, np.nan])
    np.testing.assert_allclose(ours.logit_mean(p), [expit((logit(0.2) + logit(0.9)) / 3), 0.1, np.nan])
    assert np.isnan(ours.stacked(p, np.array([0.0, 1.0, 1.0, 1.0])))[2]


def test_one_certain_judge_does_not_decide_alone() -> None:
    certain = ours.logit_mean(np.array([[1.0, 0.2, 0.2, 0.2]]))
    assert certain[0] == pytest.approx(expit((logit(0.999) + 3 * logit(0.2)) / 4))


def test_no_stacker_without_enough_attempts_of_both_classes() -> None:
    p = np.full((9, 2), 0.4)
    small = ours.fit_stacker(np.arange(9) % 2.0, p)
    assert small.coefficients is None
    assert "9 labelled attempts that all judges answered, and a stacker needs 10" in (small.reason or "")
    one_class = ours.fit_stacker(np.zeros(20), np.full((20, 2), 0.4))
    assert "all 20 attempts are of y = 0" in (one_class.reason or "")


def test_separated_labels_and_equal_judges_have_a_stacker() -> None:
    y = np.array([0.0] * 10 + [1.0] * 10)
    p = np.repeat(np.where(y == 1, 1.0, 0.0)[:, None], 3, axis=1)
    fitted = ours.fit_stacker(y, p)
    assert fitted.coefficients is not None
    assert np.ptp(fitted.coefficients[1:]) < 1e-12
    assert "fitted on few attempts: 20 of val" in (fitted.reason or "")
    assert "60 of 60 answers on val lie beyond" in (fitted.reason or "")
