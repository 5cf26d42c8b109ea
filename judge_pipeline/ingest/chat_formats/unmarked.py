"""Text without any mark of who speaks: a prompt kept as a file, a copy-out of a chat page, or no chat at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from judge_pipeline.ingest.chat_formats.chat import Chat, Turn, block_text, lines_of
from judge_pipeline.ingest.chat_formats.fences import fenced
from judge_pipeline.ingest.source_files import looks_like_code

NAME = "text without role marks"

_GUESSED = "no role marks: who speaks is guessed from wording"

MAX_PROMPT_CHARS = 20_000
"""Longer texts without any mark are not taken for one prompt."""

_OPENING = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|great|excellent|understood|got it|perfect"
    r"|good (?:question|focus|catch|point|idea|thinking|eye)|here(?:'|’)?s|here is|here are|no problem|happy to help"
    r"|you(?:'|’)re (?:absolutely )?right|i(?:'|’)ll help|i(?:(?:'|’)ve| have)? reviewed your|below is|to solve this"
    r"|let(?:'|’)s (?:break|go|walk|work|solve|unpack|dive)|to [a-z][^.!?\n]{3,300}?,? you(?:'|’ll| will| can| need)"
    r"|もちろん(?:です)?|はい、|承知|了解しました|かしこまりました|以下に|以下は|それでは|ご質問ありがとう"
    r"|当然|好的|没问题|沒問題|以下是|下面是|可以的|當然|물론|네,|알겠습니다|конечно|хорошо,|отличный вопрос)"
    r"(?=$|[\s!,.:、。\\\uff01\uff0c\uff1a—–-]|[ぁ-ヿ一-龯가-힣])",
    re.IGNORECASE,
)
_LEAST_CLOSING_TAGS = 5
_HEADING = re.compile(r"\s{0,3}\\?(#{1,6})\s*(\S.{0,2000})")
_QUESTION_MARKS = ("?", "\uff1f")


def chats_of_text(text: str) -> list[Chat] | None:
    """What a text without marks can be read as; None if it cannot be told who speaks.

    Paragraphs that begin as assistants do ("Sure! Here is ...") are answers, and the paragraph right before each is the
    prompt; where that is a heading, all headings of its level are prompts. A question before a document with headings
    is the prompt, and the document the answer. These are guesses from wording, and each message says so. Another
    document with several headings is no chat: it has no messages. A short text with neither is one prompt,
    unless it is a program or torn out of something longer.
    """
    if not text.strip():
        return []
    lines = lines_of(text)
    masked = fenced(lines)
    paragraphs = _paragraphs(lines, masked)
    openings = [i for i, (start, _) in enumerate(paragraphs) if _OPENING.match(lines[start].lstrip("> *"))]
    headings = {i: m for i, line in enumerate(lines) if not masked[i] and (m := _HEADING.fullmatch(line)) is not None}
    asked = _asked_in_headings(lines, paragraphs, openings, headings)
    if asked is not None:
        return [asked]
    if openings and openings[0] <= 1:
        return [_guessed(lines, paragraphs, openings)]
    if len(headings) >= 2:
        return _asked_before(lines, paragraphs, min(headings))
    if openings or len(text) > MAX_PROMPT_CHARS or _is_torn(lines) or looks_like_code(text):
        return None
    return [Chat((Turn("user", block_text(lines), None, ("no role marks: the whole file is taken as one prompt",)),))]


def _paragraphs(lines: Sequence[str], masked: Sequence[bool]) -> list[tuple[int, int]]:
    """First line and line after the last of each paragraph outside fenced code."""
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


def _is_torn(lines: Sequence[str]) -> bool:
    """Whether a text is a piece of something longer: it begins or ends within fenced code, or is markup of a page."""
    if lines[0].lstrip().startswith("<") and sum(line.count("</") for line in lines) >= _LEAST_CLOSING_TAGS:
        return True
    return sum(line.lstrip().startswith("```") for line in lines) % 2 == 1


def _asked_in_headings(
    lines: Sequence[str],
    paragraphs: Sequence[tuple[int, int]],
    openings: Sequence[int],
    headings: Mapping[int, re.Match[str]],
) -> Chat | None:
    """The chat of a copy-out in which each prompt is a heading over its answer; None for other texts.

    The first heading, which nothing stands before but titles above its level, is over an answer's first words.
    """
    answered = [paragraphs[i - 1][0] for i in openings if i > 0 and paragraphs[i - 1][0] in headings]
    if not answered:
        return None
    level = len(headings[answered[0]][1])
    asked = [i for i, match in headings.items() if len(match[1]) == level]
    before = [line for line in lines[: asked[0]] if line.strip()]
    titles_only = all((m := _HEADING.fullmatch(line)) is not None and len(m[1]) < level for line in before)
    answers = sum(i in asked for i in answered)
    if not titles_only or asked[0] != answered[0] or 2 * answers < len(asked):
        return None
    turns: list[Turn] = []
    for start, end in zip(asked, [*asked[1:], len(lines)], strict=True):
        turns.append(Turn("user", headings[start][2].strip().rstrip("#").strip(), None, (_GUESSED,)))
        if answer := block_text(lines[start + 1 : end]):
            turns.append(Turn("assistant", answer, None, (_GUESSED,)))
    return Chat(tuple(turns))


def _asked_before(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]], first_heading: int) -> list[Chat]:
    """The question before a document with headings, and the document; no chat where none stands there."""
    if len(paragraphs) < 2 or paragraphs[1][0] > first_heading:
        return []
    (start, end), (answer, _) = paragraphs[:2]
    prompt = block_text(lines[start:end])
    if start >= first_heading or not prompt.endswith(_QUESTION_MARKS) or prompt.startswith(("#", ">", "|")):
        return []
    said = block_text(lines[answer:])
    return [Chat((Turn("user", prompt, None, (_GUESSED,)), Turn("assistant", said, None, (_GUESSED,))))]


def _guessed(lines: Sequence[str], paragraphs: Sequence[tuple[int, int]], openings: Sequence[int]) -> Chat:
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
            Turn("user" if role == "user" else "assistant", block_text(lines[start:end]), None, (_GUESSED,))
            for (start, role), end in zip(heads, ends, strict=True)
        )
    )


def _can_be_prompt(lines: Sequence[str], paragraph: tuple[int, int]) -> bool:
    """Not a heading, a rule, a list or a quotation: those belong to the answer before."""
    return re.match(r"\s*(?:[#>|*+-]|\d{1,3}[.)]\s|={3,}|_{3,})", lines[paragraph[0]]) is None
