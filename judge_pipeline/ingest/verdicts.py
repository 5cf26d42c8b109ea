"""Raw words of contest sites -> the closed set of verdicts (``tables.VERDICTS``).

Whole words only: "INCORRECT" does not contain "CORRECT", and 不正解 is not 正解. Decorations (test numbers, times,
"(最新)") are passed over. What is not judged yet is PENDING, even where it shows a verdict so far. A word that is
not listed here, or in the contest's ``verdict_words``, is UNKNOWN: kept, counted, and never guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from judge_pipeline.ingest.verdict_words import WORDS

MAX_VERDICT_CHARS = 2000
"""Longer texts are no verdict."""

_COUNTED_AS = {
    "ile": "idleness limit exceeded counts as TLE",
    "idleness limit exceeded": "idleness limit exceeded counts as TLE",
    "no output": "no output counts as WA",
    "rejected": "a rejection without a reason counts as WA",
    "reject": "a rejection without a reason counts as WA",
    "unaccepted": "a rejection without a reason counts as WA",
    "il": "idleness limit exceeded counts as TLE",
    "idleness limit": "idleness limit exceeded counts as TLE",
    "wall time limit exceeded": "the limit of real time counts as TLE",
    "qle": "query limit exceeded counts as WA",
    "query limit exceeded": "query limit exceeded counts as WA",
    "security violated": "a security violation counts as IE",
    "security violation": "a security violation counts as IE",
}
"""Listed words whose place in the closed set is a convention, with what to say about it."""

_LABELS = frozenset((
    "verdict", "result", "status", "judge", "judgement", "judgment", "answer", "final", "the", "is", "was",
    "your", "solution", "submission", "outcome", "結果", "判定", "ステータス", "状態", "ジャッジ結果",
    "判定結果", "提出結果", "です", "でした", "みなし", "结果", "状态", "вердикт", "результат", "статус", "결과",
))  # fmt: skip
"""Words that may stand before or behind a verdict and say nothing about it."""

_NEGATIONS = frozenset((
    "not", "no", "non", "in", "un", "yet", "never", "nobody", "nothing", "without", "ない", "不", "未", "非",
))  # fmt: skip

_RATIO = re.compile(r"^\(?\s*\d{1,6}\s*/\s*\d{1,6}\s*\)?")
_SHARE = re.compile(r"(?<![\d/.])(\d{1,6}(?:\.\d{1,4})?)\s*/\s*(\d{1,6})(?![\d/])")
"""Points or tests reached, of all: ``Accepted (60/100)``."""

_TOKEN = re.compile(r"[^\W\d_]+|\d+", re.UNICODE)
_ASIDE = re.compile(r"[(\[{【〔「『<][^()\[\]{}【】〔〕「」『』<>]*[)\]}】〕」』>]")


def read_verdict(raw: str | None, extra: Mapping[str, str]) -> tuple[str, str | None]:
    """The verdict that the raw words mean.

    Args:
        raw: the words as printed, or None where the artifact holds none.
        extra: the contest's own words (``verdict_words`` of contest.yaml), which go before the built-in ones; compared
            without regard to case, width, punctuation and spacing.

    Returns:
        The verdict in the closed set, and a note where there is something to say: a verdict shown before judging has
        ended, a word that is not listed, a word whose place is a convention.
    """
    if raw is None or not raw.strip():
        return "UNKNOWN", "no verdict found"
    if len(raw) > MAX_VERDICT_CHARS:
        return "UNKNOWN", f"the verdict's text has {len(raw)} characters, which is no verdict"
    shown = unicodedata.normalize("NFKC", raw).strip()
    literal = {_literal(word): verdict for word, verdict in extra.items()}
    if _literal(shown) in literal:
        return literal[_literal(shown)], None
    # A word that is told from others by its digits or signs alone ("40 points", "-") is compared as it stands only.
    own = {_phrase(word): verdict for word, verdict in extra.items() if not re.search(r"\d", word) and _phrase(word)}
    if _RATIO.match(shown):
        return _still_judging(shown)
    found = _listed(_phrase(shown), own) or _listed(_phrase(_ASIDE.sub(" ", shown)), own)
    if found is None:
        return "UNKNOWN", f"verdict word {' '.join(raw.split())[:80]!r} is not listed"
    word, verdict = found
    part = _part_of_all(shown) if verdict == "AC" else None
    return ("PARTIAL", part) if part else (verdict, _COUNTED_AS.get(" ".join(word)))


def listed_verdict(words: str, extra: Mapping[str, str]) -> str | None:
    """The verdict of words that are listed as they stand, without decoration, such as stand in file names.

    Args:
        words: the words; ``wrong-answer`` and ``wrong_answer`` are "wrong answer".
        extra: the contest's own words, which go before.

    Returns:
        None where the words are not listed.
    """
    literal = {_literal(word): verdict for word, verdict in extra.items()}
    if _literal(words) in literal:
        return literal[_literal(words)]
    phrase = () if any(char.isdigit() for char in words) else _phrase(words)
    return {_phrase(word): verdict for word, verdict in extra.items()}.get(phrase) or _table()[0].get(phrase)


def _part_of_all(shown: str) -> str | None:
    """What to say of an acceptance with fewer points, or tests passed, than there are; None where that is not so."""
    share = _SHARE.search(shown)
    fewer = share is not None and float(share[1]) < float(share[2])
    return f"accepted with {share[1]} of {share[2]} only" if share is not None and fewer else None


def _still_judging(shown: str) -> tuple[str, str]:
    """``3/12`` and ``7/31 TLE``: tests done of all tests; what follows is the verdict so far."""
    rest = _phrase(_RATIO.sub("", shown, count=1))
    so_far = _listed(rest, {}) if rest else None
    note = "judging has not ended"
    return "PENDING", f"{note}, so far {so_far[1]}" if so_far and so_far[1] != "PENDING" else note


def _literal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _phrase(text: str) -> tuple[str, ...]:
    """The words of a text: lower case, one width, without punctuation and numbers; scripts are told apart."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    tokens: list[str] = []
    for token in _TOKEN.findall(plain):
        if token.isdigit():
            continue
        tokens.extend(_by_script(token))
    return tuple(tokens)


def _by_script(token: str) -> list[str]:
    """``ac正解`` as ``ac``, ``正解``."""
    parts: list[str] = []
    for char in token:
        if parts and (char < "\u0250") == (parts[-1][-1] < "\u0250"):
            parts[-1] += char
        else:
            parts.append(char)
    return parts


@lru_cache(maxsize=1)
def _table() -> tuple[dict[tuple[str, ...], str], int]:
    """Phrase -> verdict, and the length of the longest phrase."""
    table = {_phrase(word): verdict for verdict, words in WORDS.items() for word in words.split(";")}
    return table, max(map(len, table))


def _listed(words: tuple[str, ...], own: Mapping[tuple[str, ...], str]) -> tuple[tuple[str, ...], str] | None:
    """The listed phrase with which the words begin, after labels; the longest one wins.

    Words behind it are decoration ("on test 3"); words before it that are no labels make it unlisted, since they may
    turn its meaning ("not", "expected", the name of something else). Two phrases that disagree are unlisted too,
    unless the one says only that judging goes on.
    """
    table, longest = _table()
    longest = max([longest, *map(len, own)])
    start = 0
    while start < len(words):
        for length in range(min(longest, len(words) - start), 0, -1):
            phrase = words[start : start + length]
            verdict = own.get(phrase) or table.get(phrase)
            if verdict is not None:
                return _unless_turned(phrase, verdict, words[start + length :])
        if words[start] not in _LABELS:
            return None
        start += 1
    return None


def _unless_turned(phrase: tuple[str, ...], verdict: str, rest: tuple[str, ...]) -> tuple[tuple[str, ...], str] | None:
    """The verdict, unless what follows it says otherwise."""
    table, _ = _table()
    if verdict != "AC":
        return phrase, verdict
    if any(word in _NEGATIONS for word in rest):
        return None
    others = {table[(word,)] for word in rest if (word,) in table} - {"AC"}
    if not others:
        return phrase, verdict
    return (phrase, "PENDING") if others == {"PENDING"} else None
