"""Markdown and plain text in which each message stands under a heading, or behind a label, that says who speaks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from judge_pipeline.ingest.chat_formats.chat import Chat, Role, Turn, block_text, instant_of, lines_of
from judge_pipeline.ingest.chat_formats.fences import fenced
from judge_pipeline.ingest.chat_formats.role_words import Speaker, speaker_of

NAME = "text with role headings"

_BULLET = r"\s{0,3}(?:[-*+]\s{1,4}|\d{1,3}[.)]\s{1,4})?"
_STYLES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("heading", re.compile(r"\s{0,3}#{1,6}(?P<label>[^#\n].{0,250})")),
    ("bold", re.compile(_BULLET + r"(?:\*\*|__)(?P<label>[^*_\n]{1,160})(?:\*\*|__)(?P<rest>.*)")),
    ("bracket", re.compile(r"\s{0,3}[\[【<「](?P<label>[^\[\]【】<>「」\n]{1,80})[\]】>」](?P<rest>.*)")),
    ("label", re.compile(r"(?:>\s?|[-*+]\s)?(?P<label>[^\s:\uff1a`*#|>][^:\uff1a`*#|\n]{0,80})[:\uff1a](?P<rest>.*)")),
    ("bare", re.compile(r"(?P<label>[^\s:\uff1a`*#|>.,;!?\uff0c\uff1b\uff01\uff1f。、].{0,40})")),
)
"""How a line can mark a speaker. No two neighbouring repeats match the same character, so that matching is linear."""

_STAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)")

LEAST_PREAMBLE_CHARS = 200
"""Prose this long before the first heading is an answer whose beginning was not saved; less is a title or a remark."""


@dataclass(frozen=True, slots=True)
class Head:
    """A line that may begin a message: where, how it is written, whom it names, and what stands behind the label."""

    line: int
    style: str
    speaker: Speaker
    rest: str
    at: datetime | None


def chats_of_text(text: str) -> list[Chat] | None:
    """The one conversation; None if no consistent way of marking speakers is found.

    A log marks its speakers in one style (headings, bold words, brackets, labels with a colon, or the bare word on a
    line of its own). The style that first marks both sides is taken; lines in other styles, and lines inside fenced
    code, belong to what was said. A log with one side only is read as well.
    """
    lines = lines_of(text)
    heads = chosen_heads(lines)
    if not heads:
        return None
    ends = [head.line for head in heads[1:]] + [len(lines)]
    turns = [_turn(head, lines[head.line + 1 : end]) for head, end in zip(heads, ends, strict=True)]
    before = _prose(lines[: heads[0].line])
    if len(before) >= LEAST_PREAMBLE_CHARS and turns[0].role == "user":
        turns.insert(0, Turn("assistant", before, None, ("text before the first role heading: taken as an answer",)))
    return [Chat(tuple(turns))]


def chosen_heads(lines: Sequence[str]) -> list[Head]:
    """The lines that begin the messages, in the one style that the log uses; empty if there is none."""
    masked = fenced(lines)
    found = [head for i, line in enumerate(lines) if not masked[i] for head in _heads_in(i, line, lines)]
    by_style: dict[str, list[Head]] = {}
    for head in found:
        by_style.setdefault(head.style, []).append(head)
    two_sided = []
    one_sided = []
    for style, heads in by_style.items():
        kept = _consistent(heads)
        roles = {head.speaker.role for head in kept}
        if {"user", "assistant"} <= roles:
            two_sided.append(kept)
        elif roles & {"user", "assistant"} and _may_stand_alone(style, kept, lines):
            one_sided.append(kept)
    return min(two_sided or one_sided, key=lambda heads: (heads[0].line, -len(heads)), default=[])


def _heads_in(number: int, line: str, lines: Sequence[str]) -> list[Head]:
    heads = []
    for style, pattern in _STYLES:
        match = pattern.fullmatch(line)
        if match is None:
            continue
        label, rest = match["label"], match.groupdict().get("rest") or ""
        if style == "heading":
            label, rest = _split_heading(label.strip().rstrip("#"))
        speaker = speaker_of(label)
        if speaker is None or (style == "bare" and not _stands_apart(number, lines, speaker)):
            continue
        stamp = _STAMP.search(label)
        at = instant_of(stamp[0].replace(" ", "T", 1).replace(" ", "")) if stamp else None
        heads.append(Head(number, style, speaker, rest.strip().lstrip(":\uff1a").strip(), at))
    return heads


def _split_heading(text: str) -> tuple[str, str]:
    """A heading's label and what follows its colon: "Prompt 3: sorting", "**User:** hello"."""
    bare = text.replace("**", "").replace("__", "")
    if speaker_of(bare) is not None:
        return bare, ""
    label, _, rest = bare.replace("\uff1a", ":").partition(":")
    return label, rest


def _stands_apart(number: int, lines: Sequence[str], speaker: Speaker) -> bool:
    before = lines[number - 1] if number else ""
    return speaker.strength == "strong" and not before.strip()


def _consistent(heads: list[Head]) -> list[Head]:
    """The heads of one style that mark turns: of a side's weak words one, and only where it has no strong word."""
    kept = []
    allowed: dict[Role, set[str] | None] = {}
    for role in ("user", "assistant"):
        own = [head.speaker for head in heads if head.speaker.role == role]
        weak = Counter(speaker.label for speaker in own if speaker.strength == "weak")
        strong = any(speaker.strength == "strong" for speaker in own)
        allowed[role] = set() if strong else {label for label, _ in weak.most_common(1)}
    for head in heads:
        speaker = head.speaker
        if speaker.strength == "strong" or speaker.label in (allowed.get(speaker.role) or ()):
            kept.append(head)
    return kept


def _may_stand_alone(style: str, heads: list[Head], lines: Sequence[str]) -> bool:
    """Whether heads of one side are enough: never the bare word; a label if it comes first or more than once."""
    first = heads[0]
    if style == "bare":
        return False
    prompts_only = all(head.speaker.role == "user" for head in heads)
    if not _prose(lines[: first.line]) or (prompts_only and len(heads) > 1):
        return True
    return style != "label" and first.speaker.role == "user" and first.speaker.strength == "strong"


def _turn(head: Head, lines: Sequence[str]) -> Turn:
    body = block_text(lines)
    # "Prompt 3: sorting" is a numbered title over its text; "User: hello" begins what was said.
    is_title = head.style == "heading" and head.speaker.strength == "weak" and bool(body)
    text = body if is_title or not head.rest else block_text([head.rest, *lines])
    return Turn(head.speaker.role, text, head.at)


def _prose(lines: Sequence[str]) -> str:
    """What the lines say beside titles, rules, comments, front matter and short "key: value" lines."""
    start = 0
    if lines and lines[0].strip() == "---":
        start = next((i + 1 for i, line in enumerate(lines) if i and line.strip() == "---"), 0)
    kept = [line for line in lines[start:] if not _is_title(line)]
    return block_text(kept)


def _is_title(line: str) -> bool:
    bare = line.strip()
    return bare.startswith(("#", "<!--", ">")) or (
        len(bare) < 120 and re.match(r"(?:[-*] )?(?:\*\*)?[\w .()/-]{1,40}(?:\*\*)?\s*[:\uff1a]", bare) is not None
    )
