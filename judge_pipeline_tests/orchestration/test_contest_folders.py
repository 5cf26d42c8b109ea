from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from judge_pipeline.orchestration import noted_folders
from judge_pipeline.orchestration.contest_folders import contest_folder, contest_folders, note_contest
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")


def contest(folder: Path) -> Path:
    (folder / "submissions").mkdir(parents=True)
    return folder


def test_contests_are_the_folders_of_the_data_root_and_the_noted_ones(workspace: Workspace, tmp_path: Path) -> None:
    assert contest_folders(workspace) == {}
    inside = contest(workspace.data_dir / "contests" / "spring")
    contest(workspace.data_dir / "contests" / "Not A Key")
    outside = contest(tmp_path / "elsewhere" / "autumn")
    assert note_contest(workspace, outside) == "autumn"
    assert note_contest(workspace, outside) == "autumn", "noting twice is no fault"
    assert contest_folders(workspace) == {"autumn": outside, "spring": inside}
    assert contest_folder(workspace, "autumn") == outside


def test_folders_that_are_noted_at_once_are_all_noted(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [contest(tmp_path / "elsewhere" / f"c{number}") for number in range(4)]

    def slowly(path: Path, data: bytes) -> None:
        time.sleep(0.02)
        write_whole(path, data)

    monkeypatch.setattr(noted_folders, "write_whole", slowly)
    with ThreadPoolExecutor(4) as threads:
        names = list(threads.map(lambda folder: note_contest(workspace, folder), folders))
    assert sorted(contest_folders(workspace)) == sorted(names)


def test_a_name_that_is_taken_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    contest(workspace.data_dir / "contests" / "spring")
    with pytest.raises(SettingsError, match="already known at"):
        note_contest(workspace, contest(tmp_path / "other" / "spring"))


def test_folders_that_are_no_contests_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(SettingsError, match="has no submissions/ folder"):
        note_contest(workspace, empty)
    with pytest.raises(SettingsError, match="is not a folder"):
        note_contest(workspace, tmp_path / "none")
    with pytest.raises(SettingsError, match=r"cannot be a partition key.*'spring-2026'"):
        note_contest(workspace, contest(tmp_path / "Spring 2026"))


def test_unknown_gone_and_damaged(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="has no folder"):
        contest_folder(workspace, "none")
    gone = contest(tmp_path / "gone")
    note_contest(workspace, gone)
    (gone / "submissions").rmdir()
    gone.rmdir()
    with pytest.raises(SettingsError, match="is gone"):
        contest_folder(workspace, "gone")
    (workspace.out_dir / "contest_folders.json").write_text("[]", encoding="utf-8")
    with pytest.raises(SettingsError, match="is damaged"):
        contest_folders(workspace)
