"""Rows of every question about a pair."""

from __future__ import annotations

from typing import Any

import pandas as pd

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.criteria.questions import (
    CONFLICT,
    DECOMPOSITION,
    FINAL,
    GENERATION,
    MONOLITHIC,
    REDUNDANCY,
    VERDICTS,
    ShownCriterion,
    ShownVerdict,
    check_rows,
    decomposition_rows,
    final_rows,
    generation_rows,
    monolithic_rows,
    verdict_rows,
)
from judge_pipeline.judging.question import Question


def criteria(*texts: str) -> list[ShownCriterion]:
    return [ShownCriterion(f"c{n}", text, "others", f"tied: {text}") for n, text in enumerate(texts, start=1)]


def rows_of_all(
    pairs: PairsToJudge, texts: tuple[str, ...] = ("Is short", "Is right"), wording: Any = "code", max_criteria: int = 7
) -> list[tuple[Question, pd.DataFrame]]:
    """Each question, and rows that ask it about the first of the pairs."""
    made = criteria(*texts)
    children = [ShownCriterion("t1", f"finer {texts[0]}", "others")]
    checked: tuple[Any, ...] = ({"p0": children}, {"p0": {"t1": "c1"}}, {"p0": made}, 1, wording)
    evidence = [ShownVerdict(each, "A", "low") for each in made]
    return [
        (MONOLITHIC, monolithic_rows(pairs, wording)),
        (GENERATION, generation_rows(pairs, max_criteria, wording)),
        (VERDICTS, verdict_rows(pairs, {"p0": made}, "BA", wording, one_by_one=False)),
        (DECOMPOSITION, decomposition_rows(pairs, {"p0": made[:1]}, {"p0": made[1:]}, 1, wording)),
        (REDUNDANCY, check_rows(pairs, "redundancy", *checked)),
        (CONFLICT, check_rows(pairs, "conflict", *checked)),
        (FINAL, final_rows(pairs, {"p0": evidence}, wording)),
    ]
