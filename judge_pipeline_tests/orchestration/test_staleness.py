"""What the UI marks as out of date, and the reason that it gives: asked of what answers the UI's own pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_TAG,
    CachingStaleStatusResolver,
    StaleStatus,
)
from dagster._core.loader import LoadingContextForTest

from judge_pipeline.definitions import build_definitions
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.settings import Workspace

pytestmark = pytest.mark.slow


@pytest.fixture
def home(copy_of_reported_home: Path) -> Path:
    """A contest that was read, judged by three judges and reported; nothing was changed since."""
    return copy_of_reported_home


def marked(home: Path, *, changed_folder: str | None = None) -> dict[str, set[str]]:
    """Partition of an asset that is marked -> why.

    Args:
        home: of the contest.
        changed_folder: the content that the sensor has seen in its folder since.
    """
    workspace = Workspace.find({}, home)
    graph = build_definitions(workspace).resolve_asset_graph()
    with open_instance(workspace) as instance:
        if changed_folder is not None:
            tags = {DATA_VERSION_TAG: changed_folder}
            instance.report_runless_asset_event(dg.AssetObservation("contest_folder", partition="mini", tags=tags))
        resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
        found = {}
        for asset, partition in made(instance, graph):
            if resolver.get_status(asset, partition) is StaleStatus.STALE:
                causes = resolver.get_stale_causes(asset, partition)
                found[f"{asset.to_user_string()} {partition}"] = {cause.reason for cause in causes}
    return found


def made(instance: dg.DagsterInstance, graph: dg.AssetGraph) -> Iterator[tuple[dg.AssetKey, str | None]]:
    """The partitions that are materialized; None: of an asset that has none."""
    for asset in sorted(graph.materializable_asset_keys):
        definition = graph.get(asset).partitions_def
        keys = [None] if definition is None else instance.get_materialized_partitions(asset)
        if not isinstance(definition, dg.MultiPartitionsDefinition):
            yield from ((asset, key) for key in keys)
            continue
        names = [dimension.name for dimension in definition.partitions_defs]
        for key in keys:
            yield asset, dg.MultiPartitionKey(dict(zip(names, key.split("|"), strict=True)))


def test_nothing_is_marked_after_all_was_made(home: Path) -> None:
    assert marked(home) == {}


def test_what_was_made_carries_the_sha256_of_its_bytes_and_the_version_of_its_code(home: Path) -> None:
    workspace = Workspace.find({}, home)
    graph = build_definitions(workspace).resolve_asset_graph()
    with open_instance(workspace) as instance:
        told = {
            asset.to_user_string(): event.asset_materialization.tags or {}
            for asset in graph.materializable_asset_keys
            if (event := instance.get_latest_materialization_event(asset)) and event.asset_materialization
        }
    assert {"attempts", "judge_outputs", "judge_metrics", "cocreation_report", "trace_pages"} <= set(told)
    for asset, tags in told.items():
        assert re.fullmatch("[0-9a-f]{64}", tags[DATA_VERSION_TAG]), asset
        assert tags[CODE_VERSION_TAG] == graph.get(dg.AssetKey(asset)).code_version, asset


def test_an_edited_prompt_or_judge_is_named_as_new_code_of_the_tables_that_it_concerns(home: Path) -> None:
    judges = home / "assets_config" / "judges.yaml"
    before = judges.read_text("utf-8")
    judges.write_text(before.replace("{backend: baseline}", "{backend: baseline, folds: 3}"), "utf-8")
    assert judges.read_text("utf-8") != before
    found = marked(home)
    assert {name.split()[0] for name in found} == {"judge_outputs", "judge_repeats"}
    assert {name.split()[1] for name in found} == {"mini|sharp", "mini|dull", "mini|text"}, "the version is the asset's"
    assert set().union(*found.values()) == {"has a new code version"}


def test_new_files_are_named_as_new_data_of_what_was_read_from_them(home: Path) -> None:
    found = marked(home, changed_folder="another content")
    read = {"submission_artifacts mini", "prompt_logs mini", "ingest_quarantine mini"}
    assert found == {name: {"has a new dependency data version"} for name in read}
