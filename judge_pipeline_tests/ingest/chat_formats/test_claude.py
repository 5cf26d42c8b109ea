from __future__ import annotations

import json
from typing import Any

from judge_pipeline.ingest.prompt_logs import PromptMessage, read_prompt_log

ROOT = "00000000-0000-4000-8000-000000000000"


def read(*messages: dict[str, Any], **fields: Any) -> list[PromptMessage]:
    conversation = {"uuid": "c", "name": "n", "chat_messages": list(messages)} | fields
    return read_prompt_log(json.dumps([conversation]).encode(), "conversations.json")


def text_block(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_the_text_lies_in_the_blocks_and_thinking_is_not_said() -> None:
    messages = read(
        {"sender": "human", "text": "", "content": [text_block("why?")], "created_at": "2026-03-01T10:00:10.5Z"},
        {
            "sender": "assistant",
            "text": "let me see because",
            "content": [{"type": "thinking", "thinking": "let me see "}, text_block("because")],
        },
    )
    assert [(m.role, m.text) for m in messages] == [("user", "why?"), ("assistant", "because")]
    assert messages[0].at is not None
    assert messages[0].at.isoformat() == "2026-03-01T10:00:10.500000+00:00"
    assert messages[1].at is None
    assert "1 thinking block(s) left out" in messages[1].notes


def test_old_exports_have_top_level_text_only() -> None:
    assert [m.text for m in read({"sender": "human", "text": "hi"}, {"sender": "assistant", "text": "hello"})] == [
        "hi",
        "hello",
    ]


def test_messages_that_lost_their_text_are_still_counted() -> None:
    messages = read({"sender": "human", "text": "", "content": [text_block("")]}, {"sender": "assistant", "text": ""})
    assert [(m.role, m.text) for m in messages] == [("user", ""), ("assistant", "")]
    assert all("no text" in m.notes for m in messages)


def test_tool_use_and_pictures_are_counted_not_said() -> None:
    messages = read(
        {"sender": "human", "text": "", "content": [{"type": "image", "source": {}}]},
        {
            "sender": "assistant",
            "text": "",
            "content": [
                {"type": "tool_use", "name": "search"},
                {"type": "tool_result", "content": "x"},
                text_block("found"),
            ],
        },
    )
    assert [(m.role, m.text) for m in messages] == [("user", ""), ("assistant", "found")]
    assert "1 part(s) that are not text left out" in messages[0].notes
    assert "1 tool call(s) left out" in messages[1].notes


def test_pasted_text_is_part_of_the_prompt_and_files_are_counted() -> None:
    pasted = [{"file_name": "paste.txt", "extracted_content": "int main(){}"}, {"file_name": "a.png"}]
    (message,) = read({"sender": "human", "text": "fix this", "attachments": pasted, "files": [{"file_name": "b.png"}]})
    assert message.text == "fix this\n\nint main(){}"
    assert "1 attachment(s) with their text included" in message.notes
    assert "2 file(s) left out" in message.notes


def test_a_fork_is_followed_to_the_newest_leaf() -> None:
    def message(key: str, parent: str, sender: str, at: str) -> dict[str, Any]:
        return {"uuid": key, "parent_message_uuid": parent, "sender": sender, "text": key, "created_at": at}

    forked = [
        message("q1", ROOT, "human", "2026-03-01T10:00:00Z"),
        message("old", "q1", "assistant", "2026-03-01T10:00:01Z"),
        message("new", "q1", "assistant", "2026-03-01T10:05:00Z"),
        message("q2", "new", "human", "2026-03-01T10:06:00Z"),
    ]
    messages = read(*forked)
    assert [m.text for m in messages] == ["q1", "new", "q2"]
    assert "1 message(s) on other branches left out" in messages[0].notes
    assert [m.text for m in read(*forked, current_leaf_message_uuid="old")] == ["q1", "old"]


def test_a_straight_conversation_keeps_the_files_order_and_needs_no_note() -> None:
    straight = [
        {"uuid": "a", "parent_message_uuid": ROOT, "sender": "human", "text": "1"},
        {"uuid": "b", "parent_message_uuid": "a", "sender": "assistant", "text": "2"},
    ]
    messages = read(*straight)
    assert [m.text for m in messages] == ["1", "2"]
    assert messages[0].notes == ("format: Claude export",)


def test_messages_without_any_sender_are_taken_in_turn() -> None:
    messages = read({"text": "a"}, {"text": "b"})
    assert [m.role for m in messages] == ["user", "assistant"]
    assert "no speakers in the log: taken in turn, the human first" in messages[1].notes


def test_an_unknown_sender_among_known_ones_is_left_out_and_counted() -> None:
    messages = read({"sender": "human", "text": "a"}, {"sender": "martian", "text": "b"})
    assert [m.text for m in messages] == ["a"]
    assert "1 message(s) without a known sender left out" in messages[0].notes


def test_a_message_of_thinking_only_says_nothing_whatever_its_top_level_text_repeats() -> None:
    messages = read(
        {"sender": "human", "text": "hi"},
        {
            "sender": "assistant",
            "text": "hm, let me see",
            "content": [{"type": "thinking", "thinking": "hm, let me see"}],
        },
    )
    assert messages[1].text == ""
    assert "1 thinking block(s) left out" in messages[1].notes


def test_an_edited_first_prompt_is_on_another_branch() -> None:
    messages = read(
        {"uuid": "a", "sender": "human", "text": "hi", "parent_message_uuid": ROOT},
        {"uuid": "b", "sender": "assistant", "text": "hello", "parent_message_uuid": "a"},
        {"uuid": "c", "sender": "human", "text": "hi, in C++", "parent_message_uuid": ROOT},
        {"uuid": "d", "sender": "assistant", "text": "int main", "parent_message_uuid": "c"},
        current_leaf_message_uuid="d",
    )
    assert [m.text for m in messages] == ["hi, in C++", "int main"]
    assert "2 message(s) on other branches left out" in messages[0].notes
