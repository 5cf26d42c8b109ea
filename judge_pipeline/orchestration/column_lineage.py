"""Which columns of a table are handed on from those that it is made of, for the UI's column lineage.

A column is handed on where an upstream table has it with the same name, kind and meaning: what identifies a row, labels
and texts. Figures are computed of many columns and rows, and are no column of another table: ``judge-pipeline trace``
leads from them to what they rest on.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import dagster as dg

from judge_pipeline.table_schema import Column, Table
from judge_pipeline.tables import ALL_TABLES, criteria

_OF_AN_ESTIMATE = frozenset({"value", "n", "n_left_out", "ci95_low", "ci95_high", "reason", "p_value", "p_holm"})
_OF_AN_ANSWER = frozenset(
    {
        "request_hash", "verdict", "met", "confidence", "rationale", "failure_class", "failure", "presentation_order",
        "response",
    }
)  # fmt: skip
"""What each stage of judging by criteria has of its own answers, under the same names as the stage before."""


_MADE_THERE = {
    "judge_coverage": frozenset({"judge"}),
    "pair_judge_coverage": frozenset({"judge"}),
    "rubric_theme_summary": frozenset({"title"}),
    "refined_criteria": frozenset({"criterion", "text", "aspect"}),
    "child_verdicts": frozenset({"criterion"}),
    "child_answers": frozenset({"criterion"}),
}
"""Columns that hold more than what is handed on: judges of the settings, themes, criteria that refinement makes."""


def column_lineage(table: Table, upstream: Iterable[str]) -> dg.TableColumnLineage | None:
    """The columns that are handed on, each with where it comes from; None where there is none.

    Args:
        table: the table that is made.
        upstream: names of the assets that it is made of; those that are no tables have no columns.
    """
    parents = [_tables()[name] for name in sorted(upstream) if name in _tables()]
    found = {
        column.name: [
            dg.TableColumnDep(asset_key=parent.name, column_name=column.name)
            for parent in parents
            if any(_is_same(column, other) for other in parent.columns)
        ]
        for column in table.columns
        if column.name not in _own(table)
    }
    handed_on = {name: deps for name, deps in found.items() if deps}
    return dg.TableColumnLineage(deps_by_column=handed_on) if handed_on else None


@cache
def _tables() -> dict[str, Table]:
    return {table.name: table for table in ALL_TABLES}


def _own(table: Table) -> frozenset[str]:
    made = _MADE_THERE.get(table.name, frozenset()) | _OF_AN_ESTIMATE
    return made | _OF_AN_ANSWER if table in criteria.TABLES else made


def _is_same(column: Column, other: Column) -> bool:
    return (column.name, column.kind, column.description) == (other.name, other.kind, other.description)
