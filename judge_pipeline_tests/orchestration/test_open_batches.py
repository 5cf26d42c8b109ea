"""Batches are looked for in the store that holds the checkpoint, wherever the variable says it is, and none is made."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.orchestration.open_batches import batches_of, has_checkpoint
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.workspace import CHECKPOINT_URL


def test_a_file_elsewhere_is_the_checkpoint_and_the_one_in_the_output_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path, tmp_path, tmp_path / "out")
    elsewhere = tmp_path / "a folder" / "elsewhere.sqlite"
    monkeypatch.setenv(CHECKPOINT_URL, f"sqlite:///{elsewhere}")
    workspace.out_dir.mkdir()
    (workspace.out_dir / "checkpoint.sqlite").touch()
    assert not has_checkpoint(workspace)
    assert batches_of(workspace) == []
    assert not elsewhere.parent.exists()
    with closing(Checkpoint(workspace.checkpoint_url)) as store:
        assert store.longest_answer("j") is None
    assert has_checkpoint(workspace)
    assert batches_of(workspace) == []
    monkeypatch.chdir(elsewhere.parent)
    monkeypatch.setenv(CHECKPOINT_URL, "sqlite:///elsewhere.sqlite")
    assert has_checkpoint(workspace)
    monkeypatch.delenv(CHECKPOINT_URL)
    (workspace.out_dir / "checkpoint.sqlite").unlink()
    assert not has_checkpoint(workspace)
