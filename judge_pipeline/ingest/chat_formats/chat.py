"""What a reader of a chat format hands over, and careful access to values of unknown JSON."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

Role = Literal["user", "assistant", "system", "tool"]

NOT_TYPED = "not typed by the participant"
"""Note on a message that a log files under its user although a client wrote it; Q_u leaves such messages out."""

_ROLES: dict[str, Role] = {
    "user": "user", "human": "user", "prompt": "user", "you": "user", "request": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "bot": "assistant", "gpt": "assistant",
    "chatgpt": "assistant", "gemini": "assistant", "claude": "assistant", "copilot": "assistant", "grok": "assistant",
    "response": "assistant", "agent": "assistant", "chatbot": "assistant",
    "system": "system", "developer": "system", "info": "system", "error": "system", "warning": "system",
    "tool": "tool", "function": "tool", "toolresult": "tool", "tool_result": "tool",
}  # fmt: skip

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a chat.

    Attributes:
        role: who speaks.
        text: what was said, without thinking.
        at: when, only where the log truly says so (with a zone, or as an epoch).
        notes: what the reader was unsure of or left out.
    """

    role: Role
    text: str
    at: datetime | None = None
    notes: tuple[str, ...] = ()

    def noted(self, *notes: str) -> Turn:
        """The turn with further notes."""
        return replace(self, notes=(*self.notes, *notes))


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation: its messages in order, and what is to be said of it as a whole."""

    turns: tuple[Turn, ...]
    notes: tuple[str, ...] = ()


def role_of(word: object) -> Role | None:
    """The role that a JSON value names, in any case; None where it names none."""
    return _ROLES.get(word.strip().lower()) if isinstance(word, str) else None


def as_dict(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is text, else ''."""
    return value if isinstance(value, str) else ""


def as_json(value: object) -> str:
    """The value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def instant_of(value: object) -> datetime | None:
    """The instant that a JSON value truly states: ISO 8601 with a zone, or seconds or milliseconds since 1970.

    MongoDB's ``{"$date": ...}`` and ``{"$numberLong": ...}`` are looked into. A time without a zone, one before 2000
    (an empty field written as a number) and anything else is None.
    """
    for key in ("$date", "$numberLong"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    if isinstance(value, str) and value.isascii() and value.isdigit() and 9 < len(value) < 15:
        value = int(value)
    try:
        at = _from_number(value) if isinstance(value, (int, float)) else datetime.fromisoformat(as_text(value).strip())
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None or at.utcoffset() is None:
        return None
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        return None
    return at if at >= _EARLIEST else None


def _from_number(value: float) -> datetime:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError("no instant")
    seconds = value / 1000 if abs(value) > 1e11 else value
    return _EPOCH + timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class Content:
    """A message's content: what was said, and how many pieces of other kinds it held."""

    text: str
    thinking: int = 0
    tool_calls: int = 0
    tool_results: tuple[str, ...] = ()
    other: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not in the text, in words."""
        left_out = [
            f"{n} {what} left out"
            for n, what in (
                (self.thinking, "thinking block(s)"),
                (self.tool_calls, "tool call(s)"),
                (self.other, "part(s) that are not text"),
            )
            if n
        ]
        return tuple(left_out)


_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "markdown", ""})
_THINKING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning", "thought", "think", "thoughts"})
_CALL_TYPES = frozenset({"tool_use", "toolcall", "tool_call", "function_call", "server_tool_use", "functioncall"})
_RESULT_TYPES = frozenset({"tool_result", "toolresult", "function_call_output", "functionresponse"})


def content_of(value: object) -> Content:
    """The content of a message in the manner of the Anthropic, OpenAI and Gemini APIs: text, or a list of blocks."""
    if isinstance(value, str):
        return Content(value)
    blocks = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    texts: list[str] = []
    results: list[str] = []
    counts = {"thinking": 0, "tool_calls": 0, "other": 0}
    for block in blocks:
        kind = _kind(block)
        if kind == "text":
            texts.append(_text_in(block))
        elif kind == "result":
            results.append(_result_text(block))
        else:
            counts[kind] += 1
    return Content("\n\n".join(t for t in texts if t), tool_results=tuple(results), **counts)


def _kind(block: object) -> str:
    if isinstance(block, str):
        return "text"
    item = as_dict(block)
    kind = as_text(item.get("type")).lower()
    if kind in _THINKING_TYPES or item.get("thought") is True or item.get("isThought") is True:
        return "thinking"
    if kind in _CALL_TYPES or "functionCall" in item:
        return "tool_calls"
    if kind in _RESULT_TYPES or "functionResponse" in item:
        return "result"
    return "text" if kind in _TEXT_TYPES and isinstance(item.get("text"), (str, dict)) else "other"


def _text_in(block: object) -> str:
    if isinstance(block, str):
        return block
    text = as_dict(block).get("text")
    return as_text(as_dict(text).get("value")) if isinstance(text, dict) else as_text(text)


def _result_text(block: dict[str, Any]) -> str:
    inner = next((block[key] for key in ("content", "output", "functionResponse", "result") if key in block), "")
    if isinstance(inner, str):
        return inner
    texts = [_text_in(item) for item in as_list(inner)]
    return "\n\n".join(text for text in texts if text) or as_json(inner)


def alternating(texts: Iterable[tuple[str, datetime | None]]) -> Chat:
    """A conversation of messages without any speaker: taken in turn, the human first, and noted on each."""
    note = "no speakers in the log: taken in turn, the human first"
    turns = [Turn("assistant" if i % 2 else "user", text, at, (note,)) for i, (text, at) in enumerate(texts)]
    return Chat(tuple(turns))


def between(text: str, tag: str) -> list[tuple[int, int]]:
    """Where ``<tag>...</tag>`` stands in the text: spans of the whole, tags included. Linear in the text's length."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    spans: list[tuple[int, int]] = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        spans.append((start, end + len(closing)))
        start = text.find(opening, end)
    return spans


def inside(text: str, tag: str) -> list[str]:
    """What stands inside each ``<tag>...</tag>`` of the text, blanks around it removed."""
    return [text[a + len(tag) + 2 : b - len(tag) - 3].strip() for a, b in between(text, tag)]


def without(text: str, *tags: str) -> str:
    """The text without any ``<tag>...</tag>`` of the tags."""
    for tag in tags:
        pieces: list[str] = []
        at = 0
        for start, end in between(text, tag):
            pieces.append(text[at:start])
            at = end
        text = "".join((*pieces, text[at:]))
    return text


def plural_note(n: int, what: str) -> tuple[str, ...]:
    """``what`` with its count in front, or no note for none."""
    return (f"{n} {what}",) if n else ()


def plain_label(label: str) -> str:
    """A speaker's label in comparable form: compatibility forms folded, no case, no symbols, single blanks."""
    folded = unicodedata.normalize("NFKC", label).casefold()
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" or c in ".-'" else " " for c in folded)
    return " ".join(kept.split()).strip(".-' ")


def lines_of(text: str) -> list[str]:
    r"""The lines of a text, ends removed; ``\r\n`` and ``\r`` count as ends, form feeds and the like do not."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def block_text(lines: Sequence[str]) -> str:
    """The lines as one message: blank lines and horizontal rules around it removed, all within kept."""
    start, end = 0, len(lines)
    while start < end and _is_frame(lines[start]):
        start += 1
    while end > start and _is_frame(lines[end - 1]):
        end -= 1
    return "\n".join(lines[start:end])


def _is_frame(line: str) -> bool:
    bare = line.strip()
    return not bare or (len(bare) >= 3 and len(set(bare)) == 1 and bare[0] in "-*_=")
