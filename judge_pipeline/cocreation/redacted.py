"""What judges are shown of attempts and Q_u, after personal data have been replaced; and how much was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

from judge_pipeline.ingest.redaction import Redacted, Redactor, participant_tokens
from judge_pipeline.settings.redaction import REDACTION_KINDS, RedactionSettings
from judge_pipeline.tables import REDACTION_COUNTS


def redactor_of(settings: RedactionSettings, contest: str, participants: Iterable[str], key: bytes | None) -> Redactor:
    """The redactor that the settings ask for.

    Args:
        settings: kinds, names, regions.
        contest: the contest's name, a part of pseudonyms.
        participants: ids of its participants.
        key: key of pseudonyms; None where there is none, then all ids are replaced by the same token.
    """
    return Redactor(
        settings.active_kinds(),
        names=settings.names,
        participants=participant_tokens(participants, contest, key),
        phone_regions=settings.phone_regions,
    )


def redact_requests(
    attempts: pd.DataFrame, contexts: pd.DataFrame, redactor: Redactor, settings: RedactionSettings
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The tables from which requests are made, with tokens in the place of personal data.

    It comes before texts are cut to their budgets: a key that is cut in two would not be known for one.

    Args:
        attempts: table ATTEMPTS.
        contexts: table PARTICIPANT_CONTEXTS.
        redactor: as ``redactor_of`` makes it.
        settings: what it was made from; says why a kind is not replaced.

    Returns:
        Copies of both with ``source_code`` and ``prompt_text`` redacted and nothing else changed (hashes and lengths
        in them are those of the original texts), and a table REDACTION_COUNTS.
    """
    if not settings.active_kinds():
        return attempts, contexts, _counts({}, {}, {"source_code": 0, "prompt_text": 0}, settings)
    totals: dict[str, Counter[str]] = {}
    texts: dict[str, Counter[str]] = {}
    searched: dict[str, int] = {}

    def redacted(column: str, values: pd.Series, redact: Callable[[str], Redacted]) -> list[Any]:
        known: dict[str, Redacted] = {}
        done: list[Any] = []
        totals[column], texts[column] = Counter(), Counter()
        for value in values:
            if not isinstance(value, str):
                done.append(value)
                continue
            found = known.get(value) or redact(value)
            known[value] = found
            totals[column].update(found.counts)
            texts[column].update(found.counts.keys())
            done.append(found.text)
        searched[column] = sum(isinstance(value, str) for value in values)
        return done

    sources = redacted("source_code", attempts["source_code"], redactor.source)
    prompts = redacted("prompt_text", contexts["prompt_text"], redactor.prompts)
    return (
        attempts.assign(source_code=pd.Series(sources, index=attempts.index, dtype=object)),
        contexts.assign(prompt_text=pd.Series(prompts, index=contexts.index, dtype=object)),
        _counts(totals, texts, searched, settings),
    )


def redactions_in_words(settings: RedactionSettings) -> str:
    """What is replaced, as a phrase for reports."""
    kinds = settings.active_kinds()
    missing = [kind for kind in REDACTION_KINDS if kind not in kinds]
    what = ", ".join(kinds) or "nothing"
    return f"{what}; not {', '.join(missing)}: {settings.off_reason}" if missing else what


def _counts(
    totals: dict[str, Counter[str]],
    texts: dict[str, Counter[str]],
    searched: dict[str, int],
    settings: RedactionSettings,
) -> pd.DataFrame:
    active = settings.active_kinds()
    return REDACTION_COUNTS.conform(
        [
            {
                "place": place,
                "kind": kind,
                "n_replaced": totals[place][kind] if kind in active else 0,
                "n_texts": texts[place][kind] if kind in active else 0,
                "n_searched": searched[place] if kind in active else 0,
                "reason": None if kind in active else f"not replaced: {settings.off_reason}",
            }
            for place in ("source_code", "prompt_text")
            for kind in REDACTION_KINDS
        ]
    )
