"""Whether each response meets each criterion, judged alone (CriterAlign, section 3.2: pointwise rubrics).

A response's request holds nothing of the other one: the answers know no order, and the same response in another pair
with the same criteria is one request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from judge_pipeline.criteria.baseline_questions import POINTWISE, ShownAnswers, pointwise_rows
from judge_pipeline.criteria.generation import shown_criteria
from judge_pipeline.criteria.questions import ID, ShownCriterion
from judge_pipeline.criteria.replies import Reply, replies
from judge_pipeline.tables.criteria import CHILD_ANSWERS, CRITERION_ANSWERS

if TYPE_CHECKING:
    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration

RESPONSES: tuple[Literal["A", "B"], ...] = ("A", "B")


def criterion_answers(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, ask: Ask
) -> pd.DataFrame:
    """Answers on the generated criteria, a call for all criteria of a response or one for each.

    Args:
        configuration: ``criteria_per_call``, ``unanswered`` and ``prompts`` decide.
        pairs: the pairs, with guidance of the stage ``criterion_judge`` where there is any.
        criteria: table CRITERIA.
        ask: who answers.

    Returns:
        Table CRITERION_ANSWERS: a row for each criterion and response. An answer that stayed invalid is a null of each
        criterion that it was asked about.
    """
    return answers_on(configuration, pairs, shown_criteria(criteria), ask)


def answers_on(
    configuration: Configuration, pairs: PairsToJudge, criteria: Mapping[str, Sequence[ShownCriterion]], ask: Ask,
    *, round_: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """The same on any criteria: those of refinement are judged by the same judge in the same words.

    Args:
        configuration: as in :func:`criterion_answers`.
        pairs: the pairs.
        criteria: pair_id -> what is judged of it.
        ask: who answers.
        round_: of refinement; 0 for generated criteria.

    Returns:
        Table CRITERION_ANSWERS, or CHILD_ANSWERS from round 1 on, in the order of pairs, criteria, responses.
    """
    one_by_one = configuration.criteria_per_call == "one"
    asked = [
        pointwise_rows(
            pairs, criteria, response, configuration.prompts, configuration.unanswered,
            one_by_one=one_by_one, round_=round_,
        )
        for response in RESPONSES
    ]  # fmt: skip
    rows = pd.concat(asked, ignore_index=True)
    answered = replies(ask, "child_answers" if round_ else "pointwise_answers", POINTWISE, rows)
    made = [row for request in rows.to_dict("records") for row in _read(request, answered[request[ID]])]
    places = {
        (pair_id, each.id): (n, m)
        for n, pair_id in enumerate(pairs.in_order("AB")["pair_id"])
        for m, each in enumerate(criteria.get(pair_id, ()))
    }
    made.sort(key=lambda row: (places[row["pair_id"], row["criterion"]], row["response"]))
    return (CHILD_ANSWERS if round_ else CRITERION_ANSWERS).conform(made)


def _read(request: Mapping[Any, Any], reply: Reply) -> list[dict[str, Any]]:
    made = []
    for criterion in json.loads(request["criteria"]):
        row = dict.fromkeys(CRITERION_ANSWERS.column_names) | reply.columns
        row |= {"pair_id": request["pair_id"], "criterion": criterion, "response": request["response"]}
        if reply.answer is not None:
            row |= {name: reply.answer[criterion][name] for name in ("met", "rationale")}
        made.append(row)
    return made


def joined_answers(answers: pd.DataFrame, child_answers: pd.DataFrame) -> pd.DataFrame:
    """Answers on generated criteria and on those of decomposition, as one table CRITERION_ANSWERS."""
    return CRITERION_ANSWERS.conform([*answers.to_dict("records"), *child_answers.to_dict("records")])


def evidence_of_answers(refined: pd.DataFrame, answers: pd.DataFrame) -> dict[str, list[ShownAnswers]]:
    """pair_id -> the criteria in force to which both responses have a valid answer; no entry: there is none.

    A criterion that is answered of one response alone says nothing of which is better, and would add to one sum only.

    Args:
        refined: table REFINED_CRITERIA; its rows with fate ``kept`` are in force.
        answers: tables CRITERION_ANSWERS and CHILD_ANSWERS (:func:`joined_answers`).
    """
    in_force = refined[refined["fate"] == "kept"]
    said = _said(answers)
    evidence: dict[str, list[ShownAnswers]] = {}
    for pair_id, criteria in shown_criteria(in_force).items():
        for each in criteria:
            a, b = (said.get((pair_id, each.id, response)) for response in RESPONSES)
            if a is not None and b is not None:
                evidence.setdefault(pair_id, []).append(ShownAnswers(each, a[0], b[0], a[1], b[1]))
    return evidence


def met_by_both(answers: pd.DataFrame) -> dict[tuple[str, str], dict[str, str]]:
    """(pair_id, criterion) -> response -> what shows it, of every criterion that both responses meet: it tells nothing.

    Args:
        answers: table CRITERION_ANSWERS or CHILD_ANSWERS.
    """
    said = _said(answers)
    met: dict[tuple[str, str], dict[str, str]] = {}
    for pair_id, criterion in dict.fromkeys(key[:2] for key in said):
        of_each = {response: said.get((pair_id, criterion, response)) for response in RESPONSES}
        shown: dict[str, str] = {
            response: each[1] for response, each in of_each.items() if each is not None and each[0]
        }
        if len(shown) == len(RESPONSES):
            met[pair_id, criterion] = shown
    return met


def _said(answers: pd.DataFrame) -> dict[tuple[str, str, str], tuple[bool, str]]:
    """(pair_id, criterion, response) -> whether it is met, and the rationale, of valid answers."""
    valid = answers[answers["met"].notna()]
    names = ["pair_id", "criterion", "response", "met", "rationale"]
    return {
        (pair_id, criterion, response): (bool(met), rationale)
        for pair_id, criterion, response, met, rationale in valid[names].itertuples(index=False, name=None)
    }
