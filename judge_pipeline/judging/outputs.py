"""The table of one judge's stored answers, and what they took in all, made column by column."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.judging.answer import Judgment
from judge_pipeline.judging.checkpoint.rows import Spent
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import Calls, Judgments, read_calls
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.prepared import Prepared
from judge_pipeline.tables import JUDGE_OUTPUTS

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def outputs_and_total(
    checkpoint: Checkpoint, judge: str, prepared: Prepared, judgments: Judgments
) -> tuple[pd.DataFrame, Spent]:
    """Table JUDGE_OUTPUTS of the stored answers (see :func:`outputs_table`), and what all calls for them took.

    Raises:
        JudgingError: a stored answer is damaged, or the checkpoint cannot be read.
    """
    with ThreadPoolExecutor(1) as pool:  # answers are parsed, without the interpreter's lock, while calls are read
        answers = pool.submit(parsed_answers, judgments, prepared)
        calls = read_calls(checkpoint, judge, prepared.all_hashes)
    return outputs_table(prepared, judgments, answers.result(), calls), total(calls)


def outputs_table(prepared: Prepared, judgments: Judgments, answers: pa.Table, calls: Calls) -> pd.DataFrame:
    """Table JUDGE_OUTPUTS: a row for each attempt whose first repeat is answered, in the order of the requests.

    Tries and latency are those of the judgment, tokens and money those of all repeats. Where attempts share a request,
    the first carries what it took.

    Args:
        prepared: the judge's requests.
        judgments: stored answers to them.
        answers: the same, parsed.
        calls: all calls for them.
    """
    place_of = np.full(len(prepared.hashes) * len(prepared.attempt_ids), -1)
    place_of[judgments.slots] = np.arange(len(judgments.slots))
    slot_of = prepared.first_slots[0]
    attempts = np.flatnonzero(place_of[slot_of] >= 0)
    if not len(attempts):
        return JUDGE_OUTPUTS.empty()
    places = place_of[slot_of[attempts]]
    is_first = slot_of[attempts] == attempts
    n_tries, took = what_calls_took(prepared, calls)
    fields = answers.take(places)
    columns = {
        **{name: _as_pandas(fields.column(name)) for name in fields.column_names},
        "attempt_id": _taken_from(prepared.attempt_ids, attempts),
        "judge": prepared.judge,
        "request_hash": _taken_from(prepared.hashes[0], attempts),
        "model": _taken_from(judgments.models, places),
        "repair": _taken_from(judgments.repairs, places),
        "n_tries": np.where(is_first, n_tries[attempts], 0),
        "latency_ms": np.where(is_first, judgments.latency_ms[places], np.nan),
        "tokens_in": _whole(np.where(is_first, took["tokens_in"][attempts], np.nan)),
        "tokens_out": _whole(np.where(is_first, took["tokens_out"][attempts], np.nan)),
        "cost_usd": np.where(is_first, took["cost_usd"][attempts], np.nan),
        "error": None,
    }
    return JUDGE_OUTPUTS.conform(pd.DataFrame(columns, columns=JUDGE_OUTPUTS.column_names, copy=False))


def total(calls: Calls) -> Spent:
    """What the calls took in all: the same in whatever order they come, over however many runs they were made."""
    tokens_in, tokens_out, cost = (_known(each) for each in (calls.tokens_in, calls.tokens_out, calls.cost_usd))
    return Spent(
        len(calls.slots),
        int(tokens_in.sum()) if len(tokens_in) else None,
        int(tokens_out.sum()) if len(tokens_out) else None,
        fsum(cost.tolist()) if len(cost) else None,
        fsum(_known(calls.latency_ms).tolist()) / 1000.0,
    )


def parsed_answers(judgments: Judgments, prepared: Prepared) -> pa.Table:
    """The fields of stored answers as columns, in the order of the judgments.

    Raises:
        JudgingError: one of them is no answer.
    """
    import pyarrow as pa
    from pyarrow import json as arrow_json

    kinds = JUDGE_OUTPUTS.arrow_schema()
    schema = pa.schema([(name, kinds.field(name).type) for name in Judgment.model_fields])
    if not judgments.answers:
        return schema.empty_table()
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = arrow_json.read_json(io.BytesIO("\n".join(judgments.answers).encode()), parse_options=options)
        if len(table) != len(judgments.answers):
            raise pa.ArrowInvalid(f"{len(table)} answers in {len(judgments.answers)} texts")
        if not _in_range(table):  # a file that was edited; repeats are held to no other schema
            raise pa.ArrowInvalid("a value is missing or out of range")
    except pa.ArrowInvalid as error:
        raise _damaged(judgments, prepared, error) from None
    return table


def _in_range(answers: pa.Table) -> bool:
    from pyarrow import compute

    if any(column.null_count for column in answers.columns):
        return False
    for name, low, high in (("p_ac", 0, 1), ("s_algo", 1, 5), ("s_robust", 1, 5)):
        found = compute.min_max(answers.column(name)).as_py()
        if found["min"] < low or found["max"] > high:
            return False
    return True


def _damaged(judgments: Judgments, prepared: Prepared, error: Exception) -> JudgingError:
    where = "an answer"
    for slot, answer in zip(judgments.slots, judgments.answers, strict=True):
        try:
            Judgment.model_validate(json.loads(answer))
        except ValueError as found:
            error, where = found, f"the answer to request {prepared.all_hashes[slot]}"
            break
    return JudgingError(
        f"the checkpoint is damaged: {where} cannot be read ({' '.join(str(error).split())}). Restore it from a "
        "backup, or delete its row of table judgments to ask again"
    )


def _as_pandas(column: pa.ChunkedArray) -> Any:
    """With whole numbers as such, also where some are missing."""
    import pyarrow as pa

    return column.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


def _whole(values: NDArray[np.float64]) -> Any:
    """Whole numbers, missing where the value is NaN."""
    missing = np.isnan(values)
    return pd.arrays.IntegerArray(np.where(missing, 0, values).astype("int64"), missing)


def _known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values[~np.isnan(values)]


def _taken_from(values: Sequence[Any], places: NDArray[np.int64]) -> NDArray[np.object_]:
    column = np.empty(len(values), dtype="object")
    column[:] = values
    return column if len(places) == len(values) and bool((places == np.arange(len(values))).all()) else column[places]


def what_calls_took(prepared: Prepared, calls: Calls) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Tries of each row's first repeat; tokens and money (by column name) of all its repeats, NaN where unknown."""
    shape = (len(prepared.hashes), len(prepared.attempt_ids))
    n_slots = shape[0] * shape[1]

    def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
        known = ~np.isnan(values)
        added = np.bincount(calls.slots[known], values[known], n_slots).reshape(shape).sum(axis=0)
        n_known = np.bincount(calls.slots[known], minlength=n_slots).reshape(shape).sum(axis=0)
        return np.where(n_known > 0, added, np.nan)

    n_tries = np.bincount(calls.slots, minlength=n_slots)[: shape[1]]
    return n_tries, {name: sums(getattr(calls, name)) for name in ("tokens_in", "tokens_out", "cost_usd")}
