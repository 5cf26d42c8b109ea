"""The asset that reads a contest folder: what it says of its reading, and what a second run does not do again."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import dagster as dg
import pytest

from judge_pipeline.assets.contest import read_contest_folder
from judge_pipeline.orchestration import table_asset
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.partitions import CONTESTS
from judge_pipeline.orchestration.resources import SilentProgress, WorkspaceResource
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.mini_contest import MiniContest


class _Heard(SilentProgress):
    def __init__(self) -> None:
        self.files: list[tuple[str, int, int, int]] = []

    def reading(self, contest: str, done: int, total: int, set_aside: int) -> None:
        self.files.append((contest, done, total, set_aside))


def _run(workspace: Workspace, instance: dg.DagsterInstance, heard: _Heard) -> tuple[dict[str, int], dict[str, str]]:
    """Figures of the attempts' metadata, and the sha256 of every table's file beside its data version."""
    store = store_of(workspace)
    result = dg.materialize(
        [read_contest_folder],
        instance=instance,
        partition_key="mini",
        resources={
            "workspace": WorkspaceResource.of(workspace),
            "store": store,
            "io_manager": store,
            "progress": dg.ResourceDefinition.hardcoded_resource(heard),
        },
    )
    made = {event.asset_key.path[-1]: event for event in result.asset_materializations_for_node("read_contest_folder")}
    files = {f.parent.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in Path(store.root).rglob("*.parquet")}
    assert files == {name: (event.tags or {})["dagster/data_version"] for name, event in made.items()}
    metadata = made["attempts"].metadata
    return {name: int(str(metadata[name].value)) for name in ("files", "files_opened", "files_parsed")}, files


@pytest.mark.slow
def test_a_second_run_opens_nothing_and_each_file_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contest = MiniContest(tmp_path / "home").lay(2, 2)
    time.sleep(0.05)
    workspace, heard, made = Workspace.find({}, contest.home), _Heard(), []
    really = table_asset.table_file
    monkeypatch.setattr(
        table_asset, "table_file", lambda table, *given: (made.append(table.name), really(table, *given))[1]
    )
    with open_instance(workspace) as instance:
        instance.add_dynamic_partitions(CONTESTS.name or "", ["mini"])
        first, tables = _run(workspace, instance, heard)
        assert first["files"] == first["files_opened"] == first["files_parsed"] > 4
        assert heard.files[-1] == ("mini", first["files"], first["files"], 0)
        second, again = _run(workspace, instance, heard)
    assert second == {"files": first["files"], "files_opened": 0, "files_parsed": 0}
    assert again == tables
    assert made == [*tables_in_order, *tables_in_order]


tables_in_order = ["submission_artifacts", "prompt_logs", "attempts", "ingest_quarantine"]
