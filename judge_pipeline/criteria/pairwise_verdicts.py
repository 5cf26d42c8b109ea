"""Which response satisfies each criterion better: pairwise verdicts in one or both orders (CriterAlign, section 3.3).

v_i = J_crit(x, a, b, e, c_i) is A, B, tie or insufficient. A judge says of two responses which stands first and which
second; ``preference.verdicts.unswapped`` alone makes y_A and y_B of that, and insufficient stays what it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from judge_pipeline.criteria.generation import shown_criteria
from judge_pipeline.criteria.questions import ID, VERDICTS, ShownCriterion, verdict_rows
from judge_pipeline.criteria.replies import Reply, replies
from judge_pipeline.preference.verdicts import PRESENTATION_ORDERS, unswapped
from judge_pipeline.tables.criteria import CHILD_VERDICTS, CRITERION_VERDICTS

if TYPE_CHECKING:
    from judge_pipeline.criteria.asking import Ask, PairsToJudge
    from judge_pipeline.settings.criteria import Configuration

_SLOTS = {"A": "first", "B": "second", "tie": "tie"}

_COLUMNS = CRITERION_VERDICTS.column_names


def criterion_verdicts(
    configuration: Configuration, pairs: PairsToJudge, criteria: pd.DataFrame, ask: Ask
) -> pd.DataFrame:
    """Verdicts on the generated criteria: in both orders where the configuration filters by them, else in order AB.

    Args:
        configuration: ``swap_filter``, ``criteria_per_call`` and ``prompts`` decide.
        pairs: the pairs, with guidance of the stage ``criterion_judge`` where there is any.
        criteria: table CRITERIA.
        ask: who answers.

    Returns:
        Table CRITERION_VERDICTS: a row for each criterion and order. An answer that stayed invalid is a null verdict of
        each criterion that it was asked about.
    """
    return verdicts_on(configuration, pairs, shown_criteria(criteria), ask)


def verdicts_on(
    configuration: Configuration, pairs: PairsToJudge, criteria: Mapping[str, Sequence[ShownCriterion]], ask: Ask,
    *, round_: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """The same on any criteria: those of refinement are judged by the same judge in the same words.

    Args:
        configuration: as in :func:`criterion_verdicts`.
        pairs: the pairs.
        criteria: pair_id -> what is judged of it.
        ask: who answers.
        round_: of refinement; 0 for generated criteria.

    Returns:
        Table CRITERION_VERDICTS, or CHILD_VERDICTS from round 1 on, in the order of pairs, criteria, orders.
    """
    orders = PRESENTATION_ORDERS if configuration.swap_filter else PRESENTATION_ORDERS[:1]
    one_by_one = configuration.criteria_per_call == "one"
    asked = [
        verdict_rows(pairs, criteria, order, configuration.prompts, one_by_one=one_by_one, round_=round_)
        for order in orders
    ]
    rows = pd.concat(asked, ignore_index=True)
    stage = "child_verdicts" if round_ else "pairwise_verdicts"
    answered = replies(ask, stage, VERDICTS, rows)
    made = [row for request in rows.to_dict("records") for row in _read(request, answered[request[ID]])]
    table = CHILD_VERDICTS if round_ else CRITERION_VERDICTS
    return table.conform(_in_order(made, pairs, criteria))


def verdict_of(said: str, presentation_order: str) -> str | None:
    """What a judge said of the response shown first (A) and second (B), in terms of y_A and y_B: pi where swapped.

    Args:
        said: A, B, tie or insufficient.
        presentation_order: AB or BA.
    """
    return said if said == "insufficient" else unswapped(_SLOTS[said], presentation_order)


def _read(request: Mapping[Any, Any], reply: Reply) -> list[dict[str, Any]]:
    order = request["presentation_order"]
    made = []
    for criterion in json.loads(request["criteria"]):
        row = dict.fromkeys(_COLUMNS) | reply.columns
        row |= {"pair_id": request["pair_id"], "criterion": criterion, "presentation_order": order}
        if reply.answer is not None:
            said = reply.answer[criterion]
            row |= {"verdict": verdict_of(said["verdict"], order)}
            row |= {"confidence": said["confidence"], "rationale": said["rationale"]}
        made.append(row)
    return made


def _in_order(
    rows: list[dict[str, Any]], pairs: PairsToJudge, criteria: Mapping[str, Sequence[ShownCriterion]]
) -> list[dict[str, Any]]:
    places = {
        (pair_id, each.id): (n, m)
        for n, pair_id in enumerate(pairs.in_order("AB")["pair_id"])
        for m, each in enumerate(criteria.get(pair_id, ()))
    }
    return sorted(rows, key=lambda row: (places[row["pair_id"], row["criterion"]], row["presentation_order"]))


def joined_verdicts(verdicts: pd.DataFrame, child_verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts on generated criteria and on those of refinement, as one table CRITERION_VERDICTS."""
    return CRITERION_VERDICTS.conform([*verdicts.to_dict("records"), *child_verdicts.to_dict("records")])


def verdict_table(verdicts: pd.DataFrame, order: Literal["AB", "BA"]) -> dict[tuple[str, str], dict[str, Any]]:
    """(pair_id, criterion) -> the row of one order, missing values as None."""
    rows = verdicts[verdicts["presentation_order"] == order].astype("object")
    rows = rows.where(rows.notna(), None)
    return {(row["pair_id"], row["criterion"]): row for row in rows.to_dict("records")}
