"""OpenClaw's session files (and those of pi, on which it stands): JSON lines, flat or as a tree of entries."""

from __future__ import annotations

from typing import Any

from judge_pipeline.ingest.chat_formats.chat import Chat, Turn, as_dict, as_text, content_of, instant_of, role_of
from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NAME = "OpenClaw session"


def chats_of_records(records: list[Any]) -> list[Chat] | None:
    """The chats of a session file; None if the lines are not of this format.

    Entries with ``id`` and ``parentId`` are a tree, and the last one is where the session stands. Flat lines with
    ``session_id`` are one chat for each session.
    """
    lines = [record for record in records if isinstance(record, dict)]
    messages = [line for line in lines if line.get("type") == "message" and "role" in as_dict(line.get("message"))]
    if messages:
        return [_tree_chat(lines)]
    flat = [line for line in lines if "role" in line and "session_id" in line]
    if not flat:
        return None
    sessions: dict[str, list[Turn]] = {}
    for line in flat:
        sessions.setdefault(as_text(line["session_id"]), []).extend(_turns(line, line.get("timestamp")))
    return [Chat(tuple(turns)) for turns in sessions.values()]


def _tree_chat(lines: list[dict[str, Any]]) -> Chat:
    by_id = {as_text(line.get("id")) or f"#{i}": line for i, line in enumerate(lines) if line.get("type") != "session"}
    nodes = {
        key: Node(
            as_text(line.get("parentId")) or None, instant_of(line.get("timestamp")), line.get("type") == "message"
        )
        for key, line in by_id.items()
    }
    path, notes = current_path(nodes, next(reversed(by_id), None))
    said = [by_id[key] for key in path if by_id[key].get("type") == "message"]
    return Chat(
        tuple(turn for line in said for turn in _turns(as_dict(line.get("message")), line.get("timestamp"))), notes
    )


def _turns(message: dict[str, Any], timestamp: object) -> list[Turn]:
    role = role_of(message.get("role"))
    if role is None:
        return []
    at = instant_of(timestamp) or instant_of(message.get("timestamp"))
    content = content_of(message.get("content"))
    turns = [Turn("tool", result, at, ("tool result",)) for result in content.tool_results]
    if content.text or content.notes or not turns:
        turns.append(Turn(role, content.text, at, content.notes))
    return turns
