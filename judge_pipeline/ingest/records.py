"""What the readers of submissions hand over, and the one exception that they raise."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any


class UnreadableArtifact(ValueError):  # noqa: N818 - the name says what it is about, not that it is an error
    """An artifact, or a place in it, that cannot be read. The only exception that a reader raises.

    Attributes:
        path: the artifact, relative to the contest folder (or to what was given), with ``/``.
        place: where in it (a row, a line, a field), or None for all of it.
        reason: why it cannot be read.
        remedy: what a person can do about it.
    """

    def __init__(self, path: str, place: str | None, reason: str, remedy: str) -> None:
        where = f"{path}, {place}" if place else path
        super().__init__(f"{where}: {reason}; {remedy}")
        self.path = path
        self.place = place
        self.reason = reason
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[UnreadableArtifact], tuple[str, str | None, str, str]]:
        # An exception is otherwise made again from its message alone when it is sent between processes.
        return UnreadableArtifact, (self.path, self.place, self.reason, self.remedy)


@dataclass(frozen=True, slots=True)
class SubmissionRecord:
    """One submission as read from one place of one artifact: a row of ``tables.SUBMISSION_ARTIFACTS``.

    Attributes:
        path: the artifact, with ``/``.
        row: row in a list page or feed, from 1; None where the artifact is one submission.
        reader: which reader read it.
        participant: who submitted, by the page itself (the id in the link); None where it does not say.
        problem_id: the problem, by the page itself (the id in the link); None where it does not say.
        verdict: one of ``tables.VERDICTS``.
        verdict_raw: the verdict's words as printed.
        language: the programming language as printed.
        submitted_at: instant of submission in UTC; None where it, or its zone, is unknown.
        timestamp_raw: the time as printed.
        submission_id: the contest site's id.
        source_code: the source exactly as the artifact held it, decoded once.
        source_path: the file, or the file in an archive, that holds the source where it is not the artifact itself.
        notes: what the reader was unsure of.
    """

    path: str
    reader: str
    row: int | None = None
    participant: str | None = None
    problem_id: str | None = None
    verdict: str = "UNKNOWN"
    verdict_raw: str | None = None
    language: str | None = None
    submitted_at: datetime | None = None
    timestamp_raw: str | None = None
    submission_id: str | None = None
    source_code: str | None = None
    source_path: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def source_sha256(self) -> str | None:
        """sha256 of the source in UTF-8, as hexadecimal digits."""
        return None if self.source_code is None else sha256_of(self.source_code)

    @property
    def source_lines(self) -> int | None:
        """Lines of the source; a last line without a newline counts."""
        return None if self.source_code is None else count_lines(self.source_code)

    def to_row(self) -> dict[str, Any]:
        """The record as a row of ``tables.SUBMISSION_ARTIFACTS``."""
        return {
            "path": self.path,
            "row": self.row,
            "reader": self.reader,
            "participant": self.participant,
            "problem_id": self.problem_id,
            "verdict": self.verdict,
            "verdict_raw": self.verdict_raw,
            "language": self.language,
            "submitted_at": self.submitted_at,
            "timestamp_raw": self.timestamp_raw,
            "submission_id": self.submission_id,
            "source_code": self.source_code,
            "source_sha256": self.source_sha256,
            "source_lines": self.source_lines,
            "source_path": self.source_path,
            "notes": "; ".join(self.notes) or None,
        }


def sha256_of(text: str) -> str:
    """sha256 of the text in UTF-8, as 64 hexadecimal digits. The text holds no lone surrogate (``clean_text``)."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def count_lines(text: str) -> int:
    r"""Lines of a source: ends ``\n``, ``\r\n`` or ``\r``; a last line without an end counts; '' has none."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (1 if text and text[-1] not in "\r\n" else 0)


def clean_text(text: str) -> str:
    """The text with lone surrogates, which no encoding can hold, as U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
