"""Reading judges' decisions on preference pairs that someone already has: CSV, TSV, JSONL or Parquet."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from judge_pipeline.cli.prediction_file import PredictionFileError, rows_of, text_of

REQUIRED = ("pair_id", "judge", "label", "decision_ab")
CHOICE_COLUMNS = ("label", "decision_ab", "decision_ba")
TEXTS = ("category", "cluster", "family", "votes")
LENGTHS = ("length_a", "length_b")

_CHOICES = {"a": "A", "b": "B", "tie": "tie", "both_bad": "tie"}
_LENGTH = re.compile(r"\d+(\.0*)?")


def read_pair_decisions(path: Path) -> pd.DataFrame:
    """The file's decisions as ``preference.judged_pairs`` takes them; the index says where each row stands in it.

    Raises:
        PredictionFileError: the file is not what its name says, a column is missing, or a value is no choice.
        OSError: the file cannot be read.
    """
    columns: dict[str, list[Any]] = {}
    places: list[str] = []
    optional = ("decision_ba", *TEXTS, *LENGTHS)
    for place, row in rows_of(path, {*REQUIRED, *optional}):
        missing = [name for name in REQUIRED if name not in row]
        if missing:
            raise PredictionFileError(
                f"{place} has no {', '.join(missing)}; it has {', '.join(map(str, row)) or 'nothing'}. Remedy: give "
                f"each row {', '.join(REQUIRED)} (and decision_ba where the order BA was asked), blank for an invalid "
                "answer"
            )
        if places and ("decision_ba" in row) != ("decision_ba" in columns):
            raise PredictionFileError(
                f"{place} {'has' if 'decision_ba' in row else 'has no'} decision_ba, unlike the rows before. Remedy: "
                "give it in every row (null: invalid) or in none (one order)"
            )
        given = [name for name in optional if name in row or name in columns]
        for name in (*REQUIRED, *given):
            if name not in columns:  # one that comes up late was not there in the rows before
                columns[name] = [None] * len(places)
            columns[name].append(_value(row, name, place))
        places.append(place)
    if not places:
        raise PredictionFileError("it holds no row. Remedy: give one row for each judge and pair")
    table = pd.DataFrame(columns, index=places, dtype=object)
    return table.astype(dict.fromkeys([name for name in LENGTHS if name in table.columns], "float64"))


def _value(row: dict[str, Any], name: str, place: str) -> Any:
    if row.get(name) is None:
        return None
    if name in LENGTHS:
        return _length(row[name], name, place)
    text = text_of(row, name, place)
    if name in CHOICE_COLUMNS:
        return _choice(text, name, place)
    return text or None


def _choice(text: str, name: str, place: str) -> str | None:
    if not text.strip():
        return None
    choice = _CHOICES.get(text.strip().lower())
    if choice is None:
        shown = repr(text) if len(repr(text)) <= 60 else repr(text)[:57] + "..."
        blank = "" if name == "label" else ", or leave it blank where the answer is invalid"
        raise PredictionFileError(
            f"{place}: {name} is {shown}, which is no choice. Remedy: give A, B or tie, in terms of the original A and "
            f"B{blank}"
        )
    return choice


def _length(value: Any, name: str, place: str) -> float | None:
    text = str(value).strip()
    if not text:
        return None
    if isinstance(value, bool) or not _LENGTH.fullmatch(text):
        raise PredictionFileError(
            f"{place}: {name} is {str(value)[:57]!r}, which is no length. Remedy: give a whole number of characters, "
            "or nothing"
        )
    return float(text)
