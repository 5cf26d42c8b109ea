"""The layout of Project CodeNet: a CSV of metadata for each problem, and the sources as files beside it.

    metadata/p00001.csv                 submission_id, problem_id, user_id, date, language, original_language, ...
    data/p00001/C++/s000000001.cpp      data/<problem>/<language>/<submission_id>.<filename_ext>

It holds millions of submissions: both are read one file at a time, a CSV row by row, and joined afterwards
(``joined_sources``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from judge_pipeline.ingest.delimited import header_of, read_rows
from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.records import UnreadableArtifact

_COLUMNS = frozenset(
    ("submission_id", "problem_id", "user_id", "date", "language", "original_language", "filename_ext", "status")
)
_SOURCE = re.compile(r"(?:^|/)data/(?P<problem>p\d{5})/(?P<language>[^/]+)/(?P<id>s\d{9})\.[^/.]+$")

_BY_STATUS = {"wa: presentation error": "PE", "judge not available": "IE"}
"""Statuses of the data set whose words would read otherwise."""


def is_metadata(text: str) -> bool:
    """Whether a text is a problem's metadata."""
    return text[:13] == "submission_id" and set(header_of(text, ",")) >= _COLUMNS


def is_source_path(path: str) -> bool:
    """Whether a file lies where the data set has its sources; then all of it is the source."""
    return _SOURCE.search(path) is not None


def draft_of_source(text: str, path: str) -> Draft:
    """The source that a file is; its metadata tells the rest."""
    place = _SOURCE.search(path)
    draft = Draft("codenet_source", source=text)
    if place is not None:
        draft.problem_id, draft.language, draft.submission_id = place["problem"], place["language"], place["id"]
    return draft


def read_metadata(text: str, path: str) -> Iterator[Draft | UnreadableArtifact]:
    """The submissions that a problem's metadata lists, one at a time."""
    rows = read_rows(text, ",")
    header = [cell.strip() for cell in next(rows).cells]
    root = PurePosixPath(path).parent
    root = root.parent if root.name == "metadata" else root
    beside = "" if str(root) == "." else f"{root}/"
    for number, row in enumerate(rows, start=1):
        place = f"row {number} (line {row.line})"
        if row.fault is not None or len(row.cells) != len(header):
            reason = row.fault or f"has {len(row.cells)} cells, the header has {len(header)}"
            yield UnreadableArtifact(
                path, place, f"{reason}; it begins {''.join(row.cells[:1])[:60]!r}", "export it anew"
            )
            continue
        values = dict(zip(header, row.cells, strict=True))
        missing = next((name for name in ("submission_id", "problem_id", "user_id") if not values[name].strip()), None)
        if missing is not None:
            yield UnreadableArtifact(path, place, f"column {missing!r}, value '': is blank", "fill it in")
            continue
        yield _draft(number, values, beside)


def _draft(number: int, values: dict[str, str], beside: str) -> Draft:
    draft = Draft("codenet", row=number)
    draft.submission_id, draft.problem_id, draft.participant = (
        values["submission_id"], values["problem_id"], values["user_id"],
    )  # fmt: skip
    draft.timestamp_raw = values["date"] or None
    draft.language = values["original_language"] or values["language"] or None
    draft.verdict_raw = values["status"] or None
    draft.verdict = _BY_STATUS.get(values["status"].strip().lower())
    name = f"{values['submission_id']}.{values['filename_ext']}"
    parts = ("data", values["problem_id"], values["language"], name)
    if all(part and "/" not in part and part != ".." for part in parts):
        draft.source_path = beside + "/".join(parts)
    return draft
