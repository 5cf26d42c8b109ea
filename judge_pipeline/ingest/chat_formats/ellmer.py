"""ellmer's Markdown (R): ``## User`` and ``## Assistant``, with the results of tools filed under the user."""

from __future__ import annotations

import re

from judge_pipeline.ingest.chat_formats import role_headings
from judge_pipeline.ingest.chat_formats.chat import Chat, Turn

NAME = "ellmer chat"

_RESULT = re.compile(r"\s*(`{3,})[^\n`]*\n\s*# tool result \(")
_REQUEST = re.compile(r"^# tool request \(", re.MULTILINE)


def chats_of_text(text: str) -> list[Chat] | None:
    """The conversation; None if the text shows no call of a tool in ellmer's manner (then it is plain Markdown)."""
    if "# tool request (" not in text and "# tool result (" not in text:
        return None
    chats = role_headings.chats_of_text(text)
    return None if chats is None else [Chat(tuple(map(_turn, chat.turns)), chat.notes) for chat in chats]


def _turn(turn: Turn) -> Turn:
    if turn.role == "user" and _RESULT.match(turn.text):
        return Turn("tool", turn.text, turn.at, (*turn.notes, "tool result"))
    if turn.role == "assistant" and _REQUEST.search(turn.text):
        return turn.noted("tool request")
    return turn
