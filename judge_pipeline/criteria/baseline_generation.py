"""Criteria as the baselines make them: from what was asked alone, with weights, improved from the two responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from judge_pipeline.criteria.baseline_questions import (
    IMPROVEMENT,
    TASK_GENERATION,
    improvement_rows,
    task_generation_rows,
)
from judge_pipeline.criteria.generation import Generated, read_criteria, shown_criteria
from judge_pipeline.criteria.replies import replies
from judge_pipeline.tables.criteria import CRITERIA

if TYPE_CHECKING:
    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration


def criteria_of_task(configuration: Configuration, pairs: PairsToJudge, ask: Ask) -> Generated:
    """Criteria from instruction and context, without the responses.

    A rubric for the question (Rubric Is All You Need), or one with a weight from 1 to 3 for each criterion (Chasing the
    Tail). Pairs that ask the same make the same request.

    Args:
        configuration: ``generator`` (question or weighted), ``max_criteria`` and ``prompts`` decide.
        pairs: the pairs, with guidance of the stage ``generator`` where there is any.
        ask: who answers.
    """
    weighted = configuration.generator == "weighted"
    rows = task_generation_rows(pairs, configuration.max_criteria, configuration.prompts, weighted=weighted)
    return read_criteria(rows, replies(ask, "generation", TASK_GENERATION, rows))


def improved_criteria(configuration: Configuration, pairs: PairsToJudge, generated: Generated, ask: Ask) -> Generated:
    """Criteria improved once: the judge is shown them with both responses, and writes them anew (Chasing the Tail).

    That method improves from the two best responses; of two, these are the two. An answer that stays invalid changes
    nothing: the criteria before it stand.

    Args:
        configuration: ``generator`` says whether they have weights; ``max_criteria`` and ``prompts`` decide.
        pairs: the pairs.
        generated: the criteria so far.
        ask: who answers.

    Returns:
        The criteria in force, with failures and duplicates of both calls.
    """
    weighted = configuration.generator == "weighted"
    shown, weights = shown_criteria(generated.criteria), _weights_of(generated.criteria)
    rows = improvement_rows(
        pairs, shown, weights if weighted else {}, configuration.max_criteria, configuration.prompts, weighted=weighted
    )
    improved = read_criteria(rows, replies(ask, "improvement", IMPROVEMENT, rows))
    kept = generated.criteria[~generated.criteria["pair_id"].isin(improved.criteria["pair_id"].unique())]
    together = pd.concat([kept, improved.criteria]).to_dict("records")
    places = {pair_id: place for place, pair_id in enumerate(pairs.in_order("AB")["pair_id"])}
    return Generated(
        CRITERIA.conform(sorted(together, key=lambda row: places[row["pair_id"]])),
        {**generated.failures, **improved.failures},
        generated.n_duplicates + improved.n_duplicates,
    )


def _weights_of(criteria: pd.DataFrame) -> dict[str, dict[str, int]]:
    weights: dict[str, dict[str, int]] = {}
    weighed = criteria[criteria["weight"].notna()]
    for pair_id, criterion, weight in weighed[["pair_id", "criterion", "weight"]].itertuples(index=False, name=None):
        weights.setdefault(pair_id, {})[criterion] = int(weight)
    return weights
