"""Gemini: Google Takeout's activity list, AI Studio's prompts, and the sessions of Gemini CLI."""

from __future__ import annotations

import html
import re
from typing import Any

from judge_pipeline.ingest.chat_formats.chat import (
    Chat,
    Turn,
    as_dict,
    as_list,
    as_text,
    content_of,
    instant_of,
    plural_note,
    role_of,
)

NAME = "Gemini"

_SENT = re.compile(
    r"(?:Prompted|Sent a message|送信したメッセージ|入力したプロンプト|已发送消息|发送了消息|已傳送訊息|提示)"
    r"(?:\s*[:\uff1a]\s*|\s+)(.*)",
    re.DOTALL,
)
_CHAT_URL = re.compile(r"gemini\.google\.com/(?:u/\d+/)?app/([0-9a-fA-F]+)")
_TAG = re.compile(r"<[^<>]*>")
_BLOCK_TAG = re.compile(r"</?(?:p|div|br|hr|li|ul|ol|pre|h[1-6]|tr|table|blockquote)\b[^<>]*>", re.IGNORECASE)
_SESSION_TYPES = frozenset({"user", "gemini", "info", "error", "warning", "tool", "model"})


def chat_of(value: dict[str, Any]) -> Chat | None:
    """A conversation of AI Studio or Gemini CLI; None if the object is neither."""
    chunks = as_dict(value.get("chunkedPrompt")).get("chunks")
    if isinstance(chunks, list):
        return _studio_chat(chunks)
    messages = value.get("messages")
    if not isinstance(messages, list) or not ({"sessionId", "projectHash"} & set(value)):
        return None
    types = [as_dict(message).get("type") for message in messages]
    if messages and not all(isinstance(kind, str) and kind in _SESSION_TYPES for kind in types):
        return None
    turns = [turn for message in messages if (turn := _session_turn(message)) is not None]
    return Chat(tuple(turns))


def chats_of_list(items: list[Any]) -> list[Chat] | None:
    """The chats of a Takeout activity list, oldest first; None if the list is not one.

    Takeout lists the newest first. Activities are put together by the chat that they link to; where none is linked,
    all are one conversation. Activities without a prompt (feedback, launches) are counted.
    """
    activities = [item for item in items if isinstance(item, dict)]
    if not activities or not all(_is_activity(item) for item in activities):
        return None
    times = [instant_of(item.get("time")) for item in activities]
    order = list(range(len(activities)))[::-1]
    if all(at is not None for at in times):
        order.sort(key=lambda i: times[i].timestamp() if times[i] else 0.0)  # type: ignore[union-attr]
    chats: dict[str, list[Turn]] = {}
    skipped = 0
    for i in order:
        turns = _activity_turns(activities[i])
        skipped += not turns
        chats.setdefault(_chat_id(activities[i]), []).extend(turns)
    note = plural_note(skipped, "activity entr(y/ies) without a prompt left out")
    return [Chat(tuple(turns), note) for turns in chats.values() if turns] or [Chat((), note)]


def _is_activity(item: dict[str, Any]) -> bool:
    header = as_text(item.get("header"))
    return "title" in item and ("gemini" in header.lower() or header == "Bard")


def _chat_id(activity: dict[str, Any]) -> str:
    for detail in as_list(activity.get("details")):
        match = _CHAT_URL.search(as_text(as_dict(detail).get("url")))
        if match:
            return match[1]
    return ""


def _activity_turns(activity: dict[str, Any]) -> list[Turn]:
    at = instant_of(activity.get("time"))
    match = _SENT.match(as_text(activity.get("title")))
    answers = [as_text(as_dict(item).get("html")) for item in as_list(activity.get("safeHtmlItem"))]
    turns: list[Turn] = []
    if match:
        files = len(as_list(activity.get("attachedFiles")))
        turns.append(Turn("user", match[1].strip(), at, plural_note(files, "file(s) left out")))
    answer = "\n\n".join(text for text in map(_text_of_html, answers) if text)
    if answer:
        turns.append(Turn("assistant", answer, at))
    return turns


def _text_of_html(markup: str) -> str:
    """The text of Takeout's sanitized HTML, a line for each block. By tags alone: nesting may be deep as you like."""
    lines = _BLOCK_TAG.sub("\n", markup)
    return re.sub(r"\n\s*\n\s*\n", "\n\n", html.unescape(_TAG.sub("", lines))).strip()


def _studio_chat(chunks: list[Any]) -> Chat:
    turns: list[Turn] = []
    thinking = 0
    for chunk in map(as_dict, chunks):
        if chunk.get("isThought") is True:
            thinking += 1
            continue
        role = role_of(chunk.get("role"))
        content = content_of(chunk["text"] if isinstance(chunk.get("text"), str) else chunk.get("parts"))
        if role is not None and (content.text or role == "user"):
            notes = content.notes or (() if content.text else ("no text: a file or an image",))
            turns.append(Turn(role, content.text, instant_of(chunk.get("createTime")), notes))
    return Chat(tuple(turns), plural_note(thinking, "thinking message(s) left out"))


def _session_turn(message: dict[str, Any]) -> Turn | None:
    role = role_of(message.get("type"))
    content = content_of(message.get("content"))
    calls = len(as_list(message.get("toolCalls")))
    if role is None or not (content.text or calls):
        return None
    notes = (*content.notes, *plural_note(calls, "tool call(s) left out"))
    return Turn(role, content.text, instant_of(message.get("timestamp")), notes)
