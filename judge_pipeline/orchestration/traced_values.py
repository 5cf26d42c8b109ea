"""Rows and judgments of a trace as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from judge_pipeline.lineage.judgments import Said


def said_values(said: Said) -> dict[str, Any]:
    """A judgment as plain values; ``served`` is there where its request was for several things."""
    found = asdict(said) | {"said": _record(said.said)}
    found["served"] = [asdict(one) | {"said": _record(one.said)} for one in said.served]
    return found if said.served else {name: value for name, value in found.items() if name != "served"}


def _record(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: plain_value(value) for name, value in record.items()}


def by_id(rows: Any, column: str) -> dict[str, dict[str, Any]]:
    """Rows by a column that names them, as plain values; what is missing is left out."""
    values = rows.astype("object")
    records = values.where(values.notna(), None).to_dict("records")
    return {
        record[column]: {str(k): plain_value(v) for k, v in record.items() if v is not None and k != column}
        for record in records
    }


def plain_value(value: Any) -> Any:
    """A cell as a plain JSON value; an instant as ISO 8601."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value
