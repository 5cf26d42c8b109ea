"""Decisions by pointwise answers: weighted sums, weights of a judge, and a pairwise judge over the answers (Table 5).

s(y) = sum of w_i over the criteria that y meets. The response with the higher sum is chosen, and equal sums are a tie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_pipeline.criteria.baseline_questions import (
    POINTWISE_FINAL,
    WEIGHTS,
    ShownAnswers,
    pointwise_final_rows,
    weights_rows,
)
from judge_pipeline.criteria.decisions import decision_row, judged_decision, without_evidence
from judge_pipeline.criteria.generation import shown_criteria
from judge_pipeline.criteria.pointwise import evidence_of_answers
from judge_pipeline.criteria.questions import ID
from judge_pipeline.criteria.replies import replies
from judge_pipeline.tables.criteria import CRITERIA_DECISIONS, REFINED_CRITERIA

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration

_Weights = dict[tuple[str, str], dict[str, Any]]


def weighed(configuration: Configuration, pairs: PairsToJudge, refined: pd.DataFrame, ask: Ask) -> pd.DataFrame:
    """One call a pair weighs all its criteria in force, from 1 to 10, without a look at the responses.

    Args:
        configuration: ``prompts`` decides.
        pairs: the pairs.
        refined: table REFINED_CRITERIA.
        ask: who answers.

    Returns:
        The same with weights. An answer that stayed invalid leaves them null, with its failure.
    """
    rows = weights_rows(pairs, shown_criteria(refined[refined["fate"] == "kept"]), configuration.prompts)
    answered = replies(ask, "weights", WEIGHTS, rows)
    of_pair = {row["pair_id"]: answered[row[ID]] for row in rows.to_dict("records")}
    made = refined.to_dict("records")
    for row in made:
        if row["fate"] == "kept":
            reply = of_pair[row["pair_id"]]
            row |= {f"weight_{name}": value for name, value in reply.columns.items()}
            row["weight"] = None if reply.answer is None else reply.answer[row["criterion"]]
    return REFINED_CRITERIA.conform(made)


def pointwise_decisions(
    configuration: Configuration, pairs: PairsToJudge, refined: pd.DataFrame, answers: pd.DataFrame, ask: Ask
) -> pd.DataFrame:
    """What is decided over pointwise answers: by sums, or by a judge that is shown both responses and the answers.

    A criterion counts where the answers on both responses are valid. Where none does, the configuration's rule decides.

    Args:
        configuration: ``aggregator``, ``no_evidence`` and ``prompts`` decide.
        pairs: the pairs.
        refined: table REFINED_CRITERIA, weighed where ``aggregator`` takes weights.
        answers: tables CRITERION_ANSWERS and CHILD_ANSWERS (``pointwise.joined_answers``).
        ask: who answers.

    Returns:
        Table CRITERIA_DECISIONS, a row a pair in their order. Where the judge's answer, or the one that was to weigh,
        stayed invalid, the decision is null: other weights would be a guess.
    """
    evidence = evidence_of_answers(refined, answers)
    n_criteria = refined.loc[refined["fate"] == "kept", "pair_id"].value_counts()
    if configuration.aggregator == "judge":
        decided = _judged(configuration, pairs, evidence, ask)
    else:
        weights = None if configuration.aggregator == "uniform" else _weights(refined)
        decided = {pair_id: _summed(pair_id, theirs, weights) for pair_id, theirs in evidence.items()}
    pair_ids = pairs.in_order("AB")["pair_id"].tolist()
    left = [pair_id for pair_id in pair_ids if pair_id not in decided]
    decided |= {row["pair_id"]: row for row in without_evidence(configuration, pairs, left, ask)}
    return CRITERIA_DECISIONS.conform(
        [decided[pair_id] | {"n_criteria": int(n_criteria.get(pair_id, 0))} for pair_id in pair_ids]
    )


def _judged(
    configuration: Configuration, pairs: PairsToJudge, evidence: Mapping[str, Sequence[ShownAnswers]], ask: Ask
) -> dict[str, dict[str, Any]]:
    rows = pointwise_final_rows(pairs, evidence, configuration.prompts)
    answered = replies(ask, "final", POINTWISE_FINAL, rows)
    return {
        row["pair_id"]: judged_decision(row["pair_id"], 0, len(evidence[row["pair_id"]]), answered[row[ID]])
        for row in rows.to_dict("records")
    }


def _summed(pair_id: str, evidence: Sequence[ShownAnswers], weights: _Weights | None) -> dict[str, Any]:
    """The decision by sums; ``weights``: None where all count alike."""
    row = decision_row(pair_id, None, "weighted_sum") | {"n_evidence": len(evidence)}
    counts = []
    for each in evidence:
        own = {"weight": 1.0} if weights is None else weights[pair_id, each.criterion.id]
        row |= {name: own.get(f"weight_{name}") for name in ("failure_class", "failure", "request_hash")}
        counts.append(own["weight"])
    if None in counts:
        return row
    score_a = sum(weight for weight, each in zip(counts, evidence, strict=True) if each.met_a)
    score_b = sum(weight for weight, each in zip(counts, evidence, strict=True) if each.met_b)
    decision = "tie" if score_a == score_b else "A" if score_a > score_b else "B"
    return row | {"decision": decision, "score_a": score_a, "score_b": score_b}


def _weights(refined: pd.DataFrame) -> _Weights:
    """(pair_id, criterion) -> its row, missing values as None."""
    rows = refined.astype("object").where(refined.notna(), None)
    return {(row["pair_id"], row["criterion"]): row for row in rows.to_dict("records")}
