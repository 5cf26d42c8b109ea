"""Two files of one table held against each other: the bundle's, and the one that was made anew."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from judge_pipeline.orchestration.parquet_store import PROVENANCE_KEY

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["identical", "same rows", "close", "differs"]
"""identical: byte for byte. same rows: the same values, and the file says that it was made from something else. close:
numbers differ by less than :data:`TOLERANCE` of their size, as between processors. differs: anything else."""

TOLERANCE = 1e-9
"""Largest relative difference of two numbers that are called close."""

_NAMED_ROWS = 5
_MOST_CHARS = 80
_NOT_THERE = "nothing"


@dataclass(frozen=True)
class Compared:
    """What came of comparing two files.

    Attributes:
        verdict: how alike they are.
        differences: what differs, in words: columns with their rows, and what a file says that it was made from.
        made_from: keys of what they say that they were made from, in which they differ.
    """

    verdict: Verdict
    differences: tuple[str, ...] = ()
    made_from: tuple[str, ...] = ()


def compare_files(bundled: Path, recomputed: Path, key: tuple[str, ...]) -> Compared:
    """Compare a table's file in the bundle with the one that was made anew.

    Args:
        bundled: the bundle's.
        recomputed: the other.
        key: columns that name a row, for telling which rows differ.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if bundled.read_bytes() == recomputed.read_bytes():
        return Compared("identical")
    try:
        theirs, ours = pq.read_table(bundled), pq.read_table(recomputed)
    except (pa.ArrowException, OSError) as error:
        return Compared("differs", (f"it cannot be read: {error}",))
    made_from = _made_from(theirs.schema.metadata, ours.schema.metadata)
    if theirs.schema.remove_metadata() != ours.schema.remove_metadata():
        return Compared("differs", (_other_columns(theirs, ours),), tuple(made_from))
    verdict, differences = compare_rows(theirs.to_pandas(), ours.to_pandas(), key)
    said = tuple(f"made from another {name}: {was} in the bundle, {now} anew" for name, (was, now) in made_from.items())
    return Compared(verdict, (*differences, *said), tuple(made_from))


def compare_rows(theirs: pd.DataFrame, ours: pd.DataFrame, key: tuple[str, ...]) -> tuple[Verdict, list[str]]:
    """Whether two tables of the same columns hold the same, and where they differ.

    Rows are compared in their order, which belongs to a table. Two missing values are the same.
    """
    if len(theirs) != len(ours):
        return "differs", [f"{len(theirs):,} rows in the bundle, {len(ours):,} anew{_only_in_one(theirs, ours, key)}"]
    verdict: Verdict = "same rows"
    differences = []
    for name in theirs.columns:
        other, close = _unequal(theirs[name], ours[name])
        if not other.any():
            continue
        rows = np.flatnonzero(other)
        first, more = rows[0], ", ..." if len(rows) > _NAMED_ROWS else ""
        named = ", ".join(_row_in_words(theirs.iloc[row], key, int(row)) for row in rows[:_NAMED_ROWS])
        differences.append(
            f"column {name}: {len(rows):,} of {len(theirs):,} rows differ ({named}{more}); "
            f"the first is {_shown(theirs[name].iloc[first])} in the bundle, {_shown(ours[name].iloc[first])} anew"
        )
        if not close:
            verdict = "differs"
        elif verdict == "same rows":
            verdict = "close"
    return verdict, differences


def _unequal(theirs: pd.Series, ours: pd.Series) -> tuple[Any, bool]:
    """Which values differ, and whether all that do are close."""
    there, here = theirs.notna().to_numpy(), ours.notna().to_numpy()
    other = there != here
    both = np.flatnonzero(there & here)
    a, b = theirs.iloc[both], ours.iloc[both]
    if theirs.dtype.kind == "f" and ours.dtype.kind == "f":
        x, y = a.to_numpy(dtype=float), b.to_numpy(dtype=float)
        apart = x != y
        with np.errstate(over="ignore"):  # a difference beyond the largest float is none that is close
            near = np.isclose(x[apart], y[apart], rtol=TOLERANCE, atol=0.0)
        close = not other.any() and bool(near.all())
        other[both] = apart
        return other, close
    other[both] = [not _same(x, y) for x, y in zip(a, b, strict=True)]
    return other, False


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b)


def _shown(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}..."


def _row_in_words(row: Any, key: tuple[str, ...], number: int) -> str:
    named = " ".join(str(row[name]) for name in key if name in row.index)
    return named or f"row {number + 1}"


def _only_in_one(theirs: pd.DataFrame, ours: pd.DataFrame, key: tuple[str, ...]) -> str:
    names = [name for name in key if name in theirs.columns]
    if not names:
        return ""
    a, b = ({tuple(map(str, row)) for row in table[names].itertuples(index=False)} for table in (theirs, ours))
    parts = [
        f"only {where}: {', '.join(' '.join(row) for row in sorted(rows)[:_NAMED_ROWS])}"
        for where, rows in (("in the bundle", a - b), ("anew", b - a))
        if rows
    ]
    return "; " + "; ".join(parts) if parts else ""


def _other_columns(theirs: Any, ours: Any) -> str:
    a, b = ({field.name: str(field.type) for field in table.schema} for table in (theirs, ours))
    parts = [f"column {name} is {a.get(name, _NOT_THERE)} in the bundle, {b.get(name, _NOT_THERE)} anew"
             for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]  # fmt: skip
    return "; ".join(parts) or "the columns are in another order"


def _made_from(theirs: Mapping[bytes, bytes] | None, ours: Mapping[bytes, bytes] | None) -> dict[str, tuple[str, str]]:
    """What the two files say that they were made from, where they differ: key -> the bundle's, ours."""
    a, b = (_flat(json.loads((metadata or {}).get(PROVENANCE_KEY.encode(), b"{}"))) for metadata in (theirs, ours))
    keys = sorted(key for key in a.keys() | b.keys() if a.get(key) != b.get(key))
    return {key: (a.get(key, _NOT_THERE), b.get(key, _NOT_THERE)) for key in keys}


def _flat(value: Any, name: str = "") -> dict[str, str]:
    if not isinstance(value, dict):
        return {name: str(value)}
    found: dict[str, str] = {}
    for key, own in value.items():
        found |= _flat(own, f"{name}.{key}" if name else str(key))
    return found
