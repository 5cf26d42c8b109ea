"""Tables of guidance: the training records that it rests on, and its texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge_pipeline.criteria.guidance_file import file_name
from judge_pipeline.settings.criteria import GUIDED_STAGES
from judge_pipeline.tables.guidance import GUIDANCE, GUIDANCE_RECORDS

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.criteria.guidance_records import Record
    from judge_pipeline.criteria.guidance_synthesis import Synthesized
    from judge_pipeline.settings.guidance import GuidanceTexts

NO_ROOM = "it does not fit guidance_tokens"


def records_table(made: Sequence[Synthesized], records: Mapping[str, Sequence[Record]]) -> pd.DataFrame:
    """Table GUIDANCE_RECORDS.

    Args:
        made: what each synthesizer made.
        records: synthesizer -> all training records, with the rationales that it reconstructed.
    """
    rows = []
    for each in made:
        general = set(each.shown.get(None, ()))
        in_category = {pair_id for name, pairs in each.shown.items() if name is not None for pair_id in pairs}
        for record in records[each.between.synthesizer]:
            shown = record.pair_id in general or record.pair_id in in_category
            rows.append(
                {
                    "synthesizer": each.between.synthesizer, "pair_id": record.pair_id,
                    "instruction_group": record.group, "category": record.category, "decision": record.decision,
                    "rationale": record.rationale, "w": record.choice,
                    "aspects": json.dumps(record.aspects, ensure_ascii=False) if record.aspects else None,
                    "human_rationale": record.human_rationale, "in_general": record.pair_id in general,
                    "in_category": record.pair_id in in_category,
                    "why_left_out": None if shown else record.left_out or NO_ROOM,
                    "request_hash": record.request_hash,
                }
            )  # fmt: skip
    return GUIDANCE_RECORDS.conform(rows)


def guidance_table(made: Sequence[Synthesized]) -> pd.DataFrame:
    """Table GUIDANCE: the general part first, then categories by name; a synthesizer without guidance has no row."""
    rows = []
    for each in made:
        if each.file is None:
            continue
        parts: dict[str | None, GuidanceTexts] = {None: each.file.general, **dict(sorted(each.file.categories.items()))}
        for category, texts in parts.items():
            of_part = {
                "synthesizer": each.between.synthesizer, "category": category, "n_records": len(each.shown[category]),
                "file": file_name(each.file), "content_sha256": each.file.content_sha256,
                "request_hash": each.request_hashes.get(category),
            }  # fmt: skip
            rows += [of_part | text for text in _texts(texts)]
    return GUIDANCE.conform(rows)


def _texts(texts: GuidanceTexts) -> list[dict[str, Any]]:
    patterns = [
        {"part": "pattern", "place": place, "text": pattern.text, "gap": pattern.gap}
        for place, pattern in enumerate(texts.patterns, start=1)
    ]
    return patterns + [
        {"part": stage, "place": 1, "text": getattr(texts, stage), "gap": None} for stage in GUIDED_STAGES
    ]
