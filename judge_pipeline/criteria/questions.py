"""What judges are asked when pairs are judged criterion by criterion, and the rows of what to ask (CriterAlign, 3.3).

Every row shows a pair as ``preference.pair_question`` does, in one presentation order, and beside it what its stage
needs: criteria, tied ones, verdicts, guidance. Criteria, rationales and guidance were written by models and are judged
text; ids, verdicts and aspects are of closed sets and our own. A row is the same whatever else its configuration does,
so that stages in common of two configurations are one request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from judge_pipeline.criteria.answers import (
    EMBEDDED_CRITERIA,
    check_answer,
    children_answer,
    choice_answer,
    criteria_answer,
    verdicts_answer,
)
from judge_pipeline.judging.question import Question, Row
from judge_pipeline.preference.pair_question import pair_question

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judge_pipeline.criteria.asking import PairsToJudge
    from judge_pipeline.settings import EmbeddedJudge

Wording = Literal["code", "general"]

ID = "request_id"

_PAIR = pair_question(may_tie=True)
_AnswerOf = Callable[[Row, bool], "type[BaseModel]"]


@dataclass(frozen=True)
class ShownCriterion:
    """A criterion as stages hand it to each other.

    Attributes:
        id: c1, c2, ... of generation; t1, t2, ... of refinement.
        text: what is compared.
        aspect: one of ``tables.criteria.ASPECTS``.
        rationale: of its verdict in order AB, where it has one.
    """

    id: str
    text: str
    aspect: str
    rationale: str | None = None


@dataclass(frozen=True)
class ShownVerdict:
    """A criterion with its verdict in terms of y_A and y_B, as the final judge is shown it."""

    criterion: ShownCriterion
    verdict: str
    confidence: str | None


def criteria_question(
    name: str, answer_of: _AnswerOf, judged: Sequence[str] = (), plain: Sequence[str] = (),
    *, shows_pair: bool = True, packed: Sequence[str] = (),
) -> Question:  # fmt: skip
    """A question about a pair, shown as judges of pairs are shown it.

    Args:
        name: the question's name; its templates are criteria_NAME.md.j2 and criteria_NAME_embedded.md.j2.
        answer_of: row (empty: any), whether the embedded model answers -> what an answer must be.
        judged: further columns that hold text by models.
        plain: further columns of our own words, numbers and closed sets.
        shows_pair: whether responses and what is around them are shown, or the instruction alone.
        packed: of the further columns, those that hold JSON.
    """
    own_judged = _PAIR.judged_fields if shows_pair else ("instruction",)
    own_shown = [n for n in _PAIR.shown_fields if n != "may_tie"] if shows_pair else ["instruction"]

    def unpack(row: Row) -> Row:
        base = _PAIR.unpack(row) if shows_pair else dict(row)
        return {**base, **{column: json.loads(row[column]) for column in packed}}

    def shorten(settings: EmbeddedJudge, row: Row) -> Row:
        short = _PAIR.shorten(settings, row) if shows_pair else row
        cut = {n: short[n][: settings.max_prompt_chars] for n in ("instruction", "guidance") if short.get(n)}
        if "max_criteria" in row:
            cut["max_criteria"] = min(row["max_criteria"], EMBEDDED_CRITERIA)
        return {**short, **cut}

    return replace(
        _PAIR,
        name=f"criteria_{name}",
        id_column=ID,
        judged_fields=(*own_judged, *judged),
        shown_fields=(*own_shown, "wording", *judged, *plain),
        templates={"schema": f"criteria_{name}.md.j2", "embedded": f"criteria_{name}_embedded.md.j2"},
        answer_model=lambda row: answer_of(row or {}, False),
        embedded_answer_model=lambda row: answer_of(row or {}, True),
        unpack=unpack,
        shorten=shorten,
        scoring=None,
        readers={},
        images=_PAIR.images if shows_pair else None,
        keeps_invalid=True,
    )


def ids_in(row: Row, column: str) -> tuple[str, ...]:
    """The ids that a packed column of a row is about; none where the row is that of any answer."""
    return tuple(json.loads(row[column])) if column in row else ()


MONOLITHIC = criteria_question("monolithic", lambda _row, short: choice_answer(short), ("guidance",))
"""Which response is better? One call, without criteria (section 3.1)."""

GENERATION = criteria_question(
    "generation",
    lambda row, short: criteria_answer(int(row.get("max_criteria", 60)), short),
    ("guidance",),
    ("max_criteria",),
)
"""By which criteria are the responses of this pair to be compared? (section 3.1)"""

VERDICTS = criteria_question(
    "verdicts",
    lambda row, short: verdicts_answer(ids_in(row, "criteria"), short),
    ("guidance", "criteria"),
    packed=("criteria",),
)
"""Which response satisfies each criterion better? v_i = J_crit(x, a, b, e, c_i) (section 3.3)."""

DECOMPOSITION = criteria_question(
    "decomposition",
    lambda row, short: children_answer(ids_in(row, "tied"), short),
    ("tied", "others"),
    packed=("tied", "others"),
)
"""Which finer criteria stand behind those that came out a tie? (section 3.3, BTCR)"""

_CHECKED = {"judged": ("existing", "candidates"), "plain": ("parents",), "shows_pair": False}


def _check_of(row: Row, short: bool) -> type[BaseModel]:
    return check_answer(ids_in(row, "candidates"), ids_in(row, "existing"), short)


REDUNDANCY = criteria_question("redundancy", _check_of, **_CHECKED, packed=("existing", "candidates", "parents"))  # type: ignore[arg-type]
"""Which candidates say the same as another criterion? (section 3.3, BTCR)"""

CONFLICT = criteria_question("conflict", _check_of, **_CHECKED, packed=("existing", "candidates", "parents"))  # type: ignore[arg-type]
"""Which candidates contradict another criterion? (section 3.3, BTCR)"""

FINAL = criteria_question(
    "final",
    lambda _row, short: choice_answer(short),
    ("guidance", "criteria", "rationales"),
    ("verdicts",),
    packed=("criteria", "rationales", "verdicts"),
)
"""Which response is better, given the evidence? The final judge (section 3.3)."""

QUESTIONS = (MONOLITHIC, GENERATION, VERDICTS, DECOMPOSITION, REDUNDANCY, CONFLICT, FINAL)


def rows_of(
    pairs: PairsToJudge, order: str, own: Callable[[str], Mapping[str, Mapping[str, Any]]], wording: Wording,
    guided_stage: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Rows about pairs in one presentation order.

    Args:
        pairs: the pairs.
        order: AB or BA.
        own: pair_id -> end of the request id -> the stage's own columns; no entry: the pair is not asked about.
        wording: of code, or of any task.
        guided_stage: whose guidance is shown, as column ``guidance``; None: the stage has none.

    Returns:
        The pairs' columns with ``request_id`` of the stage, ``wording``, and the stage's own columns.
    """
    guidance = {} if guided_stage is None else pairs.guidance.get(guided_stage, {})
    made = []
    for pair in pairs.in_order(order).to_dict("records"):
        key = str(pair[ID]).rpartition("/")[0]
        given = {} if guided_stage is None else {"guidance": guidance.get(pair["pair_id"])}
        made += [
            {**pair, ID: f"{key}/{end}", "wording": wording, **given, **columns}
            for end, columns in own(pair["pair_id"]).items()
        ]
    return pd.DataFrame(made)


def monolithic_rows(pairs: PairsToJudge, wording: Wording) -> pd.DataFrame:
    """Rows of ``MONOLITHIC``: order AB, with the guidance of the final judge, where it is given one."""
    return rows_of(pairs, "AB", lambda _pair: {"monolithic": {}}, wording, "final_judge")


def generation_rows(pairs: PairsToJudge, max_criteria: int, wording: Wording) -> pd.DataFrame:
    """Rows of ``GENERATION``: order AB, with the guidance of the generator."""
    return rows_of(pairs, "AB", lambda _pair: {"generation": {"max_criteria": max_criteria}}, wording, "generator")


def verdict_rows(
    pairs: PairsToJudge, criteria: Mapping[str, Sequence[ShownCriterion]], order: str, wording: Wording,
    *, one_by_one: bool, round_: int = 0,
) -> pd.DataFrame:  # fmt: skip
    """Rows of ``VERDICTS`` in one order, with the guidance of the criterion judge.

    Args:
        pairs: the pairs.
        criteria: pair_id -> what is judged of it.
        order: AB or BA.
        wording: of code, or of any task.
        one_by_one: whether each criterion is a row of its own.
        round_: of refinement; 0 for generated criteria.
    """

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = criteria.get(pair_id, ())
        if one_by_one:
            return {f"verdicts{round_}/{order}/{each.id}": {"criteria": texts_of([each])} for each in theirs}
        return {f"verdicts{round_}/{order}": {"criteria": texts_of(theirs)}} if theirs else {}

    return rows_of(pairs, order, own, wording, "criterion_judge")


def decomposition_rows(
    pairs: PairsToJudge, tied: Mapping[str, Sequence[ShownCriterion]], others: Mapping[str, Sequence[ShownCriterion]],
    round_: int, wording: Wording,
) -> pd.DataFrame:  # fmt: skip
    """Rows of ``DECOMPOSITION``: order AB, all tied criteria of a pair with their tie rationales, and the others."""

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = tied.get(pair_id, ())
        shown = {each.id: {"text": each.text, "rationale": each.rationale} for each in theirs}
        columns = {"tied": as_json(shown), "others": texts_of(others.get(pair_id, ()))}
        return {f"decomposition{round_}": columns} if theirs else {}

    return rows_of(pairs, "AB", own, wording)


def check_rows(
    pairs: PairsToJudge, check: Literal["redundancy", "conflict"], candidates: Mapping[str, Sequence[ShownCriterion]],
    parents: Mapping[str, Mapping[str, str]], existing: Mapping[str, Sequence[ShownCriterion]], round_: int,
    wording: Wording,
) -> pd.DataFrame:  # fmt: skip
    """Rows of ``REDUNDANCY`` or ``CONFLICT``: all candidates of a pair, beside the criteria in force.

    Args:
        pairs: the pairs.
        check: which of the two.
        candidates: pair_id -> what is checked.
        parents: pair_id -> candidate -> the tied criterion that it is to refine.
        existing: pair_id -> the criteria in force.
        round_: of refinement.
        wording: of code, or of any task.
    """

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = candidates.get(pair_id, ())
        columns = {
            "existing": texts_of(existing.get(pair_id, ())), "candidates": texts_of(theirs),
            "parents": as_json({each.id: parents[pair_id][each.id] for each in theirs}),
        }  # fmt: skip
        return {f"{check}{round_}": columns} if theirs else {}

    rows = rows_of(pairs, "AB", own, wording)
    shown = [ID, "pair_id", "instruction", "wording", "existing", "candidates", "parents"]
    return rows[shown] if len(rows) else rows


def final_rows(pairs: PairsToJudge, evidence: Mapping[str, Sequence[ShownVerdict]], wording: Wording) -> pd.DataFrame:
    """Rows of ``FINAL``: order AB, the evidence of each pair that has any, and the guidance of the final judge."""

    def own(pair_id: str) -> dict[str, dict[str, str]]:
        theirs = evidence.get(pair_id, ())
        columns = {
            "criteria": texts_of([each.criterion for each in theirs]),
            "rationales": as_json({each.criterion.id: each.criterion.rationale for each in theirs}),
            "verdicts": as_json({each.criterion.id: _verdict(each) for each in theirs}),
        }
        return {"final": columns} if theirs else {}

    return rows_of(pairs, "AB", own, wording, "final_judge")


def _verdict(shown: ShownVerdict) -> dict[str, str | None]:
    return {"verdict": shown.verdict, "confidence": shown.confidence, "aspect": shown.criterion.aspect}


def texts_of(criteria: Sequence[ShownCriterion]) -> str:
    """Criteria as a packed column: id -> text."""
    return as_json({each.id: each.text for each in criteria})


def as_json(value: Any) -> str:
    """A value as a packed column."""
    return json.dumps(value, ensure_ascii=False)
