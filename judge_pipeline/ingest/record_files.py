"""Files of records: CSV, TSV, JSON, JSON lines, Parquet, each record as the values that the file holds, with its place.

No meaning is given to a column here. Cells of CSV and TSV are the text that they are; JSON and Parquet keep lists and
objects. Where a record is at fault, it alone is set aside.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from judge_pipeline.ingest.delimited import DELIMITERS, header_of, read_rows
from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.image_files import data_url, media_type_of
from judge_pipeline.ingest.json_artifacts import load_json, looks_like_json
from judge_pipeline.ingest.parquet_tables import MAX_TEXT_BYTES, is_parquet
from judge_pipeline.ingest.records import UnreadableArtifact, clean_text

_EXTENSIONS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_JSON = (".json", ".jsonl", ".ndjson")
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file.

    Attributes:
        place: where it stands: ``row 3 (line 7)``.
        values: column or key -> value; text, number, boolean, list, mapping or None.
    """

    place: str
    values: Mapping[str, Any]


def read_records(data: bytes, path: str, list_key: str | None = None) -> Iterator[Record | UnreadableArtifact]:
    """The records of a file, in order.

    Args:
        data: the file's bytes.
        path: the file, for messages and, by its extension, for the separator.
        list_key: where a JSON document is an object, the key of the list that holds the records.

    Raises:
        UnreadableArtifact: the file as a whole cannot be read; the message names the place and the remedy.
    """
    if is_parquet(data):
        yield from _parquet(data, path)
        return
    text = decode(data).text
    if not text.strip():
        raise UnreadableArtifact(path, None, "is empty", "remove it, or export it anew")
    extension = PurePosixPath(path).suffix.lower()
    if extension not in _EXTENSIONS and (extension in _JSON or looks_like_json(text)):
        yield from _json(text, path, list_key)
    else:
        yield from _delimited(text, path)


def _delimited(text: str, path: str) -> Iterator[Record | UnreadableArtifact]:
    delimiter = _delimiter_of(text, path)
    rows = read_rows(text, delimiter)
    header = [cell.strip() for cell in next(rows).cells]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise UnreadableArtifact(
            path, "header", f"names {', '.join(map(repr, twice))} more than once", "keep one column each"
        )
    number = 0
    for number, row in enumerate(rows, start=1):
        place = f"row {number} (line {row.line})"
        if row.fault is not None:
            yield UnreadableArtifact(path, place, row.fault, "mend its quotes: a quote within is written twice")
        elif len(row.cells) > len(header):
            yield UnreadableArtifact(
                path,
                place,
                f"has {len(row.cells)} cells, the header has {len(header)}; it begins {row.cells[0][:60]!r}",
                "quote cells that hold the separator or a line break",
            )
        else:
            # A row that stops early lacks its last cells: what needs them says so, with their names.
            cells = [*row.cells, *[None] * (len(header) - len(row.cells))]
            yield Record(place, {name: cell for name, cell in zip(header, cells, strict=True) if name})
    if number == 0:
        shown = ", ".join(map(repr, header[:20]))[:300]
        raise UnreadableArtifact(path, None, f"has a first line ({shown}) and no rows", "export it anew, with its rows")


def _delimiter_of(text: str, path: str) -> str:
    """The separator with which the first line has the most cells; of equals the one that the name's end says."""
    usual = _EXTENSIONS.get(PurePosixPath(path).suffix.lower(), ",")
    return max(DELIMITERS, key=lambda mark: (len(header_of(text, mark)), mark == usual))


def _json(text: str, path: str, list_key: str | None) -> Iterator[Record | UnreadableArtifact]:
    loaded = load_json(text, path)
    yield from loaded.aside
    items, lines = loaded.document, loaded.lines
    if lines is None and isinstance(items, Mapping):
        inner = items.get(list_key) if list_key else None
        items = inner if isinstance(inner, list) else [items]
    elif not isinstance(items, list):
        raise UnreadableArtifact(
            path, None, "is JSON, but no list of objects", "write a list of objects, or one a line"
        )
    for number, item in enumerate(items, start=1):
        place = f"row {number}" if lines is None else f"row {number} (line {lines[number - 1]})"
        if isinstance(item, Mapping):
            yield Record(place, {str(key): plain(value) for key, value in item.items()})
        else:
            yield UnreadableArtifact(path, place, f"is no JSON object: {str(item)[:60]!r}", "write one a row")
    for note in loaded.notes:
        yield UnreadableArtifact(path, note.partition(",")[0], note, "export the file anew; what is before it is read")


def _parquet(data: bytes, path: str) -> Iterator[Record | UnreadableArtifact]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number, total = 0, 0
    try:
        for batch in pq.ParquetFile(io.BytesIO(data)).iter_batches(batch_size=_ROWS_AT_ONCE):
            total += batch.nbytes
            if total > MAX_TEXT_BYTES:
                raise UnreadableArtifact(
                    path, f"row {number + 1}", f"holds more than {MAX_TEXT_BYTES} bytes", "split the file"
                )
            for row in batch.to_pylist():
                number += 1
                yield Record(f"row {number}", {str(key): plain(value) for key, value in row.items()})
    # A damaged file can make pyarrow raise nearly any of these from within.
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, UnreadableArtifact):
            raise
        raise UnreadableArtifact(
            path, None, f"is no whole Parquet file ({str(error)[:200]})", "write it anew"
        ) from None


def plain(value: Any) -> Any:  # noqa: PLR0911 - a kind of value each
    """A value as JSON would hold it: NaN is None, instants are text, text has no lone surrogates; bytes are decoded,
    and those of an image become a data URL."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, bytes):
        media_type = media_type_of(value)
        return decode(value).text if media_type is None else data_url(value, media_type)
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


def parsed(value: Any) -> Any:
    """A cell that holds a JSON list or object as these; any other value as it is.

    Raises:
        ValueError: it begins as JSON and is none.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        return plain(json.loads(value))
    return value
