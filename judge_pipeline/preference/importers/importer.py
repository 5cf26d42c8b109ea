"""What an importer is: how a format's file falls into records, and how a record becomes a draft of a pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from judge_pipeline.ingest.record_files import Record, read_records
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.preference.drafts import PairDraft

Values = Mapping[str, Any]
Records = Iterator[Record | UnreadableArtifact]


def records_of_file(data: bytes, path: str, source: Any) -> Records:
    """A record is a row of a table, a line of JSON, or an entry of a JSON list, whatever the source's settings."""
    del source
    return read_records(data, path)


@dataclass(frozen=True, slots=True)
class Importer:
    """A format that people have.

    Attributes:
        name: as in ``source.format`` of preference.yaml, and in the column ``origin``.
        pair_of: a record's values and the source's settings -> a draft; raises ``LeftOut`` or ``Faulty``.
        records: a file's bytes, its path and the source's settings -> its records.
        seen: what of the format was seen: ``files`` (real ones), ``loader`` (public code that reads it) or ``card``
            (its documentation).
        reference: where it was seen.
    """

    name: str
    pair_of: Callable[[Values, Any], PairDraft]
    seen: str
    reference: str
    records: Callable[[bytes, str, Any], Records] = records_of_file
