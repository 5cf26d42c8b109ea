"""Stored judgments held against the raw answers of their calls, for whoever verifies what is stored.

What a judgment was read from stands beside it, in its call. While somebody listens (:func:`re_reading`), whatever is
looked up for tables is read from there again, by the reader of its own question and row, and must come out the same:
the answer, the model that gave it, how long that took, and whether it was repaired. Where an answer is kept as one that
is no answer, its text must hold none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import Judgments
from judge_pipeline.judging.checkpoint.tables import CALLS
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.prepared import Prepared
from judge_pipeline.judging.question import Reader

_AT_ONCE = 500
_MOST_CHARS = 60


@dataclass(frozen=True, slots=True)
class ReRead:
    """What came of reading one raw answer again.

    Attributes:
        judge: whose.
        request_hash: of the request.
        attempt_id: what it was asked about.
        differs: how the stored judgment differs from it; None where it is the same.
    """

    judge: str
    request_hash: str
    attempt_id: str
    differs: str | None


_LISTENERS: list[Callable[[ReRead], None]] = []


@contextmanager
def re_reading(listen: Callable[[ReRead], None]) -> Iterator[None]:
    """While the block runs, in whatever thread of this process, stored judgments are read again as they are used."""
    _LISTENERS.append(listen)
    try:
        yield
    finally:
        _LISTENERS.remove(listen)


class _Judged(NamedTuple):
    answer: str
    repair: str | None
    model: str | None
    latency_ms: float


def re_read_for_listeners(
    judge: str, prepared: Prepared, judgments: Judgments, checkpoint: Checkpoint, settled: Collection[str] = ()
) -> None:
    """Tell listeners of these judgments; without one, nothing is read.

    Args:
        judge: whose judgments they are.
        prepared: the requests that they answer.
        judgments: as they are stored.
        checkpoint: where their calls are.
        settled: hashes of requests that count as asked enough without a valid answer; those are told that have one.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    if not _LISTENERS:
        return
    for found in (*_re_read(judge, prepared, judgments, checkpoint), *_answered(judge, prepared, settled, checkpoint)):
        for listen in _LISTENERS:
            listen(found)


def _re_read(judge: str, prepared: Prepared, judgments: Judgments, checkpoint: Checkpoint) -> Iterator[ReRead]:
    latencies = np.nan_to_num(judgments.latency_ms).tolist()  # nobody timed it: 0 in old stores
    columns = (judgments.answers, judgments.repairs, judgments.models, latencies)
    stored = dict(zip(judgments.slots.tolist(), map(_Judged, *columns), strict=True))
    slots = sorted(stored)
    for start in range(0, len(slots), _AT_ONCE):
        part = {prepared.all_hashes[slot]: stored[slot] for slot in slots[start : start + _AT_ONCE]}
        calls = _calls(checkpoint, judge, list(part), answered=True)
        for hash_, judged in part.items():
            differs = _differs(judged, calls.get(hash_, []), prepared.task(hash_).read)
            yield ReRead(judge, hash_, prepared.id_of(hash_), differs or None)


def _differs(judged: _Judged, calls: Sequence[Any], read: Reader) -> str:
    """How a judgment is another than its call brought it; "" where it is the same.

    Of several calls that brought an answer it is the one that was as long under way, from the same model: stores that
    were copied into one another hold the calls of both, and the judgment of one.
    """
    if not calls:
        return "no call that brought an answer is stored"
    own = [call for call in calls if (call.model, call.latency_ms or 0.0) == (judged.model, judged.latency_ms)]
    found = [_differs_from(judged, call, read) for call in own or calls[-1:]]
    return "" if "" in found else found[-1]


def _differs_from(judged: _Judged, call: Any, read: Reader) -> str:
    said = read(call.raw_text, call.finish_reason)
    if isinstance(said, Failure):
        return f"its raw answer holds none ({said.failure_class}: {said.text[:_MOST_CHARS]})"
    was_repaired = call.re_ask is not None or said.repair is not None
    beside = (
        ("model", judged.model, call.model),
        ("latency_ms", judged.latency_ms, call.latency_ms or 0.0),
        ("repaired", judged.repair is not None, was_repaired),
    )
    found = [
        f"{name}: stored {_shown(one)}, of its call {_shown(other)}" for name, one, other in beside if one != other
    ]
    answer = difference(json.loads(judged.answer), said.value.model_dump(mode="json"))
    return "; ".join(filter(None, (answer, *found)))


def _answered(judge: str, prepared: Prepared, settled: Collection[str], checkpoint: Checkpoint) -> Iterator[ReRead]:
    hashes = sorted(settled)
    for start in range(0, len(hashes), _AT_ONCE):
        for hash_, calls in _calls(checkpoint, judge, hashes[start : start + _AT_ONCE], answered=False).items():
            last = calls[-1]
            if last.raw_text and not isinstance(prepared.task(hash_).read(last.raw_text, last.finish_reason), Failure):
                words = f"kept as no answer ({last.error_class}), and its raw answer holds one"
                yield ReRead(judge, hash_, prepared.id_of(hash_), words)


def _calls(checkpoint: Checkpoint, judge: str, hashes: Sequence[str], *, answered: bool) -> dict[str, list[Any]]:
    """Request hash -> its calls that brought an answer, or those that brought none, in order."""
    names = ("request_hash", "raw_text", "finish_reason", "model", "latency_ms", "re_ask", "error_class")
    error = CALLS.c.error_class.is_(None) if answered else CALLS.c.error_class.is_not(None)
    wanted = (CALLS.c.judge == judge, CALLS.c.request_hash.in_(hashes), error)
    query = sa.select(*(CALLS.c[name] for name in names)).where(*wanted).order_by(CALLS.c.call_id)
    found: dict[str, list[Any]] = {}
    for row in checkpoint.read(lambda connection: connection.execute(query).all()):
        found.setdefault(row.request_hash, []).append(row)
    return found


def difference(stored: Any, read: Any) -> str:
    """Where a stored answer is another than the one that its text holds, in words; "" where they are the same."""
    if not isinstance(stored, dict) or not isinstance(read, dict):
        return "" if stored == read else f"stored: {_shown(stored)}, in the raw answer: {_shown(read)}"
    names = sorted(stored.keys() | read.keys())
    other = [name for name in names if name not in stored or name not in read or stored[name] != read[name]]
    return "; ".join(
        f"{name}: stored {_shown(stored.get(name))}, in the raw answer {_shown(read.get(name))}" for name in other
    )


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}..."
