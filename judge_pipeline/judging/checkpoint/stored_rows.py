"""Stored judgments and calls read in bulk, into columns: 200,000 objects would take longer than the database does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.tables import CALLS, JUDGMENTS
from judge_pipeline.judging.dialects import among

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS_AT_ONCE = 1000
_READ_ALL_UP_TO = 2
_TABLE_ORDER_UP_TO = 4


@dataclass(frozen=True, slots=True)
class Judgments:
    """A judge's stored judgments of some requests, one a place in each column.

    Attributes:
        slots: which request: a place among all hashes of the judge's requests; int64.
        answers: the answer as JSON text.
        repairs: how it was repaired; None where it was not.
        models: the model that answered, as the provider named it.
        latency_ms: time of the answering try; float64, NaN where unknown.
    """

    slots: NDArray[np.int64]
    answers: Sequence[str]
    repairs: Sequence[str | None]
    models: Sequence[str | None]
    latency_ms: NDArray[np.float64]

    def at(self, slots: NDArray[np.int64]) -> Judgments:
        """The same, of requests that have these slots instead of 0, 1, 2, ..."""
        return replace(self, slots=slots[self.slots])

    def __add__(self, other: Judgments) -> Judgments:
        return Judgments(
            np.concatenate([self.slots, other.slots]),
            [*self.answers, *other.answers],
            [*self.repairs, *other.repairs],
            [*self.models, *other.models],
            np.concatenate([self.latency_ms, other.latency_ms]),
        )


@dataclass(frozen=True, slots=True)
class Calls:
    """A judge's calls for some requests, failed and repaired tries included, over all runs, one a place in each column.

    Attributes:
        slots: which request: a place among all hashes of the judge's requests; int64.
        tokens_in: prompt tokens; float64, NaN where unknown, as in all that follow.
        tokens_out: answer tokens, thinking included.
        cost_usd: US dollars.
        latency_ms: milliseconds.
    """

    slots: NDArray[np.int64]
    tokens_in: NDArray[np.float64]
    tokens_out: NDArray[np.float64]
    cost_usd: NDArray[np.float64]
    latency_ms: NDArray[np.float64]


def read_judgments(checkpoint: Checkpoint, judge: str, hashes: Sequence[str]) -> Judgments:
    """The judge's stored judgments of the requests, in no order.

    Args:
        checkpoint: the store.
        judge: the judge's name.
        hashes: of the requests, in the order of their slots. Of equal ones the first is found.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    names = ("request_hash", "answer", "repair", "model", "latency_ms")
    found, (answers, repairs, models, latencies) = _read(checkpoint, JUDGMENTS, names, judge, hashes)
    return Judgments(found, answers, repairs, models, np.array(latencies, dtype="float64"))


def read_calls(checkpoint: Checkpoint, judge: str, hashes: Sequence[str]) -> Calls:
    """The judge's calls for the requests, those for one request in the order in which they were made.

    Args:
        checkpoint: the store.
        judge: the judge's name.
        hashes: of the requests, in the order of their slots. Of equal ones the first is found.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    names = ("request_hash", "tokens_in", "tokens_out", "cost_usd", "latency_ms")
    found, columns = _read(checkpoint, CALLS, names, judge, hashes)
    return Calls(found, *(np.array(column, dtype="float64") for column in columns))


def first_places(values: Sequence[str], among_: Sequence[str]) -> NDArray[np.int64]:
    """Where each value first stands among others; -1 where it does not. As a dictionary tells, in half the time."""
    import pyarrow as pa
    from pyarrow import compute

    places = compute.index_in(pa.array(values, pa.large_string()), value_set=pa.array(among_, pa.large_string()))
    return np.asarray(places.fill_null(-1), dtype="int64")


def _read(
    checkpoint: Checkpoint, table: sa.Table, names: Sequence[str], judge: str, hashes: Sequence[str]
) -> tuple[NDArray[np.int64], list[list[Any]]]:
    """Slots of the judge's rows for these requests, and the further columns."""
    columns = checkpoint.read(lambda c: _columns(c, table, names, judge, hashes)) if hashes else [[] for _ in names]
    places = first_places(columns[0], hashes)
    if (places >= 0).all():
        return places, columns[1:]
    wanted = places >= 0
    return places[wanted], [list(compress(column, wanted)) for column in columns[1:]]


def _columns(
    connection: sa.Connection, table: sa.Table, names: Sequence[str], judge: str, hashes: Sequence[str]
) -> list[list[Any]]:
    columns: list[list[Any]] = [[] for _ in names]
    query = sa.select(*(table.c[name] for name in names))
    # As the driver makes them: nothing has to be converted, and SQLAlchemy's own rows take as long again.
    cursor = connection.execute(_of_judge(connection, query, table, judge, hashes)).cursor
    assert cursor is not None, "a select has a cursor"
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):  # few at once: that memory is used again and again
        for column, part in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(part)
    return columns


def _of_judge(connection: sa.Connection, query: Any, table: sa.Table, judge: str, hashes: Sequence[str]) -> Any:
    """The query for the judge's rows for these requests, as the database answers it soonest.

    Looking a row up takes twice as long as reading on along the index; so where the judge has few rows beside the
    wanted ones, all of its rows are read and the others passed over. Judgments lie elsewhere than their index, in the
    order in which they were written, and where most of them are the judge's, reading them in that order takes half as
    long again. Calls need no table at all: their index holds what is read.
    """
    of_judge = table.c.judge == judge
    n_of_judge = connection.execute(sa.select(sa.func.count()).select_from(table).where(of_judge)).scalar_one()
    if table is CALLS:
        query = query.order_by(table.c.request_hash, table.c.call_id)
    if n_of_judge > _READ_ALL_UP_TO * len(hashes):
        return query.where(of_judge, among(connection.dialect.name, table.c.request_hash, sorted(set(hashes))))
    if table is JUDGMENTS:
        n_of_all = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        if n_of_all <= _TABLE_ORDER_UP_TO * n_of_judge:
            return query.where(table.c.judge.concat("") == judge)  # an expression, which no index is of
    return query.where(of_judge)
