from __future__ import annotations

from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from judge_pipeline.definitions import build_definitions
from judge_pipeline.orchestration.asset_labels import PAPER_PLACES
from judge_pipeline.orchestration.column_lineage import column_lineage
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ALL_TABLES, ATTEMPTS, JUDGE_METRICS, PREDICTIONS

TABLES = {table.name: table for table in ALL_TABLES}


def handed_on(table: str, upstream: list[str]) -> dict[str, set[str]]:
    found = column_lineage(TABLES[table], upstream)
    return {
        c: {d.asset_key.to_user_string() for d in deps} for c, deps in (found.deps_by_column if found else {}).items()
    }


def test_what_identifies_a_row_is_handed_on_and_figures_are_not() -> None:
    assert handed_on(PREDICTIONS.name, ["attempts", "splits", "judge_coverage"]) == {
        "attempt_id": {"attempts"},
        "judge": {"judge_coverage"},
        "participant": {"attempts", "splits"},
        "problem_id": {"attempts", "splits"},
        "turn": {"attempts"},
        "y": {"attempts"},
        "split": {"splits"},
    }
    assert handed_on(JUDGE_METRICS.name, ["predictions", "judge_coverage"]) == {
        "judge": {"predictions", "judge_coverage"}
    }
    assert column_lineage(ATTEMPTS, ["contest_folder"]) is None


@pytest.mark.slow
def test_every_value_of_a_column_that_is_handed_on_stands_upstream(reported_home: Path) -> None:
    workspace = Workspace.find({}, reported_home)
    tables = workspace.out_dir / "tables"

    def values(table: str, column: str) -> set[str]:
        files = sorted((tables / table).rglob("*.parquet"))
        return {str(value) for file in files for value in pd.read_parquet(file, columns=[column])[column].dropna()}

    graph = build_definitions(workspace).resolve_asset_graph()
    looked_at = 0
    for key in graph.get_all_asset_keys():
        name = key.to_user_string()
        if name not in TABLES or not (tables / name).is_dir():
            continue
        upstream = [parent.to_user_string() for parent in graph.get(key).parent_keys]
        for column, parents in handed_on(name, upstream).items():
            above = set().union(*(values(parent, column) for parent in parents))
            assert values(name, column) <= above, f"{name}.{column} of {parents}"
            looked_at += 1
    assert looked_at > 60


@pytest.mark.slow
def test_the_ui_is_told_of_columns_that_are_handed_on(reported_home: Path) -> None:
    with open_instance(Workspace.find({}, reported_home)) as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("predictions"))
    assert event is not None and event.asset_materialization is not None
    told = event.asset_materialization.metadata["dagster/column_lineage"].value
    assert isinstance(told, dg.TableColumnLineage)
    assert told.deps_by_column["y"] == [dg.TableColumnDep(asset_key="attempts", column_name="y")]


def test_owners_and_places_in_the_papers_are_labels_of_assets(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "assets_config").mkdir(parents=True)
    (home / "assets_config" / "judges.yaml").write_text("judges: {text: {backend: baseline}}\n", encoding="utf-8")
    owned = "links: {owners: [ada@example.org, team:measurement]}\n"
    (home / "assets_config" / "automation.yaml").write_text(owned, encoding="utf-8")
    graph = build_definitions(Workspace.find({}, home)).resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        assert graph.get(key).owners == ["ada@example.org", "team:measurement"], key
    columns = graph.get(dg.AssetKey("predictions")).metadata["dagster/column_schema"].columns
    described = {column.name: column.description for column in columns}
    assert described["split"].endswith(". From splits") and described["y"].endswith(". From attempts")
    assert "From" not in described["p_ac"] and len(columns) == len(PREDICTIONS.columns)
    for asset, (paper, place) in PAPER_PLACES.items():
        assert graph.get(dg.AssetKey(asset)).tags[paper] == place
