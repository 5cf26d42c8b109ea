from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation.revision_gains import revision_gains
from judge_pipeline.tables.revision import REVISIONS
from judge_pipeline_tests.cocreation.revision_rows import paper_revisions

KEY = ["order", "measure", "kind", "statistic"]


@pytest.fixture(scope="module")
def gains() -> pd.DataFrame:
    return revision_gains(paper_revisions(), seed=1, n_resamples=300).set_index(KEY).sort_index()


@pytest.mark.parametrize("order", ["as_recorded", "reversed"])
@pytest.mark.parametrize("measure", ["code_ned", "codebleu_churn"])
@pytest.mark.parametrize("kind", ["unchanged", "incremental fix", "between", "rewrite"])
def test_each_figure_is_that_of_pandas(gains: pd.DataFrame, order: str, measure: str, kind: str) -> None:
    rows = paper_revisions().query("order == @order")
    mine = rows[rows[f"{measure}_kind"] == kind]
    at = gains.loc[order, measure, kind]
    assert at.loc["share", "value"] == pytest.approx(len(mine) / rows[measure].notna().sum())
    tried = mine.query("y_before == 0")
    assert at.loc["accepted_after_rejection", "value"] == pytest.approx(tried["y_after"].mean())
    assert at.loc["accepted_after_rejection", "n"] == len(tried)
    assert at.loc["mean_delta_p_mean", "value"] == pytest.approx(mine["delta_p_mean"].mean())
    assert (at["ci95_low"] <= at["value"]).all() and (at["value"] <= at["ci95_high"]).all()


def test_rewrites_are_compared_with_fixes_on_the_same_resamples(gains: pd.DataFrame) -> None:
    at = gains.loc["as_recorded", "code_ned"]
    for statistic in ("accepted_after_rejection", "mean_delta_p_mean"):
        parts = at.loc[("rewrite", statistic), "value"] - at.loc[("incremental fix", statistic), "value"]
        assert at.loc[("rewrite less incremental fix", statistic), "value"] == pytest.approx(parts)
    shares = at.xs("share", level="statistic")["value"]
    assert shares.sum() == pytest.approx(1)


def test_a_kind_that_does_not_occur_is_null_and_says_so() -> None:
    rows = paper_revisions().query("order == 'as_recorded'")
    none = rows[rows["code_ned_kind"] != "rewrite"].assign(delta_p_mean=np.nan)
    found = revision_gains(none, seed=1, n_resamples=100).set_index(KEY).loc["as_recorded", "code_ned"]
    assert found.loc[("rewrite", "share"), "value"] == 0
    row = found.loc[("rewrite less incremental fix", "accepted_after_rejection")]
    assert pd.isna(row["value"])
    assert row["reason"] == "rewrite: no such revision follows a rejected attempt and is decided"
    row = found.loc[("incremental fix", "mean_delta_p_mean")]
    assert pd.isna(row["value"]) and row["n_left_out"] > 0 and "whole panel" in row["reason"]


def test_no_revisions_no_rows_and_two_runs_are_equal(gains: pd.DataFrame) -> None:
    assert revision_gains(REVISIONS.empty(), seed=1).empty
    again = revision_gains(paper_revisions(), seed=1, n_resamples=300).set_index(KEY).sort_index()
    pd.testing.assert_frame_equal(gains, again)
