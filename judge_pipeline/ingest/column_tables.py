"""Tables of submissions: CSV, TSV, JSON lines, Parquet. A row is a submission; a wrong row is set aside alone.

What a cell holds stays the text that it is: ids such as 007, 1e5 and NA keep their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import PurePosixPath
from typing import Any

from judge_pipeline.ingest.beside import path_beside
from judge_pipeline.ingest.column_names import columns_of, tells_submissions
from judge_pipeline.ingest.delimited import DELIMITERS, header_of, read_rows
from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.times import Zone, read_time
from judge_pipeline.settings import ContestSettings

_EXTENSIONS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_MAP = "name them in contest.yaml, for example columns: {participant: user, problem_id: task, source_code: code}"
_NO_TIME_BUT_A_DATE = re.compile(r"has no time of day|is relative to when")
_UTC = Zone(UTC, "")


@dataclass(frozen=True, slots=True)
class TableContext:
    """What is known of a table beside its rows.

    Attributes:
        path: the artifact.
        settings: the contest's settings, whose ``columns`` go before usual names.
        participant: participant by the folder, for rows that name none.
        problem_id: problem by the folder, for rows that name none.
    """

    path: str
    settings: ContestSettings
    participant: str | None = None
    problem_id: str | None = None


def looks_like_table(text: str, path: str, settings: ContestSettings) -> bool:
    """Whether a text is CSV or TSV: its name says so, or its first line names at least three fields of a submission."""
    if PurePosixPath(path).suffix.lower() in _EXTENSIONS:
        return True
    columns = columns_of(header_of(text, delimiter_of(text, path, settings)), settings.columns)
    return len(columns) >= 3 and tells_submissions(columns)


def delimiter_of(text: str, path: str, settings: ContestSettings) -> str:
    """The separator with which the first line names the most fields; of equals the one that the name's end says."""
    usual = _EXTENSIONS.get(PurePosixPath(path).suffix.lower(), ",")

    def known(mark: str) -> tuple[int, int, bool]:
        header = header_of(text, mark)
        return len(columns_of(header, settings.columns)), len(header), mark == usual

    return max(DELIMITERS, key=known)


def read_delimited(text: str, context: TableContext) -> Iterator[Draft | UnreadableArtifact]:
    """The rows of a CSV or TSV text.

    Raises:
        UnreadableArtifact: its columns are not those of submissions; the remedy says how to name them.
    """
    delimiter = delimiter_of(text, context.path, context.settings)
    rows = read_rows(text, delimiter)
    header = [cell.strip() for cell in next(rows).cells] if header_of(text, delimiter) else []
    reader = RowReader(header, context)
    for number, row in enumerate(rows, start=1):
        place = f"row {number} (line {row.line})"
        if row.fault is not None:
            yield UnreadableArtifact(context.path, place, row.fault, "mend its quotes: a quote within is written twice")
        elif len(row.cells) != len(header):
            yield UnreadableArtifact(
                context.path,
                place,
                f"has {len(row.cells)} cells, the header has {len(header)}; it begins {row.cells[0][:60]!r}",
                "quote cells that hold the separator or a line break, and give every row all columns",
            )
        else:
            yield reader.read(number, place, dict(zip(header, row.cells, strict=True)))


class RowReader:
    """Reads the rows of a table whose columns are known.

    Raises:
        UnreadableArtifact: the columns are not those of submissions.
    """

    def __init__(self, header: list[str], context: TableContext) -> None:
        self._context = context
        self.columns = columns_of(header, context.settings.columns)
        shown = ", ".join(map(repr, header[:30])) or "none"
        if not tells_submissions(self.columns):
            raise UnreadableArtifact(
                context.path, None, f"is a table whose columns are not those of submissions: {shown[:500]}", _MAP
            )
        twice = sorted({name for name in header if header.count(name) > 1 and name in self.columns.values()})
        if twice:
            raise UnreadableArtifact(
                context.path, "header", f"names {', '.join(map(repr, twice))} more than once", "keep one column each"
            )
        for ours, by_folder in (("participant", context.participant), ("problem_id", context.problem_id)):
            if ours not in self.columns and by_folder is None:
                raise UnreadableArtifact(
                    context.path,
                    "header",
                    f"has no column for {ours}; it has {shown[:500]}",
                    f"name it in contest.yaml, columns: {{{ours}: ...}}, or put the table into the folder of its "
                    f"{'participant' if ours == 'participant' else 'problem'}",
                )

    def read(self, number: int, place: str, values: Mapping[str, Any]) -> Draft | UnreadableArtifact:
        """The submission of a row; or why it is set aside: the place, the value, the remedy."""
        draft = Draft("table", row=number)
        texts: dict[str, str] = {}
        for ours, theirs in self.columns.items():
            value = values.get(theirs)
            if value is not None and not isinstance(value, str):
                return self._wrong(place, theirs, value, "is no text", "write it as text or as a number")
            if value is not None and value.strip():
                texts[ours] = value
        for ours, by_folder in (
            ("participant", self._context.participant),
            ("problem_id", self._context.problem_id),
        ):
            if ours not in texts and by_folder is None:
                return self._wrong(place, self.columns[ours], "", f"names no {ours}", "fill it in, or remove the row")
        self._fill(draft, texts)
        return self._time_fault(place, draft) or self._path_fault(place, draft) or draft

    def _fill(self, draft: Draft, texts: Mapping[str, str]) -> None:
        draft.source = texts.get("source_code")
        draft.source_path = texts.get("source_path") if draft.source is None else None
        draft.timestamp_raw = texts.get("submitted_at")
        for ours in ("participant", "problem_id", "verdict", "language", "submission_id"):
            if ours in texts:
                draft.set(ours, texts[ours])

    def _time_fault(self, place: str, draft: Draft) -> UnreadableArtifact | None:
        read = read_time(draft.timestamp_raw, _UTC)
        note = read.note or ""
        if draft.timestamp_raw is None or read.instant is not None or _NO_TIME_BUT_A_DATE.search(note):
            return None
        remedy = "write it as 2026-03-01T12:34:56+09:00, or as Unix time in seconds or milliseconds"
        return self._wrong(place, self.columns["submitted_at"], draft.timestamp_raw, note, remedy)

    def _path_fault(self, place: str, draft: Draft) -> UnreadableArtifact | None:
        if draft.source_path is None:
            return None
        inside = path_beside(self._context.path, draft.source_path)
        if inside is None:
            remedy = "give a file in the table's own folder, without '..', by its path from there"
            return self._wrong(place, self.columns["source_path"], draft.source_path, "leaves the folder", remedy)
        draft.source_path = inside
        return None

    def _wrong(self, place: str, column: str, value: Any, why: str, remedy: str) -> UnreadableArtifact:
        return UnreadableArtifact(
            self._context.path, place, f"column {column!r}, value {str(value)[:80]!r}: {why}", remedy
        )
