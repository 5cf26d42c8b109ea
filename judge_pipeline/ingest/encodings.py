"""Bytes -> text: the encoding by byte-order mark, by what decodes, by what is declared, and by what makes words.

The choice is recorded. Nothing is decoded twice, and nothing is repaired: bytes that no encoding explains become
U+FFFD and are counted.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from judge_pipeline.ingest.records import clean_text

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_BROWSER_NAMES = {
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "ms_kanji": "cp932",
    "windows-31j": "cp932", "ms932": "cp932", "x-euc-jp": "euc_jp", "euc-jp": "euc_jp", "iso-8859-1": "cp1252",
    "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252", "iso-8859-9": "cp1254", "gb2312": "gb18030",
    "gbk": "gb18030", "x-gbk": "gb18030", "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "unicode": "utf-16",
    "dos-866": "cp866", "ibm866": "cp866", "x-cp1251": "cp1251", "utf8": "utf-8",
}  # fmt: skip
"""What browsers decode with where a page names these (the WHATWG Encoding Standard's labels)."""

_CANDIDATES = ("cp932", "euc_jp", "cp1251", "cp866", "koi8-r", "cp1252", "gb18030", "cp949", "big5")
"""Tried where nothing is declared; the order breaks ties."""

_DECLARED = (
    re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE),
    re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})""", re.IGNORECASE),
    re.compile(rb"""(?:^|\n)[^\n]{0,80}?coding[:=]\s*([\w.:-]{1,40})"""),
)

_HEAD_BYTES = 8192
_ASCII_AND_NBSP = bytes((*range(128), 0xA0))
_SAMPLE_BYTES = 65536


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text and how it was decoded.

    Attributes:
        text: the text, without byte-order mark and without lone surrogates.
        encoding: the encoding used, by its Python name.
        notes: the choice, where it was not plain UTF-8, and what was lost.
    """

    text: str
    encoding: str
    notes: tuple[str, ...]


def decode(data: bytes) -> Decoded:
    """The text that the bytes hold.

    A byte-order mark decides; then UTF-16 by its pattern of NULs; ISO-2022-JP by its escapes; UTF-8 where all of it is
    valid; the declared encoding (``<meta charset>``, ``<?xml encoding>``, a coding comment) where it decodes and makes
    words; else the candidate that makes words. UTF-8 without more to say leaves no note.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], name, "by its byte-order mark", quiet=name == "utf-8")
    for found, why in (_by_nulls(data), _by_escapes(data)):
        if found is not None:
            return _decoded(data, found, why)
    declared = _declared(data[:_HEAD_BYTES])
    if _decodes(data, "utf-8") or _is_cut_utf8(data):
        other = declared not in (None, "utf-8") and not data.isascii() and not (declared or "").startswith("utf")
        return _decoded(data, "utf-8", f"although {declared} is declared" if other else "", quiet=not other)
    return _by_candidates(data, declared)


def _decoded(data: bytes, name: str, why: str, quiet: bool = False) -> Decoded:
    text = data.decode(name, "replace")
    notes = [] if quiet else [f"encoding {_shown(name)} {why}".rstrip()]
    lost = text.count("\ufffd") - data.count("\ufffd".encode(name)) if "\ufffd" in text else 0
    if lost > 0:
        notes.append(f"{lost} place(s) do not decode as {_shown(name)} and read U+FFFD")
    return Decoded(clean_text(text), name, tuple(notes))


def _shown(name: str) -> str:
    return {"cp932": "Shift_JIS", "euc_jp": "EUC-JP", "iso2022_jp": "ISO-2022-JP"}.get(name, name)


def _decodes(data: bytes, name: str) -> bool:
    try:
        data.decode(name)
    except (UnicodeDecodeError, LookupError):
        return False
    return True


def _by_nulls(data: bytes) -> tuple[str | None, str]:
    """UTF-16 without a mark: about every second byte of mostly Latin text is NUL."""
    sample = data[:4096]
    if len(sample) < 4 or b"\0" not in sample:
        return None, ""
    half = len(sample) // 2
    for name, nulls in (("utf-16-le", sample[1::2].count(0)), ("utf-16-be", sample[0::2].count(0))):
        if nulls > 0.4 * half and _decodes(data[: len(data) // 2 * 2], name):
            return name, "by its pattern of NUL bytes"
    return None, ""


def _by_escapes(data: bytes) -> tuple[str | None, str]:
    """ISO-2022-JP is 7-bit and would pass for ASCII; its escape sequences tell."""
    if re.search(rb"\x1b\$[@B]", data) and _decodes(data, "iso2022_jp"):
        return "iso2022_jp", "by its escape sequences"
    return None, ""


def _is_cut_utf8(data: bytes) -> bool:
    """UTF-8 but for a character cut off at the file's end, or a few stray bytes in much that is right."""
    text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    right = sum(1 for char in text[:200_000] if char > "\x7f" and char != "\ufffd")
    return not data.isascii() and 0 < wrong <= right // 20


def _declared(head: bytes) -> str | None:
    for pattern in _DECLARED:
        match = pattern.search(head)
        if match is None:
            continue
        label = match[1].decode("ascii", "replace").lower()
        try:
            return codecs.lookup(_BROWSER_NAMES.get(label, label)).name
        except LookupError:
            continue
    return None


def _by_candidates(data: bytes, declared: str | None) -> Decoded:
    declared = None if declared is not None and declared.startswith(("utf-16", "utf-32")) else declared
    fitting = [name for name in dict.fromkeys((declared, *_CANDIDATES)) if name is not None and _decodes(data, name)]
    if not fitting:
        name = declared or "utf-8"
        return _decoded(data, name, "as declared" if declared else "for want of one that fits")
    if declared is None and "cp1252" in fitting and not data.translate(None, _ASCII_AND_NBSP):
        return _decoded(data, "cp1252", "as it holds no-break spaces only")
    words = _words_of(data)
    scores = {name: _makes_words(words.decode(name, "replace"), name) for name in fitting}
    best = max(fitting, key=lambda name: scores[name])
    if declared in scores and scores[declared] >= 0.6 * scores[best]:
        return _decoded(data, declared, "as declared")
    guess = _library_guess(data, fitting)
    if guess is not None and scores[guess] >= 0.97 * scores[best]:
        best = guess
    over = [_shown(name) for name in fitting if name != best]
    why = "as it makes words" + (f", rather than {', '.join(over)}" if over else "")
    if declared is not None:
        why += f" (declared: {_shown(declared)})"
    return _decoded(data, best, why)


def _words_of(data: bytes) -> bytes:
    """The part of the bytes that tells encodings apart: lines with bytes beyond ASCII, up to a bound."""
    lines = [line for line in data.splitlines() if not line.isascii()]
    return b"\n".join(lines)[:_SAMPLE_BYTES]


def _library_guess(data: bytes, fitting: list[str]) -> str | None:
    """What charset-normalizer takes the bytes for, among the encodings that fit."""
    from charset_normalizer import from_bytes

    best = from_bytes(_words_of(data), cp_isolation=fitting).best()
    return best.encoding if best is not None and best.encoding in fitting else None


_FREQUENT_CYRILLIC = frozenset("оеаинтсрвлкмдпуяыьгзОЕАИНТСРВЛКМДПУЯ")

_SIGNS = frozenset("\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u00a0\u00ab\u00bb\u2116\u00b0\u20ac\u00a9")

_VOCABULARY = (
    "問題", "結果", "正解", "提出", "言語", "時間", "参加者", "得点", "エラー", "ジャッジ", "コード", "日時", "実行",
    "提交", "结果", "答案", "用户", "语言", "题目", "时间", "задач", "результат", "принят", "участник", "время",
    "ответ", "ошибк", "тест", "язык", "결과", "문제", "제출", "언어",
)  # fmt: skip
"""Words that artifacts of contests hold; one of them settles what letters alone leave open."""

_COMMON_LEAD_BYTES = {
    "cp932": ("euc_jp", 0xB0, 0xCF, 0.95),
    "euc_jp": ("euc_jp", 0xB0, 0xCF, 0.95),
    "gb18030": ("gb18030", 0xB0, 0xD7, 0.85),
    "big5": ("big5", 0xA4, 0xC6, 0.8),
    "cp949": ("cp949", 0xB0, 0xC8, 0.8),
}
"""Where an East Asian encoding keeps its common characters: lead bytes of the first level, and what they count."""


def _makes_words(text: str, encoding: str) -> float:
    """How much a text looks like words, from 0 to about 1: the mean over its characters beyond ASCII.

    Kana, common ideographs and frequent Cyrillic letters count most, rare ideographs and a capital within a word
    little, signs that no one writes within words (box drawing, controls) nothing. A word of ``_VOCABULARY`` doubles
    what is missing to 1.
    """
    total, score = 0, 0.0
    previous = " "
    for char in text:
        if char > "\x7f":
            total += 1
            score += _likely(char, previous, encoding)
        previous = char
    mean = score / total if total else 0.0
    folded = text.casefold()
    return (1 + mean) / 2 + 0.5 if any(word in folded for word in _VOCABULARY) else mean


def _likely(char: str, previous: str, encoding: str) -> float:  # noqa: PLR0911 - one row of a table each
    code = ord(char)
    if 0x3041 <= code <= 0x30FF or char in "、。「」":
        return 1.0
    if 0x4E00 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7A3:
        within_latin = previous.isascii() and previous.isalpha()
        return _common(char, encoding) * (0.4 if within_latin else 1.0)
    if 0x0400 <= code <= 0x045F:
        inside = previous.isalpha() and previous.islower() and char.isupper()
        return 0.1 if inside else (1.0 if char in _FREQUENT_CYRILLIC else 0.5)
    if 0xFF61 <= code <= 0xFF9F:
        return 0.3
    if 0x00C0 <= code <= 0x024F:
        return 0.85 if previous.isascii() and (previous.isalpha() or char.isupper()) else 0.25
    if 0xFF01 <= code <= 0xFF5E or 0x3000 <= code <= 0x303F:
        return 0.7
    return (
        0.6 if char in "\u2013\u2014\u2018\u2019\u201c\u201d\u2026\u00a0\u00ab\u00bb\u2116\u00b0\u20ac\u00a9" else 0.0
    )


def _common(char: str, encoding: str) -> float:
    """What an ideograph or a Hangul syllable counts: the common ones of the encoding much, others little."""
    if encoding not in _COMMON_LEAD_BYTES:
        return 0.2
    codec, low, high, weight = _COMMON_LEAD_BYTES[encoding]
    encoded = char.encode(codec, "ignore")
    plain = len(encoded) == 2 and low <= encoded[0] <= high and (codec == "big5" or encoded[1] >= 0xA1)
    return weight if plain else 0.15
