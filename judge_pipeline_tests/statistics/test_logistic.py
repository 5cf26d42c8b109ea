from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from judge_pipeline.statistics import logistic as ours


def data(seed: int, n: int = 60, k: int = 3) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    features = np.column_stack([np.ones(n), rng.normal(0, 2, (n, k - 1))])
    labels = (rng.random(n) < ours.expit(features @ rng.normal(0, 1, k))).astype(float)
    return features, labels


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_statsmodels_on_labels_and_on_shares(seed: int) -> None:
    features, labels = data(seed, n=80 + 5 * seed)
    for targets in (0.05 + 0.9 * labels, labels):
        found = ours.fit_logistic(features, targets)
        oracle = sm.GLM(targets, features, family=sm.families.Binomial()).fit(tol=1e-15, maxiter=300)
        np.testing.assert_allclose(found, oracle.params, rtol=1e-9, atol=1e-10)
        gradient = features.T @ (ours.expit(features @ found) - targets)
        np.testing.assert_allclose(gradient, 0, atol=1e-11)


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_scikit_learn_under_a_penalty(seed: int) -> None:
    features, labels = data(seed, n=30)
    found = ours.fit_logistic(features, labels, np.array([0.0, 1.0, 1.0]))
    oracle = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-13, max_iter=1000)
    oracle.fit(features[:, 1:], labels)
    np.testing.assert_allclose(found, [oracle.intercept_[0], *oracle.coef_[0]], rtol=1e-8, atol=1e-9)


def test_a_penalty_makes_separated_labels_fit() -> None:
    features = np.column_stack([np.ones(6), [-3.0, -2, -1, 1, 2, 3]])
    labels = np.array([0.0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="separate the labels"):
        ours.fit_logistic(features, labels)
    assert 0 < ours.fit_logistic(features, labels, np.array([0.0, 1.0]))[1] < 3


def test_collinear_features_are_refused() -> None:
    features = np.column_stack([np.ones(6), np.ones(6)])
    with pytest.raises(ValueError, match="collinear"):
        ours.fit_logistic(features, np.array([0.0, 1, 0, 1, 0, 1]))


def test_starts_far_from_the_minimum_are_damped() -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([np.ones(40), rng.normal(0, 30, 40)])
    targets = np.where(features[:, 1] + rng.normal(0, 5, 40) > 0, 0.98, 0.02)
    found = ours.fit_logistic(features, targets)
    np.testing.assert_allclose(features.T @ (ours.expit(features @ found) - targets), 0, atol=1e-8)


def test_logit_and_expit_undo_each_other_within_the_clip() -> None:
    p = np.linspace(0.001, 0.999, 500)
    np.testing.assert_allclose(ours.expit(ours.clipped_logit(p)), p, rtol=1e-12)
    edge = ours.clipped_logit(np.array([0.0, 1.0]))
    np.testing.assert_allclose(edge, [-np.log(999), np.log(999)], rtol=1e-12)
    assert ours.n_clipped(np.array([0.0, 0.001, 0.5, 0.9995])) == 2
    np.testing.assert_array_equal(ours.expit(np.array([-800.0, 0.0, 800.0])), [0, 0.5, 1])
    assert np.isnan(ours.clipped_logit(np.array([np.nan]))).all()
