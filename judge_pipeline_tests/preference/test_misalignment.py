from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.multitest import multipletests

from judge_pipeline.preference.misalignment import misalignment, rubric_disagreements
from judge_pipeline.preference.preference_models import ModelOptions, fit_models
from judge_pipeline_tests.preference.made_choices import made_choices

PEOPLE = np.array([0.8, -0.5, 0.0, 0.3, 0.2])
FEW = ModelOptions(n_resamples=300)


def rows(table: pd.DataFrame, test: str, judge: str | None = None, effect: str = "coefficient") -> pd.DataFrame:
    own = table["judge"].isna() if judge is None else table["judge"] == judge
    return table[own & (table["test"] == test) & (table["effect"] == effect)].set_index("item")


def test_the_papers_tests_are_computed_as_published() -> None:
    data, _ = made_choices(PEOPLE, np.tile(PEOPLE, (4, 1)) * [[1], [1], [0.5], [0.2]], 200, seed=1, valid=0.8)
    models = fit_models(data, FEW)
    table = misalignment(models, data)
    people, judges = models[0].effects["coefficient"], models[1:]
    each = rows(table, "trace_per_judge", "judge 3")
    low, high = np.quantile(judges[3].replicates["coefficient"], [0.025, 0.975], axis=0)
    assert each["misaligned"].tolist() == [bool(p < a or p > b) for p, a, b in zip(people, low, high, strict=True)]
    assert each["misaligned"].any() and not each["misaligned"].all()
    pooled = rows(table, "trace_pooled")
    for place, row in enumerate(pooled.to_dict("records")):
        effects = np.array([model.effects["coefficient"][place] for model in judges])
        variances = np.array([model.replicates["coefficient"][:, place].var(ddof=1) for model in judges]) * 200 / 199
        peer = combine_effects(effects, variances, method_re="pm")
        z = (peer.mean_effect_re - people[place]) / peer.sd_eff_w_re
        assert row["value"] == pytest.approx(peer.mean_effect_re - people[place], rel=0.02)
        assert row["p_value"] == pytest.approx(2 * norm.sf(abs(z)), rel=0.1, abs=1e-6)
        assert row["misaligned"] is (row["p_value"] < 0.05) and "as known" in row["reason"]


def test_planted_misalignments_are_found_and_the_correction_is_benjamini_hochberg() -> None:
    judges = np.tile(PEOPLE, (5, 1))
    judges[:, 0] -= 0.9
    judges[:, 2] += 0.9
    data, _ = made_choices(PEOPLE, judges, 300, seed=2)
    found = rows(misalignment(fit_models(data, FEW), data), "paired")
    assert found.index[found["misaligned"].astype(bool)].tolist() == ["item 0", "item 2"]
    assert found["value"]["item 0"] < -0.4 and found["value"]["item 2"] > 0.4
    assert found["p_bh"].tolist() == pytest.approx(multipletests(found["p_value"], method="fdr_bh")[1])
    assert (found["ci95_high"]["item 0"], found["ci95_low"]["item 2"]) < (0, np.inf)
    assert found["ci95_low"]["item 2"] > 0 and (found["n_judges"] == 5).all() and (found["n"] == 300).all()


def test_a_judge_that_chooses_as_people_do_differs_by_nothing() -> None:
    data, _ = made_choices(PEOPLE, np.array([PEOPLE]), 150, seed=3)
    chose_b = np.repeat(data.chose_b[:, :1], 2, axis=1)
    same = replace(data, chose_b=chose_b)
    found = rows(misalignment(fit_models(same, FEW), same), "paired", "judge 0")
    assert (found["value"] == 0).all() and (found["p_value"] == 1).all() and not found["misaligned"].any()


@pytest.mark.slow
def test_twice_as_decisive_is_misaligned_in_coefficients_and_not_in_relative_effects() -> None:
    data, _ = made_choices(PEOPLE, np.tile(2.5 * PEOPLE, (6, 1)), 1500, seed=4)
    table = misalignment(fit_models(data, FEW), data)
    assert rows(table, "paired")["misaligned"].sum() >= 3
    assert not rows(table, "paired", effect="relative")["misaligned"].any()


def test_a_judge_without_a_model_is_left_out_of_the_pool_and_says_why() -> None:
    data, _ = made_choices(PEOPLE, np.tile(PEOPLE, (3, 1)), 120, seed=5)
    chose_b = data.chose_b.copy()
    chose_b[:, 3] = 1.0
    table = misalignment(fit_models(replace(data, chose_b=chose_b), FEW), replace(data, chose_b=chose_b))
    never = table[table["judge"] == "judge 2"]
    assert never["value"].isna().all() and (never["reason"] == "B was chosen on every pair").all()
    assert never["misaligned"].isna().all()
    pooled = rows(table, "paired")
    assert (pooled["n_judges"] == 2).all() and pooled["reason"].str.contains("1 of 3 left out").all()


def test_without_judges_or_labels_there_is_a_reason_and_no_number() -> None:
    data, _ = made_choices(PEOPLE, np.zeros((0, 5)), 50, seed=6)
    table = misalignment(fit_models(data, FEW), data)
    assert table["value"].isna().all() and (table["reason"] == "there is nothing to pool").all()
    data, _ = made_choices(PEOPLE, np.array([PEOPLE]), 50, seed=6)
    chose_b = data.chose_b.copy()
    chose_b[:, 0] = np.nan
    table = misalignment(fit_models(replace(data, chose_b=chose_b), FEW), replace(data, chose_b=chose_b))
    assert table["value"].isna().all() and table["reason"].str.startswith("people: no pair").all()


def test_too_few_resamples_to_pass_the_correction_are_said() -> None:
    data, _ = made_choices(PEOPLE, np.array([PEOPLE, PEOPLE]), 100, seed=7)
    few = rows(misalignment(fit_models(data, ModelOptions(n_resamples=150)), data), "paired")
    assert few["reason"].str.contains("ask for more than 200").all()
    assert rows(misalignment(fit_models(data, FEW), data), "paired")["reason"].isna().all()


def test_disagreements_that_the_rubric_explains_and_those_it_does_not() -> None:
    weights = np.array([2.0, 0.0, 0.0, 0.0, 0.0])
    data, _ = made_choices(weights, np.array([-weights, 0 * weights]), 400, seed=8)
    table = rubric_disagreements(fit_models(data, FEW), data, FEW)
    of = dict(list(table.groupby("judge")))
    assert (of["judge 0"]["label"] != of["judge 0"]["choice"]).all()
    assert of["judge 0"]["explained"].mean() > 0.5 and of["judge 0"]["reversed"].mean() < 0.1
    scored = of["judge 0"][of["judge 0"]["explained"].astype(bool)]
    assert (scored["item"] == "item 0").mean() > 0.9 and (scored["push"] > 0).all()
    expected = int((data.chose_b[:, 0] != data.chose_b[:, 1]).sum())
    assert len(of["judge 0"]) == expected


@pytest.mark.slow
def test_a_rubric_that_says_nothing_explains_as_often_as_it_errs() -> None:
    one = ModelOptions(n_resamples=1)
    shares = []
    for seed in range(12):  # the eight judges share the people's model, so one draw's shares are apart by 0.05
        data, _ = made_choices(np.zeros(5), np.zeros((8, 5)), 300, seed=seed)
        table = rubric_disagreements(fit_models(data, one), data, one)
        shares.append((table["explained"].mean(), table["reversed"].mean()))
    explained, opposite = np.mean(shares, axis=0)
    assert explained == pytest.approx(opposite, abs=0.05) and 0.1 < explained < 0.4


@pytest.mark.slow
def test_with_nothing_to_find_ours_fires_rarely_and_the_papers_do_often() -> None:
    """A small repeat of the simulation that docs/reference/metrics.md reports: 12 draws, 144 items."""
    fired: dict[str, list[float]] = {"trace_per_judge": [], "trace_pooled": [], "paired": []}
    for draw in range(12):
        weights = np.random.default_rng([1, draw]).normal(0, 0.4, 12)
        data, _ = made_choices(weights, np.tile(weights, (13, 1)), 500, seed=draw, valid=0.8)
        table = misalignment(fit_models(data, ModelOptions(n_resamples=200, seed=draw)), data, ("coefficient",))
        fired["paired"] += (rows(table, "paired")["p_value"] < 0.05).tolist()
        fired["trace_pooled"] += rows(table, "trace_pooled")["misaligned"].tolist()
        fired["trace_per_judge"] += table[table["test"] == "trace_per_judge"]["misaligned"].tolist()
    rate = {test: float(np.mean(found)) for test, found in fired.items()}
    assert rate["paired"] < 0.10
    assert rate["trace_per_judge"] > 0.10
    assert rate["trace_pooled"] > 0.30


@pytest.mark.slow
def test_two_planted_among_twelve_items_are_found_with_thirteen_judges() -> None:
    weights = np.random.default_rng(3).normal(0, 0.4, 12)
    judges = np.tile(weights, (13, 1))
    judges[:, 4] += 0.6
    judges[:, 9] -= 0.6
    data, _ = made_choices(weights, judges, 500, seed=1, valid=0.8)
    found = rows(misalignment(fit_models(data), data, ("coefficient",)), "paired")
    assert found.index[found["misaligned"].astype(bool)].tolist() == ["item 4", "item 9"]
