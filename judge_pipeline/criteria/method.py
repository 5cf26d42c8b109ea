"""Stages put together: what a configuration that compares two responses criterion by criterion decides (CriterAlign).

criteria -> criterion_verdicts -> refined_criteria (with child_verdicts) -> consistent_evidence -> criteria_decisions.
Each stage is a function of its own, of tables; :func:`judge_pairs` runs them one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judge_pipeline.criteria.decisions import final_decisions, monolithic_decisions
from judge_pipeline.criteria.generation import Generated, generated_criteria
from judge_pipeline.criteria.pairwise_verdicts import criterion_verdicts, joined_verdicts
from judge_pipeline.criteria.refinement import Refined, refined_by_ties, unrefined
from judge_pipeline.criteria.swap_consistency import consistent_evidence
from judge_pipeline.tables.criteria import (
    CHILD_VERDICTS,
    CONSISTENT_EVIDENCE,
    CRITERIA,
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
        criterion_verdicts: table CRITERION_VERDICTS.
        refined_criteria: table REFINED_CRITERIA.
        child_verdicts: table CHILD_VERDICTS.
        consistent_evidence: table CONSISTENT_EVIDENCE.
        decisions: table CRITERIA_DECISIONS.
    """

    criteria: pd.DataFrame
    n_duplicates: int
    criterion_verdicts: pd.DataFrame
    refined_criteria: pd.DataFrame
    child_verdicts: pd.DataFrame
    consistent_evidence: pd.DataFrame
    decisions: pd.DataFrame


def judge_pairs(configuration: Configuration, pairs: PairsToJudge, ask: Ask) -> Judged:
    """Judge pairs in all stages that the configuration has.

    Args:
        configuration: a monolithic one, or one whose criterion judge is pairwise.
        pairs: the pairs, and the guidance that its stages are given.
        ask: who answers.

    Raises:
        ValueError: the criterion judge is pointwise, or a stage is another module's.
        JudgingError: answers are missing that the provider failed to bring.
    """
    elsewhere = not_compared(configuration)
    if elsewhere:
        raise ValueError(f"{elsewhere} is no stage of pairwise comparison. Remedy: judge it with its own module")
    generated = generate(configuration, pairs, ask)
    verdicts = judge_criteria(configuration, pairs, generated.criteria, ask)
    refined = refine(configuration, pairs, generated.criteria, verdicts, ask)
    evidence = gather(configuration, refined, verdicts)
    decisions = decide(configuration, pairs, evidence, ask)
    return Judged(
        generated.criteria, generated.n_duplicates, verdicts, refined.criteria, refined.child_verdicts, evidence,
        decisions,
    )  # fmt: skip


def not_compared(configuration: Configuration) -> str | None:
    """The first setting of a configuration that calls for stages of other modules; None where all are here."""
    if configuration.is_monolithic:
        return None
    settings = {
        "generator": configuration.generator == "pair", "improve": not configuration.improve,
        "criterion_judge": configuration.criterion_judge == "pairwise", "refinement": configuration.refinement != "rrd",
    }  # fmt: skip
    return next((f"{name}: {getattr(configuration, name)}" for name, is_here in settings.items() if not is_here), None)


def generate(configuration: Configuration, pairs: PairsToJudge, ask: Ask) -> Generated:
    """Stage ``criteria``: none for a monolithic judge."""
    if configuration.is_monolithic:
        return Generated(CRITERIA.empty(), {}, 0)
    return generated_criteria(configuration, pairs, ask)


def judge_criteria(configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, ask: Ask) -> pd.DataFrame:
    """Stage ``criterion_verdicts``, table CRITERION_VERDICTS."""
    if criteria.empty:
        return CRITERION_VERDICTS.empty()
    return criterion_verdicts(configuration, pairs, criteria, ask)


def refine(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, verdicts: pd.DataFrame, ask: Ask
) -> Refined:
    """Stage ``refined_criteria``, with the verdicts on what it made."""
    if criteria.empty:
        return Refined(REFINED_CRITERIA.empty(), CHILD_VERDICTS.empty())
    if configuration.refinement == "btcr":
        return refined_by_ties(configuration, pairs, criteria, verdicts, ask)
    return unrefined(criteria)


def gather(configuration: Configuration, refined: Refined, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Stage ``consistent_evidence``, table CONSISTENT_EVIDENCE."""
    if refined.criteria.empty:
        return CONSISTENT_EVIDENCE.empty()
    return consistent_evidence(configuration, refined.criteria, joined_verdicts(verdicts, refined.child_verdicts))


def decide(configuration: Configuration, pairs: PairsToJudge, evidence: pd.DataFrame, ask: Ask) -> pd.DataFrame:
    """Stage ``criteria_decisions``, table CRITERIA_DECISIONS."""
    if configuration.is_monolithic:
        return monolithic_decisions(configuration, pairs, ask)
    return final_decisions(configuration, pairs, evidence, ask)
