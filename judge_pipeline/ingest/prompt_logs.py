"""Prompt logs: the bytes of a chat log, in whatever format its tool wrote it, as messages in order.

Each format is recognized by what it holds, not by its file's name, and is named on every message. What matches no
format is set aside with a reason; JSON is never read as plain text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from judge_pipeline.ingest.chat_formats import (
    aider,
    chatgpt,
    claude,
    claude_code,
    cline,
    codex,
    copilot,
    deepseek,
    ellmer,
    gemini,
    grok,
    librechat,
    open_webui,
    openclaw,
    prompt_bullets,
    prompt_list,
    role_headings,
    specstory,
    unmarked,
)
from judge_pipeline.ingest.chat_formats.chat import Chat, Role, Turn
from judge_pipeline.ingest.contest_folder import MAX_ARTIFACT_BYTES, participant_and_problem_of
from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.records import UnreadableArtifact, clean_text, sha256_of

if TYPE_CHECKING:
    import pandas as pd

MAX_TEXT_CHARS = 8_000_000
"""Longer logs are read only as JSON: nobody's chat is so long, and each format looks at every line."""

_MAX_NESTING = 5
"""How deep conversations are looked for inside lists and wrapping objects."""

_REMEDY = (
    "export the chat again as JSON or Markdown from its tool, or save it as text with a line 'User:' or 'Assistant:' "
    "before each message"
)

_CONVERSATIONS: tuple[tuple[str, Callable[[dict[str, Any]], Chat | None]], ...] = (
    (deepseek.NAME, deepseek.chat_of),
    (chatgpt.NAME, chatgpt.chat_of),
    (claude.NAME, claude.chat_of),
    (grok.NAME, grok.chat_of),
    (gemini.NAME, gemini.chat_of),
    (librechat.NAME, librechat.chat_of),
    (copilot.NAME, copilot.chat_of),
    (open_webui.NAME, open_webui.chat_of),
)
"""Formats in which one JSON object is one conversation."""

_LISTS: tuple[tuple[str, Callable[[list[Any]], list[Chat] | None]], ...] = (
    (gemini.NAME, gemini.chats_of_list),
    (claude_code.NAME, claude_code.chats_of_records),
    (openclaw.NAME, openclaw.chats_of_records),
    (codex.NAME, codex.chats_of_records),
    (cline.NAME, cline.chats_of_list),
    (cline.SCREEN_NAME, cline.screen_chats_of_list),
    (cline.PAIRS_NAME, cline.pairs_of_list),
)
"""Formats in which a list of JSON objects, or JSON lines, is one chat or a few."""

_TEXTS: tuple[tuple[str, Callable[[str], list[Chat] | None]], ...] = (
    (specstory.NAME, specstory.chats_of_text),
    (aider.NAME, aider.chats_of_text),
    (librechat.NAME, librechat.chats_of_text),
    (copilot.NAME, copilot.chats_of_text),
    (copilot.ACTIVITY_NAME, copilot.activity_chats_of_text),
    (ellmer.NAME, ellmer.chats_of_text),
    (prompt_list.NAME, prompt_list.chats_of_text),
    (role_headings.NAME, role_headings.chats_of_text),
    (prompt_list.LABELLED_NAME, prompt_list.labelled_chats_of_text),
    (prompt_bullets.NAME, prompt_bullets.chats_of_text),
    (unmarked.NAME, unmarked.chats_of_text),
)
"""Formats of text, the most particular first."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of one chat.

    Attributes:
        path: the log, with ``/``.
        conversation: number of the conversation within the log, from '1', in the log's order.
        order: place within the conversation, from 1.
        role: who speaks.
        text: what was said; '' where the log holds only a picture or a file there.
        text_sha256: sha256 of the text in UTF-8, as hexadecimal digits.
        at: instant of the message in UTC; None where the log does not truly state it.
        notes: ``format: NAME`` first; then what the reader was unsure of.
    """

    path: str
    conversation: str
    order: int
    role: Role
    text: str
    text_sha256: str
    at: datetime | None
    notes: tuple[str, ...]


def read_prompt_log(data: bytes, path: str) -> list[PromptMessage]:
    """The messages of a log, conversation by conversation.

    An empty list means a file that was understood and holds no message: an empty export, a summary that is no chat.

    Args:
        data: the file's bytes.
        path: what it is called in messages and errors; its extension decides nothing but how ``.json`` may be read.

    Raises:
        UnreadableArtifact: too large, not text, broken JSON, or no format that is known. Nothing else is raised.
    """
    if len(data) > MAX_ARTIFACT_BYTES:
        reason = f"has {len(data)} bytes; more than {MAX_ARTIFACT_BYTES} are not read"
        raise UnreadableArtifact(path, None, reason, "split the log into several files")
    kind = _not_text(data)
    if kind is not None:
        raise UnreadableArtifact(path, None, f"is {kind}, not a chat log as text", _REMEDY)
    decoded = decode(data)
    if not decoded.text.strip():
        return []
    try:
        name, chats = _chats(decoded.text, path)
    except RecursionError:
        raise UnreadableArtifact(path, None, "is nested too deep", _REMEDY) from None
    return list(_messages(path, name, chats, decoded.notes))


def prompt_logs(
    files: Iterable[tuple[str, bytes | UnreadableArtifact]],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The messages of all logs of a contest, and what was set aside.

    Args:
        files: path relative to the contest folder (``prompts/<participant>/...``) and content, as
            ``contest_folder.contest_files`` yields them; an exception in the content's place is set aside as it is.

    Returns:
        Table PROMPT_LOGS in the order of the files; and table INGEST_QUARANTINE: unreadable files, files in no
        participant's folder, a participant's copies of the same log, and files without any message.
    """
    from judge_pipeline.tables import INGEST_QUARANTINE, PROMPT_LOGS

    rows: list[dict[str, Any]] = []
    aside: list[UnreadableArtifact] = []
    copies = Copies()
    for path, data in files:
        try:
            if isinstance(data, UnreadableArtifact):
                raise data
            copies.refuse(path, hashlib.sha256(data).hexdigest())
            rows.extend(log_rows(data, path))
        except UnreadableArtifact as unreadable:
            aside.append(unreadable)
    quarantine = [
        {"kind": "prompts", "path": u.path, "place": u.place, "reason": u.reason, "remedy": u.remedy} for u in aside
    ]
    return PROMPT_LOGS.conform(rows), INGEST_QUARANTINE.conform(quarantine)


class Copies:
    """Which logs hold the same bytes as an earlier log of the same participant."""

    def __init__(self) -> None:
        self._first: dict[tuple[str | None, str], str] = {}

    def refuse(self, path: str, sha256: str) -> None:
        """Remembers a log, in the order of the files.

        Raises:
            UnreadableArtifact: it is a copy of an earlier one.
        """
        participant, _ = participant_and_problem_of(path)
        first = path if participant is None else self._first.setdefault((participant, sha256), path)
        if first != path:
            raise UnreadableArtifact(path, None, f"holds the same bytes as {first}", "remove one of the two")


def log_rows(data: bytes, path: str) -> list[dict[str, Any]]:
    """The messages of a log as rows of table PROMPT_LOGS; at least one.

    Raises:
        UnreadableArtifact: it lies in no participant's folder, cannot be read, or holds no message.
    """
    participant = _participant(path)
    return [_row(participant, message) for message in _read_some(data, path)]


def _participant(path: str) -> str:
    participant, _ = participant_and_problem_of(path)
    if participant is None:
        raise UnreadableArtifact(path, None, "lies in no participant's folder", "move it to prompts/<participant>/")
    return participant


def _read_some(data: bytes, path: str) -> list[PromptMessage]:
    messages = read_prompt_log(data, path)
    if not messages:
        raise UnreadableArtifact(path, None, "holds no messages: it is empty, or a summary and no chat", _REMEDY)
    return messages


def _row(participant: str, message: PromptMessage) -> dict[str, Any]:
    return {
        "participant": participant,
        "path": message.path,
        "conversation": message.conversation,
        "order": message.order,
        "role": message.role,
        "text": message.text,
        "text_sha256": message.text_sha256,
        "at": message.at,
        "notes": "; ".join(message.notes),
    }


def _not_text(data: bytes) -> str | None:
    for magic, what in (
        (b"%PDF", "a PDF"),
        (b"PK\x03\x04", "a ZIP archive (unpack it first)"),
        (b"\x1f\x8b", "a gzip archive (unpack it first)"),
        (b"\x89PNG", "a picture"),
        (b"\xff\xd8\xff", "a picture"),
        (b"GIF8", "a picture"),
        (b"SQLite format 3", "a database"),
    ):
        if data.startswith(magic):
            return what
    return None


def _chats(text: str, path: str) -> tuple[str, list[Chat]]:
    if "\n" not in text:
        text = text.replace("\r", "\n")
    lower = path.lower()
    stripped = text.lstrip("\ufeff \t\r\n")
    if lower.endswith((".json", ".jsonl", ".ndjson")) or stripped[:1] in "{[":
        found = _json_chats(text, path, must=lower.endswith((".json", ".jsonl", ".ndjson")))
        if found is not None:
            return found
    if stripped[:1] == "<" and "jsonData" in text:
        data = chatgpt.data_in_page(text)
        found = None if data is None else _chats_in(data)
        if found is not None:
            return found
    if stripped[:9].lower().startswith(("<!doctype", "<html", "<?xml")):
        raise UnreadableArtifact(path, None, "is a web page of no chat export that is known", _REMEDY)
    return _text_chats(text, path)


def _text_chats(text: str, path: str) -> tuple[str, list[Chat]]:
    if len(text) > MAX_TEXT_CHARS:
        reason = f"has {len(text)} characters; more than {MAX_TEXT_CHARS} of text that is no JSON are not read"
        raise UnreadableArtifact(path, None, reason, "split the log into several files")
    for name, read in _TEXTS:
        chats = read(text)
        if chats is not None:
            return name, chats
    raise UnreadableArtifact(path, None, "does not say who speaks: prompts and answers cannot be told apart", _REMEDY)


def _json_chats(text: str, path: str, must: bool) -> tuple[str, list[Chat]] | None:
    """The chats of JSON or JSON lines; None for text that is no JSON and need not be (``[User]: hello``)."""
    try:
        document = json.loads(text.lstrip("\ufeff"))
        bad: list[int] = []
    except (ValueError, RecursionError) as error:
        document, bad = _json_lines(text)
        if not document or len(bad) > len(document):
            if must:
                raise UnreadableArtifact(path, _place(error), f"is not JSON ({_why(error)})", _REMEDY) from None
            return None
    found = _chats_in(document)
    if found is None:
        reason = f"is JSON of no chat format that is known; it is {_shape(document)}"
        raise UnreadableArtifact(path, None, reason, _REMEDY)
    name, chats = found
    if bad:
        where = ", ".join(map(str, bad[:5]))
        chats = [Chat(chats[0].turns, (*chats[0].notes, f"{len(bad)} line(s) are not JSON: {where}")), *chats[1:]]
    return name, chats


def _json_lines(text: str) -> tuple[list[Any], list[int]]:
    """The values of JSON lines, and the numbers of the lines that are none (a session cut off as it was written)."""
    values: list[Any] = []
    bad: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            bad.append(number)
    return values, bad


def _place(error: Exception) -> str | None:
    return f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else None


def _why(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep, or with a number too long"


def _shape(document: object) -> str:
    if isinstance(document, dict):
        return f"an object with the keys {', '.join(sorted(repr(key)[:40] for key in document)[:8])}"
    if isinstance(document, list):
        return f"a list of {len(document)} value(s)"
    return f"a {type(document).__name__}"


def _chats_in(value: object, depth: int = 0) -> tuple[str, list[Chat]] | None:
    """The chats that a JSON value is or holds, with their format; None if there are none."""
    if isinstance(value, dict):
        for name, read in _CONVERSATIONS:
            chat = read(value)
            if chat is not None:
                return name, [chat]
    elif isinstance(value, list):
        for name, read_list in _LISTS:
            chats = read_list(value)
            if chats is not None:
                return name, chats
    if depth >= _MAX_NESTING or not isinstance(value, (dict, list)):
        return None
    return _chats_within(value, depth)


def _chats_within(value: dict[str, Any] | list[Any], depth: int) -> tuple[str, list[Chat]] | None:
    """The chats of the values of a list or a wrapping object: all those of the first format that is met."""
    children = list(value.values()) if isinstance(value, dict) else value
    first: str | None = None
    chats: list[Chat] = []
    others = 0
    for child in children:
        found = _chats_in(child, depth + 1)
        if found is None:
            others += isinstance(value, list) and isinstance(child, dict)
        elif first is None or found[0] == first:
            first = found[0]
            chats.extend(found[1])
        else:
            others += 1
    if first is None:
        return ("empty export", []) if depth == 0 and value == [] else None
    if others and chats:
        chats[0] = Chat(chats[0].turns, (*chats[0].notes, f"{others} other entr(y/ies) match no chat format"))
    return first, chats


def _messages(path: str, name: str, chats: Iterable[Chat], notes: tuple[str, ...]) -> Iterator[PromptMessage]:
    number = 0
    for chat in chats:
        if not chat.turns:
            continue
        number += 1
        for order, turn in enumerate(_with_chat_notes(chat), start=1):
            text = clean_text(turn.text)
            lost = () if text == turn.text else ("halves of surrogate pairs read U+FFFD",)
            yield PromptMessage(
                path=path,
                conversation=str(number),
                order=order,
                role=turn.role,
                text=text,
                text_sha256=sha256_of(text),
                at=turn.at,
                notes=(f"format: {name}", *notes, *turn.notes, *lost),
            )


def _with_chat_notes(chat: Chat) -> list[Turn]:
    """The turns, the first carrying what is to be said of the whole, and an answer without a prompt before it noted."""
    turns = list(chat.turns)
    first = next((i for i, turn in enumerate(turns) if turn.role in ("user", "assistant")), None)
    if first is not None and turns[first].role == "assistant":
        turns[first] = turns[first].noted("the log starts with an answer: its prompt is not there")
    turns[0] = turns[0].noted(*chat.notes)
    return turns
