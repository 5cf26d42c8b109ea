"""Stored judgments and calls read in bulk, as plain rows: 200,000 objects would take longer than the database does."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from judge_pipeline.judging.checkpoint import Checkpoint
from judge_pipeline.judging.checkpoint_tables import CALLS, JUDGMENTS
from judge_pipeline.judging.dialects import among

_READ_ALL_UP_TO = 2
"""Where a judge has up to so many times the rows that are wanted, all of its rows are read in the order of the index
and the others passed over, which takes half as long as looking the wanted ones up."""

JudgmentRow = tuple[str, str, str | None, str | None, float | None]
"""Request hash, answer as JSON text, repair, model, latency in milliseconds."""

CallRowShort = tuple[str, int | None, int | None, float | None, float]
"""Request hash, tokens in, tokens out, cost in US dollars, latency in milliseconds."""


def judgment_rows(checkpoint: Checkpoint, judge: str, request_hashes: Collection[str]) -> list[JudgmentRow]:
    """The judge's stored judgments among the hashes, in no order.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    names = ("answer", "repair", "model", "latency_ms")
    rows: list[JudgmentRow] = _rows(checkpoint, judge, request_hashes, JUDGMENTS, names, ())
    return rows


def call_rows(checkpoint: Checkpoint, judge: str, request_hashes: Collection[str]) -> list[CallRowShort]:
    """The judge's calls for the hashes, failed and repaired tries included, over all runs; by hash, then as made.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    names = ("tokens_in", "tokens_out", "cost_usd", "latency_ms")
    rows: list[CallRowShort] = _rows(checkpoint, judge, request_hashes, CALLS, names, ("request_hash", "call_id"))
    return rows


def _rows(
    checkpoint: Checkpoint,
    judge: str,
    request_hashes: Collection[str],
    table: sa.Table,
    names: tuple[str, ...],
    order: tuple[str, ...],
) -> list[Any]:
    wanted = set(request_hashes)
    if not wanted:
        return []
    of_judge = table.c.judge == judge
    query = sa.select(*(table.c[name] for name in ("request_hash", *names))).where(of_judge)
    query = query.order_by(*(table.c[name] for name in order))
    with checkpoint.reading() as connection:
        n_stored = connection.execute(sa.select(sa.func.count()).select_from(table).where(of_judge)).scalar_one()
        if n_stored > _READ_ALL_UP_TO * len(wanted):
            found = query.where(among(connection.dialect.name, table.c.request_hash, sorted(wanted)))
            return _fetched(connection, found)
        return [row for row in _fetched(connection, query) if row[0] in wanted]


def _fetched(connection: sa.Connection, query: Any) -> list[Any]:
    """The rows as the driver makes them: nothing has to be converted, and SQLAlchemy's own take as long again."""
    cursor = connection.execute(query).cursor
    assert cursor is not None, "a select has a cursor"
    return list(cursor.fetchall())
