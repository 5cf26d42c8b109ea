"""LibreChat's exports: text (``>> User:``), Markdown (``**User**``) and JSON (flat or nested messages)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from judge_pipeline.ingest.chat_formats.chat import (
    Chat,
    Role,
    Turn,
    as_dict,
    as_list,
    as_text,
    block_text,
    content_of,
    instant_of,
    lines_of,
    plain_label,
    role_of,
)
from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NAME = "LibreChat export"

_TEXT_SPEAKER = re.compile(r">> (.{1,120}?):\s*")
_MARKDOWN_SPEAKER = re.compile(r"\*\*([^*]{1,120})\*\*\s*")
_MARKERS = {
    "(This is an error message)": "an error message",
    "*(This is an error message)*": "an error message",
    "(This is an unfinished message)": "unfinished",
    "*(This is an unfinished message)*": "unfinished",
}
_TOOLS = frozenset({"code interpreter", "retrieval", "tool", "image"})


def chats_of_text(text: str) -> list[Chat] | None:
    """The conversation of a text or Markdown export; None if the text is neither."""
    head = text[:4000]
    lines = lines_of(text)
    if re.match(r"\s*Conversation\s*\n#{5,}", head) or (lines and _TEXT_SPEAKER.fullmatch(lines[0])):
        return _marked(lines, _TEXT_SPEAKER, r"History\s*")
    if re.match(r"\s*# Conversation\s*\n(?:#+|-) conversationId:", head):
        return _marked(lines, _MARKDOWN_SPEAKER, r"## History\s*")
    return None


def chat_of(value: dict[str, Any]) -> Chat | None:
    """The conversation of a JSON export, on its newest branch; None if the object is not one of this format."""
    messages = list(_flat(as_list(value.get("messages")) or as_list(value.get("messagesTree"))))
    if not messages or not all("isCreatedByUser" in message for message in messages):
        return None
    by_id = {as_text(m.get("messageId")) or f"#{i}": m for i, m in enumerate(messages)}
    nodes = {
        key: Node(as_text(m.get("parentMessageId")) or None, instant_of(m.get("createdAt"))) for key, m in by_id.items()
    }
    parents = [node.parent for node in nodes.values() if node.parent in nodes]
    if len(by_id) < len(messages) or len(set(parents)) == len(parents):
        return Chat(tuple(map(_turn, messages)))
    path, notes = current_path(nodes, None)
    return Chat(tuple(_turn(by_id[key]) for key in path), notes)


def _marked(lines: list[str], speaker: re.Pattern[str], history: str) -> list[Chat]:
    start = next((i + 1 for i, line in enumerate(lines) if re.fullmatch(history, line)), 0)
    heads = [(i, m[1]) for i, line in enumerate(lines) if i >= start and (m := speaker.fullmatch(line))]
    ends = [*(i for i, _ in heads[1:]), len(lines)][: len(heads)]
    turns = [_marked_turn(label, lines[i + 1 : end]) for (i, label), end in zip(heads, ends, strict=True)]
    return [Chat(tuple(turns))]


def _marked_turn(label: str, lines: list[str]) -> Turn:
    notes = [_MARKERS[line.strip()] for line in lines if line.strip() in _MARKERS]
    said = [line for line in lines if line.strip() not in _MARKERS]
    return Turn(_role_of_sender(label), block_text(said), None, tuple(notes))


def _role_of_sender(label: str) -> Role:
    """Who a sender's label means: all that is neither the user nor a tool is a model under its own name."""
    plain = plain_label(label)
    return "tool" if plain in _TOOLS else role_of(plain) or "assistant"


def _flat(messages: list[Any]) -> Iterator[dict[str, Any]]:
    """All messages, nested ones after those that they answer; without recursion, since nesting can be deep."""
    waiting = [as_dict(message) for message in reversed(messages)]
    while waiting:
        message = waiting.pop()
        yield message
        waiting.extend(as_dict(child) for child in reversed(as_list(message.get("children"))))


def _turn(message: dict[str, Any]) -> Turn:
    content = content_of(message.get("content"))
    role: Role = "user" if message.get("isCreatedByUser") is True else "assistant"
    notes = (*content.notes, *(("an error message",) if message.get("error") is True else ()))
    return Turn(role, content.text or as_text(message.get("text")), instant_of(message.get("createdAt")), notes)
