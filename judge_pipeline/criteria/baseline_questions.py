"""What judges are asked by the baselines: criteria from the task alone, a yes or no for one response, weights.

Rows and questions are made as those of pairwise comparison (``criteria.questions``). What a question is not to show is
out of its templates' reach, and blank in its rows: a response that is judged alone makes the same request beside any
other response and in any order, and criteria from the task alone the same for any responses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from judge_pipeline.criteria.answers import (
    children_answer,
    choice_answer,
    criteria_answer,
    pointwise_answer,
    weights_answer,
)
from judge_pipeline.criteria.questions import (
    ID,
    ShownCriterion,
    Wording,
    as_json,
    criteria_question,
    ids_in,
    rows_of,
    texts_of,
)

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import BaseModel

    from judge_pipeline.criteria.asking import PairsToJudge
    from judge_pipeline.criteria.pools import Check
    from judge_pipeline.judging.question import Question, Row
    from judge_pipeline.settings import EmbeddedJudge

EMBEDDED_LISTED = 4
"""Most criteria that the embedded model is asked to list here: it may write a token a character, and four end within
its answer limit even then."""

_SECOND = {"second": "", "evidence_second": None, "second_chars_cut": 0}
_BOTH = {"first": "", "evidence_first": None, "first_chars_cut": 0, **_SECOND}


@dataclass(frozen=True)
class ShownAnswers:
    """A criterion with a valid pointwise answer to it for each response."""

    criterion: ShownCriterion
    met_a: bool
    met_b: bool
    rationale_a: str
    rationale_b: str


def _without(hidden: Mapping[str, object], question: Question) -> Question:
    """The question with these fields out of its templates' reach."""
    return replace(
        question,
        judged_fields=tuple(name for name in question.judged_fields if name not in hidden),
        shown_fields=tuple(name for name in question.shown_fields if name not in hidden),
    )


def _generated(row: Row, short: bool) -> type[BaseModel]:
    at_most = int(row.get("max_criteria", 60))
    return criteria_answer(min(at_most, EMBEDDED_LISTED) if short else at_most, short, bool(row.get("weighted")))


def _listing(question: Question) -> Question:
    """The question, of which the embedded model is asked for ``EMBEDDED_LISTED`` criteria at most."""

    def shorten(settings: EmbeddedJudge, row: Row) -> Row:
        return {**question.shorten(settings, row), "max_criteria": min(row["max_criteria"], EMBEDDED_LISTED)}

    return replace(question, shorten=shorten)


TASK_GENERATION = _without(
    _BOTH, _listing(criteria_question("task_generation", _generated, ("guidance",), ("max_criteria", "weighted")))
)
"""By which criteria is any response to this task to be judged? (Rubric Is All You Need; Chasing the Tail: weighted)"""

IMPROVEMENT = _listing(
    criteria_question(
        "improvement",
        _generated,
        ("guidance", "criteria"),
        ("max_criteria", "weighted", "weights"),
        packed=("criteria", "weights"),
    )
)
"""Which criteria tell these two responses better apart? (Chasing the Tail)"""

POINTWISE = _without(
    _SECOND,
    criteria_question(
        "pointwise",
        lambda row, short: pointwise_answer(ids_in(row, "criteria"), short, row.get("unanswered") == "not_met"),
        ("guidance", "criteria"),
        ("unanswered",),
        packed=("criteria",),
    ),
)
"""Does this response meet each criterion? (CriterAlign, section 3.2)"""

POINTWISE_DECOMPOSITION = criteria_question(
    "pointwise_decomposition",
    lambda row, short: children_answer(ids_in(row, "met"), short),
    ("met", "others"),
    packed=("met", "others"),
)
"""Which finer criteria stand behind one that both responses meet? (RRD; CriterAlign, section 3.2)"""

WEIGHTS = _without(
    _BOTH,
    criteria_question(
        "weights", lambda row, _short: weights_answer(ids_in(row, "criteria")), ("criteria",), packed=("criteria",)
    ),
)
"""How much does each criterion count? (CriterAlign, Table 5: LLM-assigned weighted sum)"""

POINTWISE_FINAL = criteria_question(
    "pointwise_final",
    lambda _row, short: choice_answer(short),
    ("guidance", "criteria", "rationales"),
    ("answers",),
    packed=("criteria", "rationales", "answers"),
)
"""Which response is better, given what each was found to meet? (CriterAlign, Table 5: pairwise LLM judge)"""

BASELINE_QUESTIONS = (TASK_GENERATION, IMPROVEMENT, POINTWISE, POINTWISE_DECOMPOSITION, WEIGHTS, POINTWISE_FINAL)


def task_generation_rows(pairs: PairsToJudge, max_criteria: int, wording: Wording, *, weighted: bool) -> pd.DataFrame:
    """Rows of ``TASK_GENERATION``: what was asked, without the responses, with the guidance of the generator."""
    columns = {"max_criteria": max_criteria, "weighted": weighted}
    return rows_of(pairs, "AB", lambda _pair: {"task_generation": columns}, wording, "generator").assign(**_BOTH)


def improvement_rows(
    pairs: PairsToJudge, criteria: Mapping[str, Sequence[ShownCriterion]], weights: Mapping[str, Mapping[str, int]],
    max_criteria: int, wording: Wording, *, weighted: bool,
) -> pd.DataFrame:  # fmt: skip
    """Rows of ``IMPROVEMENT``: order AB, the criteria so far of each pair that has any, the generator's guidance.

    Args:
        pairs: the pairs.
        criteria: pair_id -> its criteria.
        weights: pair_id -> criterion -> its weight; empty where criteria have none.
        max_criteria: most criteria in an answer.
        wording: of code, or of any task.
        weighted: whether criteria have weights.
    """

    def own(pair_id: str) -> dict[str, dict[str, object]]:
        theirs = criteria.get(pair_id, ())
        columns = {
            "criteria": texts_of(theirs), "weights": as_json(weights.get(pair_id, {})),
            "max_criteria": max_criteria, "weighted": weighted,
        }  # fmt: skip
        return {"improvement": columns} if theirs else {}

    return rows_of(pairs, "AB", own, wording, "generator")


def pointwise_rows(
    pairs: PairsToJudge, criteria: Mapping[str, Sequence[ShownCriterion]], response: Literal["A", "B"],
    wording: Wording, unanswered: Literal["invalid", "not_met"], *, one_by_one: bool, round_: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Rows of ``POINTWISE`` on one of the two responses, with the guidance of the criterion judge.

    Args:
        pairs: the pairs.
        criteria: pair_id -> what is judged.
        response: A for y_A, B for y_B; its rows hold nothing of the other one.
        wording: of code, or of any task.
        unanswered: what an id that is left out is.
        one_by_one: whether each criterion is a row of its own.
        round_: of refinement; 0 for generated criteria.
    """

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = criteria.get(pair_id, ())
        batches = {f"/{each.id}": [each] for each in theirs} if one_by_one else {"": theirs} if theirs else {}
        return {
            f"pointwise{round_}/{response}{end}": {"criteria": texts_of(batch), "unanswered": unanswered}
            for end, batch in batches.items()
        }

    rows = rows_of(pairs, {"A": "AB", "B": "BA"}[response], own, wording, "criterion_judge")
    return rows.assign(response=response, **_SECOND)


def weights_rows(
    pairs: PairsToJudge, criteria: Mapping[str, Sequence[ShownCriterion]], wording: Wording
) -> pd.DataFrame:
    """Rows of ``WEIGHTS``: what was asked and the criteria in force, without the responses."""

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = criteria.get(pair_id, ())
        return {"weights": {"criteria": texts_of(theirs)}} if theirs else {}

    return rows_of(pairs, "AB", own, wording).assign(**_BOTH)


def pointwise_final_rows(
    pairs: PairsToJudge, answers: Mapping[str, Sequence[ShownAnswers]], wording: Wording
) -> pd.DataFrame:
    """Rows of ``POINTWISE_FINAL``: order AB, the answers on each pair that has any, the guidance of the final judge."""

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = answers.get(pair_id, ())
        said = {
            each.criterion.id: {"aspect": each.criterion.aspect, "A": each.met_a, "B": each.met_b} for each in theirs
        }
        why = {each.criterion.id: {"A": each.rationale_a, "B": each.rationale_b} for each in theirs}
        columns = {
            "criteria": texts_of([each.criterion for each in theirs]), "answers": as_json(said),
            "rationales": as_json(why),
        }  # fmt: skip
        return {"final": columns} if theirs else {}

    return rows_of(pairs, "AB", own, wording, "final_judge")


def single_decomposition_rows(
    pairs: PairsToJudge, open_: Mapping[str, Sequence[ShownCriterion]],
    in_force: Mapping[str, Sequence[ShownCriterion]], met: Mapping[tuple[str, str], Mapping[str, str]] | None,
    round_: int, wording: Wording,
) -> pd.DataFrame:  # fmt: skip
    """Rows of ``DECOMPOSITION`` or ``POINTWISE_DECOMPOSITION``: order AB, each criterion a row.

    Args:
        pairs: the pairs.
        open_: pair_id -> the criteria to decompose.
        in_force: pair_id -> the criteria that stand.
        met: (pair_id, criterion) -> response -> what shows that it meets it; None: they are tied, and the rows of
            ``DECOMPOSITION``.
        round_: of refinement.
        wording: of code, or of any task.
    """

    def decomposed(pair_id: str, criterion: ShownCriterion) -> dict[str, str]:
        if met is None:
            return {"tied": as_json({criterion.id: {"text": criterion.text, "rationale": criterion.rationale}})}
        return {"met": as_json({criterion.id: {"text": criterion.text, **met[pair_id, criterion.id]}})}

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        return {
            f"decomposition{round_}/{each.id}": {
                "others": texts_of([other for other in in_force[pair_id] if other.id != each.id]),
                "parent": each.id,
                **decomposed(pair_id, each),
            }
            for each in open_.get(pair_id, ())
        }

    return rows_of(pairs, "AB", own, wording)


def single_check_rows(
    pairs: PairsToJudge, check: Check, candidates: Mapping[str, Sequence[ShownCriterion]],
    parents: Mapping[str, Mapping[str, str]], in_force: Mapping[str, Sequence[ShownCriterion]], round_: int,
    wording: Wording,
) -> pd.DataFrame:  # fmt: skip
    """Rows of ``REDUNDANCY`` or ``CONFLICT``: each candidate a row, beside the criteria in force and candidates before.

    Args:
        pairs: the pairs.
        check: which of the two.
        candidates: pair_id -> what is checked.
        parents: pair_id -> candidate -> the criterion that it is to refine.
        in_force: pair_id -> the criteria that stand.
        round_: of refinement.
        wording: of code, or of any task.
    """

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = candidates.get(pair_id, ())
        return {
            f"{check}{round_}/{each.id}": {
                "existing": texts_of([*in_force[pair_id], *theirs[:place]]), "candidates": texts_of([each]),
                "parents": as_json({each.id: parents[pair_id][each.id]}), "candidate": each.id,
            }
            for place, each in enumerate(theirs)
        }  # fmt: skip

    rows = rows_of(pairs, "AB", own, wording)
    shown = [ID, "pair_id", "instruction", "wording", "existing", "candidates", "parents", "candidate"]
    return rows[shown] if len(rows) else rows
