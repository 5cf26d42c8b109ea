"""The table of one judge's stored answers, and what they took in all, made column by column."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge_pipeline.judging.answer import Judgment
from judge_pipeline.judging.checkpoint_rows import Spent
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.prepared import Prepared
from judge_pipeline.judging.stored_rows import CallRowShort, JudgmentRow
from judge_pipeline.tables import JUDGE_OUTPUTS

if TYPE_CHECKING:
    from numpy.typing import NDArray


def outputs_table(prepared: Prepared, judgments: Sequence[JudgmentRow], calls: Sequence[CallRowShort]) -> pd.DataFrame:
    """Table JUDGE_OUTPUTS: a row for each attempt whose first repeat is answered, in the order of the requests.

    Tries and latency are those of the judgment, tokens and money those of all repeats. Where attempts share a request,
    the first carries what it took.

    Args:
        prepared: the judge's requests.
        judgments: stored answers to them; others are passed over.
        calls: all calls for them, by hash.

    Raises:
        JudgingError: a stored answer is damaged.
    """
    place_of = {row[0]: place for place, row in enumerate(judgments)}
    hashes = prepared.hashes[0]
    answered = [place for place, hash_ in enumerate(hashes) if hash_ in place_of]
    if not answered:
        return JUDGE_OUTPUTS.empty()
    rows = [judgments[place_of[hashes[place]]] for place in answered]
    request_hash, answers, repair, model, latency_ms = zip(*rows, strict=True)
    n_tries, took = _taken(prepared, calls)
    attempts = np.array(answered)
    is_first = prepared.first_places()[attempts] == attempts
    columns = parsed_answers(request_hash, answers) | {
        "attempt_id": [prepared.attempt_ids[place] for place in answered],
        "judge": prepared.judge,
        "request_hash": request_hash,
        "model": model,
        "repair": repair,
        "n_tries": np.where(is_first, n_tries[attempts], 0),
        "latency_ms": np.where(is_first, np.array(latency_ms, dtype="float64"), np.nan),
        **{name: np.where(is_first, values[attempts], np.nan) for name, values in took.items()},
        "error": None,
    }
    return JUDGE_OUTPUTS.conform(pd.DataFrame(columns, columns=JUDGE_OUTPUTS.column_names))


def total(calls: Sequence[CallRowShort]) -> Spent:
    """What the calls took in all; the same in whatever order they come, and over however many runs they were made."""
    if not calls:
        return Spent()
    _, tokens_in, tokens_out, cost_usd, latency_ms = zip(*calls, strict=True)
    known = [each for each in cost_usd if each is not None]
    return Spent(
        len(calls), _sum(tokens_in), _sum(tokens_out), fsum(known) if known else None, fsum(latency_ms) / 1000.0
    )


def parsed_answers(request_hashes: Sequence[str], answers: Sequence[str]) -> dict[str, Any]:
    """The fields of stored answers, each as a column.

    Args:
        request_hashes: to name a damaged one.
        answers: as many JSON texts; at least one.

    Raises:
        JudgingError: a text is no answer.
    """
    import pyarrow as pa
    from pyarrow import json as arrow_json

    kinds = JUDGE_OUTPUTS.arrow_schema()
    schema = pa.schema([(name, kinds.field(name).type) for name in Judgment.model_fields])
    options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    try:
        table = arrow_json.read_json(io.BytesIO("\n".join(answers).encode()), parse_options=options)
        if len(table) != len(answers):
            raise pa.ArrowInvalid(f"{len(table)} answers in {len(answers)} texts")
    except pa.ArrowInvalid as error:
        raise _damaged(request_hashes, answers, error) from None
    return {name: table.column(name).to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get) for name in schema.names}


def _damaged(request_hashes: Sequence[str], answers: Sequence[str], error: Exception) -> JudgingError:
    for hash_, answer in zip(request_hashes, answers, strict=True):
        try:
            Judgment.model_validate(json.loads(answer))
        except ValueError as found:
            error, where = found, f"the answer to request {hash_}"
            break
    else:
        where = "an answer"
    return JudgingError(
        f"the checkpoint is damaged: {where} cannot be read ({' '.join(str(error).split())}). Restore it from a "
        "backup, or delete its row of table judgments to ask again"
    )


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _taken(
    prepared: Prepared, calls: Sequence[CallRowShort]
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """Tries of each attempt's first repeat; tokens and money of all its repeats, NaN where unknown."""
    n, n_repeats = len(prepared.attempt_ids), len(prepared.hashes)
    code_of: dict[str, int] = {}
    for repeat, hashes in enumerate(prepared.hashes):
        for place, hash_ in enumerate(hashes):
            code_of.setdefault(hash_, repeat * n + place)
    columns: Any = zip(*calls, strict=True) if calls else [[]] * 5
    request_hash, tokens_in, tokens_out, cost_usd, _ = columns
    codes = np.array([code_of[hash_] for hash_ in request_hash], dtype="int64")
    shape = (n_repeats, n)

    def sums(values: Any) -> NDArray[np.float64]:
        numbers = np.array(values, dtype="float64")
        known = ~np.isnan(numbers)
        added = np.bincount(codes[known], numbers[known], n_repeats * n).reshape(shape).sum(axis=0)
        n_known = np.bincount(codes[known], minlength=n_repeats * n).reshape(shape).sum(axis=0)
        return np.where(n_known > 0, added, np.nan)

    n_tries = np.bincount(codes, minlength=n_repeats * n)[:n]
    return n_tries, {"tokens_in": sums(tokens_in), "tokens_out": sums(tokens_out), "cost_usd": sums(cost_usd)}
