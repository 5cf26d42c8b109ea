"""Tables in memory as what figures are traced through, and a check that every row of a table adds up."""

from __future__ import annotations

from typing import Any

import pandas as pd

from judge_pipeline.lineage.basis import Basis, reconcile
from judge_pipeline.lineage.figures import Figure, figures_of
from judge_pipeline.lineage.rules import basis_of
from judge_pipeline.lineage.sources import CONTEST, MissingTableError, Options, Sources
from judge_pipeline.table_schema import Table


def sources_of(
    tables: dict[Table, pd.DataFrame],
    of_judges: dict[tuple[Table, str], pd.DataFrame] | None = None,
    kind: str = CONTEST,
    name: str = "made",
    **options: Any,
) -> Sources:
    """Sources that hold these tables and no other."""
    found = {(table.name,): rows for table, rows in tables.items()}
    found |= {(table.name, judge): rows for (table, judge), rows in (of_judges or {}).items()}

    def read(table: Table, *judge: str) -> pd.DataFrame:
        try:
            return found[(table.name, *judge)]
        except KeyError:
            raise MissingTableError(f"table {table.name} is not there") from None

    def parts(table: Table) -> list[str]:
        return sorted(key[1] for key in found if key[0] == table.name and len(key) == 2)

    return Sources(kind, name, read, parts, Options(**options))


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows with None for what is missing."""
    values = table.astype("object")
    return [{str(k): v for k, v in row.items()} for row in values.where(values.notna(), None).to_dict("records")]


def traced(sources: Sources, table: Table, rows: pd.DataFrame) -> list[tuple[Figure, Basis]]:
    """Every row with what it rests on; each must be listed and add up."""
    found = []
    for figure in figures_of(table, plain_rows(rows), sources.kind, sources.name):
        basis = basis_of(sources, table.name, figure.row)
        assert basis.unlisted is None, (figure.id, basis.unlisted)
        assert reconcile(basis, figure.n, figure.n_left_out).problem is None, figure.id
        found.append((figure, basis))
    return found
