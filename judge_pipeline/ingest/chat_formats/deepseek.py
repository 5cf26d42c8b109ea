"""DeepSeek's data export: a tree like ChatGPT's, whose messages are made of typed fragments."""

from __future__ import annotations

from typing import Any

from judge_pipeline.ingest.chat_formats.chat import Chat, Role, Turn, as_dict, as_list, as_text, instant_of, plural_note
from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NAME = "DeepSeek export"

_ROLES: dict[str, Role] = {"REQUEST": "user", "RESPONSE": "assistant"}


def chat_of(value: dict[str, Any]) -> Chat | None:
    """The conversation on its newest branch; None if the object is not one of this format."""
    mapping = value.get("mapping")
    if not isinstance(mapping, dict):
        return None
    messages = {key: as_dict(as_dict(node).get("message")) for key, node in mapping.items()}
    if not any(isinstance(message.get("fragments"), list) for message in messages.values()):
        return None
    nodes = {
        key: Node(
            as_text(as_dict(node).get("parent")) or None,
            instant_of(messages[key].get("inserted_at")),
            bool(messages[key]),
        )
        for key, node in mapping.items()
    }
    path, notes = current_path(nodes, None)
    turns = [turn for key in path for turn in _turns(messages[key])]
    return Chat(tuple(turns), notes)


def _turns(message: dict[str, Any]) -> list[Turn]:
    """A node's messages: it may hold the request, the response, or both, each in several fragments."""
    at = instant_of(message.get("inserted_at"))
    fragments = [as_dict(fragment) for fragment in as_list(message.get("fragments"))]
    thinking = plural_note(sum(f.get("type") == "THINK" for f in fragments), "thinking block(s) left out")
    turns: list[Turn] = []
    for kind, role in _ROLES.items():
        texts = [as_text(fragment.get("content")) for fragment in fragments if fragment.get("type") == kind]
        if texts:
            turns.append(Turn(role, "\n\n".join(texts), at, thinking if role == "assistant" else ()))
    return turns
