"""What models are asked to find and to score a rubric, as questions of the judging engine and as rows of what to ask.

Texts of pairs, people's words and what a model wrote earlier reach a prompt as judged text only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.judging.question import Question
from judge_pipeline.judging.scoring import Scoring
from judge_pipeline.preference.rubric_answers import (
    AnyScoresAnswer,
    AxesAnswer,
    MergeAnswer,
    axes_answer,
    merge_answer,
    score_fields,
    scores_answer,
)
from judge_pipeline.preference.rubric_items import Item, Proposal, words_of
from judge_pipeline.preference.rubric_pairs import ShownPair, cut_text

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judge_pipeline.settings import EmbeddedJudge

Row = Mapping[str, Any]
ID = "request_id"


@dataclass(frozen=True)
class Answers:
    """What was answered to the rows of one question.

    Attributes:
        values: request id -> the answer's fields.
        failures: request id -> why there is none.
        hashes: request id -> identity of the call, where known.
    """

    values: Mapping[str, Mapping[str, Any]]
    failures: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)


Ask = Callable[[Question, pd.DataFrame], Answers]
"""Asks a question's rows; every row is in the answers or in the failures."""


def requests(rows: Mapping[str, Any]) -> pd.DataFrame:
    """Rows to ask: request id -> what a template can use, as JSON values."""
    shown = [json.dumps(value, ensure_ascii=False) for value in rows.values()]
    return pd.DataFrame({ID: list(rows), "shown": shown}, dtype="object")


def batch_shown(pairs: Sequence[ShownPair], found: Sequence[Item], at_most: int) -> dict[str, Any]:
    """What is shown to propose axes: a batch, and the items that were found before."""
    return {
        "pairs": [pair.shown() for pair in pairs],
        "found": [words_of(item) for item in found],
        "at_most": at_most,
    }


def merge_shown(kept: Mapping[str, Item], pool: Mapping[str, Proposal | Item], at_most: int) -> dict[str, Any]:
    """What is shown to merge: by their ids, items that are kept as they are, and what is merged."""
    return {
        "kept": {id_: words_of(item) for id_, item in kept.items()},
        "proposals": {id_: words_of(proposal) for id_, proposal in pool.items()},
        "at_most": at_most,
    }


def score_shown(pair: ShownPair, items: Sequence[Item], order: str) -> dict[str, Any]:
    """What is shown to score a pair on some items, y_A first (order AB) or y_B first (BA)."""
    first = "response_a" if order == "AB" else "response_b"
    return {"pair": pair.shown(first), "rubric_items": [words_of(item) for item in items]}


def _unpacked(row: Row) -> Row:
    return dict(json.loads(row["shown"]))


def _axes(row: Row | None) -> type[BaseModel]:
    return AxesAnswer if row is None else axes_answer(int(_unpacked(row)["at_most"]))


def _merge(row: Row | None) -> type[BaseModel]:
    if row is None:
        return MergeAnswer
    shown = _unpacked(row)
    return merge_answer((*shown["kept"], *shown["proposals"]), frozenset(shown["kept"]), int(shown["at_most"]))


def _scores(row: Row | None) -> type[BaseModel]:
    return AnyScoresAnswer if row is None else scores_answer(len(_unpacked(row)["rubric_items"]))


def _shorter(settings: EmbeddedJudge, row: Row) -> Row:
    """The responses and each text of the context cut to what the embedded model is shown; all cuts are added up."""
    shown = dict(_unpacked(row))
    pair = dict(shown["pair"])
    context = dict(pair["context"])
    limits = {"first": settings.max_code_chars, "second": settings.max_code_chars}
    limits |= dict.fromkeys(context, settings.max_prompt_chars)
    texts = {**context, "first": pair["first"], "second": pair["second"]}
    cut = {name: max(0, len(text) - limits[name]) + pair["chars_cut"].get(name, 0) for name, text in texts.items()}
    short = {name: cut_text(name, text, limits[name]) for name, text in texts.items()}
    pair |= {"first": short.pop("first"), "second": short.pop("second"), "context": short}
    pair["chars_cut"] = {name: chars for name, chars in cut.items() if chars}
    return {**row, "shown": json.dumps({**shown, "pair": pair}, ensure_ascii=False)}


def _slot_of_share(shares: Mapping[str, float]) -> dict[str, Any]:
    """The likelier of the two words. It is hardly ever "equal": what a place decides, the other order takes back."""
    share = shares["better"]
    return {score_fields(1)[0]: "first" if share > 0.5 else "second" if share < 0.5 else "equal"}


PROPOSALS = Question(
    name="rubric_proposals",
    id_column=ID,
    judged_fields=("pairs", "found"),
    shown_fields=("pairs", "found", "at_most"),
    templates={"schema": "rubric_proposals.md.j2"},
    answer_model=_axes,
    unpack=_unpacked,
)
"""On which axes do the responses of these pairs differ? (TRACE, section 3, step 2)"""

MERGE = Question(
    name="rubric_merge",
    id_column=ID,
    judged_fields=("kept", "proposals"),
    shown_fields=("kept", "proposals", "at_most"),
    templates={"schema": "rubric_merge.md.j2"},
    answer_model=_merge,
    unpack=_unpacked,
)
"""Which proposals mean the same? (TRACE, section 3, step 2)"""

SCORES = Question(
    name="rubric_scores",
    id_column=ID,
    judged_fields=("pair", "rubric_items"),
    shown_fields=("pair", "rubric_items"),
    templates={"schema": "rubric_scores.md.j2", "embedded": "rubric_scores_embedded.md.j2"},
    answer_model=_scores,
    unpack=_unpacked,
    shorten=_shorter,
    scoring=Scoring(("better",), ("first", "second"), _slot_of_share, {"scored": "first_or_second"}),
    keeps_invalid=True,
)
"""Which response of the pair satisfies each item better? (TRACE, section 3, step 3)"""

QUESTIONS = (PROPOSALS, MERGE, SCORES)
