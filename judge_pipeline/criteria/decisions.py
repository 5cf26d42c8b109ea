"""What is decided on a pair: by the final judge over the evidence, or one call without criteria (CriterAlign)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.criteria.pairwise_verdicts import verdict_of
from judge_pipeline.criteria.questions import (
    FINAL,
    ID,
    MONOLITHIC,
    ShownCriterion,
    ShownVerdict,
    final_rows,
    monolithic_rows,
)
from judge_pipeline.criteria.replies import Reply, replies
from judge_pipeline.tables.criteria import CRITERIA_DECISIONS

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

    from judge_pipeline.criteria.asking import Ask
    from judge_pipeline.settings.criteria import Configuration


def monolithic_decisions(configuration: Configuration, pairs: PairsToJudge, ask: Ask) -> pd.DataFrame:
    """One call a pair, y_A first: A, B or tie, with the guidance of the stage ``final_judge`` where there is any.

    Returns:
        Table CRITERIA_DECISIONS, without criteria; an answer that stayed invalid is a null decision.
    """
    rows = monolithic_rows(pairs, configuration.prompts)
    answered = replies(ask, "monolithic", MONOLITHIC, rows)
    made = [judged_decision(row["pair_id"], 0, 0, answered[row[ID]]) for row in rows.to_dict("records")]
    return CRITERIA_DECISIONS.conform(made)


def final_decisions(
    configuration: Configuration, pairs: PairsToJudge, evidence: pd.DataFrame, ask: Ask
) -> pd.DataFrame:
    """The final judge decides over the evidence; where none is left, the configuration's rule does.

    The judge is shown instruction, responses, outputs, every criterion that is kept with its verdict, confidence and
    rationale of order AB, and the guidance of the stage ``final_judge``; y_A stands first. Without evidence the rule
    ``tie`` decides on a tie, ``monolithic`` asks what a monolithic judge is asked, in the same request.

    Args:
        configuration: ``no_evidence`` and ``prompts`` decide.
        pairs: the pairs.
        evidence: table CONSISTENT_EVIDENCE.
        ask: who answers.

    Returns:
        Table CRITERIA_DECISIONS, a row a pair in their order. An answer that stayed invalid is a null decision.
    """
    shown = shown_evidence(evidence)
    rows = final_rows(pairs, shown, configuration.prompts)
    answered = replies(ask, "final", FINAL, rows)
    of_pair = {row["pair_id"]: answered[row[ID]] for row in rows.to_dict("records")}
    in_force = evidence["pair_id"].value_counts()
    pair_ids = pairs.in_order("AB")["pair_id"].tolist()
    decided = {
        pair_id: judged_decision(pair_id, int(in_force.get(pair_id, 0)), len(shown.get(pair_id, ())), reply)
        for pair_id, reply in of_pair.items()
    }
    left = [pair_id for pair_id in pair_ids if pair_id not in decided]
    decided |= {
        row["pair_id"]: row | {"n_criteria": int(in_force.get(row["pair_id"], 0))}
        for row in without_evidence(configuration, pairs, left, ask)
    }
    return CRITERIA_DECISIONS.conform([decided[pair_id] for pair_id in pair_ids])


def shown_evidence(evidence: pd.DataFrame) -> dict[str, list[ShownVerdict]]:
    """pair_id -> its evidence as the final judge is shown it; a pair without any has no entry."""
    shown: dict[str, list[ShownVerdict]] = {}
    kept = evidence[evidence["kept"].astype("bool")]
    names = ["pair_id", "criterion", "text", "aspect", "rationale", "verdict", "confidence"]
    for pair_id, id_, text, aspect, rationale, verdict, confidence in kept[names].itertuples(index=False, name=None):
        criterion = ShownCriterion(id_, text, aspect, rationale)
        shown.setdefault(pair_id, []).append(ShownVerdict(criterion, verdict, confidence))
    return shown


def only(pairs: PairsToJudge, pair_ids: Collection[str]) -> PairsToJudge:
    """These of the pairs, in their order."""
    return PairsToJudge(pairs.rows[pairs.rows["pair_id"].isin(list(pair_ids))].reset_index(drop=True), pairs.guidance)


def without_evidence(
    configuration: Configuration, pairs: PairsToJudge, pair_ids: list[str], ask: Ask
) -> list[dict[str, Any]]:
    """Rows of CRITERIA_DECISIONS of pairs that no evidence is left of, by the configuration's rule."""
    if configuration.no_evidence == "monolithic":
        return list(monolithic_decisions(configuration, only(pairs, pair_ids), ask).to_dict("records"))
    return [decision_row(pair_id, "tie", "no_evidence") for pair_id in pair_ids]


def judged_decision(pair_id: str, n_criteria: int, n_evidence: int, reply: Reply) -> dict[str, Any]:
    """A row of CRITERIA_DECISIONS that a judge decided, y_A shown first."""
    answer = reply.answer
    decision = None if answer is None else verdict_of(answer["choice"], "AB")
    row = (
        decision_row(pair_id, decision, "judge") | {"n_criteria": n_criteria, "n_evidence": n_evidence} | reply.columns
    )
    return row | {"rationale": None if answer is None else answer["rationale"]}


def decision_row(pair_id: str, decision: str | None, decided_by: str) -> dict[str, Any]:
    """A row of CRITERIA_DECISIONS without criteria, sums or reasons."""
    row: dict[str, Any] = dict.fromkeys(CRITERIA_DECISIONS.column_names)
    return row | {
        "pair_id": pair_id, "decision": decision, "decided_by": decided_by, "n_criteria": 0, "n_evidence": 0,
    }  # fmt: skip
