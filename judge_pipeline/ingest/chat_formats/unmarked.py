"""Text without any mark of who speaks: a prompt kept as a file, a copy-out of a chat page, or no chat at all."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge_pipeline.ingest.chat_formats.chat import Chat, Turn, block_text, lines_of
from judge_pipeline.ingest.chat_formats.fences import fenced

NAME = "text without role marks"

MAX_PROMPT_CHARS = 20_000
"""Longer texts without any mark are not taken for one prompt."""

_OPENING = re.compile(
    r"(?:sure|certainly|of course|absolutely|great|got it|great question|good question|here(?:'|’)?s|here is|here are"
    r"|no problem|happy to help|you(?:'|’)re right|i(?:'|’)ll help|let(?:'|’)s (?:break|go|walk|work|solve)"
    r"|below is|to solve this|もちろん|はい、|承知|了解しました|かしこまりました|以下に|以下は|それでは"
    r"|当然|好的|没问题|沒問題|以下是|下面是|可以的)"
    r"(?=$|[\s!,.:、。\uff01\uff0c\uff1a—-]|[ぁ-ヿ一-龯])",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s*\S")


def chats_of_text(text: str) -> list[Chat] | None:
    """What a text without marks can be read as; None if it cannot be told who speaks.

    Paragraphs that begin as assistants do ("Sure! Here is ...") are answers, and the paragraph right before each is the
    prompt: this is a guess from wording, and each message says so. A document with several headings and no such
    paragraph is no chat: it has no messages. A short text with neither is one prompt.
    """
    if not text.strip():
        return []
    lines = lines_of(text)
    paragraphs = _paragraphs(lines)
    openings = [i for i, (start, _) in enumerate(paragraphs) if _OPENING.match(lines[start].lstrip("> *"))]
    if openings and openings[0] <= 1:
        return [_guessed(lines, paragraphs, openings)]
    masked = fenced(lines)
    headings = sum(_HEADING.match(line) is not None for i, line in enumerate(lines) if not masked[i])
    if headings >= 2:
        return []
    if openings or len(text) > MAX_PROMPT_CHARS:
        return None
    return [Chat((Turn("user", block_text(lines), None, ("no role marks: the whole file is taken as one prompt",)),))]


def _paragraphs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First line and line after the last of each paragraph outside fenced code."""
    masked = fenced(lines)
    paragraphs: list[tuple[int, int]] = []
    start: int | None = None
    for i, line in enumerate([*lines, ""]):
        is_text = i < len(lines) and bool(line.strip()) and not masked[i]
        if is_text and start is None:
            start = i
        elif not is_text and start is not None:
            paragraphs.append((start, i))
            start = None
    return paragraphs


def _guessed(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]], openings: Sequence[int]) -> Chat:
    note = "no role marks: who speaks is guessed from wording"
    heads: list[tuple[int, str]] = []
    for i in openings:
        before = i - 1
        if before >= 0 and before not in openings and _can_be_prompt(lines, paragraphs[before]):
            heads.append((paragraphs[before][0], "user"))
            heads.append((paragraphs[i][0], "assistant"))
        elif not heads:
            heads.append((paragraphs[i][0], "assistant"))
    ends = [start for start, _ in heads[1:]] + [len(lines)]
    return Chat(
        tuple(
            Turn("user" if role == "user" else "assistant", block_text(lines[start:end]), None, (note,))
            for (start, role), end in zip(heads, ends, strict=True)
        )
    )


def _can_be_prompt(lines: Sequence[str], paragraph: tuple[int, int]) -> bool:
    """Not a heading, a rule, a list or a quotation: those belong to the answer before."""
    return re.match(r"\s*(?:[#>|*+-]|\d{1,3}[.)]\s|={3,}|_{3,})", lines[paragraph[0]]) is None
