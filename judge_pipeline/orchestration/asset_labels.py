"""How every asset of the graph is labelled in the UI: owners, the paper's table or figure, where columns come from.

The catalog finds both: ``tag:"co-creation"="figure-10"``, ``owner:"team:judge-research"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dagster as dg

from judge_pipeline.orchestration.column_lineage import column_lineage
from judge_pipeline.tables import ALL_TABLES

_SCHEMA = "dagster/column_schema"
_TABLES = {table.name: table for table in ALL_TABLES}

PAPER_PLACES = {
    "contest_overview": ("co-creation", "table-I"),
    "judge_metrics": ("co-creation", "table-IV"),
    "judge_curves": ("co-creation", "figures-2-3"),
    "judge_agreement": ("co-creation", "table-V"),
    "prompt_code_ned": ("co-creation", "figure-6"),
    "prompt_code_summary": ("co-creation", "figure-6"),
    "struggle_curves": ("co-creation", "figure-8"),
    "survival": ("co-creation", "figure-9"),
    "success_at_turn": ("co-creation", "figure-10"),
    "prompt_space": ("co-creation", "figure-11"),
    "revisions": ("co-creation", "figures-12-13"),
    "convergence": ("co-creation", "figure-14"),
    "dataset_profile": ("trace", "table-1"),
    "preference_accuracy": ("trace", "table-2"),
    "preference_models": ("trace", "figure-3"),
    "misalignment": ("trace", "figure-3"),
    "criteria_ablation": ("criteralign", "tables-1-8"),
}
"""Asset -> the paper, and its table or figure that the asset holds the numbers of."""


def labelled(assets: Sequence[Any], owners: Sequence[str]) -> list[Any]:
    """The assets with their owners and their places in the papers.

    Args:
        assets: assets and asset specs.
        owners: e-mail addresses, or ``team:NAME``.
    """

    def label(spec: dg.AssetSpec) -> dg.AssetSpec:
        owned = spec.replace_attributes(owners=list(owners), metadata={**spec.metadata, **_columns(spec)})
        place = PAPER_PLACES.get(spec.key.to_user_string())
        return owned.merge_attributes(tags=dict([place])) if place else owned

    return list(dg.map_asset_specs(label, list(assets)))


def _columns(spec: dg.AssetSpec) -> dict[str, Any]:
    """The columns, each with the tables that it comes from: this UI shows no column lineage of its own."""
    schema, table = spec.metadata.get(_SCHEMA), _TABLES.get(spec.key.to_user_string())
    if table is None or not isinstance(schema, dg.TableSchema):
        return {}
    lineage = column_lineage(table, [dep.asset_key.to_user_string() for dep in spec.deps])
    if lineage is None:
        return {}
    above = {name: [dep.asset_key.to_user_string() for dep in deps] for name, deps in lineage.deps_by_column.items()}
    columns = [
        dg.TableColumn(c.name, c.type, f"{c.description}. From {', '.join(above[c.name])}", c.constraints, c.tags)
        if c.name in above
        else c
        for c in schema.columns
    ]
    return {_SCHEMA: dg.TableSchema(columns=columns)}
