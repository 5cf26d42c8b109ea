"""Lines of untrusted texts as pages show them: tabs expanded, overlong ones cut, what differs between two marked."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

MAX_LINE_CHARS = 400
MAX_LINES = 3000
"""Lines of a text beyond which it is not compared with another one, which could take minutes."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text or of a comparison; ``kind`` is same, added, removed, differs or place."""

    kind: str
    text: str


def lines_of(source: str) -> list[str]:
    """The lines of a text, tabs expanded."""
    return [line.expandtabs(4) for line in source.splitlines()]


def shown_line(line: str) -> str:
    """The line, cut where it is very long, with what it was cut from."""
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}… ({len(line):,} characters)"


def marked(first: Sequence[str], second: Sequence[str]) -> tuple[list[Line], list[Line]]:
    """The lines of two texts, those that the other one does not have in this place marked as ``differs``.

    Texts of more than MAX_LINES are not compared: all their lines are ``same``.
    """
    kinds = (["same"] * len(first), ["same"] * len(second))
    if max(len(first), len(second)) <= MAX_LINES:
        for tag, a, b, c, d in difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
            if tag != "equal":
                kinds[0][a:b] = ["differs"] * (b - a)
                kinds[1][c:d] = ["differs"] * (d - c)
    return (
        [Line(kind, shown_line(line)) for kind, line in zip(kinds[0], first, strict=True)],
        [Line(kind, shown_line(line)) for kind, line in zip(kinds[1], second, strict=True)],
    )


def without_long_runs(lines: Sequence[Line], longest: int = 8, around: int = 3) -> list[Line]:
    """The lines, long runs of those that are the same in both left out but for some at each end; how many is said."""
    found: list[Line] = []
    for kind, run in groupby(lines, key=lambda line: line.kind):
        part = list(run)
        if kind == "same" and len(part) > longest:
            left_out = len(part) - 2 * around
            part = [*part[:around], Line("place", f"… {left_out:,} lines, the same in both …"), *part[-around:]]
        found += part
    return found


def without_blank_runs(lines: Sequence[Line], longest: int = 3) -> list[Line]:
    """The lines, each long run of blank ones as one line that says how many there were."""
    found: list[Line] = []
    for blank, run in groupby(lines, key=lambda line: not line.text.strip()):
        part = list(run)
        found += [Line("place", f"… {len(part):,} blank lines …")] if blank and len(part) > longest else part
    return found


def first_lines(lines: Sequence[Line], most: int) -> list[Line]:
    """The first lines, and how many more there are."""
    rest = len(lines) - most
    return list(lines) if rest <= 0 else [*lines[:most], Line("place", f"… {rest:,} more lines …")]
