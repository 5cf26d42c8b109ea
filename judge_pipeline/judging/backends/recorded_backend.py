"""Judge outputs collected elsewhere: a JSONL, CSV or Parquet file with one row an attempt, read strictly."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_pipeline.judging.answer import clean_text
from judge_pipeline.judging.failures import Failure, JudgingError
from judge_pipeline.judging.request import canonical_json, sha256
from judge_pipeline.settings import RecordedJudge

REQUIRED = ("attempt_id", "p_ac")
"""Columns that the file must have."""

OPTIONAL = ("s_algo", "s_robust", "rationale", "model", "error")
"""Columns that are read where the file has them; any other column is passed over."""


@dataclass(frozen=True, slots=True)
class RecordedOutputs:
    """What a file of recorded outputs holds.

    Attributes:
        answers: attempt_id -> p_ac, s_algo, s_robust, rationale, model, request_hash.
        failures: attempt_id -> why its row is no judgment.
    """

    answers: dict[str, dict[str, Any]]
    failures: dict[str, Failure]


def read_recorded(settings: RecordedJudge, contest_folder: Path) -> RecordedOutputs:
    """The judgments in the judge's file.

    A row that names its attempt and is wrong is that attempt's failure. Its hash covers the file's bytes and its row.

    Raises:
        JudgingError: the file is missing, cannot be read, lacks a column, or a row does not say whose it is; the
            message names the file, the row, the value and the remedy.
    """
    path = contest_folder / settings.file
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise JudgingError(
            f"{path}: there is no such file; put the recorded outputs there, or correct 'file' in judges.yaml"
        ) from None
    except OSError as error:
        raise JudgingError(f"{path}: cannot be read ({error.strerror}); make it a readable file") from None
    rows = list(_rows(path, content))
    names = _names(path, settings, rows)
    file_sha256 = hashlib.sha256(content).hexdigest()
    answers: dict[str, dict[str, Any]] = {}
    failures: dict[str, Failure] = {}
    seen: dict[str, str] = {}
    for place, row in rows:
        attempt_id = row.get(names["attempt_id"])
        if not isinstance(attempt_id, str) or not attempt_id.strip():
            raise JudgingError(
                f"{path}, {place}, column {names['attempt_id']}: {attempt_id!r} is no attempt_id; give the attempt's "
                "id as text"
            )
        if attempt_id in seen:
            failures[attempt_id] = Failure(
                "invalid", f"{path.name}: {seen[attempt_id]} and {place} are both for {attempt_id}; keep one of them"
            )
            answers.pop(attempt_id, None)
            continue
        seen[attempt_id] = place
        read = _Row(path.name, place, row, names, path.suffix.lower() == ".csv").answer()
        if isinstance(read, Failure):
            failures[attempt_id] = read
        else:
            identity = {"backend": "recorded", "file_sha256": file_sha256, "row": place, "attempt_id": attempt_id}
            answers[attempt_id] = read | {"request_hash": sha256(canonical_json(identity))}
    return RecordedOutputs(answers, failures)


@dataclass(frozen=True, slots=True)
class _Row:
    file: str
    place: str
    row: Mapping[str, Any]
    names: Mapping[str, str]
    is_text: bool

    def answer(self) -> dict[str, Any] | Failure:
        try:
            error = self._text("error")
            if error is not None:
                return Failure("invalid", f"{self.file}, {self.place}: the recorded call failed: {error}")
            return {
                "p_ac": self._probability(),
                "s_algo": self._rubric("s_algo"),
                "s_robust": self._rubric("s_robust"),
                "rationale": self._text("rationale"),
                "model": self._text("model"),
            }
        except _WrongValueError as wrong:
            return Failure("invalid", str(wrong))

    def _value(self, name: str) -> Any:
        value = self.row.get(self.names[name]) if name in self.names else None
        if self.is_text and isinstance(value, str) and not value.strip():
            return None
        return None if isinstance(value, float) and math.isnan(value) and name != "p_ac" else value

    def _number(self, name: str) -> float | None:
        value = self._value(name)
        if self.is_text and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = float(value)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self._wrong(name, "is not a number; write a plain number such as 0.85")
        return float(value)

    def _probability(self) -> float:
        value = self._number("p_ac")
        if value is None:
            raise self._wrong("p_ac", "is missing; give a probability from 0 to 1, or leave the row out")
        if not 0.0 <= value <= 1.0:
            raise self._wrong("p_ac", "is not a probability from 0 to 1; correct it (a percentage is divided by 100)")
        return value + 0.0  # -0.0 becomes 0.0

    def _rubric(self, name: str) -> int | None:
        value = self._number(name)
        if value is not None and (not value.is_integer() or not 1 <= value <= 5):
            raise self._wrong(name, "is not an integer from 1 to 5; correct it or leave it empty")
        return None if value is None else int(value)

    def _text(self, name: str) -> str | None:
        value = self._value(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, "is not text; write it as text or leave it empty")
        return clean_text(value) if value else None

    def _wrong(self, name: str, problem: str) -> _WrongValueError:
        value = self.row.get(self.names[name])
        return _WrongValueError(f"{self.file}, {self.place}, column {self.names[name]}: {value!r} {problem}")


class _WrongValueError(ValueError):
    pass


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _names(path: Path, settings: RecordedJudge, rows: list[tuple[str, dict[str, Any]]]) -> dict[str, str]:
    """Our column names -> the file's, for those that the file has."""
    unknown = set(settings.columns) - {*REQUIRED, *OPTIONAL}
    if unknown:
        raise JudgingError(
            f"judges.yaml, columns: {sorted(unknown)} are not columns of ours; map only {[*REQUIRED, *OPTIONAL]}"
        )
    if not rows:
        return {name: settings.columns.get(name, name) for name in REQUIRED}
    there = {name for _, row in rows for name in row}
    names = {name: settings.columns.get(name, name) for name in (*REQUIRED, *OPTIONAL)}
    for name in (*REQUIRED, *settings.columns):
        if names[name] not in there:
            raise JudgingError(
                f"{path}: has no column {names[name]!r}; it has {sorted(there)}. Name the right one under 'columns' "
                f"in judges.yaml, as '{name}: COLUMN'"
            )
    return {name: theirs for name, theirs in names.items() if theirs in there}


def _rows(path: Path, content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    readers = {".jsonl": _jsonl, ".ndjson": _jsonl, ".csv": _csv, ".parquet": _parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise JudgingError(
            f"{path}: cannot tell its format from {path.suffix!r}; name it .jsonl, .csv or .parquet after what it is"
        )
    return reader(path, content)


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JudgingError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def _jsonl(path: Path, content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(_text(path, content).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise JudgingError(
                f"{path}, line {number}: {line[:60]!r} is not JSON ({error}); write one JSON object a line"
            ) from None
        if not isinstance(row, dict):
            raise JudgingError(f"{path}, line {number}: {line[:60]!r} is no object; write one JSON object a line")
        yield f"line {number}", row


def _csv(path: Path, content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    reader = csv.reader(io.StringIO(_text(path, content), newline=""), strict=True)
    try:
        header = next(reader, [])
        twice = {name for name in header if header.count(name) > 1}
        if twice:
            raise JudgingError(f"{path}, line 1: columns {sorted(twice)} stand twice; rename or remove them")
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise JudgingError(
                    f"{path}, line {reader.line_num}: has {len(cells)} cells where the header has {len(header)}; "
                    "quote cells that hold commas or line breaks"
                )
            yield f"line {reader.line_num}", dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise JudgingError(f"{path}, line {reader.line_num}: is not CSV ({error}); quote its cells properly") from None


def _parquet(path: Path, content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise JudgingError(f"{path}: is not Parquet ({error}); write it again, or as .jsonl") from None
    for number, row in enumerate(table.to_pylist(), start=1):
        yield f"row {number}", row
