"""Which training records a synthesizer is given where its context does not hold them all (CriterAlign, section 4.1)."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge_pipeline.judging.money import CHARS_PER_TOKEN
from judge_pipeline.settings.guidance import category_key

if TYPE_CHECKING:
    from judge_pipeline.criteria.guidance_records import Record

_CHARS_OF_A_RECORD = 200
"""Of the template's own words around a record."""

_CHARS_OF_A_TEXT = 120
"""Of a text's name and delimiters."""

_CHARS_OF_AN_ASPECT = 80


def record_tokens(record: Record) -> int:
    """Tokens that the record takes in a prompt, estimated as everywhere (``judging.money.CHARS_PER_TOKEN``)."""
    texts = [*record.context.values(), record.first, record.second]
    reasons = [json.dumps(reason or "", ensure_ascii=False) for reason in (record.rationale, record.human_rationale)]
    around = _CHARS_OF_A_RECORD + _CHARS_OF_A_TEXT * len(texts) + _CHARS_OF_AN_ASPECT * len(record.aspects)
    return math.ceil((sum(len(text) for text in (*texts, *reasons)) + around) / CHARS_PER_TOKEN)


def fitting(records: Sequence[Record], tokens: int, seed: int) -> list[Record]:
    """As many records as fit, drawn by the seed and in proportion to categories.

    Within a category, records stand in the order of a seeded hash of their pair. Categories are interleaved so that any
    beginning of the whole holds each in proportion. Records are taken in that order; one that does not fit is passed
    over, so that none that is left out would still fit.

    Args:
        records: the records; their order is of no matter.
        tokens: the budget.
        seed: the seed of the draw.

    Returns:
        Those taken, in the order of the draw; all of them where they fit.
    """
    taken, left = [], tokens
    for record in _drawn(records, seed):
        size = record_tokens(record)
        if size <= left:
            taken.append(record)
            left -= size
    return taken


def _drawn(records: Sequence[Record], seed: int) -> list[Record]:
    def draw(record: Record) -> str:
        return hashlib.sha256(f"{seed} {record.pair_id}".encode("utf-8", "replace")).hexdigest()

    of_category = defaultdict(list)
    for record in sorted(records, key=draw):
        of_category["" if record.category is None else category_key(record.category)].append(record)
    placed = [
        ((place + 0.5) / len(own), draw(record), record)
        for own in of_category.values()
        for place, record in enumerate(own)
    ]
    return [record for _, _, record in sorted(placed, key=lambda each: each[:2])]
