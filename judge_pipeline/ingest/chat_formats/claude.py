"""Claude's data export: conversations with ``chat_messages``, whose text may lie in content blocks only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from judge_pipeline.ingest.chat_formats.chat import (
    Chat,
    Content,
    Turn,
    alternating,
    as_dict,
    as_list,
    as_text,
    content_of,
    instant_of,
    plural_note,
    role_of,
)
from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NAME = "Claude export"


def chat_of(value: dict[str, Any]) -> Chat | None:
    """The conversation on its current branch; None if the object is not one of this format."""
    if not isinstance(value.get("chat_messages"), list):
        return None
    messages = [message for message in value["chat_messages"] if isinstance(message, dict)]
    if messages and not any({"sender", "text", "content"} & set(message) for message in messages):
        return None
    path, notes = _current(messages, value.get("current_leaf_message_uuid"))
    if path and not any("sender" in message for message in path):
        return Chat(alternating((_said(m).text, instant_of(m.get("created_at"))) for m in path).turns, notes)
    turns = [turn for message in path if (turn := _turn(message)) is not None]
    return Chat(
        tuple(turns), (*notes, *plural_note(len(path) - len(turns), "message(s) without a known sender left out"))
    )


def _current(messages: list[dict[str, Any]], leaf: object) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The messages on the current branch. Exports without links, or without any fork, are taken as they stand."""
    by_id = {as_text(m.get("uuid")) or f"#{i}": m for i, m in enumerate(messages)}
    nodes = {
        key: Node(as_text(m.get("parent_message_uuid")) or None, instant_of(m.get("created_at")))
        for key, m in by_id.items()
    }
    # A first prompt that was edited has siblings, too: they share a parent that is no message.
    parents = [node.parent for node in nodes.values() if node.parent is not None]
    if len(by_id) < len(messages) or len(set(parents)) == len(parents):
        return messages, ()
    path, notes = current_path(nodes, leaf if isinstance(leaf, str) else None)
    return [by_id[key] for key in path], notes


def _turn(message: dict[str, Any]) -> Turn | None:
    role = role_of(message.get("sender"))
    if role is None:
        return None
    said = _said(message)
    pasted = [as_dict(item) for item in as_list(message.get("attachments"))]
    texts = [said.text, *(as_text(item.get("extracted_content")) for item in pasted)]
    files = len(as_list(message.get("files"))) + sum(not as_text(item.get("extracted_content")) for item in pasted)
    notes = (
        *said.notes,
        *plural_note(sum(bool(text) for text in texts[1:]), "attachment(s) with their text included"),
        *plural_note(files, "file(s) left out"),
        *(() if any(texts) else ("no text",)),
    )
    return Turn(role, "\n\n".join(text for text in texts if text), instant_of(message.get("created_at")), notes)


def _said(message: dict[str, Any]) -> Content:
    """What the message says: its text blocks; where it has no blocks at all, its top-level text.

    The top-level text may repeat the thinking, and is empty in many exports, so that the blocks come first.
    """
    content = content_of(message.get("content"))
    only_text = not (content.thinking or content.tool_calls or content.tool_results or content.other)
    return replace(content, text=as_text(message.get("text"))) if only_text and not content.text else content
