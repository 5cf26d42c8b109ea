"""Values of a row as the fields of a pair need them; what is missing or of the wrong kind is at fault, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_pipeline.ingest.record_files import parsed
from judge_pipeline.preference.drafts import BOTH_BAD, Faulty, Turn

_CHOICES: Mapping[str, str] = {
    "a": "A", "model_a": "A", "response_a": "A", "answer_a": "A", "text_a": "A", "a>b": "A", "[[a]]": "A",
    "b": "B", "model_b": "B", "response_b": "B", "answer_b": "B", "text_b": "B", "b>a": "B", "a<b": "B", "[[b]]": "B",
    "tie": "tie", "draw": "tie", "equal": "tie", "a=b": "tie", "[[c]]": "tie",
    "both_bad": BOTH_BAD, "tie (bothbad)": BOTH_BAD, "bothbad": BOTH_BAD, "both bad": BOTH_BAD,
}  # fmt: skip
"""Words for a choice that mean the same everywhere. Numbers do not: 0, 1 and 2 are used in every way."""

_SPLITS = {"train": "train", "training": "train", "val": "val", "validation": "val", "dev": "val", "test": "test"}


def choice_of(value: Any, field: str, words: Mapping[str, str] | None = None) -> str:
    """The choice that a value means: A, B, tie or ``BOTH_BAD``.

    Args:
        value: as the file holds it.
        field: its column, for messages.
        words: what this format calls a choice; they go before the usual words. Of neither does case count.

    Raises:
        Faulty: it is missing, or means none; the message says how to name it.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        raise Faulty(field, value, "states no choice", "fill in who was chosen, or remove the row")
    whole = isinstance(value, float) and value.is_integer()  # 1.0: pandas writes 1 so beside a missing one
    text = str(int(value) if whole else value).strip()
    found = word_in(words or {}, text) or (_CHOICES.get(text.casefold()) if not isinstance(value, bool) else None)
    if found is None:
        usual = [*dict.fromkeys(_CHOICES.values()), *(word for word in _CHOICES if len(word) > 1)]
        known = ", ".join(dict.fromkeys([*(words or {}), *usual]))
        raise Faulty(field, value, f"is no choice that is known ({known})", "name it in source.choice_words")
    return found


def word_in(words: Mapping[str, str], text: str) -> str | None:
    """What a set's own word for a choice means; neither case nor outer white space counts.

    Where words differ in case alone (``{a: A, A: B}``), the one that is written just so is meant; None where there is
    none, or where it could be several.
    """
    if text in words:
        return words[text]
    meant = {choice for word, choice in words.items() if word.strip().casefold() == text.strip().casefold()}
    return meant.pop() if len(meant) == 1 else None


def index_choice(value: Any, field: str) -> str:
    """The choice that an index means: 0 is A, 1 is B; 0.0 as pandas writes it, too.

    Raises:
        Faulty: it is missing or another number.
    """
    text = "" if value is None else str(value).strip()
    if not text:
        raise Faulty(field, value, "states no choice", "remove the row: nobody chose")
    if text not in ("0", "1", "0.0", "1.0"):
        raise Faulty(field, value, "is not 0 (the first) or 1 (the second)", "mend it, or remove the row")
    return "AB"[int(float(text))]


def response_of(value: Any, field: str) -> str:
    """A response's text, exactly as it is; an empty one is a response, too (``source.empty`` decides on it).

    Raises:
        Faulty: it is missing, or no text.
    """
    if isinstance(value, str):
        return value
    text = text_of(value, field)
    if text is None:
        raise Faulty(field, value, "holds no response", "fill it in, or remove the row")
    return text


def text_of(value: Any, field: str) -> str | None:
    """A text, exactly as it is; None where it is missing or blank. Numbers become their digits.

    Raises:
        Faulty: it is a list, an object or a truth value.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Faulty(field, value, "is no text", "write it as text")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def label_of(value: Any, field: str) -> str | None:
    """A short name (an id, a category, a language, a model), without outer white space.

    Raises:
        Faulty: it is no text, or has more than 200 characters or a line break.
    """
    text = text_of(value, field)
    if text is None:
        return None
    text = text.strip()
    if len(text) > 200 or not text.isprintable():
        raise Faulty(field, value, "is no name: too long, or with line breaks", "give it at most 200 characters")
    return text


def split_of(value: Any, field: str) -> str | None:
    """The split that a word means; None where none is stated.

    Raises:
        Faulty: it is another word.
    """
    text = label_of(value, field)
    if text is None:
        return None
    if text.lower() not in _SPLITS:
        raise Faulty(field, value, "is no split", f"use one of {', '.join(_SPLITS)}, or drop the column")
    return _SPLITS[text.lower()]


def structure_of(value: Any, field: str) -> Any:
    """A list or object, given as such or as JSON text; None where it is missing.

    Raises:
        Faulty: it is neither.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        found = parsed(value)
    except (ValueError, RecursionError) as error:
        raise Faulty(field, value, f"is not JSON ({error})", "write a list or an object as JSON") from None
    if not isinstance(found, list | Mapping):
        raise Faulty(field, value, "is no list and no object", "write a list or an object as JSON")
    return found


def mapping_of(value: Any, field: str) -> dict[str, Any]:
    """An object's entries that hold something; empty where it is missing.

    Raises:
        Faulty: it is no object.
    """
    found = structure_of(value, field)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise Faulty(field, value, "is no object", "write {name: value} as JSON")
    return {str(key): inner for key, inner in found.items() if inner not in (None, "")}


def turns_of(value: Any, field: str) -> list[Turn]:
    """The turns of a conversation: a list of {role, content}, the content a text or a list of {type, text}.

    Parts that are no text (images) are left away.

    Raises:
        Faulty: it is no conversation.
    """
    found = structure_of(value, field)
    if found is None:
        return []
    remedy = "write a list of {role, content}"
    if not isinstance(found, list):
        raise Faulty(field, value, "is no conversation", remedy)
    turns = []
    for turn in found:
        if not isinstance(turn, Mapping) or not isinstance(turn.get("role"), str):
            raise Faulty(field, value, "has a turn without a role", remedy)
        turns.append((turn["role"], said_in(turn.get("content"), field)))
    return turns


def said_in(content: Any, field: str) -> str:
    """The text of a turn's content: a text, a part {type, text}, or a list of parts; '' where it is missing.

    Raises:
        Faulty: it is anything else.
    """
    if isinstance(content, str):
        return content
    parts = [] if content is None else [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, list) or not all(isinstance(part, str | Mapping | None) for part in parts):
        raise Faulty(field, content, "has a turn whose content is no text", "write a text, or a list of {type, text}")
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def within(value: Any, *keys: str) -> Any:
    """What stands in nested objects under the keys, one after the other; None where one of them is no object."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
