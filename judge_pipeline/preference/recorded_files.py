"""Files of a set's folder in which somebody recorded what judges answered: read as a whole, or not at all."""

from __future__ import annotations

from judge_pipeline.ingest.record_files import Record, read_records
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.judging.failures import JudgingError


def recorded_rows(file: str, content: bytes) -> list[Record]:
    """The rows of the file; one that cannot be read makes it unusable.

    Args:
        file: its name, for messages and, by its extension, for the separator.
        content: its bytes: CSV, TSV, JSON, JSON lines or Parquet.

    Raises:
        JudgingError: the file or a row of it cannot be read.
    """
    records = []
    try:
        for record in read_records(content, file):
            if isinstance(record, UnreadableArtifact):
                raise record
            records.append(record)
    except UnreadableArtifact as error:
        raise JudgingError(str(error)) from None
    return records
