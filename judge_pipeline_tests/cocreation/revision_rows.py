"""The tables of revisions of the generated contest, made once for all tests."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd

from judge_pipeline.cocreation.prompt_windows import prompt_texts
from judge_pipeline.cocreation.revision import convergence, revisions
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest


@lru_cache
def paper_revisions() -> pd.DataFrame:
    """Table REVISIONS; copy it before changing it."""
    c = paper_counts_contest()
    return revisions(c.attempts, c.trajectories, prompt_texts(c.attempts, c.prompt_logs), c.struggle_curves)


@lru_cache
def paper_convergence() -> pd.DataFrame:
    """Table CONVERGENCE; copy it before changing it."""
    c = paper_counts_contest()
    return convergence(c.attempts, c.trajectories)
