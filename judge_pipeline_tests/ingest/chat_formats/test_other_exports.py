"""Gemini, Grok, Open WebUI, LibreChat and Copilot, as they export JSON."""

from __future__ import annotations

import json
from typing import Any

from judge_pipeline.ingest.prompt_logs import PromptMessage, read_prompt_log


def read(document: Any) -> list[PromptMessage]:
    return read_prompt_log(json.dumps(document).encode(), "export.json")


def said(messages: list[PromptMessage]) -> list[tuple[str, str, str]]:
    return [(m.conversation, m.role, m.text) for m in messages]


def test_gemini_takeout_is_newest_first_and_its_answers_are_html() -> None:
    def activity(title: str, time: str, html: str = "", url: str = "") -> dict[str, Any]:
        item: dict[str, Any] = {"header": "Gemini アプリ", "title": title, "time": time, "products": ["Gemini アプリ"]}
        if html:
            item["safeHtmlItem"] = [{"html": html}]
        return item | ({"details": [{"url": f"https://gemini.google.com/app/{url}"}]} if url else {})

    messages = read(
        [
            activity(
                "送信したメッセージ: 二つ目", "2026-04-02T10:00:00.000Z", "<p>a &lt; b</p><pre>x\n  y</pre>", "beef"
            ),
            activity("使用: Gemini アプリ", "2026-04-02T09:00:00.000Z"),
            activity("送信したメッセージ: 別の話", "2026-04-01T11:00:00.000Z", url="cafe"),
            activity("Prompted first\nline", "2026-04-01T10:00:00.000Z", url="beef"),
        ]
    )
    assert said(messages) == [
        ("1", "user", "first\nline"),
        ("1", "user", "二つ目"),
        ("1", "assistant", "a < b\n\nx\n  y"),
        ("2", "user", "別の話"),
    ]
    assert messages[1].at is not None
    assert messages[1].at.isoformat() == "2026-04-02T10:00:00+00:00"
    assert any("1 activity" in note for note in messages[0].notes)


def test_ai_studio_marks_thoughts() -> None:
    chunks = [
        {"role": "user", "text": "p?"},
        {"role": "model", "text": "hm", "isThought": True},
        {"role": "model", "text": "a"},
        {"role": "user", "driveImage": {"id": "1"}},
    ]
    messages = read({"runSettings": {}, "chunkedPrompt": {"chunks": chunks}})
    assert said(messages) == [("1", "user", "p?"), ("1", "assistant", "a"), ("1", "user", "")]
    assert "1 thinking message(s) left out" in messages[0].notes


def test_gemini_cli_sessions_and_checkpoints() -> None:
    session = {
        "sessionId": "s",
        "messages": [
            {"type": "user", "content": "p", "timestamp": "2026-03-10T14:23:01.000Z"},
            {"type": "gemini", "content": "", "toolCalls": [{"name": "read"}]},
            {"type": "gemini", "content": [{"text": "a"}]},
            {"type": "info", "content": "saved"},
        ],
    }
    messages = read(session)
    assert [m.role for m in messages] == ["user", "assistant", "assistant", "system"]
    assert "1 tool call(s) left out" in messages[1].notes
    checkpoint = [
        {"role": "user", "parts": [{"text": "p"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"text": "a"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]},
    ]
    assert [m.role for m in read(checkpoint)] == ["user", "assistant", "tool"]


def test_grok_names_humans_and_dates_as_mongo_does() -> None:
    def response(sender: str, message: str, key: str, parent: str | None = None, ms: int = 0) -> dict[str, Any]:
        time = {"$date": {"$numberLong": str(1760000000000 + ms)}}
        return {
            "response": {
                "_id": key,
                "sender": sender,
                "message": message,
                "create_time": time,
                "parent_response_id": parent,
            }
        }

    conversation = {
        "conversation": {"id": "c", "title": "t"},
        "responses": [
            response("human", "p", "1"),
            response("ASSISTANT", "old", "2", "1", 10),
            response("ASSISTANT", "new", "3", "1", 20),
        ],
    }
    messages = read({"conversations": [conversation], "projects": []})
    assert said(messages) == [("1", "user", "p"), ("1", "assistant", "new")]
    assert messages[0].at is not None
    assert messages[0].at.timestamp() == 1760000000
    assert "1 message(s) on other branches left out" in messages[0].notes


def test_open_webui_follows_the_current_id() -> None:
    history = {
        "currentId": "b",
        "messages": {
            "q": {"id": "q", "parentId": None, "role": "user", "content": "p", "timestamp": 1744577557},
            "a": {"id": "a", "parentId": "q", "role": "assistant", "content": "one"},
            "b": {"id": "b", "parentId": "q", "role": "assistant", "content": "two"},
        },
    }
    assert said(read([{"id": "1", "chat": {"title": "t", "history": history}}])) == [
        ("1", "user", "p"),
        ("1", "assistant", "two"),
    ]


def test_librechat_json_flat_and_nested() -> None:
    def message(key: str, parent: str | None, text: str, user: bool, at: str, **more: Any) -> dict[str, Any]:
        return {
            "messageId": key, "parentMessageId": parent, "text": text, "isCreatedByUser": user, "sender": "x",
            "createdAt": at,
        } | more  # fmt: skip

    flat = [
        message("q", "0", "p", True, "2026-01-01T00:00:00Z"),
        message("old", "q", "no", False, "2026-01-01T00:01:00Z"),
        message(
            "new", "q", "yes", False, "2026-01-01T00:02:00Z", content=[{"type": "text", "text": {"value": "yes!"}}]
        ),
    ]
    expected = [("1", "user", "p"), ("1", "assistant", "yes!")]
    assert said(read({"conversationId": "c", "messages": flat})) == expected
    nested = flat[0] | {"children": flat[1:]}
    assert said(read({"conversationId": "c", "messagesTree": [nested]})) == expected


def test_vs_codes_chat_export() -> None:
    request = {
        "message": {"text": "p", "parts": []},
        "timestamp": 1790582400000,
        "response": [
            {"kind": "thinking", "value": "hm"},
            {"value": "see "},
            {"kind": "inlineReference", "name": "a.py"},
            {"kind": "toolInvocationSerialized"},
        ],
    }
    messages = read(
        {"responderUsername": "GitHub Copilot", "requests": [request, {"message": "old style", "response": []}]}
    )
    assert said(messages) == [("1", "user", "p"), ("1", "assistant", "see `a.py`"), ("1", "user", "old style")]
    assert messages[0].at is not None
    assert messages[1].at is None  # the export dates the request
    assert messages[1].notes[1:] == ("1 thinking block(s) left out", "1 tool call(s) left out")
