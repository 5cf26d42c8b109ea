"""A row of the quarantine in a line: where, the field, what it holds, what is wrong with it and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

_MOST_CHARS = 60


def said_of(row: Mapping[str, Any]) -> str:
    """A row of PREFERENCE_QUARANTINE for people, with its value quoted and shortened: nothing in it is taken as markup.

    A row without a place is of the whole file; one without a field or a value says nothing of them.
    """
    place, field, value = (None if pd.isna(row[name]) else str(row[name]) for name in ("place", "field", "value"))
    where = row["source_file"] if place is None else f"{row['source_file']}, {place}"
    at_fault = [part for part in (field, quoted(value)) if part]
    return f"{where}: {' '.join([*at_fault, row['reason']])} ({row['remedy']})"


def quoted(value: str | None) -> str | None:
    """A value in quotation marks, cut after 60 characters, control characters escaped; None where it is blank."""
    if value is None or not value.strip():
        return None
    return repr(value if len(value) <= _MOST_CHARS else f"{value[: _MOST_CHARS - 3]}...")
