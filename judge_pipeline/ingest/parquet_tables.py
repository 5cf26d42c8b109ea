"""Tables of submissions in Parquet, row by row, in bounded memory."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from judge_pipeline.ingest.column_names import columns_of
from judge_pipeline.ingest.column_tables import RowReader, TableContext
from judge_pipeline.ingest.drafts import Draft
from judge_pipeline.ingest.encodings import decode
from judge_pipeline.ingest.records import UnreadableArtifact

MAX_TEXT_BYTES = 512 * 1024 * 1024
"""All texts of a table together: a small file can stand for endless repetitions of one text."""

_ROWS_AT_ONCE = 1024


def is_parquet(data: bytes) -> bool:
    """Whether the bytes begin as a Parquet file does."""
    return data.startswith(b"PAR1")


def read_parquet(data: bytes, context: TableContext) -> Iterator[Draft | UnreadableArtifact]:
    """The rows of a Parquet table.

    Raises:
        UnreadableArtifact: it is no whole Parquet file, its columns are not those of submissions, or its texts are
            longer than ``MAX_TEXT_BYTES``.
    """
    import pyarrow as pa

    try:
        yield from _rows(data, context)
    # A damaged file can make pyarrow raise nearly any of these from within.
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        if isinstance(error, UnreadableArtifact):
            raise
        raise UnreadableArtifact(
            context.path, None, f"is no whole Parquet file ({str(error)[:200]})", "write it anew"
        ) from None


def _rows(data: bytes, context: TableContext) -> Iterator[Draft | UnreadableArtifact]:
    import pyarrow.parquet as pq

    schema = pq.read_schema(io.BytesIO(data))
    names = [str(name) for name in schema.names]
    reader = RowReader(names, context)
    wanted = list(dict.fromkeys(columns_of(names, context.settings.columns).values()))
    # As dictionaries, a text that is repeated is held once.
    texts = [name for name in wanted if str(schema.field(name).type) in ("string", "large_string", "binary")]
    file = pq.ParquetFile(io.BytesIO(data), read_dictionary=texts)
    number, total = 0, 0
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=wanted):
        columns = {name: _values(batch.column(name)) for name in batch.schema.names}
        for i in range(batch.num_rows):
            number += 1
            row = {name: _as_text(values[i]) for name, values in columns.items()}
            total += sum(len(value) for value in row.values() if isinstance(value, str))
            if total > MAX_TEXT_BYTES:
                raise UnreadableArtifact(
                    context.path, f"row {number}", f"holds more than {MAX_TEXT_BYTES} characters", "split the table"
                )
            yield reader.read(number, f"row {number}", row)


def _values(column: Any) -> list[Any]:
    """A column's values as Python objects; a text that is repeated is one object."""
    import pyarrow as pa

    if isinstance(column, pa.DictionaryArray):
        words = column.dictionary.to_pylist()
        return [None if index is None else words[index] for index in column.indices.to_pylist()]
    return list(column.to_pylist())


def _as_text(value: Any) -> Any:
    """A value as the text that a person would have written; lists and structures stay what they are, and are wrong."""
    if isinstance(value, bytes):
        return decode(value).text
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        # pandas turns a column of whole numbers into floats where one is missing.
        return None if math.isnan(value) else str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, int | Decimal):
        return str(value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value
