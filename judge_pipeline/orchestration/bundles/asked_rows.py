"""Which rows of the checkpoint belong to a contest or a preference set."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.bundles.contents import tables_of
from judge_pipeline.orchestration.bundles.facts import BundleFacts, Kind
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS

if TYPE_CHECKING:
    from judge_pipeline.judging.checkpoint.row_lines import Asked


def own_rows(workspace: Workspace, kind: Kind, name: str) -> Callable[[Asked], bool]:
    """Says of a row whether it is of the contest or set: by what it was asked for, or by a table that rests on it.

    Two contests may hold the same request; then one answer serves both, under the id of the one that asked first.
    """
    hashes, ids = _of_tables(workspace, kind, name)
    if kind == "contest":
        return lambda asked: asked.attempt_id in ids or asked.request_hash in hashes
    from judge_pipeline.preference.pair_question import IdsOfSet

    of_set = IdsOfSet(name)
    return lambda asked: asked.attempt_id in of_set or asked.request_hash in hashes


def newest(table: str, line: str) -> str:
    """The time that a row states, as ISO 8601; "" where the table is not one of those."""
    column = {"calls": "started_at", "judgments": "answered_at"}.get(table)
    return str(json.loads(line)[column]) if column else ""


def _of_tables(workspace: Workspace, kind: Kind, name: str) -> tuple[set[str], set[str]]:
    """Request hashes that stand in tables, and attempts."""
    import pyarrow.parquet as pq

    hashes: set[str] = set()
    ids: set[str] = set()
    for member in tables_of(workspace, BundleFacts(kind, name, "full", "", "")):
        with member.open() as source:
            file = pq.ParquetFile(source)
            named = [column for column in file.schema_arrow.names if "request_hash" in column]
            if member.path.split("/")[2] == ATTEMPTS.name:
                named.append("attempt_id")
            for group in range(file.num_row_groups if named else 0):
                for column, values in zip(named, file.read_row_group(group, columns=named).itercolumns(), strict=True):
                    (ids if column == "attempt_id" else hashes).update(v for v in values.to_pylist() if v is not None)
    return hashes, ids
