"""Natural languages of short texts, by Lingua (TRACE, Table 1)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

MIN_LETTERS = 12
"""Texts with fewer letters have no language that could be told ("fix", "make it blue")."""


def natural_languages_of(texts: Iterable[str], accuracy: Literal["high", "low"] = "high") -> list[str | None]:
    """The language of each text in small letters, ``english``; None where it cannot be told.

    Lingua decides among its 75 languages by n-grams of letters. Where a text mixes languages, the likeliest one is
    given. Equal texts are looked at once.

    Args:
        texts: prose; take code away before.
        accuracy: low compares three letters at a time only: enough from about 120 letters on, in a tenth of the memory.
    """
    from lingua import LanguageDetectorBuilder

    texts = list(texts)
    wanted = list(dict.fromkeys(text for text in texts if sum(map(str.isalpha, text)) >= MIN_LETTERS))
    if not wanted:
        return [None] * len(texts)
    builder = LanguageDetectorBuilder.from_all_languages()
    detector = (builder.with_low_accuracy_mode() if accuracy == "low" else builder).build()
    found = {text: detector.detect_language_of(text) for text in wanted}
    return [language.name.lower() if (language := found.get(text)) is not None else None for text in texts]
