"""A student's list of prompts: a numbered heading for each, the prompt itself in a fence or under a label."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge_pipeline.ingest.chat_formats.chat import Chat, Turn, block_text, lines_of, plain_label
from judge_pipeline.ingest.chat_formats.fences import fenced
from judge_pipeline.ingest.chat_formats.role_words import speaker_of

NAME = "numbered list of prompts"

LABELLED_NAME = "prompts under bold labels"

_HEAD = re.compile(
    r"\s{0,3}(#{1,6})\s*\**\s*(?:User |My |AI )?(?:Prompt|プロンプト|提示词|提示|指示)"
    r"[\s#\uff03]*(?:No\.?\s*)?\d{1,4}\b.{0,300}",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s{0,3}(#{1,6})([^#].{0,300})")
_LABEL = re.compile(r"\s{0,3}(?:[-*]\s+)?\*\*([^*\n]{1,80})\*\*(.*)")
_PROMPT_WORDS = ("prompt", "プロンプト", "提示", "指示", "入力", "프롬프트")
_ANSWER_WORDS = (
    "response",
    "answer",
    "reply",
    "output",
    "回答",
    "応答",
    "返答",
    "回复",
    "輸出",
    "输出",
    "出力",
    "답변",
    "응답",
)
_SUMMARY_WORDS = ("summary", "概要", "要約", "总结", "摘要", "evaluation", "analysis", "評価")


def chats_of_text(text: str) -> list[Chat] | None:
    """The prompts, and the answers where they are there in full; None if the text has no numbered prompt headings.

    A summary of an answer is not the answer, and is no message. Logs whose headings also name an assistant are for
    ``role_headings``.
    """
    if not any(word in text.lower() for word in _PROMPT_WORDS):
        return None
    lines = lines_of(text)
    masked = fenced(lines)
    headings = [(i, m) for i, line in enumerate(lines) if not masked[i] and (m := _HEADING.fullmatch(line))]
    starts = [i for i, _ in headings if _HEAD.fullmatch(lines[i])]
    if not starts or any(_names_assistant(m[2]) for _, m in headings):
        return None
    turns: list[Turn] = []
    ends = _ends(headings, len(lines))
    for start, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        end = ends[start]
        if _awaits_answer(lines[start + 1 : end], masked[start + 1 : end]):
            end = following  # the answer brings headings of its own
        turns.extend(_section(lines[start + 1 : end], masked[start + 1 : end], lines[start]))
    return [Chat(tuple(turns))]


def labelled_chats_of_text(text: str) -> list[Chat] | None:
    """The prompts of a log that has each under a bold label ("**My prompt**:"), whatever its headings are called.

    None if there are not at least two such labels. Templates that nobody filled in are no prompts.
    """
    if "**" not in text or not any(word in text.lower() for word in _PROMPT_WORDS):
        return None
    lines = lines_of(text)
    masked = fenced(lines)
    bold = {
        plain_label(m[1])
        for line, code in zip(lines, masked, strict=True)
        if not code and (m := _LABEL.fullmatch(line))
    }
    parts = [(label, body) for label, body in _labelled_parts(lines, masked) if label in bold]
    if sum(_is(label, _PROMPT_WORDS) for label, _ in parts) < 2:
        return None
    turns: list[Turn] = []
    for label, body in parts:
        said = _unfenced(body).strip("\n") if _is(label, (*_PROMPT_WORDS, *_ANSWER_WORDS)) else ""
        if said.strip():
            turns.append(Turn("user" if _is(label, _PROMPT_WORDS) else "assistant", said))
    return [Chat(tuple(turns))]


def _awaits_answer(lines: Sequence[str], masked: Sequence[bool]) -> bool:
    """Whether a section ends right behind a label that announces an answer."""
    label, body = _labelled_parts(lines, masked)[-1]
    return _is(label, _ANSWER_WORDS) and not body


def _ends(headings: Sequence[tuple[int, re.Match[str]]], n_lines: int) -> dict[int, int]:
    """For each heading's line, the line of the next heading that is not below it."""
    ends: dict[int, int] = {}
    open_sections: list[tuple[int, int]] = []
    for line, match in headings:
        while open_sections and open_sections[-1][1] >= len(match[1]):
            ends[open_sections.pop()[0]] = line
        open_sections.append((line, len(match[1])))
    return ends | {line: n_lines for line, _ in open_sections}


def _names_assistant(heading: str) -> bool:
    speaker = speaker_of(re.split("[:\uff1a]", heading, maxsplit=1)[0])
    return speaker is not None and speaker.role == "assistant"


def _section(lines: Sequence[str], masked: Sequence[bool], head: str) -> list[Turn]:
    parts = _labelled_parts(lines, masked)
    prompts = [body for label, body in parts if _is(label, _PROMPT_WORDS)]
    if not prompts:
        prompts = [body for label, body in parts if not label and "```" in body][:1] or [
            body for label, body in parts if not label and body
        ]
    prompt = _unfenced(prompts[0]) if prompts else _title(head)
    answers = [_unfenced(body) for label, body in parts if _is(label, _ANSWER_WORDS) and body]
    return [Turn("user", prompt)] * bool(prompt) + [Turn("assistant", answer) for answer in answers]


def _labelled_parts(lines: Sequence[str], masked: Sequence[bool]) -> list[tuple[str, str]]:
    """The section cut at its bold labels: (label in comparable form, text), the text before the first under ''.

    An answer that begins with a heading brings its own structure, and goes on to the end.
    """
    parts: list[tuple[str, list[str]]] = [("", [])]
    whole = False
    for line, in_code in zip(lines, masked, strict=True):
        label = None if in_code or whole else _LABEL.fullmatch(line) or _HEADING.fullmatch(line)
        whole = whole or (label is not None and label.re is _HEADING and _announces_answer(*parts[-1]))
        if label and not whole:
            rest = label[2].strip().lstrip(":\uff1a").strip() if label.re is _LABEL else ""
            parts.append((plain_label(label[1] if label.re is _LABEL else label[2]), [rest]))
        else:
            parts[-1][1].append(line)
    return [(label, block_text(body)) for label, body in parts]


def _announces_answer(label: str, body: Sequence[str]) -> bool:
    return _is(label, _ANSWER_WORDS) and not any(line.strip() for line in body)


def _is(label: str, words: Sequence[str]) -> bool:
    return any(word in label for word in words) and not any(word in label for word in _SUMMARY_WORDS)


def _unfenced(text: str) -> str:
    """The inside of the first fence, where the text has one; else the text."""
    lines = lines_of(text)
    inside = fenced(lines)
    if True not in inside:
        return "\n".join(lines[1:]) if lines[0].startswith("```") else text  # a fence that is never closed
    start = inside.index(True)
    end = next((i for i in range(start, len(lines)) if not inside[i]), len(lines))
    # Two fences without a line between them are one run: the first closing line ends the first.
    mark = lines[start].strip()[:3]
    close = next((i for i in range(start + 1, end) if lines[i].strip().startswith(mark)), end)
    return "\n".join(lines[start + 1 : close])


def _title(head: str) -> str:
    return re.split("[:\uff1a]", head, maxsplit=1)[1].strip() if re.search("[:\uff1a]", head) else ""
