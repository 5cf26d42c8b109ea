"""Stored judgments and calls read in bulk, into columns: 200,000 objects would take longer than the database does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint import Checkpoint
from judge_pipeline.judging.checkpoint_tables import CALLS, JUDGMENTS
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
        slots: which request (``Prepared.slots``); int64.
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
        slots: which request (``Prepared.slots``); int64.
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


def read_judgments(checkpoint: Checkpoint, judge: str, slots: Mapping[str, int]) -> Judgments:
    """The judge's stored judgments of the requests, in no order.

    Args:
        checkpoint: the store.
        judge: the judge's name.
        slots: request hash -> slot.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    found: list[int] = []
    answers: list[str] = []
    repairs: list[str | None] = []
    models: list[str | None] = []
    latencies: list[float | None] = []
    one_of_each: dict[str | None, str | None] = {}  # few models, many rows
    with checkpoint.reading() as connection:
        for part, columns in _parts(connection, JUDGMENTS, ("answer", "repair", "model", "latency_ms"), judge, slots):
            found += part
            answers += columns[0]
            repairs += columns[1]
            models += [one_of_each.setdefault(model, model) for model in columns[2]]
            latencies += columns[3]
    return Judgments(np.array(found, dtype="int64"), answers, repairs, models, np.array(latencies, dtype="float64"))


def read_calls(checkpoint: Checkpoint, judge: str, slots: Mapping[str, int]) -> Calls:
    """The judge's calls for the requests, those for one request in the order in which they were made.

    Args:
        checkpoint: the store.
        judge: the judge's name.
        slots: request hash -> slot.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    names = ("tokens_in", "tokens_out", "cost_usd", "latency_ms")
    found = [np.empty(0, dtype="int64")]
    values = [np.empty((len(names), 0))]
    with checkpoint.reading() as connection:
        for part, columns in _parts(connection, CALLS, names, judge, slots):
            found.append(np.array(part, dtype="int64"))
            values.append(np.array(columns, dtype="float64"))
    return Calls(np.concatenate(found), *np.concatenate(values, axis=1))


def _parts(
    connection: sa.Connection, table: sa.Table, names: Sequence[str], judge: str, slots: Mapping[str, int]
) -> Iterator[tuple[list[int], list[Any]]]:
    """Slots and columns of the judge's rows for these requests, some at a time."""
    if not slots:
        return
    query = sa.select(*(table.c[name] for name in ("request_hash", *names)))
    # As the driver makes them: nothing has to be converted, and SQLAlchemy's own rows take as long again.
    cursor = connection.execute(_of_judge(connection, query, table, judge, slots)).cursor
    assert cursor is not None, "a select has a cursor"
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        hashes, *columns = map(list, zip(*rows, strict=True))
        part = [slots.get(hash_, -1) for hash_ in hashes]
        if -1 in part:
            wanted = [slot >= 0 for slot in part]
            part, columns = list(compress(part, wanted)), [list(compress(each, wanted)) for each in columns]
        yield part, columns


def _of_judge(connection: sa.Connection, query: Any, table: sa.Table, judge: str, slots: Mapping[str, int]) -> Any:
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
    if n_of_judge > _READ_ALL_UP_TO * len(slots):
        return query.where(of_judge, among(connection.dialect.name, table.c.request_hash, sorted(slots)))
    if table is JUDGMENTS:
        n_of_all = connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        if n_of_all <= _TABLE_ORDER_UP_TO * n_of_judge:
            return query.where(table.c.judge.concat("") == judge)  # an expression, which no index is of
    return query.where(of_judge)
