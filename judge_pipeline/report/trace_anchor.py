"""Under which anchor a figure stands on the pages that trace it home, and where these pages lie beside the report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge_pipeline.table_schema import Table

FOLDER, PREFERENCE_FOLDER, CRITERIA_FOLDER = "trace", "preference_trace", "criteria_trace"
"""Folders beside the reports: a contest and a set may be called alike, and share the folder of reports."""

INDEX = "index.html"

ANCHOR_DIGITS = 12


def figure_anchor(table: str, key: Mapping[str, Any]) -> str:
    """The anchor of a figure: a hash of its table and key, the same in every run and however its key is written.

    Args:
        table: the table's name.
        key: its key columns; those that are null are left out.
    """
    given = {name: str(value) for name, value in sorted(key.items()) if value is not None}
    text = json.dumps([table, given], ensure_ascii=True)
    return f"fig-{hashlib.sha256(text.encode()).hexdigest()[:ANCHOR_DIGITS]}"


def figure_link(table: str, **key: Any) -> str:
    """The address of a figure's trace, relative to a contest's report."""
    return f"{FOLDER}/{INDEX}#{figure_anchor(table, key)}"


def row_link(folder: str, table: Table, row: Mapping[str, Any]) -> str:
    """The address of the trace of a table's row, relative to the report.

    Args:
        folder: where the pages lie beside it.
        table: the table; its key columns are text.
        row: the row.
    """
    key = {name: row[name] if isinstance(row[name], str) else None for name in table.key}
    return f"{folder}/{INDEX}#{figure_anchor(table.name, key)}"
