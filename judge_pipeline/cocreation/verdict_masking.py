"""Words for verdicts in what judges are shown: counted, and in Q_u masked where the contest's settings ask for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from judge_pipeline.ingest.verdict_mentions import Mention, VerdictWords
from judge_pipeline.settings import ContestSettings
from judge_pipeline.tables import VERDICT_WORD_COUNTS

PLACEHOLDER = "[masked:verdict]"
"""What stands in the place of a masked word."""

COUNTED_VERDICTS = ("AC", "WA", "TLE", "MLE", "RE", "CE", "PE", "OLE")
"""Verdicts that always have a row, found or not; others have one where a contest's own words mean them."""


def masked(text: str, mentions: Sequence[Mention]) -> str:
    """The text with the placeholder for each of the mentions, which are in order and apart."""
    pieces, at = [], 0
    for mention in mentions:
        pieces += [text[at : mention.start], PLACEHOLDER]
        at = mention.end
    return "".join([*pieces, text[at:]])


def mask_verdict_words(
    attempts: pd.DataFrame, contexts: pd.DataFrame, settings: ContestSettings
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Q_u with its words for verdicts masked, where that is asked for; and how many words there are.

    It comes before texts are cut to their budgets, so that no word stays since it was cut in two; counted are the words
    that begin within the budget. Programs are never changed: their comments are searched only.

    Args:
        attempts: table ATTEMPTS, personal data replaced.
        contexts: table PARTICIPANT_CONTEXTS, likewise.
        settings: of the contest.

    Returns:
        The contexts, and table VERDICT_WORD_COUNTS.
    """
    words = VerdictWords(settings.verdict_words)
    in_comments, in_prompts = _Count(), _Count()
    cache: dict[tuple[str, str | None], list[Mention]] = {}
    sources = attempts[attempts["source_code"].notna()]
    for source, stated in zip(sources["source_code"], sources["language"], strict=True):
        language = stated if isinstance(stated, str) else None
        shown = source[: settings.max_code_chars]
        if (shown, language) not in cache:
            cache[shown, language] = words.in_comments(shown, language)
        in_comments.add(cache[shown, language])
    if settings.context == "blind":
        return contexts, _table(in_comments, in_prompts, settings)
    texts = []
    for text in contexts["prompt_text"]:
        mentions = words.in_prompts(text)
        in_prompts.add(_within(mentions, settings))
        texts.append(masked(text, mentions) if settings.mask_verdict_words else text)
    made = contexts.assign(prompt_text=pd.Series(texts, index=contexts.index, dtype=object))
    return made, _table(in_comments, in_prompts, settings)


def masking_in_words(settings: ContestSettings) -> str:
    """Whether words for verdicts are masked, as a phrase for reports."""
    if settings.context == "blind":
        return "judges are blind: Q_u is not sent"
    return "masked in Q_u" if settings.mask_verdict_words else "counted, not masked"


@dataclass
class _Count:
    words: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    searched: int = 0

    def add(self, mentions: Iterable[Mention]) -> None:
        found = Counter(mention.verdict for mention in mentions)
        self.words.update(found)
        self.texts.update(found.keys())
        self.searched += 1


def _within(mentions: Sequence[Mention], settings: ContestSettings) -> list[Mention]:
    """The mentions that begin within the budget: of the masked text, where it is masked."""
    within, shift = [], 0
    for mention in mentions:
        if mention.start + shift < settings.max_prompt_chars:
            within.append(mention)
        if settings.mask_verdict_words:
            shift += len(PLACEHOLDER) - (mention.end - mention.start)
    return within


def _table(in_comments: _Count, in_prompts: _Count, settings: ContestSettings) -> pd.DataFrame:
    masks = settings.mask_verdict_words and settings.context == "nonblind"
    of_comments = "programs are sent as they are"
    of_prompts = None if masks else masking_in_words(settings)
    rows = []
    for place, count, mask, reason in (
        ("source_comment", in_comments, False, of_comments), ("prompt_text", in_prompts, masks, of_prompts),
    ):  # fmt: skip
        for verdict in (*COUNTED_VERDICTS, *sorted(count.words.keys() - set(COUNTED_VERDICTS))):
            found = count.words[verdict]
            rows.append(
                {"place": place, "verdict": verdict, "n_found": found, "n_masked": found if mask else 0,
                 "n_texts": count.texts[verdict], "n_searched": count.searched, "reason": reason}
            )  # fmt: skip
    return VERDICT_WORD_COUNTS.conform(rows)
