from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation.churn_summary import churn_summary
from judge_pipeline.tables.revision import CONVERGENCE, REVISIONS
from judge_pipeline_tests.cocreation.revision_rows import paper_convergence, paper_revisions
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest

KEY = ["order", "measure", "grouped_by", "level", "statistic"]


@pytest.fixture(scope="module")
def summary() -> pd.DataFrame:
    c = paper_counts_contest()
    made = churn_summary(paper_revisions(), paper_convergence(), c.attempts, c.trajectories, seed=1, n_resamples=200)
    return made.set_index(KEY)


def test_all_medians_and_means_are_pandas(summary: pd.DataFrame) -> None:
    for order in ("as_recorded", "reversed"):
        rows = paper_revisions()[paper_revisions()["order"] == order]
        for statistic in ("median", "mean"):
            for measure in ("code_ned", "codebleu_churn"):
                row = summary.loc[(order, measure, "all", "all", statistic)]
                assert row["value"] == pytest.approx(rows[measure].agg(statistic), abs=1e-12)
                assert (row["n"], row["n_left_out"]) == (rows[measure].notna().sum(), rows[measure].isna().sum())
                assert row["ci95_low"] <= row["value"] <= row["ci95_high"]


def test_turns_languages_and_outcomes_are_groups(summary: pd.DataFrame) -> None:
    rows = paper_revisions().query("order == 'as_recorded'")
    at = summary.query("order == 'as_recorded' and measure == 'code_ned'").droplevel([0, 1])
    assert at.loc["turn", "2", "mean"]["value"] == pytest.approx(rows.query("turn == 2")["code_ned"].mean())
    assert at.loc["turn", "after 10", "median"]["value"] == pytest.approx(rows.query("turn > 10")["code_ned"].median())
    python = rows[rows["language"].str.startswith("Python")]
    assert at.loc["language", "python", "median"]["value"] == pytest.approx(python["code_ned"].median())
    won = rows.query("y_before == 0 and y_after == 1")
    assert at.loc["outcome", "rejected to accepted", "mean"]["value"] == pytest.approx(won["code_ned"].mean())
    assert at.loc["solved", "solved", "mean"]["n"] == 170
    levels = at.loc["turn"].index.get_level_values("level").unique().tolist()
    assert levels == [str(k) for k in range(2, 11)] + ["after 10"]


def test_convergence_stands_with_and_without_the_reference(summary: pd.DataFrame) -> None:
    rows = paper_convergence().query("order == 'as_recorded'")
    both = summary.loc["as_recorded"]
    whole = both.loc["convergence", "all", "all", "mean"]
    assert whole["n"] + whole["n_left_out"] == 329
    others = rows[~rows["is_reference"].astype(bool)]
    less = both.loc["convergence_without_reference", "all", "all", "mean"]
    assert less["n"] + less["n_left_out"] == 329 - 159
    assert less["value"] == pytest.approx(others["codebleu"].mean())
    assert less["value"] < whole["value"]


def test_a_level_in_which_nothing_is_known_says_why(summary: pd.DataFrame) -> None:
    row = summary.loc["reversed", "prompt_ned", "all", "all", "median"]
    assert np.isnan(row["value"]) and row["n"] == 0 and row["n_left_out"] == 333
    assert row["reason"] == "windows in time follow the recorded order"


def test_the_bootstrap_is_of_whole_trajectories() -> None:
    # Two trajectories, all values within each equal: only three means can be drawn.
    rows = paper_revisions().query("order == 'as_recorded'")
    counts = rows.groupby(["participant", "problem_id"]).size()
    two = counts[counts >= 3].index[:2]
    few = pd.concat([rows[(rows["participant"] == u) & (rows["problem_id"] == p)].head(3) for u, p in two])
    few = few.assign(code_ned=[0.1] * 3 + [0.3] * 3)
    c = paper_counts_contest()
    made = churn_summary(few, CONVERGENCE.empty(), c.attempts, c.trajectories, seed=0, n_resamples=500).set_index(KEY)
    row = made.loc["as_recorded", "code_ned", "all", "all", "mean"]
    assert row["value"] == pytest.approx(0.2)
    assert (row["ci95_low"], row["ci95_high"]) == pytest.approx((0.1, 0.3))


def test_two_runs_are_equal_and_nothing_gives_nothing(summary: pd.DataFrame) -> None:
    c = paper_counts_contest()
    again = churn_summary(paper_revisions(), paper_convergence(), c.attempts, c.trajectories, seed=1, n_resamples=200)
    pd.testing.assert_frame_equal(again.set_index(KEY), summary)
    none = churn_summary(REVISIONS.empty(), CONVERGENCE.empty(), c.attempts, c.trajectories, seed=1)
    assert none.empty
