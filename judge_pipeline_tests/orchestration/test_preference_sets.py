"""Preference sets: their folders, their jobs, and what a run makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from judge_pipeline.definitions import READ_PREFERENCE_SET, build_definitions
from judge_pipeline.orchestration.forgetting import traces_of
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.preference_sets import (
    note_preference_set,
    preference_folder,
    preference_folders,
    set_files,
)
from judge_pipeline.orchestration.runs import JobOutcome, run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import PreferenceSettings, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import (
    DATASET_PROFILE,
    PREFERENCE_PAIRS,
    PREFERENCE_QUARANTINE,
    PREFERENCE_SELECTION,
    PREFERENCE_SPLITS,
)
from judge_pipeline_tests.mini_contest import MiniContest


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    home = MiniContest(tmp_path / "home").lay(1, 1).home
    return Workspace(home / "assets_config", home / "data", home / "var")


def lay(folder: Path, n: int = 10, wrong: int = 1, settings: str = "natural_languages: low\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"instruction": f"please do task number {i}", "response_a": f"a{i}", "response_b": f"b{i}", "w": "AB"[i % 2]}
        for i in range(n)
    ]
    rows += [{"instruction": "x", "response_a": "a", "response_b": "b", "w": None} for _ in range(wrong)]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    (folder / "preference.yaml").write_text(settings, encoding="utf-8")
    return folder


@pytest.fixture
def instance(workspace: Workspace) -> Iterator[dg.DagsterInstance]:
    lay(workspace.data_dir / "preference" / "small")
    with open_instance(workspace) as opened:
        yield opened


def read_set(workspace: Workspace, instance: dg.DagsterInstance) -> JobOutcome:
    return run_job(build_definitions(workspace), instance, READ_PREFERENCE_SET, "small")


def test_sets_are_the_folders_of_the_data_root_and_the_noted_ones(workspace: Workspace, tmp_path: Path) -> None:
    assert preference_folders(workspace) == {}
    inside = lay(workspace.data_dir / "preference" / "edits")
    lay(workspace.data_dir / "preference" / "Not A Key")
    outside = lay(tmp_path / "elsewhere" / "chats")
    assert note_preference_set(workspace, outside) == "chats"
    assert note_preference_set(workspace, outside) == "chats", "noting twice is no fault"
    assert preference_folders(workspace) == {"chats": outside, "edits": inside}
    assert preference_folder(workspace, "chats") == outside
    with pytest.raises(SettingsError, match="already known at"):
        note_preference_set(workspace, lay(tmp_path / "other" / "edits"))
    with pytest.raises(SettingsError, match="has no folder: put it at"):
        preference_folder(workspace, "none")
    with pytest.raises(SettingsError, match=r"cannot be a partition key.*'my-set'"):
        note_preference_set(workspace, lay(tmp_path / "My Set"))


def test_only_the_files_that_are_named_are_read(tmp_path: Path) -> None:
    folder = lay(tmp_path / "s")
    (folder / "notes.txt").write_text("no pairs", encoding="utf-8")
    (folder / ".hidden.jsonl").write_text("{}", encoding="utf-8")
    (folder / "deep").mkdir()
    (folder / "deep" / "more.csv").write_text("a\n1\n", encoding="utf-8")
    (folder / "link.jsonl").symlink_to(folder / "pairs.jsonl")
    names = [path for path, _ in set_files(folder, PreferenceSettings())]
    assert names == ["deep/more.csv", "pairs.jsonl"]
    assert [path for path, _ in set_files(folder, PreferenceSettings(files=("deep/*",)))] == ["deep/more.csv"]
    with pytest.raises(SettingsError, match="holds no file of pairs"):
        list(set_files(folder, PreferenceSettings(files=("*.parquet",))))


@pytest.mark.slow
def test_a_set_is_read_split_and_profiled_and_nothing_moves(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    outcome = read_set(workspace, instance)
    assert outcome.error is None
    assert [check.partition(": ")[0] for check in outcome.failed_checks] == ["preference_quarantine"], (
        "one row is set aside, and a check says so"
    )
    assert "pairs.jsonl, row 11 (line 11): w states no choice" in outcome.failed_checks[0]
    store = store_of(workspace)
    pairs, splits = store.read(PREFERENCE_PAIRS, "small"), store.read(PREFERENCE_SPLITS, "small")
    assert len(pairs) == 10
    assert splits["split"].value_counts().to_dict() == {"val": 8, "train": 2}
    assert store.read(PREFERENCE_SELECTION, "small").set_index("effect")["n"].to_dict() == {"kept": 10, "set_aside": 1}
    assert len(store.read(PREFERENCE_QUARANTINE, "small")) == 1
    profile = store.read(DATASET_PROFILE, "small").set_index(["figure", "statistic"])["value"]
    assert profile[("pairs", "count")] == 10
    files = sorted((workspace.out_dir / "tables").rglob("small.parquet"))
    assert len(files) == 7
    files.remove(store.path(PREFERENCE_SPLITS, "small"))  # says by what a split was assigned: now the ledger
    before = {file: file.read_bytes() for file in files}

    assert read_set(workspace, instance).error is None
    assert {file: file.read_bytes() for file in files} == before, "the same inputs give the same bytes"

    lay(workspace.data_dir / "preference" / "small", n=40, wrong=0)
    assert read_set(workspace, instance).error is None
    more = store.read(PREFERENCE_SPLITS, "small")
    assert more["split"][:10].tolist() == splits["split"].tolist()
    assert more["split"].value_counts().to_dict() == {"val": 32, "train": 8}


@pytest.mark.slow
def test_a_set_without_a_pair_fails_with_what_was_wrong(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    folder = lay(workspace.data_dir / "preference" / "small", n=0, wrong=2)
    error = str(read_set(workspace, instance).error)
    assert "no pair could be read" in error and "row 2 (line 2)" in error and "states no choice" in error
    (folder / "preference.yaml").write_text("source: {format: table, colums: {}}\n", encoding="utf-8")
    error = str(read_set(workspace, instance).error)
    assert "preference.yaml, line 1, key source.colums: is not a setting" in error


@pytest.mark.slow
def test_who_withdraws_from_a_contest_takes_nothing_from_a_set_of_the_same_name(workspace: Workspace) -> None:
    store = store_of(workspace)
    store.write(PREFERENCE_PAIRS, [], "mini")
    traces = traces_of(workspace, "mini", "E001")
    assert not traces.counts.get("preference_pairs") and not traces.counts.get("tables of figures over everybody")
