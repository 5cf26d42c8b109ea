"""Every setting of a contest says which tables it decides on, and no asset that looks at it is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import judge_pipeline
from judge_pipeline.definitions import build_definitions
from judge_pipeline.lineage.settings_reach import FIRST_TABLES, reached
from judge_pipeline.orchestration.traced_graph import asset_graph
from judge_pipeline.settings import ContestSettings, Workspace, packaged_config_dir
from judge_pipeline.tables import ALL_TABLES

NAMES = {table.name for table in ALL_TABLES}
GRAPH = {
    "attempts": ["submission_artifacts"],
    "splits": ["attempts"],
    "judge_metrics": ["splits"],
    "profile": ["pairs"],
}


def test_every_setting_is_listed_and_every_table_is_one() -> None:
    assert set(FIRST_TABLES) == set(ContestSettings.model_fields)
    assert {table for first in FIRST_TABLES.values() for table in first} <= NAMES


def test_what_is_made_from_the_first_tables_is_reached() -> None:
    assert reached(GRAPH, FIRST_TABLES["split"]) == ["judge_metrics", "splits"]
    assert reached(GRAPH, ["submission_artifacts"]) == ["attempts", "judge_metrics", "splits", "submission_artifacts"]
    assert reached(GRAPH, FIRST_TABLES["title"]) == []


@pytest.mark.slow
def test_no_asset_reads_a_setting_that_does_not_reach_its_table(tmp_path: Path) -> None:
    graph = asset_graph(build_definitions(Workspace(packaged_config_dir(), tmp_path / "data", tmp_path / "var")))
    reach = {setting: set(reached(graph, first)) for setting, first in FIRST_TABLES.items()}
    seen = set()
    for file in sorted((Path(judge_pipeline.__file__).parent / "assets").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or node.name not in NAMES:
                continue
            source = ast.unparse(node)
            if "contest(contest_of(context))" not in source:
                continue
            for setting in FIRST_TABLES:
                if re.search(rf"(settings|contest_of\(context\)\))\.{setting}\b", source):
                    seen.add(setting)
                    assert node.name in reach[setting], (node.name, setting)
    assert {"context_roles", "seed", "resamples", "revision", "dynamics"} <= seen
