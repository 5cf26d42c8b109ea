"""Markdown and plain text in which each message stands under a heading, or behind a label, that says who speaks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from judge_pipeline.ingest.chat_formats.chat import NOT_TYPED, Chat, Role, Turn, block_text, instant_of, lines_of
from judge_pipeline.ingest.chat_formats.claude_code import is_client_text
from judge_pipeline.ingest.chat_formats.fences import fenced
from judge_pipeline.ingest.chat_formats.role_words import QUESTION_WORDS, Speaker, speaker_of, split_label

NAME = "text with role headings"

LEAST_PREAMBLE_CHARS = 200
"""Prose this long before the first heading is an answer whose beginning was not saved; less is a title or a remark."""

_STAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d:?\d\d)")
_TITLE = re.compile(r"(?:[-*] )?(?:\*\*)?[\w .()/-]{1,40}(?:\*\*)?\s*[:\uff1a]")
_BULLET = re.compile(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+")

# No two neighbouring repeats of a pattern match the same character, so that matching is linear.
_HEADING = re.compile(r"#{1,6}([^#\n].{0,2000})")
_BOLD = re.compile(r"(?:\*\*\*?|__)([^*_\n]{1,2000})(?:\*\*\*?|__)(.*)")
_BRACKET = re.compile(r"[\[【<「]([^\[\]【】<>「」\n]{1,80})[\]】>」](.*)")

_CLOSING_TAG = re.compile(r"</[^<>\n]{1,80}>$")


@dataclass(frozen=True, slots=True)
class Head:
    """A line that begins a message: where, how it is written, whom it names, and what stands behind the label."""

    line: int
    style: str
    bulleted: bool
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
    one_sided = len({head.speaker.role for head in heads}) == 1
    ends = [head.line for head in heads[1:]] + [len(lines)]
    turns = [
        turn
        for head, end in zip(heads, ends, strict=True)
        for turn in _turns(head, block_text(lines[head.line + 1 : end]), one_sided)
    ]
    before = _prose(lines[: heads[0].line])
    if len(before) >= LEAST_PREAMBLE_CHARS and turns[0].role == "user":
        turns.insert(0, Turn("assistant", before, None, ("text before the first role heading: taken as an answer",)))
    return [Chat(tuple(turns))]


def chosen_heads(lines: Sequence[str]) -> list[Head]:
    """The lines that begin the messages, in the one style that the log uses; empty if there is none."""
    masked = fenced(lines)
    by_style: dict[str, list[Head]] = {}
    for number, line in enumerate(lines):
        if not masked[number] and line.strip():
            for head in _heads_in(number, line, lines):
                by_style.setdefault(head.style, []).append(head)
    two_sided: list[list[Head]] = []
    one_sided: list[list[Head]] = []
    for style, heads in by_style.items():
        kept = _consistent(heads)
        roles = {head.speaker.role for head in kept}
        if {"user", "assistant"} <= roles:
            two_sided.append(kept)
        elif roles & {"user", "assistant"} and _may_stand_alone(style, kept, lines):
            one_sided.append(kept)
    return min(two_sided or one_sided, key=lambda heads: (heads[0].line, -len(heads)), default=[])


def _heads_in(number: int, line: str, lines: Sequence[str]) -> Iterator[Head]:
    bullet = _BULLET.match(line)
    bare = line[bullet.end() :] if bullet else line.strip().removeprefix("> ").lstrip()
    after_blank = number == 0 or not lines[number - 1].strip()
    for style, read in _styles_of(bare, after_blank):
        found = read(bare)
        speaker = speaker_of(found[0]) if found else None
        if found is None or speaker is None or (style == "bare" and not _is_sure(speaker, bare)):
            continue
        stamp = _STAMP.search(found[0])
        at = instant_of(stamp[0].replace(" ", "T", 1).replace(" ", "")) if stamp else None
        yield Head(number, style, bullet is not None, speaker, found[1].strip().lstrip(":\uff1a").strip(), at)


def _styles_of(bare: str, after_blank: bool) -> Iterator[tuple[str, Callable[[str], tuple[str, str] | None]]]:
    """The ways in which a line, by its looks, may mark a speaker, with what reads its label and the rest."""
    if bare.startswith("#"):
        yield "heading", _as_heading
    elif bare.startswith(("*", "_")):
        yield "bold", _as_bold
    elif bare.startswith(("[", "【", "<", "「")):
        yield "bracket", _as_bracket
    if ":" in bare[:120] or "\uff1a" in bare[:120]:
        yield "label", _as_label
    elif after_blank and len(bare) <= 40:
        yield "bare", _as_bare


def _is_sure(speaker: Speaker, line: str) -> bool:
    """Whether a bare word marks a turn: one that surely means a speaker, or a numbered one such as "Prompt 2"."""
    return speaker.strength == "strong" or line[-1:].isdigit()


def _as_heading(line: str) -> tuple[str, str] | None:
    match = _HEADING.fullmatch(line)
    if match is None:
        return None
    bare = match[1].strip().rstrip("#").replace("**", "").replace("__", "")
    return _whole_or_split(bare)


def _as_bold(line: str) -> tuple[str, str] | None:
    match = _BOLD.fullmatch(line)
    if match is None:
        return None
    label, rest = _whole_or_split(match[1].strip().rstrip(":\uff1a"))
    return label, f"{rest}{match[2]}"


def _as_bracket(line: str) -> tuple[str, str] | None:
    match = _BRACKET.fullmatch(line)
    return (match[1], match[2]) if match else None


def _as_label(line: str) -> tuple[str, str] | None:
    label, rest = split_label(line)
    return (label, rest) if label and rest is not None and not set(label) & set("`*#|") else None


def _as_bare(line: str) -> tuple[str, str] | None:
    return (
        (line, "") if len(line) <= 40 and not set(line) & set(":\uff1a`*#|>.,;!?\uff0c\uff1b\uff01\uff1f。、") else None
    )


def _whole_or_split(text: str) -> tuple[str, str]:
    """All of it as the label, where that names a speaker; else cut at its colon ("Prompt 3: sorting")."""
    if speaker_of(text) is not None:
        return text, ""
    label, rest = split_label(text)
    return label, rest or ""


def _consistent(heads: list[Head]) -> list[Head]:
    """The heads of one style that mark turns: of a side's weak words one, and only where it has no strong word."""
    allowed: dict[Role, set[str]] = {}
    for role in ("user", "assistant"):
        own = [head.speaker for head in heads if head.speaker.role == role]
        weak = Counter(speaker.label for speaker in own if speaker.strength == "weak")
        strong = any(speaker.strength == "strong" for speaker in own)
        allowed[role] = set() if strong else {label for label, _ in weak.most_common(1)}
    return [
        head
        for head in heads
        if head.speaker.strength == "strong" or head.speaker.label in allowed.get(head.speaker.role, ())
    ]


def _may_stand_alone(style: str, heads: list[Head], lines: Sequence[str]) -> bool:
    """Whether heads of one side are enough.

    They are where the log begins with one, or where several headings mark prompts. A list's item is not ("- **User**:
    the administrator" is a description), nor is the bare word, but for numbered prompts.
    """
    if any(head.bulleted for head in heads):
        return False
    several_prompts = all(head.speaker.role == "user" for head in heads) and len(heads) > 1
    numbered = several_prompts and all(head.speaker.strength == "weak" for head in heads)
    if style == "bare" and not numbered:
        return False
    before = [line for line in _body(lines[: heads[0].line]) if not line.strip().startswith(("#", "<!--"))]
    return not block_text(before) or (style == "heading" and several_prompts)


def _turns(head: Head, body: str, one_sided: bool) -> list[Turn]:
    """The message under a head: usually one; a question in the heading itself has its answer below."""
    role = head.speaker.role
    body = _unquoted(body)
    rest = head.rest
    if head.style == "bracket":
        body, rest = _CLOSING_TAG.sub("", body), _CLOSING_TAG.sub("", rest) if not body else rest
    if one_sided and body and rest and head.speaker.label in QUESTION_WORDS:
        note = "text under the question: taken as the answer"
        return [Turn("user", rest, head.at), Turn("assistant", body, None, (note,))]
    # "Prompt 3: sorting" is a numbered title over its text; "User: hello" begins what was said.
    if head.style == "heading" and head.speaker.strength == "weak" and body:
        return [Turn(role, body, head.at)]
    text = block_text([rest, *lines_of(body)]) if rest else body
    return [Turn(role, text, head.at, (NOT_TYPED,) if role == "user" and is_client_text(text) else ())]


def _unquoted(text: str) -> str:
    """The text without ``>``, where every line of it is a quotation; with, where only some are."""
    lines = [line.strip() for line in lines_of(text)]
    if not any(lines) or not all(line.startswith(">") for line in lines if line):
        return text
    return block_text([line.removeprefix(">").removeprefix(" ") for line in lines])


def _prose(lines: Sequence[str]) -> str:
    """What the lines say beside titles, rules, comments, front matter and short "key: value" lines."""
    return block_text([line for line in _body(lines) if not _is_title(line)])


def _body(lines: Sequence[str]) -> Sequence[str]:
    """The lines after the front matter, where there is one."""
    if not lines or lines[0].strip() != "---":
        return lines
    return lines[next((i + 1 for i, line in enumerate(lines) if i and line.strip() == "---"), 0) :]


def _is_title(line: str) -> bool:
    bare = line.strip()
    return bare.startswith(("#", "<!--", ">")) or (len(bare) < 120 and _TITLE.match(bare) is not None)
