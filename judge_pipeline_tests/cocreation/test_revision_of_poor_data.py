"""From attempts to the tables of revision, where data are missing: null with a reason, and never an error."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from judge_pipeline.cocreation.churn_effects import churn_effects
from judge_pipeline.cocreation.churn_summary import churn_summary
from judge_pipeline.cocreation.code_similarity import code_similarities
from judge_pipeline.cocreation.prompt_windows import prompt_texts, prompt_windows
from judge_pipeline.cocreation.revision import convergence, revisions
from judge_pipeline.cocreation.revision_gains import revision_gains
from judge_pipeline.cocreation.trajectories import struggle_curves, trajectories
from judge_pipeline.tables import ATTEMPTS, PREDICTIONS, PROMPT_LOGS
from judge_pipeline.tables.revision import (
    CHURN_EFFECTS,
    CHURN_SUMMARY,
    CODE_SIMILARITIES,
    CONVERGENCE,
    PROMPT_WINDOWS,
    REVISION_GAINS,
    REVISIONS,
)
from judge_pipeline_tests.paper_counts_contest import JUDGES, paper_counts_contest

TABLES = (
    PROMPT_WINDOWS, CODE_SIMILARITIES, REVISIONS, CONVERGENCE, CHURN_SUMMARY, REVISION_GAINS, CHURN_EFFECTS,
)  # fmt: skip


def all_tables(attempts: pd.DataFrame, logs: pd.DataFrame, predictions: pd.DataFrame) -> dict[str, pd.DataFrame]:
    splits = paper_counts_contest().splits
    ways = trajectories(attempts, splits)
    texts = prompt_texts(attempts, logs)
    changes = revisions(attempts, ways, texts, struggle_curves(attempts, predictions, JUDGES))
    near = convergence(attempts, ways)
    made = (
        prompt_windows(texts), code_similarities(attempts, ways), changes, near,
        churn_summary(changes, near, attempts, ways, seed=0, n_resamples=100),
        revision_gains(changes, seed=0, n_resamples=100), churn_effects(changes, seed=0, n_resamples=100),
    )  # fmt: skip
    return dict(zip((table.name for table in TABLES), made, strict=True))


def few() -> pd.DataFrame:
    attempts = paper_counts_contest().attempts
    return attempts[attempts["participant"].isin(["E001", "E002"])]


def without(**columns: Any) -> pd.DataFrame:
    return ATTEMPTS.conform(few().assign(**columns))


CASES = {
    "nothing": ATTEMPTS.empty,
    "no times": lambda: without(submitted_at=None),
    "no labels": lambda: without(y=None, verdict="PENDING"),
    "no programs": lambda: without(source_code=None),
    "empty programs": lambda: without(source_code=""),
    "no languages": lambda: without(language=None),
    "a language without a grammar": lambda: without(language="Free Pascal 3.2"),
    "one attempt each": lambda: few()[few()["turn"] == 1],
    "one attempt": lambda: few().head(1),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_figures_are_null_with_a_reason_and_never_an_error(case: str) -> None:
    c = paper_counts_contest()
    made = all_tables(CASES[case](), c.prompt_logs, c.predictions)
    for name in ("churn_summary", "revision_gains", "churn_effects"):
        assert made[name].loc[made[name]["value"].isna(), "reason"].notna().all()
    rows = made["revisions"]
    for column in ("code_ned", "codebleu_churn", "prompt_ned", "prompt_code_ned", "delta_p_mean"):
        assert (rows[column].isna() == rows[f"{column}_reason"].notna()).all(), column


@pytest.mark.slow
def test_without_judges_or_logs_the_rest_is_there() -> None:
    c = paper_counts_contest()
    whole = all_tables(few(), c.prompt_logs, c.predictions)
    bare = all_tables(few(), PROMPT_LOGS.empty(), PREDICTIONS.empty())
    assert bare["revisions"]["delta_p_mean"].isna().all() and bare["revisions"]["prompt_ned"].isna().all()
    for column in ("code_ned", "codebleu_churn", "delta_y"):
        pd.testing.assert_series_equal(bare["revisions"][column], whole["revisions"][column])
    pd.testing.assert_frame_equal(bare["convergence"], whole["convergence"])


@pytest.mark.slow
def test_two_runs_give_the_same_bytes() -> None:
    c = paper_counts_contest()
    first, second = (all_tables(few(), c.prompt_logs, c.predictions) for _ in range(2))
    for table in TABLES:
        assert table.arrow_of(first[table.name]).equals(table.arrow_of(second[table.name])), table.name
