"""What judges are shown of pairs: context and responses, with personal data replaced; no label, no vote, no model.

Whatever asks a judge about a pair reads ``pair_texts`` and never ``preference_pairs``: what is not in it cannot leak.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from judge_pipeline.ingest.redaction import Redactor
from judge_pipeline.preference.screenshots import SCREENSHOT, for_judges
from judge_pipeline.settings.redaction import REDACTION_KINDS, PairRedaction, RedactionSettings
from judge_pipeline.tables.preference import PAIR_REDACTION_COUNTS, PAIR_TEXTS

PLAIN = ("instruction", "prefix", "suffix", "code_to_edit", "response_a", "response_b")
"""Columns that are a text each; ``prior_turns`` and the evidence hold texts in JSON."""

_NO_PARTICIPANTS = "a set has no participants: annotators' names are in no text that judges are shown"


def pair_texts(pairs: pd.DataFrame, settings: PairRedaction) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The texts of pairs, and how much was replaced in them.

    Args:
        pairs: table PREFERENCE_PAIRS.
        settings: which kinds are replaced; why, where some are not; and whether screenshots, in which nothing can be
            replaced, are shown.

    Returns:
        Table PAIR_TEXTS, in the order of ``pairs``, and table PAIR_REDACTION_COUNTS.
    """
    kinds = [kind for kind in settings.active_kinds() if kind != "participant"]
    counting = _Counting(Redactor(kinds, names=settings.names, phone_regions=settings.phone_regions))
    columns: dict[str, Any] = {
        "pair_id": pairs["pair_id"],
        "category": pairs["category"],
        "language": pairs["language"],
    }
    for place in PLAIN:
        columns[place] = [counting.redacted(place, text) for text in pairs[place]]
    columns["prior_turns"] = [_in_json(text, partial(_turns, counting=counting)) for text in pairs["prior_turns"]]
    for place in ("evidence_a", "evidence_b"):
        change = partial(_evidence, place=place, counting=counting, shows=settings.screenshots == "show")
        columns[place] = [_in_json(text, change) for text in pairs[place]]
    rows = [
        {
            "place": place,
            "kind": kind,
            "n_replaced": counting.replaced[place][kind],
            "n_texts": counting.texts[place][kind],
            "n_searched": counting.searched[place] if kind in kinds else 0,
            "reason": _why_not(kind, settings),
        }
        for place in (*PLAIN, "prior_turns", "evidence_a", "evidence_b")
        for kind in REDACTION_KINDS
    ]
    return PAIR_TEXTS.conform(pd.DataFrame(columns, index=pairs.index)), PAIR_REDACTION_COUNTS.conform(rows)


class _Counting:
    """A redactor that counts by place; equal texts are looked at once."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: dict[str, Any] = {}
        self.replaced: dict[str, Counter[str]] = _counters()
        self.texts: dict[str, Counter[str]] = _counters()
        self.searched: Counter[str] = Counter()

    def redacted(self, place: str, text: Any) -> Any:
        if not isinstance(text, str):
            return None
        found = self._known.get(text) or self._redactor.prompts(text)
        self._known[text] = found
        self.replaced[place].update(found.counts)
        self.texts[place].update(found.counts.keys())
        self.searched[place] += 1
        return found.text


def _counters() -> dict[str, Counter[str]]:
    return {place: Counter() for place in (*PLAIN, "prior_turns", "evidence_a", "evidence_b")}


def _in_json(text: Any, change: Callable[[Any], Any]) -> str | None:
    return json.dumps(change(json.loads(text)), ensure_ascii=False) if isinstance(text, str) else None


def _turns(turns: list[dict[str, str]], counting: _Counting) -> list[dict[str, str]]:
    return [turn | {"content": counting.redacted("prior_turns", turn["content"])} for turn in turns]


def _evidence(evidence: dict[str, Any], place: str, counting: _Counting, shows: bool) -> dict[str, Any]:
    """Outputs and errors are texts of the program; of a screenshot stays what the image is, and the rest as it is."""
    told = {
        name: counting.redacted(place, value) if name in ("output", "error") and isinstance(value, str) else value
        for name, value in evidence.items()
    }
    return told | ({SCREENSHOT: for_judges(told[SCREENSHOT], shows)} if SCREENSHOT in told else {})


def _why_not(kind: str, settings: RedactionSettings) -> str | None:
    if kind == "participant":
        return _NO_PARTICIPANTS
    return None if kind in settings.active_kinds() else f"not replaced: {settings.off_reason}"
