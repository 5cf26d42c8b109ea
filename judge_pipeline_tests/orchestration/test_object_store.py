"""Products of runs in an object store: the same bytes as in a folder, and gone from there as well."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from judge_pipeline.cli.main import cli
from judge_pipeline.orchestration.guidance_run import guidance_folder
from judge_pipeline.orchestration.splits_ledger import SplitsLedger
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.tombstones import Tombstones
from judge_pipeline.orchestration.whole_files import as_object
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.workspace import STORE_URL, store_path
from judge_pipeline.tables import JUDGE_OUTPUTS, PREDICTIONS
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.test_pipeline import House

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("object store")]

PRODUCTS = ("tables", "ledgers", "exports", "reports")


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    place = f"memory://{tmp_path.name}/team"
    monkeypatch.setenv(STORE_URL, place)
    yield place
    as_object(store_path(place)).remove_all()  # type: ignore[union-attr]


def products(root: Path) -> dict[str, bytes]:
    """Name -> bytes of everything that runs made below a folder, or place in a store."""
    return {
        "/".join(file.relative_to(root).parts): file.read_bytes()
        for part in PRODUCTS
        for file in (root / part).rglob("*")
        if file.is_file()
    }


def test_a_run_leaves_the_same_bytes_there_and_nothing_in_the_folder(
    reported_home: Path, tmp_path: Path, url: str
) -> None:
    home = tmp_path / "home"
    shutil.copytree(reported_home, home, ignore=shutil.ignore_patterns("var"))
    house = House(MiniContest(home))
    with house.instance:
        assert house.through("sharp", "dull", "text").error is None
    assert house.store.parts(JUDGE_OUTPUTS, "mini") == ["dull", "sharp", "text"]
    stored, local = products(house.workspace.store_dir), products(reported_home / "var")
    assert stored.keys() == local.keys()
    assert [name for name in local if stored[name] != local[name]] == []
    assert not any((house.workspace.out_dir / part).exists() for part in PRODUCTS)


def test_who_withdraws_is_gone_from_the_store(
    reported_home: Path, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = shutil.copytree(reported_home, tmp_path / "home")
    root = store_path(url)
    for part in PRODUCTS:
        for file in (home / "var" / part).rglob("*"):
            if file.is_file():
                (root / file.relative_to(home / "var").as_posix()).write_bytes(file.read_bytes())
        shutil.rmtree(home / "var" / part)
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(home))
    workspace = Workspace.find()
    assert "E003" in set(store_of(workspace).read(PREDICTIONS, "mini")["participant"])

    outcome = CliRunner().invoke(cli, ["forget", "mini", "E003", "--yes", "--delete-files"], standalone_mode=False)

    assert outcome.exception is None, outcome.output
    assert Tombstones(workspace.store_dir, "mini").of("E003") is not None
    assert [str(file) for file in root.rglob("*") if b"E003" in file.read_bytes()] == []
    assert "E003" not in set(store_of(workspace).read(PREDICTIONS, "mini")["participant"])
    ledger = SplitsLedger.of_contest(workspace.store_dir, "mini").read()
    assert ledger is not None and "E003" not in set(ledger["participant"])
    assert "Note:" not in outcome.output and "Not removed: earlier versions of objects" in outcome.output


def test_frozen_guidance_that_was_edited_is_kept_beside_the_new(url: str, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tmp_path, tmp_path)
    place = guidance_folder(workspace, "pairs") / "own.yaml"
    place.write_bytes(b"edited")
    moved: Any = place.replace(place.with_suffix(".edited.yaml"))
    assert (moved.read_bytes(), place.exists()) == (b"edited", False)
