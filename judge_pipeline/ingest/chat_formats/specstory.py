"""SpecStory's Markdown histories: ``_**User (time)**_`` and ``_**Agent (model time)**_``."""

from __future__ import annotations

import bisect
import itertools
import re

from judge_pipeline.ingest.chat_formats.chat import (
    NOT_TYPED,
    Chat,
    Turn,
    block_text,
    inside,
    instant_of,
    lines_of,
    plural_note,
    without,
)
from judge_pipeline.ingest.chat_formats.claude_code import is_client_text
from judge_pipeline.ingest.chat_formats.fences import fenced

NAME = "SpecStory history"

_HEAD = re.compile(r"_\*\*(User|Agent|Assistant)\b([^*\n]{0,300})\*\*_\s*")
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)")


def chats_of_text(text: str) -> list[Chat] | None:
    """The sessions of a history file; None if the text is not one.

    What it files under its user although Claude Code wrote it there (a command, its output) is noted as such.
    """
    if "_**" not in text:
        return None
    lines = lines_of(text)
    masked = fenced(lines)
    marks: list[tuple[int, re.Match[str]]] = []
    sessions: list[int] = []
    for i, line in enumerate(lines):
        head = None if masked[i] else _HEAD.fullmatch(line)
        if head:
            marks.append((i, head))
        elif not masked[i] and line.startswith("<!-- ") and " Session " in line[:120]:
            sessions.append(i)
    if not marks:
        return None
    ends = sorted({i for i, _ in marks} | set(sessions) | {len(lines)})
    following = dict(itertools.pairwise(ends))
    chats: dict[int, list[Turn]] = {}
    for i, head in marks:
        turn = _turn(head, lines[i + 1 : following[i]])
        chats.setdefault(bisect.bisect(sessions, i), []).append(turn)
    return [Chat(tuple(turns)) for turns in chats.values()]


def _turn(head: re.Match[str], lines: list[str]) -> Turn:
    time = _TIME.search(head[2])
    at = instant_of(f"{time[1]}T{time[2]}{time[3]}") if time else None
    text = block_text(lines)
    if "sidechain" in head[2].lower():
        return Turn("tool", text, at, ("a sub-agent's message",))
    if head[1] == "User":
        return Turn("user", text, at, (NOT_TYPED,) if is_client_text(text) else ())
    thinking = plural_note(len(inside(text, "think")), "thinking block(s) left out")
    calls = ("tool use",) if "<tool-use " in text else ()
    return Turn("assistant", block_text(lines_of(without(text, "think"))), at, (*thinking, *calls))
