"""The prompt logs: each participant's conversations as text, as Markdown, or as the export of a chat tool."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from judge_pipeline.samples.making.artifacts import JST
from judge_pipeline.samples.making.chats import Conversation, Message, conversations
from judge_pipeline.samples.making.people import Participant, participants
from judge_pipeline.samples.making.plan import SEED

_ONE_FILE = {"E005", "E006"}
"""Who kept all conversations in one file; others have one file a problem."""
_STAMPED = {"E003"}
"""Whose log shows the time of each message."""
_HEADINGS = {
    ("markdown", "en"): ("## You", "## ChatGPT"),
    ("markdown", "ja"): ("## 質問", "## 回答"),
    ("text", "en"): ("User:", "Assistant:"),
    ("text", "ja"): ("User:", "ChatGPT:"),
}


def prompt_log_files() -> Iterator[tuple[str, bytes]]:
    """Path below the contest folder, and content, of every prompt log."""
    for person in participants().values():
        held = conversations(person)
        if person.log == "export":
            yield f"prompts/{person.name}/conversations.json", _export(person, held)
        elif person.name in _ONE_FILE:
            suffix = "md" if person.log == "markdown" else "txt"
            yield f"prompts/{person.name}/chat_log.{suffix}", _joined(person, held)
        else:
            for conversation in held:
                yield f"prompts/{person.name}/{_file_name(person, conversation)}", _joined(person, [conversation])


def _file_name(person: Participant, conversation: Conversation) -> str:
    about = conversation.problem_id or "other"
    return f"chatgpt_{about}.md" if person.log == "markdown" else f"{about}_log.txt"


def _joined(person: Participant, held: list[Conversation]) -> bytes:
    messages = [message for conversation in held for message in conversation.messages]
    return ("\n\n".join(_section(person, message) for message in messages) + "\n").encode()


def _section(person: Participant, message: Message) -> str:
    asked, answered = _HEADINGS[person.log, person.tongue]
    heading = asked if message.role == "user" else answered
    if person.name in _STAMPED:
        heading += f" ({message.at.astimezone(JST).isoformat(sep=' ')})"
    return f"{heading}\n\n{message.text}" if person.log == "markdown" else f"{heading}\n{message.text}"


def _export(person: Participant, held: list[Conversation]) -> bytes:
    """A list of conversations as ChatGPT exports them: a tree of messages and the node that is current."""
    rng = random.Random(f"{SEED}/export/{person.name}")
    rows = [_exported(rng, conversation) for conversation in reversed(held)]
    return (json.dumps(rows, indent=1) + "\n").encode()


def _exported(rng: random.Random, conversation: Conversation) -> dict[str, Any]:
    mapping: dict[str, Any] = {}

    def add(parent: str | None, message: dict[str, Any] | None) -> str:
        node_id = _uuid(rng)
        if message is not None:
            message = {"id": node_id} | message
        mapping[node_id] = {"id": node_id, "message": message, "parent": parent, "children": []}
        if parent is not None:
            mapping[parent]["children"].append(node_id)
        return node_id

    root = add(None, None)
    start = add(root, _message("system", "", None, hidden=True))
    for messages in (conversation.abandoned, conversation.messages):
        node = start
        for message in messages:
            node = add(node, _message(message.role, message.text, message.at))
    return {
        "title": conversation.title,
        "create_time": _seconds(conversation.messages[0].at),
        "update_time": _seconds(conversation.messages[-1].at),
        "mapping": mapping,
        "moderation_results": [],
        "current_node": node,
        "conversation_id": _uuid(rng),
        "default_model_slug": "auto",
    }


def _message(role: str, text: str, at: datetime | None, *, hidden: bool = False) -> dict[str, Any]:
    return {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": _seconds(at) if at else None,
        "update_time": None,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 0.0 if hidden else 1.0,
        "metadata": {"is_visually_hidden_from_conversation": True} if hidden else {},
        "recipient": "all",
    }


def _seconds(at: datetime) -> float:
    return at.timestamp()


def _uuid(rng: random.Random) -> str:
    digits = f"{rng.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
