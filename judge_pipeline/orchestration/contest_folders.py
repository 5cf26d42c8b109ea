"""Which contests there are, and where their folders lie.

A contest is a folder in ``data/contests/``, or one that ``judge-pipeline run`` was given: the latter is noted in
``contest_folders.json`` in the output folder, so that the UI finds it too.
"""

from __future__ import annotations

from pathlib import Path

from judge_pipeline.orchestration.noted_folders import FolderKind
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

_CONTESTS = FolderKind("contest", "contests", "contest_folders.json", "run your contest folders again")


def contest_folders(workspace: Workspace) -> dict[str, Path]:
    """Contest name -> folder, sorted by name; folders whose names cannot be partition keys are left out."""
    return _CONTESTS.folders(workspace)


def contest_folder(workspace: Workspace, contest: str) -> Path:
    """The folder of one contest.

    Raises:
        SettingsError: there is no such contest, or its folder has gone.
    """
    folder = contest_folders(workspace).get(contest)
    if folder is None:
        raise SettingsError(
            f"contest {contest!r} has no folder: put it at {workspace.data_dir / 'contests' / contest}, "
            f"or name it with 'judge-pipeline run FOLDER'"
        )
    if not folder.is_dir():
        raise SettingsError(f"contest {contest!r}: its folder {folder} is gone; bring it back or run it from elsewhere")
    return folder


def note_contest(workspace: Workspace, folder: Path) -> str:
    """Make a folder known as a contest, under its name, and return the name.

    Raises:
        SettingsError: it is no folder, its name cannot be a partition key, it has neither submissions/ nor
            prompts/, or another folder is already known under the name.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise SettingsError(f"{folder} is not a folder; a contest is a folder with submissions/ in it")
    _CONTESTS.name_of(folder)
    if not (folder / "submissions").is_dir():
        raise SettingsError(
            f"{folder} has no submissions/ folder; put each participant's artifacts at "
            f"submissions/<participant>/[<problem>/]; 'judge-pipeline init DIR' lays a workspace with an empty contest"
        )
    return _CONTESTS.note(workspace, folder)
