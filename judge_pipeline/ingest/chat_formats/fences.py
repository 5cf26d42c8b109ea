"""Which lines of a text lie inside fenced code."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FENCE = re.compile(r"\s{0,3}(?:>\s?)?(`{3,}|~{3,})([^`]*)$")


def fenced(lines: Sequence[str]) -> list[bool]:
    """For each line, whether it lies inside a fence (the fence's own two lines included).

    As in CommonMark a fence is closed by one of the same kind, at least as long and without an info string. Chats hold
    answers that were cut off, so a fence that is never closed, or that meets the opening of another one (a fence with
    an info string) before it is closed, counts as no fence: it must not swallow the rest of the log.
    """
    inside = [False] * len(lines)
    opened: tuple[int, str] | None = None
    for i, line in enumerate(lines):
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if match is None:
            continue
        mark, info = match[1], match[2].strip()
        if opened is None or (info and mark[0] == opened[1][0] and len(mark) <= len(opened[1])):
            opened = (i, mark)
        elif not info and mark[0] == opened[1][0] and len(mark) >= len(opened[1]):
            inside[opened[0] : i + 1] = [True] * (i + 1 - opened[0])
            opened = None
    return inside
