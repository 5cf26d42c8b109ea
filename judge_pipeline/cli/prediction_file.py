"""Reading predictions that someone already has: CSV, TSV, JSONL or Parquet into the long prediction table.

Texts stay texts (an attempt called 007 or NA keeps its name), numbers are never guessed at, and every fault names the
row it lies in. Rows are numbered from 1 without the header; text files have their line beside it.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

REQUIRED = ("attempt_id", "judge", "p_ac", "y", "split")
OPTIONAL = ("participant", "problem_id")
SCORES = ("s_algo", "s_robust")
SPENDING = {"cost_usd": "US dollars", "latency_ms": "milliseconds"}
"""What an answer cost, where the file says it."""

_ALIASES = {"problem": "problem_id"}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")

_TRUTH_VALUES = {"true": 1.0, "false": 0.0}
"""As text files spell them: pandas writes True, JSON true."""

_LONGEST_CELL = 1 << 30
"""Files may carry rationales or sources beside the figures, longer than the csv module's own limit."""

Row = tuple[str, dict[str, Any]]
"""Where a row stands, in words, and its values by column."""


class PredictionFileError(ValueError):
    """A file of predictions that cannot be read. The message names the place, the value and the remedy."""


def read_predictions(path: Path, *, spending: bool = False) -> pd.DataFrame:
    """The file's predictions: attempt_id, judge, split (text), p_ac, y (float64, NaN where blank), and where the file
    has them participant, problem_id, s_algo and s_robust. The index says where each row stands in the file.

    Args:
        path: the file.
        spending: also read the columns of ``SPENDING`` that the file has; else they are passed over, whatever is in
            them.

    Raises:
        PredictionFileError: the file is not what its name says, a column is missing, or a value is not a number.
        OSError: the file cannot be read.
    """
    numbers = (*SCORES, *SPENDING) if spending else SCORES
    rows = rows_of(path, {*REQUIRED, *OPTIONAL, *SCORES, *SPENDING, *_ALIASES})
    places: list[str] = []
    columns: dict[str, list[Any]] = {name: [] for name in (*REQUIRED, *OPTIONAL, *numbers)}
    given: set[str] = set()
    for place, values in rows:
        row = _renamed(values, place)
        places.append(place)
        columns["attempt_id"].append(text_of(row, "attempt_id", place))
        columns["judge"].append(text_of(row, "judge", place))
        columns["split"].append(text_of(row, "split", place))
        columns["p_ac"].append(_number(row, "p_ac", place, "a probability in [0, 1], or nothing where not answered"))
        columns["y"].append(_number(row, "y", place, "0 or 1, or nothing where not judged yet"))
        for name in OPTIONAL:
            columns[name].append(text_of(row, name, place) if row.get(name) is not None else None)
        for name in numbers:
            meaning = f"{SPENDING[name]}, or nothing" if name in SPENDING else "a score from 1 to 5, or nothing"
            columns[name].append(_number({name: row.get(name)}, name, place, meaning))
        given |= {*numbers} & row.keys()
    if not places:
        raise PredictionFileError("it holds no row. Remedy: give one row for each judge and attempt")
    table = pd.DataFrame(columns, index=places).drop(columns=[name for name in numbers if name not in given])
    return table.astype(dict.fromkeys(("p_ac", "y", *sorted(given)), "float64"))


def is_known_format(path: Path) -> bool:
    """Whether the name's ending says how to read the file."""
    return path.suffix.lower() in {*_READERS, ".parquet"}


def rows_of(path: Path, wanted: Collection[str]) -> Iterator[Row]:
    """The rows of a file of figures, each with where it stands: texts as they are, nothing for a blank cell.

    Args:
        path: a file with a known ending.
        wanted: columns to read where reading others costs time (Parquet); text files give all that they have.

    Raises:
        PredictionFileError: the file is not what its name says; while it is read, at the row.
    """
    if path.suffix.lower() == ".parquet":
        return _read_parquet(path, wanted)
    return _READERS[path.suffix.lower()](path)


def _renamed(values: dict[str, Any], place: str) -> dict[str, Any]:
    row = {_ALIASES.get(name, name): value for name, value in values.items()}
    if "problem" in values and "problem_id" in values:
        raise PredictionFileError("it has both a column problem and a column problem_id. Remedy: keep one")
    missing = [name for name in REQUIRED if name not in row]
    if missing:
        raise PredictionFileError(
            f"{place} has no {', '.join(missing)}; it has {', '.join(map(str, values)) or 'nothing'}. "
            f"Remedy: give each row {', '.join(REQUIRED)} (and participant, problem where known), blank or null where "
            "there is no value"
        )
    return row


def text_of(row: dict[str, Any], name: str, place: str) -> str:
    """A cell that must be text, or a whole number that is taken as such; "" for a blank one.

    Raises:
        PredictionFileError: it is neither.
    """
    value = row[name]
    if isinstance(value, str) and value.isascii():
        return value
    if isinstance(value, str):
        # Half a surrogate pair, which JSON can escape, is no text: it cannot be printed, and pandas confuses such ids.
        half = any("\ud800" <= char <= "\udfff" for char in value)
        return value if not half else _fault(place, name, value, "text", "it holds half a surrogate pair; remove that")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        return ""
    return _fault(place, name, value, "text", "write it as text, in quotes where the format has them")


def _number(row: dict[str, Any], name: str, place: str, meaning: str) -> float | None:
    value = row[name]
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or (isinstance(value, str) and value.strip().lower() in _TRUTH_VALUES):
        # A label may be a truth value, whose 1 and 0 are these; a probability may not.
        truth = _TRUTH_VALUES[str(value).strip().lower()]
        return truth if name == "y" else _fault(place, name, value, "a number", f"give {meaning}")
    if isinstance(value, int | float | Decimal) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    return _fault(place, name, value, "a number", f"give {meaning}")


def _fault(place: str, name: str, value: object, kind: str, remedy: str) -> NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise PredictionFileError(f"{place}: {name} is {shown}, which is not {kind}. Remedy: {remedy}")


def _read_csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(_LONGEST_CELL)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            header = next((cells for cells in reader if cells), [])
            _check_header(header, delimiter)
            number = 0
            for cells in reader:
                if not cells:
                    continue
                number += 1
                place = f"row {number} (line {reader.line_num})"
                if len(cells) != len(header):
                    raise PredictionFileError(
                        f"{place} has {len(cells)} cells, the header has {len(header)}. Remedy: quote cells that hold "
                        "the separator, and give every row all columns"
                    )
                yield place, {name: cell or None for name, cell in zip(header, cells, strict=True)}
        except UnicodeDecodeError as error:
            raise _not_utf8(error) from error
        except csv.Error as error:
            raise PredictionFileError(f"line {reader.line_num} is not CSV: {error}. Remedy: mend its quotes") from error


def _check_header(header: list[str], delimiter: str) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise PredictionFileError(f"its header names {', '.join(twice)} more than once. Remedy: keep one column each")
    other = next(
        (mark for mark in (",", ";", "\t") if mark != delimiter and len(header) == 1 and mark in header[0]), ""
    )
    if other:
        name = {",": "commas", ";": "semicolons", "\t": "tabs"}[other]
        raise PredictionFileError(
            f"its header is separated by {name}. Remedy: separate .csv by commas and .tsv by tabs, with a point in "
            "decimal numbers"
        )


def _read_jsonl(path: Path) -> Iterator[Row]:
    number = 0
    with path.open(encoding="utf-8-sig") as file:
        try:
            for line_number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                number += 1
                place = f"row {number} (line {line_number})"
                yield place, _json_object(line, place)
        except UnicodeDecodeError as error:
            raise _not_utf8(error) from error


def _json_object(line: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError) as error:
        raise PredictionFileError(f"{place} is not JSON: {error}. Remedy: write one JSON object a line") from error
    if not isinstance(value, dict):
        raise PredictionFileError(f"{place} is not a JSON object. Remedy: write one JSON object a line")
    return value


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)} stands in it more than once; keep one value each")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number; write null where there is no answer")


def _read_parquet(path: Path, wanted: Collection[str]) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        names = [str(name) for name in file.schema_arrow.names]
        _check_header(names, ",")
        table = file.read(columns=[name for name in names if name in wanted])
    except pa.ArrowException as error:
        raise PredictionFileError(f"it is not Parquet: {error}. Remedy: write it anew") from error
    for number, values in enumerate(table.to_pylist(), start=1):
        # Parquet written by pandas may hold NaN where a value is missing; it has no other way to say so.
        yield f"row {number}", {name: None if _is_nan(value) else value for name, value in values.items()}


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _not_utf8(error: UnicodeDecodeError) -> PredictionFileError:
    return PredictionFileError(f"it is not UTF-8 (byte {error.start}). Remedy: save it as UTF-8")


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
}
