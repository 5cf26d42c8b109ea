"""Judged text in a prompt: between delimiters that it cannot contain, whatever it holds.

Three things are done to text by participants and pages, and no other character of it is changed. Unpaired surrogates
become replacement characters. Tokens with which chat templates mark roles and turns get a backslash after their first
character, since a server that applies its template to the whole prompt would read them as such. And the block that
holds the text ends with digits that occur in none of the request's texts, also not in another script, another width,
in capitals, or with anything between them.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable

from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.failures import JudgingError

MIN_DIGITS = 6
"""Fewest digits of a delimiter that a template may ask for."""

_TRIES_OF_A_LENGTH = 64

_LOOK_ALIKES = dict(
    zip(
        "\u0430\u03b1\u044c\u0432\u03b2\u0185\u0441\u0501\u0435\u0192\u043e\u03bf\u0456\u03b9",
        "aabbbbcdef0011",
        strict=True,
    )
)
"""Cyrillic, Greek and Latin letters that are drawn like a hexadecimal digit."""
_LOOK_ALIKE = re.compile(f"[{''.join(_LOOK_ALIKES)}]")

_DRAWN_OTHERWISE = re.compile("[\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Scripts without such letters: taken away first, since folding them takes most of the time."""

_ASCII_LOOK_ALIKES = bytes.maketrans(b"oli", b"011")
_NOT_HEXADECIMAL = bytes(set(range(256)) - set(b"0123456789abcdefoli"))

_TEMPLATE_TOKEN = re.compile(
    r"<(?=[|\uff5c][^<>\n]{1,40}[|\uff5c]>"  # ChatML, Llama 3, Phi, DeepSeek, GLM: <|im_start|>
    r"|/?(?:start_of_turn|end_of_turn|bos|eos|pad|unk|mask|sop|eop)>|/s>|</?SYS>>)"  # Gemma, Llama 2, Mistral
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\])",
    re.IGNORECASE,
)
"""The first character of a token that a chat template would give a meaning to."""

_LINE_BREAKS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"})
"""Line breaks that JSON leaves as they are."""


def delimiter(text: str, digits: int = 12, taken: str | None = None) -> str:
    """Hexadecimal digits that do not occur in the text, derived from the text alone.

    Args:
        text: the text.
        digits: how many; more where 64 draws of that length all occur.
        taken: ``hexadecimal_digits`` of all texts in which they may not occur; of this one where it is None.
    """
    taken = hexadecimal_digits(text) if taken is None else taken
    salt = 0
    while True:
        tag = hashlib.sha256(f"{salt}:{text}".encode()).hexdigest()[: digits + salt // _TRIES_OF_A_LENGTH]
        if tag not in taken:
            return tag
        salt += 1


def hexadecimal_digits(text: str) -> str:
    """The text's hexadecimal digits alone, in lower case, also those that only look like ones.

    A delimiter that does not occur here occurs in the text in no other width, script or case, and with nothing
    (blanks, characters without width) between its digits.
    """
    if not text.isascii():
        text = _DRAWN_OTHERWISE.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text).casefold()
        text = _LOOK_ALIKE.sub(lambda match: _LOOK_ALIKES[match.group()], text)
    return text.encode("ascii", "ignore").lower().translate(_ASCII_LOOK_ALIKES, _NOT_HEXADECIMAL).decode()


def wrap(text: str, digits: int = 12, taken: str | None = None) -> str:
    """The text between two delimiter lines that it cannot contain, hence cannot close."""
    tag = delimiter(text, digits, taken)
    return f"[data {tag}]\n{text}\n[end {tag}]"


def without_template_tokens(text: str) -> str:
    """The text with a backslash inside what a chat template would take for a role or the end of a turn."""
    return _TEMPLATE_TOKEN.sub(lambda match: f"{match.group()}\\", text) if "<" in text or "[" in text else text


class JudgedText:
    """Text by participants or pages: a template can test it for emptiness and print it through a filter, no more.

    Args:
        text: the text.
        taken: ``hexadecimal_digits`` of all texts of its request, where it has others beside it.
    """

    __slots__ = ("_taken", "_text")

    def __init__(self, text: str, taken: str | None = None) -> None:
        self._text = without_template_tokens(clean_text(text))
        self._taken = taken

    @classmethod
    def together(cls, texts: Iterable[str]) -> list[JudgedText]:
        """The texts of one request: the delimiter of each occurs in none of them."""
        cleaned = [clean_text(text) for text in texts]
        taken = " ".join(hexadecimal_digits(text) for text in cleaned)
        return [cls(text, taken) for text in cleaned]

    def __bool__(self) -> bool:
        return bool(self._text)

    def __str__(self) -> str:
        raise JudgingError("judged text must be printed through the filter 'data' or 'inline'")

    __repr__ = __str__

    def wrapped(self, digits: int) -> str:
        """The text between its delimiters."""
        return wrap(self._text, digits, self._taken)

    def plain(self) -> str:
        """The text alone, for a model that scores it and follows no instruction."""
        return self._text

    def quoted(self) -> str:
        """The text on one line, JSON-quoted."""
        return json.dumps(self._text, ensure_ascii=False).translate(_LINE_BREAKS)
