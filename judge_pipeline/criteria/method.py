"""Stages put together: what a configuration decides on pairs (CriterAlign, section 3.3; baselines, Table 5).

criteria -> criterion_verdicts or criterion_answers -> refined_criteria (with child_verdicts or child_answers) ->
consistent_evidence -> criteria_decisions. A pairwise criterion judge gives verdicts, which are filtered to evidence; a
pointwise one gives answers, which sums or a judge decide by. Each stage is a function of its own, of tables;
:func:`judge_pairs` runs them one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judge_pipeline.criteria.baseline_generation import criteria_of_task, improved_criteria
from judge_pipeline.criteria.decisions import final_decisions, monolithic_decisions
from judge_pipeline.criteria.generation import Generated, generated_criteria
from judge_pipeline.criteria.pairwise_verdicts import criterion_verdicts, joined_verdicts
from judge_pipeline.criteria.pointwise import criterion_answers, joined_answers
from judge_pipeline.criteria.recursive_decomposition import decomposed_met, decomposed_ties
from judge_pipeline.criteria.refinement import Refined, refined_by_ties, unrefined
from judge_pipeline.criteria.swap_consistency import consistent_evidence
from judge_pipeline.criteria.weights import pointwise_decisions, weighed
from judge_pipeline.tables.criteria import (
    CONSISTENT_EVIDENCE,
    CRITERIA,
    CRITERION_ANSWERS,
    CRITERION_VERDICTS,
    REFINED_CRITERIA,
)

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration


@dataclass(frozen=True)
class Judged:
    """What a configuration came to, a table a stage; those of stages that it has not are empty.

    Attributes:
        criteria: table CRITERIA.
        n_duplicates: generated criteria that were left out, since they repeat another's words.
        criterion_verdicts: table CRITERION_VERDICTS, of a pairwise criterion judge.
        criterion_answers: table CRITERION_ANSWERS, of a pointwise one.
        refined_criteria: table REFINED_CRITERIA.
        child_verdicts: table CHILD_VERDICTS.
        child_answers: table CHILD_ANSWERS.
        consistent_evidence: table CONSISTENT_EVIDENCE, of a pairwise criterion judge.
        decisions: table CRITERIA_DECISIONS.
    """

    criteria: pd.DataFrame
    n_duplicates: int
    criterion_verdicts: pd.DataFrame
    criterion_answers: pd.DataFrame
    refined_criteria: pd.DataFrame
    child_verdicts: pd.DataFrame
    child_answers: pd.DataFrame
    consistent_evidence: pd.DataFrame
    decisions: pd.DataFrame


def judge_pairs(configuration: Configuration, pairs: PairsToJudge, ask: Ask) -> Judged:
    """Judge pairs in all stages that the configuration has.

    Args:
        configuration: any.
        pairs: the pairs, and the guidance that its stages are given.
        ask: who answers.

    Raises:
        JudgingError: answers are missing that the provider failed to bring.
    """
    generated = generate(configuration, pairs, ask)
    verdicts = judge_criteria(configuration, pairs, generated.criteria, ask)
    answers = answer_criteria(configuration, pairs, generated.criteria, ask)
    refined = refine(configuration, pairs, generated.criteria, verdicts, answers, ask)
    evidence = gather(configuration, refined, verdicts)
    decisions = decide(configuration, pairs, refined, evidence, answers, ask)
    return Judged(
        generated.criteria, generated.n_duplicates, verdicts, answers, refined.criteria, refined.child_verdicts,
        refined.child_answers, evidence, decisions,
    )  # fmt: skip


def generate(configuration: Configuration, pairs: PairsToJudge, ask: Ask) -> Generated:
    """Stage ``criteria``: none for a monolithic judge."""
    if configuration.is_monolithic:
        return Generated(CRITERIA.empty(), {}, 0)
    make = generated_criteria if configuration.generator == "pair" else criteria_of_task
    generated = make(configuration, pairs, ask)
    return improved_criteria(configuration, pairs, generated, ask) if configuration.improve else generated


def judge_criteria(configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, ask: Ask) -> pd.DataFrame:
    """Stage ``criterion_verdicts``, table CRITERION_VERDICTS; empty where the criterion judge is pointwise."""
    if criteria.empty or configuration.criterion_judge == "pointwise":
        return CRITERION_VERDICTS.empty()
    return criterion_verdicts(configuration, pairs, criteria, ask)


def answer_criteria(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, ask: Ask
) -> pd.DataFrame:
    """Stage ``criterion_answers``, table CRITERION_ANSWERS; empty where the criterion judge is pairwise."""
    if criteria.empty or configuration.criterion_judge == "pairwise":
        return CRITERION_ANSWERS.empty()
    return criterion_answers(configuration, pairs, criteria, ask)


def refine(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, verdicts: pd.DataFrame,
    answers: pd.DataFrame, ask: Ask,
) -> Refined:  # fmt: skip
    """Stage ``refined_criteria``, with verdicts or answers on what it made, and weights where a judge gives them."""
    if criteria.empty:
        return Refined(REFINED_CRITERIA.empty())
    if configuration.refinement == "none":
        refined = unrefined(criteria)
    elif configuration.criterion_judge == "pointwise":
        refined = decomposed_met(configuration, pairs, criteria, answers, ask)
    else:
        refine_ties = refined_by_ties if configuration.refinement == "btcr" else decomposed_ties
        refined = refine_ties(configuration, pairs, criteria, verdicts, ask)
    if configuration.aggregator == "llm_weights":
        return replace(refined, criteria=weighed(configuration, pairs, refined.criteria, ask))
    return refined


def gather(configuration: Configuration, refined: Refined, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Stage ``consistent_evidence``, table CONSISTENT_EVIDENCE; empty where the criterion judge is pointwise."""
    if refined.criteria.empty or configuration.criterion_judge == "pointwise":
        return CONSISTENT_EVIDENCE.empty()
    return consistent_evidence(configuration, refined.criteria, joined_verdicts(verdicts, refined.child_verdicts))


def decide(
    configuration: Configuration, pairs: PairsToJudge, refined: Refined, evidence: pd.DataFrame,
    answers: pd.DataFrame, ask: Ask,
) -> pd.DataFrame:  # fmt: skip
    """Stage ``criteria_decisions``, table CRITERIA_DECISIONS."""
    if configuration.is_monolithic:
        return monolithic_decisions(configuration, pairs, ask)
    if configuration.criterion_judge == "pointwise":
        joined = joined_answers(answers, refined.child_answers)
        return pointwise_decisions(configuration, pairs, refined.criteria, joined, ask)
    return final_decisions(configuration, pairs, evidence, ask)
