"""Cline's ``api_conversation_history.json``, and any other list of messages that name their roles.

Cline keeps what it sent to the model: Anthropic messages, in which the person's words stand among tool results and
descriptions of the editor.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from judge_pipeline.ingest.chat_formats.chat import (
    NOT_TYPED,
    Chat,
    Role,
    Turn,
    as_dict,
    as_text,
    content_of,
    inside,
    instant_of,
    plural_note,
    role_of,
    without,
)
from judge_pipeline.ingest.chat_formats.claude_code import is_client_text

NAME = "list of messages with roles (Cline, OpenAI, Anthropic, Gemini)"
PAIRS_NAME = "list of prompts and answers"
SCREEN_NAME = "Cline's messages on the screen"

_PROMPT_KEYS = ("prompt", "question", "user", "human")
_ANSWER_KEYS = ("response", "answer", "completion", "assistant", "ai", "bot")
_ROLE_KEYS = ("role", "sender", "from", "author", "speaker")
_TEXT_KEYS = ("content", "parts", "text", "value", "message", "say", "body")
_TIME_KEYS = ("timestamp", "created_at", "createdAt", "create_time", "time", "ts", "date")

_RESULT_HEAD = re.compile(r"\s*\[[\w-]{1,40}(?: for [^\n]{0,2000})?\] Result:")
_ADDED_TAGS = ("environment_details", "explicit_instructions")
_OWN_TAGS = ("task", "feedback", "user_message", "answer")
_NUDGE = re.compile(r"\s*\[(?:ERROR|TASK RESUMPTION)\]")


def chats_of_list(items: list[Any]) -> list[Chat] | None:
    """The one conversation that a list of messages with roles is; None if the list is not such a list."""
    messages = [item for item in items if isinstance(item, dict)]
    if not messages or len(messages) < len(items):
        return None
    roles = [_role(message) for message in messages]
    if sum(role is not None for role in roles) < len(messages) or not all(map(_has_text, messages)):
        return None
    return [Chat(tuple(turn for message, role in zip(messages, roles, strict=True) for turn in _turns(message, role)))]


def pairs_of_list(items: list[Any]) -> list[Chat] | None:
    """The conversation that a list of prompts, each perhaps with its answer, is; None if the list is none."""
    turns: list[Turn] = []
    for item in items:
        fields = as_dict(item)
        prompt = next((fields[key] for key in _PROMPT_KEYS if isinstance(fields.get(key), str)), None)
        answer = next((fields[key] for key in _ANSWER_KEYS if isinstance(fields.get(key), str)), None)
        if prompt is None or ("prompt" not in fields and answer is None):
            return None
        at = _time(fields)
        turns.append(Turn("user", prompt, at))
        if answer is not None:
            turns.append(Turn("assistant", answer))
    return [Chat(tuple(turns))] if turns else None


def screen_chats_of_list(items: list[Any]) -> list[Chat] | None:
    """The conversation that Cline's ``ui_messages.json`` holds; None if the list is not one.

    The first text is the task; later ones are the model's, and the person's are marked as feedback.
    """
    messages = [as_dict(item) for item in items]
    if not messages or not all(m.get("type") in ("say", "ask") and "ts" in m for m in messages):
        return None
    turns: list[Turn] = []
    for message in messages:
        kind = as_text(message.get("say") if message["type"] == "say" else message.get("ask"))
        text = as_text(message.get("text")).strip()
        role: Role = "user" if kind in ("user_feedback", "task") or not turns else "assistant"
        if text and kind in ("task", "text", "user_feedback", "completion_result", "followup"):
            turns.append(Turn(role, text, _time(message)))
    return [Chat(tuple(turns))]


def _role(message: dict[str, Any]) -> Role | None:
    for key in _ROLE_KEYS:
        value = message.get(key)
        named = as_dict(value).get("role") if isinstance(value, dict) else value
        if isinstance(named, str):
            return role_of(named)
    return None


def _has_text(message: dict[str, Any]) -> bool:
    return any(key in message for key in _TEXT_KEYS)


def _time(message: dict[str, Any]) -> datetime | None:
    return next((at for key in _TIME_KEYS if (at := instant_of(message.get(key))) is not None), None)


def _turns(message: dict[str, Any], role: Role | None) -> list[Turn]:
    value = next((message[key] for key in _TEXT_KEYS if key in message), None)
    at = _time(message)
    if role != "user":
        content = content_of(value)
        return [Turn(role or "system", content.text, at, content.notes)]
    return _user_turns(value, at)


def _user_turns(value: object, at: datetime | None) -> list[Turn]:
    """What the person said, and before it what tools returned, of one message filed under the user."""
    content = content_of(value)
    tools = list(content.tool_results)
    said: list[str] = []
    for block in value if isinstance(value, list) else [value]:
        text = content_of([block]).text if isinstance(block, dict) else as_text(block)
        if _RESULT_HEAD.match(text) or _NUDGE.match(text):
            tools.append(text)
            said.extend(words for tag in _OWN_TAGS for words in inside(text, tag))
        elif own := _own_words(text):
            said.append(own)
    turns = [Turn("tool", text, at, ("tool result",)) for text in tools]
    if said or content.other or not turns:
        text = "\n\n".join(said)
        notes = plural_note(content.other, "part(s) that are not text left out")
        turns.append(Turn("user", text, at, (*notes, NOT_TYPED) if is_client_text(text) else notes))
    return turns


def _own_words(text: str) -> str:
    """The text without what Cline adds to it: the description of the editor, the tag around the task."""
    if "<" not in text:
        return text
    bare = without(text, *_ADDED_TAGS)
    stripped = bare.strip()
    for tag in _OWN_TAGS:
        if stripped.startswith(f"<{tag}>") and stripped.endswith(f"</{tag}>"):
            return stripped[len(tag) + 2 : -len(tag) - 3].strip()
    return text if bare == text else stripped
