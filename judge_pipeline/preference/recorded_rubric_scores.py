"""Rubric scores that were collected elsewhere, or measured: a file in the preference set's folder, read strictly.

A row for each pair and item: ``score_ab`` and ``score_ba`` (as answered in each presentation order), or ``score`` where
there was one answer; each -1 (y_A satisfies the item better), 0 (both alike) or 1 (y_B does), always in terms of the
pair's own y_A and y_B. What is blank or wrong is no score, and says why: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.ingest.record_files import Record
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.preference.recorded_files import recorded_rows
from judge_pipeline.preference.rubric_scores import TwoOrders, combined
from judge_pipeline.tables.rubric import RUBRIC_SCORES

OF_AN_ORDER = ("score_ab", "score_ba")
_SCORES: Mapping[Any, int] = {"-1": -1, "0": 0, "1": 1, "+1": 1}
_NAMED = 5


@dataclass(frozen=True, slots=True)
class RecordedScores:
    """What a file of scores holds of a set's pairs and items.

    Attributes:
        rows: table RUBRIC_SCORES: a row for each pair and item; without a score, and with the reason, where the file
            has none.
        notes: what a person should know of the file.
    """

    rows: pd.DataFrame
    notes: tuple[str, ...]


def recorded_rubric_scores(
    file_name: str, content: bytes, pair_ids: Sequence[str], items: Sequence[str], two_orders: TwoOrders
) -> RecordedScores:
    """The scores in the file.

    Args:
        file_name: the file, for messages and, by its extension, for the separator.
        content: its bytes: CSV, TSV, JSON, JSON lines or Parquet.
        pair_ids: the pairs, each once.
        items: the rubric's items, each once.
        two_orders: how the scores of the two orders become one; see ``rubric_scores.combined``.

    Raises:
        JudgingError: the file cannot be read or lacks a column; the message names the file and the remedy.
    """
    records = recorded_rows(file_name, content)
    in_orders = _in_orders(file_name, records)
    own: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        own.setdefault((_text(record, "pair_id"), _text(record, "item")), []).append(record)
    rows = [
        {
            "pair_id": pair_id,
            "item": item,
            "scorer": file_name,
            **_scored(file_name, own.get((pair_id, item), []), two_orders, in_orders=in_orders),
        }
        for pair_id in pair_ids
        for item in items
    ]
    return RecordedScores(RUBRIC_SCORES.conform(rows), _notes(file_name, own, pair_ids, items))


class _WrongValueError(ValueError):
    pass


def _scored(file: str, records: Sequence[Record], two_orders: TwoOrders, *, in_orders: bool) -> dict[str, Any]:
    none = {"score": None, "score_ab": None, "score_ba": None}
    if not records:
        return {**none, "reason": f"{file} has no row for this pair and item"}
    if len(records) > 1:
        places = " and ".join(record.place for record in records)
        return {**none, "reason": f"{file}: {places} are all for this pair and item; keep one of them"}
    try:
        if not in_orders:
            return {**none, "score": _score(file, records[0], "score"), "reason": None}
        ab, ba = (_score(file, records[0], name) for name in OF_AN_ORDER)
    except _WrongValueError as wrong:
        return {**none, "reason": str(wrong)}
    return {"score": combined(ab, ba, two_orders), "score_ab": ab, "score_ba": ba, "reason": None}


def _score(file: str, record: Record, column: str) -> int:
    value = record.values.get(column)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    known = not isinstance(value, bool) and isinstance(value, str | int)
    found = _SCORES.get(str(value).strip()) if known else None
    if found is None:
        shown = repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."
        raise _WrongValueError(
            f"{file}, {record.place}, column {column}: {shown} is no score; write -1 where y_A satisfies the item "
            "better, 1 where y_B does, 0 where both are alike"
        )
    return found


def _in_orders(file: str, records: Sequence[Record]) -> bool:
    """Whether the file has a score for each order, and not one for both."""
    there = {name for record in records for name in record.values}
    both, one = set(OF_AN_ORDER) <= there, "score" in there
    if not {"pair_id", "item"} <= there or both == one:
        raise JudgingError(
            f"{file}: needs pair_id, item, and either score_ab and score_ba or score; it has "
            f"{', '.join(sorted(there)) or 'no row'}. Rename its columns, or correct rubric.recorded_scores in "
            "preference.yaml"
        )
    return both


def _text(record: Record, column: str) -> str:
    value = record.values.get(column)
    return str(value) if isinstance(value, str | int) else ""


def _notes(
    file: str, own: Mapping[tuple[str, str], Sequence[Record]], pair_ids: Sequence[str], items: Sequence[str]
) -> tuple[str, ...]:
    """Which rows are of no pair or item here."""
    pairs, known = set(pair_ids), set(items)
    of = {
        "pair": sorted({pair_id for pair_id, _ in own if pair_id not in pairs}),
        "rubric item": sorted({item for _, item in own if item not in known}),
    }
    return tuple(
        f"{file} has rows of {len(names)} {what}(s) that are not here: {', '.join(map(repr, names[:_NAMED]))}"
        + (", ..." if len(names) > _NAMED else "")
        for what, names in of.items()
        if names
    )
