"""Which of two responses is better? The question that judges of preference pairs are asked, and its rows.

Every pair is asked about in both presentation orders. A row holds the responses as they are shown, first and second;
which of them is y_A, ``verdicts.unswapped`` alone says afterwards. Rows are made from ``pair_texts``, which knows no
label. Their screenshots stand in ``evidence_first`` and ``evidence_second``: every question whose rows have these
columns, and whose ``images`` is that of :func:`pair_question`, shows them to judges that take images.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from judge_pipeline.judging.answer import MAX_RATIONALE_CHARS, Answer
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.question import Question, Reader, Row, reader_of, same_for_all
from judge_pipeline.judging.scoring import RATIONALE, Scoring
from judge_pipeline.judging.verdict_forms import StatedChoice, read_double_brackets, read_result
from judge_pipeline.preference.screenshots import images_of_row
from judge_pipeline.preference.verdicts import PRESENTATION_ORDERS
from judge_pipeline.settings import EmbeddedJudge
from judge_pipeline.settings.preference import PairJudging

Choice = Literal["A", "B", "tie"]

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


class PairChoice(BaseModel):
    """A judge's choice among the two responses that it is shown (TRACE, section 3, step 1): A is the first."""

    model_config = _STRICT

    rationale: str = Field(
        min_length=1, max_length=MAX_RATIONALE_CHARS, description="Short reason, at most two sentences"
    )
    choice: Literal["A", "B"] = Field(description="The better response: A, the first, or B, the second")


class PairChoiceOrTie(BaseModel):
    """The same where a tie may be called."""

    model_config = _STRICT

    rationale: str = Field(
        min_length=1, max_length=MAX_RATIONALE_CHARS, description="Short reason, at most two sentences"
    )
    choice: Choice = Field(description="The better response: A, the first, or B, the second; tie where neither is")


class ScoredChoice(BaseModel):
    """A choice that follows from scores: of the embedded model's token probabilities, or of a reward model."""

    model_config = _STRICT

    choice: Choice
    p_first: float | None = Field(default=None, ge=0.0, le=1.0, allow_inf_nan=False)
    score_first: float | None = Field(default=None, allow_inf_nan=False)
    score_second: float | None = Field(default=None, allow_inf_nan=False)
    rationale: str | None = None


class WordedChoice(BaseModel):
    """A choice that a trained judge states in its own form."""

    model_config = _STRICT

    choice: Choice
    rationale: str | None = None


JUDGED = (
    "category", "language", "instruction", "prior_turns", "prefix", "suffix", "code_to_edit", "first", "second",
    "evidence_first", "evidence_second",
)  # fmt: skip
"""Fields of a row that hold text by people or models."""

_COUNTS = ("prefix_chars_cut", "suffix_chars_cut", "first_chars_cut", "second_chars_cut", "further_chars_cut")

ROW_COLUMNS = ("request_id", "pair_id", "presentation_order", "split", *JUDGED, *_COUNTS)
"""Columns of the rows that are asked about. What is not in ``JUDGED`` or a count of cuts is never shown."""


def pair_question(may_tie: bool) -> Question:
    """The question, where a judge that answers by our schema may call a tie, or must choose.

    Judges trained to answer in a form of their own, and reward models, call ties as they do.
    """
    return Question(
        name="pair",
        id_column="request_id",
        judged_fields=JUDGED,
        shown_fields=(*JUDGED, *_COUNTS, "may_tie", "images"),
        templates={
            "schema": "pair_judge.md.j2",
            "double_brackets": "pair_judge_double_brackets.md.j2",
            "result": "pair_judge_result.md.j2",
            "embedded": "pair_judge_embedded.md.j2",
            "reward": "pair_judge_reward.md.j2",
        },
        answer_model=same_for_all(PairChoiceOrTie if may_tie else PairChoice),
        unpack=lambda row: _unpacked(row) | {"may_tie": may_tie},
        shorten=_shortened,
        scoring=PAIR_SCORING,
        readers={
            "embedded": reader_of(ScoredChoice),
            "reward": reader_of(ScoredChoice),
            "double_brackets": _stated(read_double_brackets),
            "result": _stated(read_result),
        },
        keeps_invalid=True,
        choose=choose_pairs,
        images=images_of_row,
    )


def _scored(shares: Mapping[str, float]) -> dict[str, Any]:
    share = shares["choice"]
    choice = "A" if share > 0.5 else "B" if share < 0.5 else "tie"
    return {"choice": choice, "p_first": share, "rationale": RATIONALE}


PAIR_SCORING = Scoring(("choice",), ("a", "b"), _scored, {"scored": "a_or_b"})
"""The embedded model's choice: P(A) / (P(A) + P(B)) over the likeliest first tokens."""


def _stated(read: Any) -> Reader:
    def reader(text: str | None, finish_reason: str | None) -> Answer[BaseModel] | Failure:
        found: StatedChoice | Failure = read(text, finish_reason)
        if isinstance(found, Failure):
            return found
        rationale = None if found.rationale is None else found.rationale[:MAX_RATIONALE_CHARS]
        return Answer(WordedChoice(choice=found.choice, rationale=rationale), None)

    return reader


def set_key(preference_set: str) -> str:
    """16 hexadecimal digits of a set: what the ids of all that is asked about it begin with."""
    return hashlib.sha256(f"set {preference_set}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class IdsOfSet:
    """The ids of all that is asked about a set, whatever is asked: pairs, rubric items, criteria."""

    preference_set: str

    def __contains__(self, request_id: object) -> bool:
        """Whether the id is one of the set's."""
        return isinstance(request_id, str) and request_id.startswith(f"{set_key(self.preference_set)}/")


def pair_key(preference_set: str, pair_id: str) -> str:
    """The beginning of the ids of all that is asked about one pair: the set's key, and 16 digits of the pair."""
    digest = hashlib.sha256(json.dumps([preference_set, pair_id]).encode("utf-8", "replace")).hexdigest()
    return f"{set_key(preference_set)}/{digest[:16]}"


def pair_rows(preference_set: str, texts: pd.DataFrame, splits: pd.DataFrame, settings: PairJudging) -> pd.DataFrame:
    """What is asked about the pairs of a set: each in both presentation orders.

    Args:
        preference_set: the set's name.
        texts: table PAIR_TEXTS.
        splits: table PREFERENCE_SPLITS.
        settings: how much is shown.

    Returns:
        Columns ``ROW_COLUMNS``, the two orders of a pair one after the other, in the order of ``texts``. What is cut is
        counted: a prefix loses its beginning, everything else its end.
    """
    split_of = dict(zip(splits["pair_id"], splits["split"], strict=True))
    rows = []
    for pair in texts.to_dict("records"):
        key = pair_key(preference_set, pair["pair_id"])
        shown, a, b, counts = _shown(pair, settings)
        for order in PRESENTATION_ORDERS:
            first, second = (a, b) if order == "AB" else (b, a)
            evidence = ("evidence_a", "evidence_b") if order == "AB" else ("evidence_b", "evidence_a")
            rows.append(
                {
                    "request_id": f"{key}/{order}", "pair_id": pair["pair_id"], "presentation_order": order,
                    "split": split_of[pair["pair_id"]], **shown, "first": first[0], "second": second[0],
                    "evidence_first": pair[evidence[0]], "evidence_second": pair[evidence[1]], **counts,
                    "first_chars_cut": first[1], "second_chars_cut": second[1],
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(ROW_COLUMNS)).astype(dict.fromkeys(_COUNTS, "int64"))


def _shown(pair: Mapping[str, Any], settings: PairJudging) -> tuple[dict[str, Any], Any, Any, dict[str, int]]:
    """What stands around the responses, the two responses with what was cut, and the other counts of cuts."""
    prefix, prefix_cut = _cut(pair["prefix"], settings.context_chars, keep_end=True)
    suffix, suffix_cut = _cut(pair["suffix"], settings.context_chars)
    instruction, one = _cut(pair["instruction"], settings.context_chars)
    code, two = _cut(pair["code_to_edit"], settings.context_chars)
    shown = {
        "category": pair["category"], "language": pair["language"], "instruction": instruction,
        "prior_turns": pair["prior_turns"], "prefix": prefix, "suffix": suffix, "code_to_edit": code,
    }  # fmt: skip
    counts = {"prefix_chars_cut": prefix_cut, "suffix_chars_cut": suffix_cut, "further_chars_cut": one + two}
    a, b = (_cut(pair[name], settings.response_chars) for name in ("response_a", "response_b"))
    return shown, a, b, counts


def _cut(text: Any, most: int, *, keep_end: bool = False) -> tuple[Any, int]:
    if not isinstance(text, str) or len(text) <= most:
        return (text if isinstance(text, str) else None), 0
    return (text[-most:] if keep_end else text[:most]), len(text) - most


def _unpacked(row: Row) -> dict[str, Any]:
    """The row with what is kept as JSON taken apart; of evidence the texts, as a screenshot is shown by itself."""
    turns = row["prior_turns"]
    unpacked = {**row, "prior_turns": [] if turns is None else json.loads(turns), "images": []}
    for name in ("evidence_first", "evidence_second"):
        evidence = {} if row[name] is None else json.loads(row[name])
        shown = {key: value for key, value in evidence.items() if key in ("output", "error") and value}
        unpacked[name] = shown or None
    return unpacked


_EMBEDDED_FIELDS = (("instruction", False), ("code_to_edit", False), ("prefix", True), ("suffix", False))


def _shortened(settings: EmbeddedJudge, row: Row) -> dict[str, Any]:
    """The row for the embedded model: each response cut to its code limit, what stands around to its prompt limit."""
    short = dict(row)
    for name, keep_end in _EMBEDDED_FIELDS:
        short[name], cut = _cut(row[name], settings.max_prompt_chars, keep_end=keep_end)
        count = f"{name}_chars_cut" if f"{name}_chars_cut" in row else "further_chars_cut"
        short[count] = short[count] + cut
    for name in ("first", "second"):
        short[name], cut = _cut(row[name], settings.max_code_chars)
        short[f"{name}_chars_cut"] = row[f"{name}_chars_cut"] + cut
    return short | {"prior_turns": None, "evidence_first": None, "evidence_second": None}


def choose_pairs(rows: pd.DataFrame, n: int, seed: int) -> frozenset[str]:
    """The request ids of a pilot of n pairs, both orders of each, drawn by hash and without a look at labels."""

    def draw(pair_id: str) -> str:
        return hashlib.sha256(f"{seed} {pair_id}".encode("utf-8", "replace")).hexdigest()

    drawn = set(sorted(rows["pair_id"].unique(), key=draw)[:n])
    return frozenset(rows.loc[rows["pair_id"].isin(drawn), "request_id"])
