from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from judge_pipeline.cocreation.churn_effects import churn_effects
from judge_pipeline.tables.revision import REVISIONS
from judge_pipeline_tests.cocreation.revision_rows import paper_revisions

KEY = ["order", "measure", "progress", "revisions", "statistic"]


@pytest.fixture(scope="module")
def effects() -> pd.DataFrame:
    return churn_effects(paper_revisions(), seed=1, n_resamples=200).set_index(KEY).sort_index()


@pytest.mark.parametrize("order", ["as_recorded", "reversed"])
@pytest.mark.parametrize("measure", ["code_ned", "codebleu_churn"])
@pytest.mark.parametrize("progress", ["delta_y", "delta_p_mean"])
@pytest.mark.parametrize("which", ["all", "after_rejection"])
def test_rank_correlations_are_scipys(
    effects: pd.DataFrame, order: str, measure: str, progress: str, which: str
) -> None:
    rows = paper_revisions().query("order == @order")
    rows = rows.query("y_before == 0") if which == "after_rejection" else rows
    known = rows[[measure, progress]].astype(float).dropna()
    row = effects.loc[order, measure, progress, which].loc["spearman"]
    assert row["value"] == pytest.approx(spearmanr(known[measure], known[progress]).statistic, abs=1e-12)
    assert (row["n"], row["n_left_out"]) == (len(known), len(rows) - len(known))
    assert row["ci95_low"] < row["value"] < row["ci95_high"]
    assert row["sample"] == f"all {len(known)} revisions with both"


def planted(slope: float, n_participants: int = 12) -> pd.DataFrame:
    """Revisions in which confidence rises with churn, participants differ, and problems do not."""
    rng = np.random.default_rng(0)
    rows = paper_revisions().query("order == 'as_recorded'").reset_index(drop=True)
    rows = pd.concat([rows] * 2, ignore_index=True)
    rows["attempt_id"] = [f"{i:016x}" for i in range(len(rows))]
    lift = rng.normal(0, 0.1, n_participants)
    codes = rng.integers(0, n_participants, len(rows))
    rows["participant"] = [f"v{code:02}" for code in codes]
    rows["code_ned"] = rng.random(len(rows))
    drawn = slope * rows["code_ned"] + lift[codes] + rng.normal(0, 0.05, len(rows))
    return rows.assign(delta_p_mean=drawn.clip(-1, 1))


@pytest.mark.slow
def test_a_planted_effect_is_found_and_none_is_not() -> None:
    found = churn_effects(planted(0.3), seed=1, n_resamples=200).set_index(KEY).sort_index()
    at = found.loc["as_recorded", "code_ned", "delta_p_mean", "all"]
    assert at.loc["slope", "ci95_low"] < 0.3 < at.loc["slope", "ci95_high"]
    assert at.loc["slope", "ci95_low"] > 0.25 and at.loc["spearman", "ci95_low"] > 0.3
    assert 0.003 < at.loc["variance_participant", "value"] < 0.03
    assert at.loc["variance_residual", "value"] == pytest.approx(0.0025, rel=0.2)
    flat = churn_effects(planted(0.0), seed=1, n_resamples=200).set_index(KEY).sort_index()
    at = flat.loc["as_recorded", "code_ned", "delta_p_mean", "all"]
    assert at.loc["slope", "ci95_low"] < 0 < at.loc["slope", "ci95_high"]


@pytest.mark.slow
def test_large_data_are_sampled_by_whole_participants_and_it_is_stated() -> None:
    rows = planted(0.3, n_participants=40)
    found = churn_effects(rows, seed=1, n_resamples=100, model_levels=25).set_index(KEY).sort_index()
    at = found.loc["as_recorded", "code_ned", "delta_p_mean", "all"]
    assert "of 40 participants, drawn whole by a seeded hash" in at.loc["slope", "sample"]
    assert 0 < at.loc["slope", "n"] < len(rows)
    assert at.loc["slope", "n"] + at.loc["slope", "n_left_out"] == len(rows)
    assert at.loc["spearman", "n"] == len(rows)
    other = churn_effects(rows, seed=2, n_resamples=100, model_levels=25).set_index(KEY).sort_index()
    assert other.loc["as_recorded", "code_ned", "delta_p_mean", "all"].loc["slope", "n"] != at.loc["slope", "n"]


def test_what_is_undefined_is_null_and_says_why(effects: pd.DataFrame) -> None:
    at = effects.loc["reversed", "prompt_ned", "delta_y", "all"]
    assert at["value"].isna().all() and (at["n_left_out"] == 333).all()
    assert at.loc["spearman", "reason"] == "no revision has both prompt_ned and delta_y"
    rows = paper_revisions().query("order == 'as_recorded'").assign(delta_y=0)
    found = churn_effects(rows, seed=1, n_resamples=100).set_index(KEY).sort_index()
    at = found.loc["as_recorded", "code_ned", "delta_y", "all"]
    assert at.loc["spearman", "reason"] == "delta_y is the same in all 333 revisions"
    assert at.loc["slope", "reason"] == "progress is the same in all 333 observations"
    alone = rows[rows["participant"] == rows["participant"].iloc[0]]
    found = churn_effects(alone, seed=1, n_resamples=100).set_index(KEY).sort_index()
    at = found.loc["as_recorded", "code_ned", "delta_p_mean", "all"]
    assert at.loc["variance_participant", "reason"] == "a single participant has no variance between participants"


def test_no_revisions_no_rows_and_two_runs_are_equal(effects: pd.DataFrame) -> None:
    assert churn_effects(REVISIONS.empty(), seed=1).empty
    again = churn_effects(paper_revisions(), seed=1, n_resamples=200).set_index(KEY).sort_index()
    pd.testing.assert_frame_equal(effects, again)
