from __future__ import annotations

import json
from typing import Any

import pytest

from judge_pipeline.ingest.prompt_logs import PromptMessage, read_prompt_log


def node(
    key: str, parent: str | None, role: str | None, text: Any = "", time: Any = None, **message: Any
) -> dict[str, dict[str, Any]]:
    """A node of the export's tree; without a role it is a root that holds no message."""
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    held = None if role is None else {"author": {"role": role}, "content": content, "create_time": time} | message
    return {key: {"id": key, "parent": parent, "children": [], "message": held}}


def tree(*nodes: dict[str, dict[str, Any]], **fields: Any) -> dict[str, Any]:
    mapping = {key: value for item in nodes for key, value in item.items()}
    for key, value in mapping.items():
        if value["parent"] in mapping:
            mapping[value["parent"]]["children"].append(key)
    return {"title": "t", "mapping": mapping} | fields


# The person asked, was answered, edited the question, and was answered again: the first branch is abandoned.
EDITED = (
    node("root", None, None),
    node("q-old", "root", "user", "sort it", 1760000000.0),
    node("a-old", "q-old", "assistant", "bubble sort", 1760000009.0),
    node("q-new", "root", "user", "sort it fast", 1760000005.0),
    node("a-new", "q-new", "assistant", "std::sort", 1760000006.0),
)


def read(document: Any, path: str = "conversations.json") -> list[PromptMessage]:
    return read_prompt_log(json.dumps(document).encode(), path)


def said(messages: list[PromptMessage]) -> list[tuple[str, str, str]]:
    return [(m.conversation, m.role, m.text) for m in messages]


def test_only_the_current_branch_counts() -> None:
    messages = read(tree(*EDITED, current_node="a-new"))
    assert said(messages) == [("1", "user", "sort it fast"), ("1", "assistant", "std::sort")]
    assert "2 message(s) on other branches left out" in messages[0].notes
    assert messages[0].notes[0] == "format: ChatGPT export"


@pytest.mark.parametrize("current", [None, "gone"])
def test_without_a_current_node_the_newest_leaf_is_taken_and_noted(current: str | None) -> None:
    messages = read(tree(*EDITED, current_node=current))
    assert said(messages) == [("1", "user", "sort it"), ("1", "assistant", "bubble sort")]
    assert "no current message is marked: the newest branch was taken" in messages[0].notes


def test_list_wrapper_and_single_object_hold_the_same_conversations() -> None:
    one = tree(*EDITED, current_node="a-new")
    single = said(read(one))
    for document in ([one], {"conversations": [one]}, {"data": {"items": [one]}}, {"exported": one, "version": 3}):
        assert said(read(document)) == single
    both = said(read([one, tree(node("q", None, "user", "second"))]))
    assert both == [*single, ("2", "user", "second")]


@pytest.mark.parametrize("time", [None, 1760000000, 1760000000.25, "1760000000", "soon", float("nan"), -5, {}])
def test_times_of_any_kind_load_and_none_is_invented(time: Any) -> None:
    (message,) = read(tree(node("q", None, "user", "hi", time)))
    assert (message.at is not None) == (time in (1760000000, 1760000000.25, "1760000000"))


def test_order_is_that_of_the_tree_and_not_of_times() -> None:
    # Exports date an answer a little before its question.
    messages = read(tree(node("a", "q", "assistant", "b", 1760000000.1), node("q", None, "user", "a", 1760000000.9)))
    assert [m.text for m in messages] == ["a", "b"]


def test_pictures_are_counted_and_voice_is_text() -> None:
    parts = [
        "look:",
        {"content_type": "image_asset_pointer"},
        {"content_type": "audio_transcription", "text": "spoken"},
    ]
    picture = {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, None]}
    messages = read(
        tree(
            node("q", None, "user", {"content_type": "multimodal_text", "parts": parts}),
            node("p", "q", "user", picture),
            node("a", "p", "assistant", "nice"),
        )
    )
    assert [(m.role, m.text) for m in messages] == [("user", "look:\n\nspoken"), ("user", ""), ("assistant", "nice")]
    assert "1 part(s) that are not text left out" in messages[0].notes
    assert "1 part(s) that are not text left out" in messages[1].notes


def test_what_the_person_did_not_say_is_no_prompt() -> None:
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    messages = read(
        tree(
            node("s", None, "system", ""),
            node("c", "s", "user", {"content_type": "user_editable_context", "user_instructions": "be brief"}),
            node("h", "c", "user", "hidden", **hidden),
            node("q", "h", "user", "hi"),
            node("t", "q", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
            node("x", "t", "assistant", {"content_type": "code", "text": "print(1)"}, recipient="python"),
            node("o", "x", "tool", {"content_type": "execution_output", "text": "1"}),
            node("e", "o", "assistant", ""),
            node("a", "e", "assistant", "done"),
        )
    )
    assert [(m.role, m.text) for m in messages] == [
        ("system", "be brief"),
        ("system", "hidden"),
        ("user", "hi"),
        ("tool", "print(1)"),
        ("tool", "1"),
        ("assistant", "done"),
    ]
    assert "1 thinking message(s) left out" in messages[0].notes


def test_messages_without_any_role_are_taken_in_turn_and_say_so() -> None:
    mapping = {key: {"message": {"content": {"parts": [text]}}} for key, text in (("1", "why?"), ("2", "because"))}
    messages = read({"title": "t", "mapping": mapping})
    assert [(m.role, m.text) for m in messages] == [("user", "why?"), ("assistant", "because")]
    assert all("no speakers in the log: taken in turn, the human first" in m.notes for m in messages)


def test_the_exports_web_page_holds_the_same() -> None:
    data = json.dumps([tree(*EDITED, current_node="a-new")])
    page = f"<html><body><script>var jsonData = {data};\nvar other = 1;</script></body></html>"
    assert [m.text for m in read_prompt_log(page.encode(), "chat.html")] == ["sort it fast", "std::sort"]


def test_entries_of_no_format_beside_conversations_are_noted() -> None:
    messages = read([tree(node("q", None, "user", "hi")), {"title": "empty", "mapping": None}])
    assert "1 other entr(y/ies) match no chat format" in messages[0].notes


def test_deepseeks_tree_of_fragments() -> None:
    def fragment_node(
        key: str, parent: str | None, *fragments: tuple[str, str], at: str | None = None
    ) -> dict[str, Any]:
        listed = [{"type": kind, "content": text} for kind, text in fragments]
        message = {"inserted_at": at, "fragments": listed} if listed else None
        return {key: {"id": key, "parent": parent, "children": [], "message": message}}

    mapping = {
        **fragment_node("root", None),
        **fragment_node("1", "root", ("REQUEST", "排序?"), at="2026-05-01T10:00:00.000000+08:00"),
        **fragment_node("2", "1", ("THINK", "嗯"), ("RESPONSE", "用sort"), at="2026-05-01T09:59:59.990000+08:00"),
    }
    messages = read([{"id": "x", "title": "t", "mapping": mapping}])
    assert [(m.role, m.text) for m in messages] == [("user", "排序?"), ("assistant", "用sort")]
    assert messages[0].notes[0] == "format: DeepSeek export"
    assert messages[0].at is not None
    assert messages[0].at.isoformat() == "2026-05-01T02:00:00+00:00"
    assert "1 thinking block(s) left out" in messages[1].notes
