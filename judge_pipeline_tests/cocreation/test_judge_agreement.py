from __future__ import annotations

from itertools import combinations

import krippendorff as oracle
import numpy as np
import pandas as pd
import pytest
import sklearn.metrics as sk

from judge_pipeline.cocreation.judge_agreement import judge_agreement
from judge_pipeline.cocreation.rating_figures import STATISTICS

from . import paper_items
from .scored_judges import JUDGES, simulated


def row(table: pd.DataFrame, statistic: str, rated: str, *judges: str) -> pd.Series:
    first, second = (*judges, None, None)[:2]
    mask = (table["statistic"] == statistic) & (table["rated"] == rated)
    for column, name in (("judge_1", first), ("judge_2", second)):
        mask &= table[column].isna() if name is None else table[column] == name
    assert mask.sum() == 1
    return table[mask].iloc[0]


@pytest.mark.parametrize("seed", range(4))
def test_figures_that_allow_gaps_agree_with_their_oracles(seed: int) -> None:
    frame = simulated(seed)
    table = judge_agreement(frame, seed=0, n_resamples=10)
    test = frame[frame["split"] == "test"]
    for score in ("s_algo", "s_robust"):
        wide = test.pivot(index="attempt_id", columns="judge", values=score)
        for level in ("ordinal", "interval"):
            expected = oracle.alpha(wide.T.to_numpy(), level_of_measurement=level, value_domain=range(1, 6))
            found = row(table, f"krippendorff_{level}", score)
            assert found["value"] == pytest.approx(expected, abs=1e-12)
            assert found["n"] == (wide.notna().sum(axis=1) >= 2).sum()
        means = dict.fromkeys(JUDGES, 0.0)
        for first, second in combinations(JUDGES, 2):
            both = wide[[first, second]].dropna()
            expected = sk.cohen_kappa_score(both[first], both[second], weights="quadratic", labels=range(1, 6))
            found = row(table, "cohen_quadratic", score, first, second)
            assert found["value"] == pytest.approx(expected, abs=1e-12)
            assert found["n"] == len(both)
            assert found["n"] + found["n_left_out"] == test["attempt_id"].nunique()
            raw = row(table, "raw_agreement", score, first, second)["value"]
            assert raw == pytest.approx((both[first] == both[second]).mean(), abs=1e-12)
            for judge in (first, second):
                means[judge] += expected / 2
        for judge, mean in means.items():
            assert row(table, "cohen_quadratic", score, judge)["value"] == pytest.approx(mean, abs=1e-12)
    wide = test.pivot(index="attempt_id", columns="judge", values="p_ac")
    expected = oracle.alpha(wide.T.to_numpy(), level_of_measurement="interval")
    assert row(table, "krippendorff_interval", "p_ac")["value"] == pytest.approx(expected, abs=1e-12)
    apart = row(table, "mean_abs_difference", "p_ac", "a", "b")["value"]
    assert apart == pytest.approx((wide["a"] - wide["b"]).abs().mean(), abs=1e-12)


def test_every_figure_has_an_interval_that_holds_it() -> None:
    table = judge_agreement(simulated(7, n_groups=160), seed=0, n_resamples=300)
    assert table["value"].notna().all()
    assert (table["ci95_low"] <= table["value"]).all()
    assert (table["ci95_high"] >= table["value"]).all()
    for rated, statistics in STATISTICS.items():
        for statistic in statistics:
            of_it = table[(table["statistic"] == statistic) & (table["rated"] == rated)]
            assert len(of_it) >= 3 + 3 + 1


def test_on_complete_decisions_what_allows_gaps_is_on_the_items_of_table_v() -> None:
    table = judge_agreement(paper_items.predictions(), seed=0, n_resamples=20)
    assert set(table["n"]) == {36}
    decisions = np.array(
        [[int(mark) for mark in pattern[1:]] for pattern, count in paper_items.PATTERNS.items() for _ in range(count)]
    )
    expected = oracle.alpha(decisions.T, level_of_measurement="nominal", value_domain=[0, 1])
    assert row(table, "krippendorff_nominal", "decision")["value"] == pytest.approx(expected, abs=1e-12)
    # Kappa near 0 stands beside much agreement: prevalence says why.
    claude = row(table, "prevalence", "decision", "Claude")["value"]
    assert claude == decisions[:, 0].mean() == pytest.approx(33 / 36)
    both = decisions[:, 0] & decisions[:, 2]
    neither = (1 - decisions[:, 0]) & (1 - decisions[:, 2])
    index = row(table, "prevalence_index", "decision", "Claude", "Gemini")["value"]
    assert index == pytest.approx((both.sum() - neither.sum()) / 36)
    assert row(table, "gwet_ac1", "decision", "Claude", "Gemini")["value"] > 0.7
    assert row(table, "cohen", "decision", "Claude", "Gemini")["value"] < 0


def test_a_judge_without_scores_leaves_its_pairs_undefined_and_the_others_alone() -> None:
    frame = simulated(1)
    alone = judge_agreement(frame[frame["judge"] != "c"], seed=0, n_resamples=10)
    frame.loc[frame["judge"] == "c", ["s_algo", "s_robust"]] = np.nan
    table = judge_agreement(frame, seed=0, n_resamples=10)
    with_c = row(table, "krippendorff_ordinal", "s_algo", "a", "c")
    assert np.isnan(with_c["value"])
    assert with_c["reason"] == "no labelled attempt of test has a s_algo of a and c"
    own = row(table, "cohen_linear", "s_algo", "a")
    assert own["value"] == row(alone, "cohen_linear", "s_algo", "a", "b")["value"]
    assert "1 of 2 pairs have no value and are left out of the mean" in own["reason"]
    overall = row(table, "krippendorff_ordinal", "s_algo")
    assert overall["value"] == row(alone, "krippendorff_ordinal", "s_algo")["value"]
    assert np.isnan(row(table, "cohen_linear", "s_algo", "c")["value"])


def test_scores_that_never_vary_have_no_kappa_and_no_alpha() -> None:
    frame = simulated(2).assign(s_algo=4)
    table = judge_agreement(frame, seed=0, n_resamples=10)
    for statistic in ("cohen_linear", "krippendorff_ordinal"):
        for judges in (("a", "b"), ("a",), ()):
            found = row(table, statistic, "s_algo", *judges)
            assert np.isnan(found["value"])
            assert "0/0" in found["reason"]
    assert row(table, "raw_agreement", "s_algo")["value"] == 1
    frame.loc[frame["judge"] == "b", "s_algo"] = frame.index[frame["judge"] == "b"] % 5 + 1
    found = row(judge_agreement(frame, seed=0, n_resamples=10), "cohen_linear", "s_algo", "a", "b")
    assert found["value"] == 0
    assert "a gives every item the same s_algo" in found["reason"]
