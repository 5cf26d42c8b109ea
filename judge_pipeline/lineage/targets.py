"""What the argument of a trace may be: a figure, an attempt, a pair, a file, or a hash."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from judge_pipeline.report.trace_anchor import ANCHOR_DIGITS

ATTEMPT, SHA256, FIGURE, FILE, WORDS = "attempt", "sha256", "figure", "file", "words"

_ATTEMPT = re.compile(r"[0-9a-f]{16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ANCHOR = re.compile(rf"(?:.*#)?(fig-[0-9a-f]{{{ANCHOR_DIGITS}}})")
_ID = re.compile(r"[a-z][a-z0-9_]*:[a-z][a-z0-9_]*=.*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """What was asked for.

    Attributes:
        kind: by its form alone: an attempt's id, a sha256, a figure's id or anchor, a path; or words, which may be a
            metric, a pair's id or a file's name.
        text: what is looked for: lower case hashes, anchors without the page, paths with ``/``.
    """

    kind: str
    text: str


def parse_target(text: str) -> Target:
    """What the text is, by its form.

    Raises:
        ValueError: it is empty, or holds a control character.
    """
    given = text.strip()
    if not given:
        raise ValueError("nothing is named: give a metric, an attempt id, a pair id, a file or a sha256")
    if any(ord(character) < 32 or ord(character) == 127 for character in given):
        raise ValueError("a control character is in it: give a metric, an attempt id, a pair id, a file or a sha256")
    if _SHA256.fullmatch(given.lower().removeprefix("sha256:")):
        return Target(SHA256, given.lower().removeprefix("sha256:"))
    if _ATTEMPT.fullmatch(given.lower()):
        return Target(ATTEMPT, given.lower())
    if found := _ANCHOR.fullmatch(given):
        return Target(FIGURE, found[1])
    if _ID.fullmatch(given):
        return Target(FIGURE, given)
    if "/" in given or "\\" in given:
        return Target(FILE, plain_path(given))
    return Target(WORDS, given)


def plain_path(text: str) -> str:
    """A path with ``/`` and without ``.`` and empty parts; ``..`` stays, and so names no file of a folder."""
    return str(PurePosixPath(text.replace("\\", "/")))
