"""Codex CLI's session files ("rollouts"): JSON lines of typed payloads."""

from __future__ import annotations

import re
from typing import Any

from judge_pipeline.ingest.chat_formats.chat import (
    NOT_TYPED,
    Chat,
    Turn,
    as_dict,
    as_text,
    content_of,
    instant_of,
    role_of,
)

NAME = "Codex session"

_CONTEXT = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|INSTRUCTIONS)>|# AGENTS\.md instructions)"
)


def chats_of_records(records: list[Any]) -> list[Chat] | None:
    """The chat of a session file; None if the lines are not of this format."""
    lines = [_today(record) for record in records if isinstance(record, dict)]
    if not any(line.get("type") == "response_item" and isinstance(line.get("payload"), dict) for line in lines):
        return None
    turns = [turn for line in lines if line.get("type") == "response_item" and (turn := _turn(line)) is not None]
    return [Chat(tuple(turns))]


def _today(line: dict[str, Any]) -> dict[str, Any]:
    """A line in the form of today: older files have the message itself in its place, without a payload around it."""
    old = line.get("type") == "message" and "role" in line and isinstance(line.get("content"), list)
    return {"type": "response_item", "timestamp": line.get("timestamp"), "payload": line} if old else line


def _turn(line: dict[str, Any]) -> Turn | None:
    payload = as_dict(line.get("payload"))
    at = instant_of(line.get("timestamp"))
    kind = as_text(payload.get("type"))
    if kind.endswith("_call_output"):
        output = payload.get("output")
        return Turn("tool", output if isinstance(output, str) else content_of(output).text, at, ("tool result",))
    role = role_of(payload.get("role"))
    if kind != "message" or role is None:
        return None
    content = content_of(payload.get("content"))
    if role == "user" and _CONTEXT.match(content.text):
        return Turn("system", content.text, at, (NOT_TYPED,))
    return Turn(role, content.text, at, content.notes)
