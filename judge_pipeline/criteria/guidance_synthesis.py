"""Guidance from training records: what people weigh that the judge does not, and what follows (CriterAlign, HPAG).

One call over the records for what all tasks share (G-HPAG), then one for each category with records enough (C-HPAG),
which is shown the first and adds to it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from judge_pipeline.criteria.guidance_file import frozen
from judge_pipeline.criteria.guidance_questions import CATEGORY, GENERAL
from judge_pipeline.criteria.guidance_subset import fitting
from judge_pipeline.criteria.questions import ID
from judge_pipeline.criteria.replies import Reply, replies
from judge_pipeline.preference.pair_question import set_key
from judge_pipeline.settings.criteria import GUIDED_STAGES
from judge_pipeline.settings.guidance import (
    CategoryGuidance,
    GuidanceFile,
    GuidanceSource,
    GuidanceTexts,
    category_key,
)

if TYPE_CHECKING:
    from judge_pipeline.criteria.asking import Ask
    from judge_pipeline.criteria.guidance_records import Record
    from judge_pipeline.judging.question import Question


@dataclass(frozen=True)
class Limits:
    """How much a synthesizer is given.

    Attributes:
        tokens: of records in one call.
        category_records: fewest records of a category that is given guidance of its own.
        seed: draws the records where not all fit.
    """

    tokens: int
    category_records: int
    seed: int


@dataclass(frozen=True)
class Between:
    """Whose guidance it is.

    Attributes:
        preference_set: the set whose records they are.
        judge: the judge whose gaps are found.
        judge_model: its model.
        synthesizer: who finds them.
        synthesizer_model: its model.
        prompts: prompt template -> its sha256.
    """

    preference_set: str
    judge: str
    judge_model: str
    synthesizer: str
    synthesizer_model: str
    prompts: Mapping[str, str]


@dataclass(frozen=True)
class Synthesized:
    """What synthesis came to.

    Attributes:
        between: whose guidance it is.
        file: the guidance, frozen; None where there is none.
        failures: category (None: the general part) -> why it has no guidance.
        shown: category (None: the general part) -> the pairs whose records the synthesizer was given, in that order.
        request_hashes: category (None: the general part) -> identity of the call.
    """

    between: Between
    file: GuidanceFile | None
    failures: Mapping[str | None, str]
    shown: Mapping[str | None, Sequence[str]] = field(default_factory=dict)
    request_hashes: Mapping[str | None, str | None] = field(default_factory=dict)


def synthesized_guidance(between: Between, records: Sequence[Record], limits: Limits, ask: Ask) -> Synthesized:
    """Divergence patterns and guidance for each stage, over all records and by category.

    Args:
        between: whose guidance it is.
        records: all training records; those without a decision or a rationale are left out and counted.
        limits: how much a call is given.
        ask: the synthesizer.

    Returns:
        The guidance. It is None, with the reason, where no record says anything or the general part has no valid
        answer; a category whose answer is not valid is left out, with the reason.
    """
    usable = [record for record in records if record.left_out is None]
    taken = fitting(usable, limits.tokens, limits.seed)
    if not taken:
        return Synthesized(between, None, {None: _nothing(records, usable, limits)})
    shown: dict[str | None, list[Record]] = {None: taken}
    general = _asked(ask, GENERAL, [_row(between, None, taken)])[None]
    hashes: dict[str | None, str | None] = {None: general.request_hash}
    if general.answer is None:
        return Synthesized(between, None, {None: _why(general)}, _pairs_of(shown), hashes)
    of_category = _of_categories(usable, limits)
    rows = [_row(between, name, own, general.answer) for name, own in of_category.items()]
    answered = _asked(ask, CATEGORY, rows) if rows else {}
    shown = {**shown, **of_category}
    categories = {name: CategoryGuidance.model_validate(r.answer) for name, r in answered.items() if name and r.answer}
    file = GuidanceFile(
        title=f"Guidance for {between.judge} by {between.synthesizer}, from training pairs of {between.preference_set}",
        source=_source(between, records, shown, limits),
        general=GuidanceTexts.model_validate(general.answer),
        categories=categories,
    )
    failures = {name: _why(reply) for name, reply in answered.items() if reply.answer is None}
    hashes |= {name: reply.request_hash for name, reply in answered.items()}
    return Synthesized(between, frozen(file), failures, _pairs_of(shown), hashes)


def _of_categories(usable: Sequence[Record], limits: Limits) -> dict[str | None, list[Record]]:
    """The records that each category with enough of them is synthesized from."""
    large = {name: own for name, own in by_category(usable).items() if len(own) >= limits.category_records}
    fit = {name: fitting(own, limits.tokens, limits.seed) for name, own in large.items()}
    return {name: own for name, own in fit.items() if own}


def _source(
    between: Between, records: Sequence[Record], shown: Mapping[str | None, Sequence[Record]], limits: Limits
) -> GuidanceSource:
    return GuidanceSource(
        preference_set=between.preference_set,
        split="train",
        judge=between.judge,
        judge_model=between.judge_model,
        synthesizer=between.synthesizer,
        synthesizer_model=between.synthesizer_model,
        seed=limits.seed,
        prompts=dict(sorted(between.prompts.items())),
        n_train=len(records),
        left_out=_left_out(records, shown),
        pairs=_groups_of(shown),
    )


def by_category(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Category -> its records, sorted by name. Spellings that mean the same are one, under the commonest of them."""
    found: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if record.category is not None and category_key(record.category):
            found[category_key(record.category)].append(record)
    return dict(sorted((_name(own), own) for own in found.values()))


def _name(records: Sequence[Record]) -> str:
    counts = Counter(str(record.category) for record in records)
    return min(counts, key=lambda name: (-counts[name], name))


def _row(
    between: Between, category: str | None, records: Sequence[Record], general: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "records": [
            {
                "context": dict(record.context), "first": record.first, "second": record.second,
                "judge_rationale": record.rationale or "", "human_rationale": record.human_rationale,
            }
            for record in records
        ],
        "facts": [
            {
                "judge": record.decision, "human": record.choice, "aspects": dict(record.aspects),
                "chars_cut": dict(record.chars_cut),
            }
            for record in records
        ],
    }  # fmt: skip
    if general is not None:
        shown |= {"category": category, "general": {stage: general[stage] for stage in GUIDED_STAGES}}
    digest = hashlib.sha256(json.dumps([between.judge, category]).encode("utf-8", "replace")).hexdigest()
    id_ = f"{set_key(between.preference_set)}/guidance/{digest[:16]}"
    return {ID: id_, "category": category, "shown": json.dumps(shown, ensure_ascii=False)}


def _asked(ask: Ask, question: Question, rows: Sequence[Mapping[str, Any]]) -> dict[str | None, Reply]:
    asked = pd.DataFrame([{name: row[name] for name in (ID, "shown")} for row in rows])
    answered = replies(ask, "guidance", question, asked)
    return {row["category"]: answered[row[ID]] for row in rows}


def _why(reply: Reply) -> str:
    remedy = ""
    if reply.failure_class == "too_long":
        remedy = "; lower guidance_tokens, or guidance.tokens_of of this synthesizer, in criteria.yaml"
    return f"the synthesizer's answer is not valid ({reply.failure_class}): {reply.failure}{remedy}"


def _nothing(records: Sequence[Record], usable: Sequence[Record], limits: Limits) -> str:
    if not records:
        return "the set has no pair of split train: set train_share in preference.yaml"
    if not usable:
        return f"none of {len(records)} training pairs says anything; the first: {records[0].left_out}"
    return (
        f"none of {len(usable)} training records fits guidance_tokens ({limits.tokens}): raise it in criteria.yaml, or "
        "guidance.tokens_of of this synthesizer, or lower guidance.record_chars"
    )


def _left_out(records: Sequence[Record], shown: Mapping[str | None, Sequence[Record]]) -> dict[str, int]:
    """Why a training pair is in no call -> how many."""
    there = _groups_of(shown)
    whys = Counter(
        record.left_out or "does not fit guidance_tokens" for record in records if record.pair_id not in there
    )
    return dict(sorted(whys.items()))


def _groups_of(shown: Mapping[str | None, Sequence[Record]]) -> dict[str, str]:
    return dict(sorted((record.pair_id, record.group) for own in shown.values() for record in own))


def _pairs_of(shown: Mapping[str | None, Sequence[Record]]) -> dict[str | None, list[str]]:
    return {name: [record.pair_id for record in own] for name, own in shown.items()}
