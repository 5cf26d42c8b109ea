from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.outliers_influence import variance_inflation_factor

from judge_pipeline.preference.preference_models import (
    ModelOptions,
    fit_models,
    held_out_probabilities,
    is_separated,
    model_tables,
    variance_inflation,
)
from judge_pipeline_tests.preference.made_choices import made_choices

PEOPLE = np.array([1.0, -0.5, 0.0, 0.3])
JUDGES = np.array([[1.0, 0.5, 0.0, 0.3], [0.2, 0.0, 0.8, 0.0]])
FEW = ModelOptions(n_resamples=60)


def test_coefficients_are_those_of_scikit_learn_on_one_standardization() -> None:
    data, _ = made_choices(PEOPLE, JUDGES, 300, seed=1, valid=0.7)
    scaler = StandardScaler().fit(data.scores)
    for place, model in enumerate(fit_models(data, FEW)):
        chose = ~np.isnan(data.chose_b[:, place])
        peer = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000)
        peer.fit(scaler.transform(data.scores[chose]), data.chose_b[chose, place])
        assert np.abs(model.effects["coefficient"] - peer.coef_[0]).max() < 1e-6
        assert model.effects["relative"] == pytest.approx(peer.coef_[0] / np.linalg.norm(peer.coef_[0]), abs=1e-6)
        p = peer.predict_proba(scaler.transform(data.scores))[:, 1]
        assert model.effects["marginal_effect"] == pytest.approx((p * (1 - p)).mean() * peer.coef_[0], abs=1e-6)


def test_per_annotator_standardization_is_a_pipeline_of_scikit_learn() -> None:
    data, _ = made_choices(PEOPLE, JUDGES, 300, seed=1, valid=0.4)
    model = fit_models(data, replace(FEW, standardize="per_annotator"))[2]
    chose = model.chose
    peer = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000))
    peer.fit(data.scores[chose], data.chose_b[chose, 2])
    assert np.abs(model.effects["coefficient"] - peer[-1].coef_[0]).max() < 1e-6


def test_people_and_judges_are_resampled_together_and_by_cluster() -> None:
    data, _ = made_choices(PEOPLE, np.array([PEOPLE]), 120, seed=2)
    same = data.chose_b.copy()
    same[:, 1] = same[:, 0]
    clusters = replace(data, chose_b=same, cluster=np.arange(120) // 4, n_clusters=30)
    people, judge = fit_models(clusters, FEW)
    assert np.array_equal(people.replicates["coefficient"], judge.replicates["coefficient"])
    assert people.n_clusters == 30
    alone = fit_models(replace(data, chose_b=same), FEW)[0]
    assert not np.allclose(alone.replicates["coefficient"], people.replicates["coefficient"])


def test_the_coefficient_may_be_the_bootstrap_mean() -> None:
    data, _ = made_choices(PEOPLE, JUDGES, 100, seed=3)
    full = fit_models(data, FEW)[0]
    mean = fit_models(data, replace(FEW, center="bootstrap_mean"))[0]
    for effect, values in full.replicates.items():
        assert mean.effects[effect] == pytest.approx(values.mean(axis=0))
    assert not np.allclose(full.effects["coefficient"], mean.effects["coefficient"])


def test_single_class_resamples_are_skipped_and_counted() -> None:
    data, _ = made_choices(PEOPLE, JUDGES, 40, seed=4)
    chose_b = data.chose_b.copy()
    chose_b[:, 1] = 0.0
    chose_b[0, 1] = 1.0
    chose_b[:, 2] = 1.0
    models = fit_models(replace(data, chose_b=chose_b), ModelOptions(n_resamples=400))
    # The one pair is not drawn in (39/40)^40 = 36% of resamples.
    assert 100 < models[1].n_single_class < 190
    effects, fits = model_tables(models, replace(data, chose_b=chose_b), ModelOptions(n_resamples=400))
    row = effects[(effects["judge"] == "judge 0")].iloc[0]
    assert f"undefined in {models[1].n_single_class} of 400 resamples" in row["reason"]
    never = effects[effects["judge"] == "judge 1"]
    assert never["value"].isna().all() and (never["reason"] == "B was chosen on every pair").all()
    fit = fits[fits["judge"] == "judge 1"].iloc[0]
    assert np.isnan(fit["value"]) and fit["floor"] == 1.0 and fit["n_single_class"] == 400


def test_a_constant_item_has_no_coefficient_and_changes_no_other() -> None:
    data, _ = made_choices(PEOPLE, JUDGES, 150, seed=5)
    scores = np.column_stack([data.scores, np.ones(150)])
    more = replace(data, scores=scores, items=(*data.items, "constant"))
    effects, _ = model_tables(fit_models(more, FEW), more, FEW)
    plain, _ = model_tables(fit_models(data, FEW), data, FEW)
    constant = effects[effects["item"] == "constant"]
    assert constant["value"].isna().all() and constant["reason"].str.contains("same score on all pairs").all()
    others = effects[effects["item"] != "constant"]
    assert others["value"].tolist() == pytest.approx(plain["value"].tolist(), abs=1e-9)


def test_variance_inflation_is_that_of_statsmodels_and_infinite_for_copies() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 3)) @ np.array([[1, 0.9, 0], [0, 0.4, 0], [0, 0, 1.0]])
    design = np.column_stack([np.ones(80), features])
    assert variance_inflation(features) == pytest.approx([variance_inflation_factor(design, i) for i in (1, 2, 3)])
    found = variance_inflation(np.column_stack([features, -features[:, 2], np.ones(80)]))
    assert np.isinf(found[[2, 3]]).all() and np.isnan(found[4]) and np.isfinite(found[:2]).all()


def test_copies_are_reported_beside_their_coefficients() -> None:
    data, _ = made_choices(PEOPLE, JUDGES, 150, seed=6)
    twice = replace(data, scores=np.column_stack([data.scores, data.scores[:, 0]]), items=(*data.items, "copy"))
    effects, _ = model_tables(fit_models(twice, FEW), twice, FEW)
    copies = effects[effects["item"].isin(["item 0", "copy"])]
    assert copies["vif"].isna().all() and copies["reason"].str.contains("other items determine this one").all()


@pytest.mark.parametrize(
    ("x", "y", "separated"),
    [
        ([-2, -1, 1, 2], [0, 0, 1, 1], True),
        ([-2, -1, 0, 0, 1], [0, 0, 0, 1, 1], True),
        ([-2, -1, 0, 1, 2], [0, 1, 0, 1, 0], False),
        ([-1, -1, 1, 1], [0, 1, 0, 1], False),
    ],
)
def test_complete_and_quasi_complete_separation_are_seen(x: list[float], y: list[int], separated: bool) -> None:
    assert is_separated(np.array(x, float)[:, None], np.array(y, float)) is separated


def test_held_out_probabilities_never_saw_their_cluster() -> None:
    data, _ = made_choices(PEOPLE, JUDGES, 100, seed=7)
    data = replace(data, cluster=np.arange(100) // 2, n_clusters=50)
    before = held_out_probabilities(fit_models(data, FEW)[0], data, FEW)
    flipped = data.chose_b.copy()
    flipped[10:12, 0] = 1 - flipped[10:12, 0]
    changed = replace(data, chose_b=flipped)
    after = held_out_probabilities(fit_models(changed, FEW)[0], changed, FEW)
    assert np.array_equal(before[10:12], after[10:12]) and not np.allclose(before, after)


def test_held_out_accuracy_tells_a_rubric_that_predicts_from_one_that_does_not() -> None:
    strong = np.array([3.0, -2.0, 0.0, 0.0])
    data, p = made_choices(strong, np.zeros((1, 4)), 600, seed=8)
    _, fits = model_tables(fit_models(data, FEW), data, FEW)
    people, judge = fits.to_dict("records")
    assert people["value"] == pytest.approx(np.maximum(p[:, 0], 1 - p[:, 0]).mean(), abs=0.05)
    assert people["ci95_low"] > people["floor"] + 0.2
    assert judge["ci95_low"] < 0.55 and people["separated"] is False and people["n"] == 600
