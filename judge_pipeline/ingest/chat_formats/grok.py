"""Grok's data export (``prod-grok-backend.json``): conversations with ``responses``, human and Grok's alike."""

from __future__ import annotations

from typing import Any

from judge_pipeline.ingest.chat_formats.chat import Chat, Role, Turn, as_dict, as_text, instant_of, plural_note
from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NAME = "Grok export"


def chat_of(value: dict[str, Any]) -> Chat | None:
    """The conversation on its current branch; None if the object is not one of this format."""
    items = value.get("responses")
    if not isinstance(items, list) or not ("conversation" in value or items):
        return None
    responses = [as_dict(as_dict(item).get("response", item)) for item in items]
    if not all("sender" in response and "message" in response for response in responses):
        return None
    by_id = {as_text(r.get("_id")) or f"#{i}": r for i, r in enumerate(responses)}
    nodes = {
        key: Node(as_text(r.get("parent_response_id")) or None, instant_of(r.get("create_time")))
        for key, r in by_id.items()
    }
    parents = [node.parent for node in nodes.values() if node.parent in nodes]
    notes: tuple[str, ...] = ()
    if len(set(parents)) < len(parents) and len(by_id) == len(responses):
        path, notes = current_path(nodes, None)
        responses = [by_id[key] for key in path]
    return Chat(tuple(_turn(response) for response in responses), notes)


def _turn(response: dict[str, Any]) -> Turn:
    sender = as_text(response.get("sender")).lower()
    files = response.get("file_attachments")
    notes = plural_note(len(files) if isinstance(files, list) else 0, "file(s) left out")
    role: Role = "user" if sender in ("human", "user") else "assistant"
    return Turn(role, as_text(response.get("message")), instant_of(response.get("create_time")), notes)
