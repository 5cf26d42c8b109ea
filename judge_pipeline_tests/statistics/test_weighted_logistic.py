from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from judge_pipeline.statistics.weighted_logistic import fit_weighted_logistic


def made(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-1, 2, size=(n, k)).astype(float)
    features = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    labels = (rng.random(n) < 1 / (1 + np.exp(-features @ rng.normal(0, 0.7, k)))).astype(float)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=20).astype(float)
    return features, labels, weights


def scikit_learn(features: np.ndarray, labels: np.ndarray, weights: np.ndarray, c: float) -> np.ndarray:
    """On repeated rows, so that nothing is shared with how weights are used here."""
    repeated = np.repeat(np.arange(len(labels)), weights.astype(int))
    model = LogisticRegression(C=c, solver="lbfgs", tol=1e-10, max_iter=10_000)
    model.fit(features[repeated], labels[repeated])
    return np.append(model.intercept_, model.coef_[0])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k", "c"), [(200, 12, 1.0), (60, 5, 10.0), (30, 20, 1.0), (40, 1, 0.01)])
def test_every_resample_equals_scikit_learn_on_repeated_rows(n: int, k: int, c: float) -> None:
    features, labels, weights = made(n, k, seed=n)
    ours = fit_weighted_logistic(features, labels, weights, c=c)
    peer = np.array([scikit_learn(features, labels, row, c) for row in weights])
    assert np.abs(ours - peer).max() < 1e-6


def test_separated_labels_under_a_weak_penalty_converge_from_zero() -> None:
    features = np.linspace(-3, 3, 40)[:, None]
    labels = (features[:, 0] > 0).astype(float)
    c = 1e6
    intercept, slope = fit_weighted_logistic(features, labels, np.ones((1, 40)), c=c)[0]
    residual = 1 / (1 + np.exp(-(intercept + slope * features[:, 0]))) - labels
    assert slope > 10
    assert abs(residual.sum()) < 1e-9 and abs(c * residual @ features[:, 0] + slope) < 1e-3


def test_labels_that_are_nearly_separated_under_a_weak_penalty_still_reach_the_minimum() -> None:
    rng = np.random.default_rng(0)
    for c in (1.0, 100.0, 10_000.0):
        for _ in range(40):
            n, k = int(rng.integers(10, 60)), int(rng.integers(1, 20))
            features = rng.normal(0, 15, (n, k))
            labels = (rng.random(n) < 0.7).astype(float)
            weights = rng.multinomial(n, np.full(n, 1 / n), size=3).astype(float)
            for row, fit in zip(weights, fit_weighted_logistic(features, labels, weights, c=c), strict=True):
                residual = row * (1 / (1 + np.exp(-np.clip(fit[0] + features @ fit[1:], -700, 700))) - labels)
                slopes = c * residual @ features + fit[1:]
                assert np.isnan(fit).all() or np.abs(slopes).max() < 1e-9 * (1 + c * np.abs(features).sum())


def test_a_resample_of_one_class_or_none_is_undefined_and_disturbs_no_other() -> None:
    features, labels, weights = made(50, 3, seed=1)
    weights = weights[:4]
    expected = fit_weighted_logistic(features, labels, weights)
    weights = np.vstack([weights[:2], labels, 1 - labels, np.zeros(50), weights[2:]])
    found = fit_weighted_logistic(features, labels, weights)
    assert np.isnan(found[2:5]).all()
    assert np.allclose(found[[0, 1, 5, 6]], expected, rtol=0, atol=1e-9)


def test_many_resamples_give_what_each_gives_alone() -> None:
    features, labels, _ = made(600, 4, seed=3)
    weights = np.random.default_rng(0).multinomial(600, np.full(600, 1 / 600), size=900).astype(float)
    together = fit_weighted_logistic(features, labels, weights)
    alone = np.vstack([fit_weighted_logistic(features, labels, weights[i : i + 1]) for i in (0, 108, 109, 899)])
    assert np.allclose(together[[0, 108, 109, 899]], alone, rtol=0, atol=1e-9)


@pytest.mark.parametrize("change", [{"labels": np.zeros(4)}, {"weights": np.ones(5)}, {"c": 0.0}])
def test_what_does_not_fit_together_is_refused(change: dict[str, object]) -> None:
    given = {"features": np.zeros((5, 2)), "labels": np.zeros(5), "weights": np.ones((1, 5)), **change}
    with pytest.raises(ValueError, match="no fit"):
        fit_weighted_logistic(**given)  # type: ignore[arg-type]
