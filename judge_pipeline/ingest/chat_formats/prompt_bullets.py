"""A report with lists of the prompts that were used: "Important prompts:" and a list item for each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge_pipeline.ingest.chat_formats.chat import Chat, Turn, lines_of
from judge_pipeline.ingest.chat_formats.fences import fenced

NAME = "list items under a title that says prompts"

_ABOVE = re.compile(
    r"\s{0,3}(?:#{1,6}\s*)?(?:\*\*)?(?!.{0,60}(?:summary|概要|要約|总结|摘要))"
    r"[^\n:\uff1a*#]{0,40}(?:prompts?\b|プロンプト|提示词|提示詞)[^\n:\uff1a*#]{0,20}[:\uff1a]?(?:\*\*)?\s?[:\uff1a]?\s?",
    re.IGNORECASE,
)
_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s+(\S.*)")
_NUMBERED = re.compile(r"\s{0,3}(\d{1,4})[.)]\s+(\S.*)")
_QUOTED = re.compile(r"[\"\u201d」』]\s*$")
_QUOTES = (('"', '"'), ("\u201c", "\u201d"), ("「", "」"), ("『", "』"), ("`", "`"), ("'", "'"))


def chats_of_text(text: str) -> list[Chat] | None:
    """The prompts in the order of the file; None if there is no such list.

    Without such a title, numbered items in quotation marks are taken, where the numbers go on through the file.
    Quotation marks around an item go."""
    lines = lines_of(text)
    masked = fenced(lines)
    said = _under_titles(lines, masked) or _quoted_items(lines, masked)
    turns = [Turn("user", _bare(text), None, ("a list item in a report",)) for text in said]
    return [Chat(tuple(turns))] if turns else None


def _under_titles(lines: Sequence[str], masked: Sequence[bool]) -> list[str]:
    """The items of lists under titles that say prompts."""
    prompts: list[list[str]] = []
    listing = False
    for line, in_code in zip(lines, masked, strict=True):
        item = None if in_code else _ITEM.fullmatch(line)
        if item is not None and listing:
            prompts.append([item[1]])
        elif listing and prompts and line.startswith(("  ", "\t")) and line.strip():
            prompts[-1].append(line.strip())
        elif line.strip():
            listing = not in_code and item is None and len(line) <= 120 and _ABOVE.fullmatch(line) is not None
    return ["\n".join(prompt) for prompt in prompts]


def _quoted_items(lines: Sequence[str], masked: Sequence[bool]) -> list[str]:
    """The items of numbered lists that go on through a report, nearly all of them in quotation marks; else none."""
    items = [m for line, code in zip(lines, masked, strict=True) if not code and (m := _NUMBERED.fullmatch(line))]
    quoted = sum(_QUOTED.search(item[2]) is not None for item in items)
    counts_on = [int(item[1]) for item in items] == list(range(1, len(items) + 1))
    return [item[2] for item in items] if counts_on and quoted >= max(2, 0.8 * len(items)) else []


def _bare(text: str) -> str:
    bare = text.strip()
    for left, right in _QUOTES:
        if len(bare) > 2 and bare.startswith(left) and bare.endswith(right):
            return bare[1:-1].strip()
    return bare
