"""Which column of a table holds what: by ``columns`` of contest.yaml, else by the usual names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from judge_pipeline.ingest.fields import field_of
from judge_pipeline.settings import TABLE_COLUMNS

_BY_FIELD = {
    "problem_id": "problem_id", "participant": "participant", "verdict": "verdict", "language": "language",
    "timestamp": "submitted_at", "submission_id": "submission_id", "source": "source_code",
}  # fmt: skip

_MORE_NAMES = {
    "team id": "participant", "team name": "participant", "student id": "participant", "coder id": "participant",
    "contestant id": "participant", "handle id": "participant", "participant name": "participant",
    "challenge id": "problem_id", "question id": "problem_id", "problem slug": "problem_id", "contest problem id":
    "problem_id", "language name": "language", "programming language": "language", "epoch second": "submitted_at",
    "epoch": "submitted_at", "epoch ms": "submitted_at", "unix time": "submitted_at", "creation time": "submitted_at",
    "creation time seconds": "submitted_at", "source path": "source_path", "source file": "source_path",
    "file": "source_path", "file name": "source_path", "filename": "source_path", "file path": "source_path",
    "path": "source_path", "code file": "source_path", "code path": "source_path", "solution file": "source_path",
}  # fmt: skip
"""Headings that mean something in a table of submissions and not on a page."""

_TELLING = ("verdict", "submission_id", "source_code", "source_path")


def columns_of(header: Sequence[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Our column -> the table's, for each that it has.

    Of several columns that mean the same, the one called as ours goes first, then an id before a name, then the
    earlier one. A column of the mapping that the table does not have leaves the usual names to decide.
    """
    found = {ours: theirs for ours, theirs in mapping.items() if theirs in header}
    taken = set(found.values())
    ranked: dict[str, list[tuple[bool, bool, int, str]]] = {}
    for place, name in enumerate(header):
        ours = _meaning(name)
        if ours is not None and name not in taken:
            form = _form(name)
            ranked.setdefault(ours, []).append((form != _form(ours), not form.endswith("id"), place, name))
    return {
        ours: found[ours] if ours in found else min(ranked[ours])[3]
        for ours in TABLE_COLUMNS
        if ours in found or ours in ranked
    }


def tells_submissions(columns: Mapping[str, str]) -> bool:
    """Whether a table with these columns holds submissions: one that tells of it, and another field."""
    return len(columns) >= 2 and any(name in columns for name in _TELLING)


def _meaning(name: str) -> str | None:
    more = _MORE_NAMES.get(_form(name))
    return more or (name if name in TABLE_COLUMNS else _BY_FIELD.get(str(field_of(name))))


def _form(name: str) -> str:
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+", " ", name).casefold().split())
