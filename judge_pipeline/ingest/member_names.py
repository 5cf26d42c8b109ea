"""What the name of a file in a judge's export says: ``1234_AC_team_A.cpp``, by the contest's pattern.

A separator may stand within a team's or a problem's name. So a name is divided in every way that the pattern allows,
and read only where one way is left: a verdict is a listed word, an id holds no separator, and of several ways the one
counts that names a problem which the other names tell of beyond doubt, or a problem or participant of contest.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from judge_pipeline.ingest.verdicts import listed_verdict

NameFields = Mapping[str, str]
"""The fields of a name: ``submission_id``, ``verdict``, ``participant``, ``problem_id``, ``language``."""

Verdicts = Callable[[str], "str | None"]
"""The verdict of words that are listed as they stand."""

_MAX_NAME = 255
_MAX_VERDICT = 60
_MAX_STEPS = 1000
"""Of dividing one name; what is not done by then is not decided."""


def read_names(
    names: Sequence[str], pattern: str, words: Mapping[str, str], known: Mapping[str, Collection[str]]
) -> list[tuple[NameFields, bool] | str]:
    """What each of an export's names says.

    Args:
        names: the names within the archive, with ``/`` and extension.
        pattern: ``archive_names`` of contest.yaml. It is compared with the name without folders and extension, or
            with all of it but the extension where the pattern has a ``/``.
        words: the contest's own verdict words.
        known: further names of problems and participants, by field.

    Returns:
        For each name its fields and whether other names were needed to divide it; or, in words, why it cannot be read.
    """
    verdicts = lru_cache(maxsize=4096)(lambda text: listed_verdict(text, words))
    ways = [_ways(name, pattern, verdicts) for name in names]
    # A team of the name "one" says nothing against a team "one_two"; problems are few, and known from many names.
    problems = {way[0]["problem_id"] for way in ways if len(way) == 1 and "problem_id" in way[0]}
    told = {
        "problem_id": problems | set(known.get("problem_id", ())),
        "participant": set(known.get("participant", ())),
    }
    return [_decided(way, told) for way in ways]


def _decided(ways: list[NameFields], told: Mapping[str, Collection[str]]) -> tuple[NameFields, bool] | str:
    if not ways:
        return "its name is not of the form"
    if len(ways) == 1:
        return ways[0], False
    for field in ("problem_id", "participant"):
        fitting = [way for way in ways if way.get(field) in told[field]]
        if len(fitting) == 1:
            return fitting[0], True
        ways = fitting or ways
    return "its name can be divided in several ways by the form"


def _ways(name: str, pattern: str, verdicts: Verdicts) -> list[NameFields]:
    """All ways to divide a name; of verdicts that begin alike, only the longest counts."""
    stem = str(PurePosixPath(name).with_suffix("")) if "/" in pattern else PurePosixPath(name).stem
    if not stem or len(stem) > _MAX_NAME:
        return []
    fields, separators = _parts(pattern)
    steps = [_MAX_STEPS]
    found = list(_divide(stem, fields, separators, verdicts, steps))
    if steps[0] < 0:
        return found + found  # not all ways are known: more than one, whatever they are
    longest = max((len(way.get("verdict", "")) for way in found), default=0)
    kept = [way for way in found if len(way.get("verdict", "")) == longest]
    return list({tuple(way.items()): way for way in kept}.values())


@lru_cache(maxsize=16)
def _parts(pattern: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The fields of a pattern, and the texts before, between and behind them."""
    pieces = re.split(r"\{(\w+)\}", pattern)
    return tuple(pieces[1::2]), tuple(pieces[0::2])


def _divide(
    text: str, fields: tuple[str, ...], separators: tuple[str, ...], verdicts: Verdicts, steps: list[int]
) -> Iterator[NameFields]:
    if not text.startswith(separators[0]):
        return
    text = text[len(separators[0]) :]
    if not fields:
        if not text:
            yield {}
        return
    for end in _ends(text, separators[1], last=len(fields) == 1):
        steps[0] -= 1
        if steps[0] < 0:
            return
        field, value = fields[0], text[:end]
        if field == "submission_id" and any(mark and mark in value for mark in separators):
            return  # an id holds no separator: what comes is longer still
        if field == "verdict" and len(value) > _MAX_VERDICT:
            return
        if field == "verdict" and verdicts(value) is None:
            continue
        for rest in _divide(text[end:], fields[1:], separators[1:], verdicts, steps):
            yield rest if field == "other" else {field: value, **rest}


def _ends(text: str, separator: str, last: bool) -> Iterator[int]:
    """Where a field that stands before a separator may end; it holds something."""
    if last:
        if text.endswith(separator) and len(text) > len(separator):
            yield len(text) - len(separator)
        return
    at = text.find(separator, 1)
    while at != -1:
        yield at
        at = text.find(separator, at + 1)
