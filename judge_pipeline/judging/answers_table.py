"""What came of asking about rows, as a table with a row each: its answer, or its failure, and what it took."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.judging.asking import Failed
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import read_calls
from judge_pipeline.judging.outputs import total, what_calls_took
from judge_pipeline.judging.row_asking import RowsAsked

ANSWER_COLUMNS = (
    "id", "answer", "failure_class", "failure", "request_hash", "model", "repair", "n_tries", "latency_ms", "tokens_in",
    "tokens_out", "cost_usd",
)  # fmt: skip
"""Columns of the table of answers."""


def answers_table(checkpoint: Checkpoint, judge: str, asked: RowsAsked) -> pd.DataFrame:
    """One row for each row that was asked about, in its order.

    Where rows share a request, the first of them carries what it took. Answers are to the first repeat.

    Args:
        checkpoint: the store.
        judge: the judge's name.
        asked: what came of asking.

    Returns:
        Columns ``ANSWER_COLUMNS``: ``id``; ``answer`` the answer's fields as a mapping, None without one;
        ``failure_class`` and ``failure`` why there is none (both None where it was not to be asked: outside a pilot,
        or waiting in a batch); tokens and money over all tries.

    Raises:
        JudgingError: the checkpoint cannot be read.
    """
    prepared, judgments = asked.prepared, asked.judgments
    calls = read_calls(checkpoint, judge, prepared.all_hashes)
    n_tries, took = what_calls_took(prepared, calls)
    place_of = dict(zip(judgments.slots.tolist(), range(len(judgments.slots)), strict=True))
    rows = []
    for row, id_ in enumerate(prepared.attempt_ids):
        slot = int(prepared.first_slots[0][row])
        own: dict[str, Any] = dict.fromkeys(ANSWER_COLUMNS)
        own |= {"id": id_, "request_hash": prepared.hashes[0][row], "n_tries": 0}
        if slot == row:
            own |= {name: _known(took[name][row]) for name in took} | {"n_tries": int(n_tries[row])}
        place = place_of.get(slot)
        if place is not None:
            latency = _known(judgments.latency_ms[place]) if slot == row else None
            own |= {"answer": json.loads(judgments.answers[place]), "model": judgments.models[place]}
            own |= {"repair": judgments.repairs[place], "latency_ms": latency}
        else:
            own |= _failure(asked.failed.get(own["request_hash"]))
        rows.append(own)
    return pd.DataFrame(rows, columns=list(ANSWER_COLUMNS), dtype="object")


def spent_in_all(checkpoint: Checkpoint, judge: str, asked: RowsAsked) -> Any:
    """What all calls for the rows took, over all runs (``checkpoint.rows.Spent``)."""
    return total(read_calls(checkpoint, judge, asked.prepared.all_hashes))


def _failure(failed: Failed | None) -> dict[str, Any]:
    if failed is None:
        return {}
    return {"failure_class": failed.failure.failure_class, "failure": failed.failure.text}


def _known(value: Any) -> Any:
    return None if np.isnan(value) else float(value)
