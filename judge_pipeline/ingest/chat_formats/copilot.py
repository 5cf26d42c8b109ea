"""GitHub Copilot Chat: what VS Code copies ("Copy All") and exports ("Export Chat")."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from judge_pipeline.ingest.chat_formats.chat import (
    Chat,
    Turn,
    as_dict,
    as_list,
    as_text,
    block_text,
    instant_of,
    lines_of,
    plural_note,
    role_of,
)
from judge_pipeline.ingest.chat_formats.fences import fenced

NAME = "Copilot chat"
ACTIVITY_NAME = "Copilot activity history"

_ACTIVITY = re.compile(r"\ufeff?\"?Conversation\"?,\"?Time\"?,\"?Author\"?,\"?Message\"?\s", re.IGNORECASE)
_ANSWER = re.compile(r"(?:>\s*)?GitHub Copilot:\s?(.*)")
_NAMED = re.compile(r"(?:>\s*)?([^\s:`*#|>][^:`*#|]{0,60}):\s?(.*)")


def chats_of_text(text: str) -> list[Chat] | None:
    """The conversation of a copy-out ("NAME: ..." / "GitHub Copilot: ..."); None if the text is none.

    The person's label is the one that the line before the first answer's stretch begins with: lines with this label
    are prompts. Without such a label the log starts with an answer.
    """
    if "GitHub Copilot:" not in text:
        return None
    lines = lines_of(text)
    inside = fenced(lines)
    answers = [i for i, line in enumerate(lines) if not inside[i] and _ANSWER.match(line)]
    if not answers:
        return None
    person = _person(lines[: answers[0]])
    heads: list[tuple[int, str]] = []
    for i, line in enumerate(lines):
        if inside[i]:
            continue
        named = _NAMED.match(line)
        if _ANSWER.match(line):
            heads.append((i, "assistant"))
        elif named and person is not None and named[1].strip() == person:
            heads.append((i, "user"))
    ends = [i for i, _ in heads[1:]] + [len(lines)]
    return [Chat(tuple(_copied_turn(role, lines[i:end]) for (i, role), end in zip(heads, ends, strict=True)))]


def activity_chats_of_text(text: str) -> list[Chat] | None:
    """The conversations of Microsoft's activity export (CSV, newest first), oldest message first; None for others."""
    if _ACTIVITY.match(text) is None:
        return None
    chats: dict[str, list[tuple[str, Turn]]] = {}
    try:
        for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff"))):
            role = role_of(row.get("Author"))
            if role is not None:
                turn = Turn(role, (row.get("Message") or "").strip(), instant_of(row.get("Time")))
                chats.setdefault(row.get("Conversation") or "", []).append((row.get("Time") or "", turn))
    except csv.Error:
        return None
    for said in chats.values():
        said.reverse()  # of one time, what stands lower was said before
        said.sort(key=lambda item: item[0])
    return [Chat(tuple(turn for _, turn in said)) for said in chats.values()]


def chat_of(value: dict[str, Any]) -> Chat | None:
    """The conversation of VS Code's JSON export or stored session; None if the object is neither."""
    requests = value.get("requests")
    if not isinstance(requests, list) or not ({"responderUsername", "requesterUsername", "sessionId"} & set(value)):
        return None
    if not all("message" in as_dict(request) for request in requests):
        return None
    return Chat(tuple(turn for request in requests for turn in _exported_turns(request)))


def _person(lines: list[str]) -> str | None:
    for line in lines:
        if line.strip():
            named = _NAMED.match(line)
            return named[1].strip() if named else None
    return None


def _copied_turn(role: str, lines: list[str]) -> Turn:
    head = lines[0]
    quoted = head.lstrip().startswith(">")
    match = _ANSWER.match(head) if role == "assistant" else _NAMED.match(head)
    first = match[match.lastindex or 0] if match else head
    rest = [re.sub(r"^>\s?", "", line) for line in lines[1:]] if quoted and role == "user" else lines[1:]
    return Turn("assistant" if role == "assistant" else "user", block_text([first, *rest]))


def _exported_turns(request: dict[str, Any]) -> list[Turn]:
    message = request["message"]
    at = instant_of(request.get("timestamp"))
    prompt = message if isinstance(message, str) else as_text(as_dict(message).get("text"))
    answer = request.get("response")
    parts = [answer] if isinstance(answer, str) else as_list(answer)
    texts = [text for part in parts if (text := _part_text(part))]
    thinking = sum(as_dict(part).get("kind") == "thinking" for part in parts)
    tools = sum("toolInvocation" in as_text(as_dict(part).get("kind")) for part in parts)
    notes = (*plural_note(thinking, "thinking block(s) left out"), *plural_note(tools, "tool call(s) left out"))
    turns = [Turn("user", prompt, at)]
    if texts or notes:
        # The export states when the request was made, not when it was answered.
        turns.append(Turn("assistant", "".join(texts), None, notes))
    return turns


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = as_dict(part)
    kind = as_text(fields.get("kind"))
    if kind == "markdownContent":
        return as_text(as_dict(fields.get("content")).get("value"))
    if kind == "inlineReference":
        return f"`{as_text(fields.get('name'))}`" if fields.get("name") else ""
    return as_text(fields.get("value")) if not kind else ""
