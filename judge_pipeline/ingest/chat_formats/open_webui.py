"""Open WebUI's export: a tree of messages under ``history``, with the id of the current one."""

from __future__ import annotations

from typing import Any

from judge_pipeline.ingest.chat_formats.chat import Chat, Turn, as_dict, as_text, content_of, instant_of, role_of
from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NAME = "Open WebUI export"


def chat_of(value: dict[str, Any]) -> Chat | None:
    """The conversation on its current branch; None if the object is not one of this format."""
    history = as_dict(value.get("history"))
    messages = history.get("messages")
    if not isinstance(messages, dict) or not all("role" in as_dict(message) for message in messages.values()):
        return None
    nodes = {
        key: Node(as_text(message.get("parentId")) or None, instant_of(message.get("timestamp")))
        for key, message in messages.items()
    }
    current = history.get("currentId")
    path, notes = current_path(nodes, current if isinstance(current, str) else None)
    turns = [turn for key in path if (turn := _turn(messages[key])) is not None]
    return Chat(tuple(turns), notes)


def _turn(message: dict[str, Any]) -> Turn | None:
    role = role_of(message.get("role"))
    content = content_of(message.get("content"))
    return None if role is None else Turn(role, content.text, instant_of(message.get("timestamp")), content.notes)
