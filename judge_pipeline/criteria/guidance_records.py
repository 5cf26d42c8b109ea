"""Training records of guidance: what the judge and people chose on pairs of split train, and why (CriterAlign, HPAG).

r = (x, a, b, y_mono, s_mono, y, y_aspect, s_human): the pair, the monolithic judge's decision and rationale, people's
choice, the aspects that they stated, and their rationale, reconstructed by a synthesizer.

``training_pairs`` takes pairs of split train and forgets the rest before anything is asked: nothing of a validation
pair can reach a request or the guidance.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.criteria.asking import PairsToJudge
from judge_pipeline.criteria.decisions import monolithic_decisions
from judge_pipeline.criteria.guidance_questions import HUMAN_RATIONALE
from judge_pipeline.criteria.questions import ID
from judge_pipeline.criteria.replies import Reply, replies
from judge_pipeline.preference.drafts import BOTH_BAD
from judge_pipeline.preference.pair_question import pair_rows
from judge_pipeline.preference.rubric_pairs import shown_pairs
from judge_pipeline.settings.criteria import Configuration
from judge_pipeline.settings.preference import PairJudging
from judge_pipeline.tables.criteria import ASPECTS

if TYPE_CHECKING:
    from judge_pipeline.criteria.asking import Ask

MONOLITHIC = Configuration(generator="none", refinement="none", swap_filter=False)
"""The judge whose gaps are found: one call a pair, without guidance."""

NO_DECISION = "the judge's own answer stayed invalid"
NO_RATIONALE = "the human rationale could not be reconstructed"

STATED = "stated"
"""Of an aspect: people named it, and did not say in a word that is understood which response is better in it."""

_ASPECT_OF = {aspect.casefold(): aspect for aspect in ASPECTS} | {
    "ui ux design": "UI/UX design", "ui ux": "UI/UX design", "ui": "UI/UX design", "ux": "UI/UX design",
    "uiux": "UI/UX design", "user interface": "UI/UX design", "user experience": "UI/UX design",
    "performance": "efficiency", "readability": "maintainability", "explanation": "explainability",
}  # fmt: skip
_CHOICES = {"a": "A", "b": "B", "tie": "tie", BOTH_BAD.casefold(): "tie"}


@dataclass(frozen=True)
class TrainingPairs:
    """The pairs of split train, in the order of their ids.

    Attributes:
        preference_set: the set.
        rows: as ``preference.pair_question.pair_rows`` makes them.
        texts: table PAIR_TEXTS of these pairs.
        choices: pair_id -> the human choice.
        aspects: pair_id -> aspect of the closed set -> people's choices in it.
        groups: pair_id -> group of identical instruction.
        categories: pair_id -> category, as judges are shown it; None where there is none.
    """

    preference_set: str
    rows: pd.DataFrame
    texts: pd.DataFrame
    choices: Mapping[str, str]
    aspects: Mapping[str, Mapping[str, Sequence[str]]]
    groups: Mapping[str, str]
    categories: Mapping[str, str | None]


@dataclass(frozen=True)
class Record:
    """One training record r.

    Attributes:
        pair_id: the pair.
        group: its group of identical instruction.
        category: its category; None where the data states none.
        decision: y_mono, the judge's decision; None: invalid.
        rationale: s_mono.
        choice: y, people's choice.
        aspects: y_aspect: aspect of the closed set -> people's choices in it; empty where they stated none.
        human_rationale: s_human; None where it could not be reconstructed.
        request_hash: identity of the call that reconstructed it.
        context: texts around the responses, as a synthesizer is shown them.
        first: y_A.
        second: y_B.
        chars_cut: text -> characters of it that are not shown.
    """

    pair_id: str
    group: str
    category: str | None
    decision: str | None
    rationale: str | None
    choice: str
    aspects: Mapping[str, Sequence[str]]
    human_rationale: str | None
    request_hash: str | None
    context: Mapping[str, str]
    first: str
    second: str
    chars_cut: Mapping[str, int]

    @property
    def left_out(self) -> str | None:
        """Why nothing can be learnt from it; None where something can."""
        if self.decision is None:
            return NO_DECISION
        return NO_RATIONALE if self.human_rationale is None else None


def training_pairs(
    preference_set: str, pairs: pd.DataFrame, splits: pd.DataFrame, texts: pd.DataFrame, judging: PairJudging
) -> TrainingPairs:
    """The pairs of split train; all else is forgotten here.

    Args:
        preference_set: the set's name.
        pairs: table PREFERENCE_PAIRS; w and aspects are read.
        splits: table PREFERENCE_SPLITS.
        texts: table PAIR_TEXTS.
        judging: how much of a pair judges are shown.
    """
    train = splits[splits["split"] == "train"].sort_values("pair_id", kind="stable").reset_index(drop=True)
    ids = train["pair_id"].tolist()
    own = pairs.set_index("pair_id").loc[ids]
    shown = texts.set_index("pair_id").loc[ids].reset_index()
    said = own["aspects"].tolist()
    category = [value if isinstance(value, str) else None for value in shown["category"]]
    return TrainingPairs(
        preference_set,
        pair_rows(preference_set, shown, train, judging),
        shown,
        dict(zip(ids, own["w"], strict=True)),
        {pair_id: closed_aspects(json.loads(text) if isinstance(text, str) else {})
         for pair_id, text in zip(ids, said, strict=True)},
        dict(zip(ids, train["instruction_group"], strict=True)),
        dict(zip(ids, category, strict=True)),
    )  # fmt: skip


def closed_aspects(said: Mapping[str, Any]) -> dict[str, list[str]]:
    """What people said of aspects, in terms of the closed set ``ASPECTS``, in its order.

    An aspect of another name is one of ``others``. Words that are no choice are not passed on, since they may hold
    personal data: the aspect counts as stated.

    Args:
        said: aspect -> A, B, tie or words.

    Returns:
        Aspect -> the different choices in it, sorted: A, B, tie, ``STATED``.
    """
    found: dict[str, set[str]] = {}
    for name, value in said.items():
        aspect = _ASPECT_OF.get(_words(name), "others")
        found.setdefault(aspect, set()).add(_CHOICES.get(str(value).strip().casefold(), STATED))
    return {aspect: sorted(found[aspect]) for aspect in ASPECTS if aspect in found}


def _words(name: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", name).casefold()))


def monolithic_answers(training: TrainingPairs, ask: Ask) -> pd.DataFrame:
    """What the judge itself decides on the training pairs, and why: y_mono and s_mono.

    Returns:
        Table CRITERIA_DECISIONS. Its requests are those of a monolithic configuration without guidance.
    """
    return monolithic_decisions(MONOLITHIC, PairsToJudge(training.rows, {}), ask)


def rationale_rows(training: TrainingPairs) -> pd.DataFrame:
    """Rows of ``HUMAN_RATIONALE``: y_A first, with people's choice and aspects; the judge's decision is not in them."""
    rows = PairsToJudge(training.rows, {}).in_order("AB")
    if rows.empty:
        return rows
    ids = rows["pair_id"].tolist()
    return rows.assign(
        **{ID: [f"{str(id_).rpartition('/')[0]}/human_rationale" for id_ in rows[ID]]},
        human_choice=[training.choices[pair_id] for pair_id in ids],
        aspects=[json.dumps(training.aspects[pair_id]) for pair_id in ids],
    )


def human_rationales(training: TrainingPairs, ask: Ask) -> dict[str, Reply]:
    """pair_id -> what came of reconstructing s_human, one call a pair."""
    rows = rationale_rows(training)
    answered = replies(ask, "human_rationales", HUMAN_RATIONALE, rows)
    return {row["pair_id"]: answered[row[ID]] for row in rows.to_dict("records")}


def training_records(
    training: TrainingPairs, decisions: pd.DataFrame, rationales: Mapping[str, Reply], record_chars: int
) -> list[Record]:
    """The records, one a training pair, in the order of their ids.

    Args:
        training: the pairs.
        decisions: what the judge decided on them (:func:`monolithic_answers`).
        rationales: what came of reconstructing people's rationales (:func:`human_rationales`).
        record_chars: characters of a pair that a record shows, shared among its texts.
    """
    decided = decisions.set_index("pair_id")[["decision", "rationale"]].astype("object")
    decided = decided.where(decided.notna(), None)
    made = []
    for pair in shown_pairs(training.texts, record_chars):
        shown, pair_id = pair.shown(), pair.pair_id
        reply = rationales[pair_id]
        decision, rationale = decided.loc[pair_id]
        made.append(
            Record(
                pair_id, training.groups[pair_id], training.categories[pair_id], decision, rationale,
                training.choices[pair_id], training.aspects[pair_id],
                None if reply.answer is None else reply.answer["rationale"], reply.request_hash,
                shown["context"], shown["first"], shown["second"], shown["chars_cut"],
            )
        )  # fmt: skip
    return made
