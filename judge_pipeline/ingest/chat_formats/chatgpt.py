"""ChatGPT's data export: ``conversations.json`` (a tree of messages for each conversation), or ``chat.html``."""

from __future__ import annotations

import json
import re
from typing import Any

from judge_pipeline.ingest.chat_formats.chat import (
    Chat,
    Role,
    Turn,
    alternating,
    as_dict,
    as_list,
    as_text,
    instant_of,
    plural_note,
    role_of,
)
from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NAME = "ChatGPT export"

_THINKING = frozenset({"thoughts", "reasoning_recap", "model_editable_context"})

_PAGE_DATA = re.compile(r"\b(?:var|let|const)\s+jsonData\s*=\s*")


def chat_of(value: dict[str, Any]) -> Chat | None:
    """The conversation on its current branch; None if the object is not one of this format."""
    mapping = value.get("mapping")
    if not isinstance(mapping, dict) or not any("message" in as_dict(node) for node in mapping.values()):
        return None
    messages = {key: as_dict(as_dict(node).get("message")) for key, node in mapping.items()}
    current = value.get("current_node")
    path, notes = current_path(_nodes(mapping, messages), current if isinstance(current, str) else None)
    said = [messages[key] for key in path if messages[key]]
    if not any(role_of(as_dict(message.get("author")).get("role")) for message in said):
        texts = [(_text(message)[0], instant_of(message.get("create_time"))) for message in said]
        chat = alternating((text, at) for text, at in texts if text.strip())
        return Chat(chat.turns, notes)
    turns = [turn for turn in map(_turn, said) if turn is not None]
    thinking = sum(as_dict(m.get("content")).get("content_type") in _THINKING for m in said)
    return Chat(tuple(turns), (*notes, *plural_note(thinking, "thinking message(s) left out")))


def data_in_page(text: str) -> object | None:
    """The conversations inside the export's ``chat.html``; None if there are none."""
    match = _PAGE_DATA.search(text)
    if match is None:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, match.end())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (list, dict)) else None


def _nodes(mapping: dict[str, Any], messages: dict[str, dict[str, Any]]) -> dict[str, Node]:
    by_children = {
        child: key
        for key, node in mapping.items()
        for child in as_list(as_dict(node).get("children"))
        if isinstance(child, str)
    }
    return {
        key: Node(
            as_text(as_dict(node).get("parent")) or by_children.get(key),
            instant_of(messages[key].get("create_time")),
            counts=role_of(as_dict(messages[key].get("author")).get("role")) in ("user", "assistant"),
        )
        for key, node in mapping.items()
    }


def _turn(message: dict[str, Any]) -> Turn | None:
    """The message as a turn; None for placeholders, thinking, and what has no role among others that have one."""
    role = role_of(as_dict(message.get("author")).get("role"))
    kind = as_text(as_dict(message.get("content")).get("content_type"))
    if role is None or kind in _THINKING:
        return None
    text, other = _text(message)
    if not text.strip() and not (role == "user" and other):
        return None
    notes = plural_note(other, "part(s) that are not text left out")
    said_by, why = _speaker(role, kind, message)
    return Turn(said_by, text, instant_of(message.get("create_time")), (*notes, *why))


def _speaker(role: Role, kind: str, message: dict[str, Any]) -> tuple[Role, tuple[str, ...]]:
    metadata = as_dict(message.get("metadata"))
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    if role == "user" and (kind == "user_editable_context" or hidden or metadata.get("is_user_system_message") is True):
        return "system", ("custom instructions or hidden context",)
    if role == "assistant" and message.get("recipient") not in (None, "", "all"):
        return "tool", ("tool call",)
    return role, ()


def _text(message: dict[str, Any]) -> tuple[str, int]:
    """What the message says, and how many parts of it are not text."""
    content = message.get("content")
    if isinstance(content, str):
        return content, 0
    fields = as_dict(content)
    texts: list[str] = []
    other = 0
    for part in as_list(fields.get("parts")):
        text = part if isinstance(part, str) else as_text(as_dict(part).get("text"))
        if text:
            texts.append(text)
        elif isinstance(part, dict):
            other += 1
    for key in ("text", "result", "user_profile", "user_instructions"):
        if isinstance(fields.get(key), str) and fields[key]:
            texts.append(fields[key])
    return "\n\n".join(texts), other
