"""Which contests there are, and where their folders lie.

A contest is a folder in ``data/contests/``, or one that ``judge-pipeline run`` was given: the latter is noted in
``contest_folders.json`` in the output folder, so that the UI finds it too.
"""

from __future__ import annotations

import json
from pathlib import Path

from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace, check_slug
from judge_pipeline.settings.yaml_file import SettingsError


def contest_folders(workspace: Workspace) -> dict[str, Path]:
    """Contest name -> folder, sorted by name; folders whose names cannot be partition keys are left out."""
    found = _noted(workspace)
    root = workspace.data_dir / "contests"
    if root.is_dir():
        found |= {d.name: d for d in root.iterdir() if d.is_dir() and _is_contest_name(d.name)}
    return dict(sorted(found.items()))


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
    name = check_slug(folder.name, "contest folder name")
    if not (folder / "submissions").is_dir():
        raise SettingsError(
            f"{folder} has no submissions/ folder; put each participant's artifacts at "
            f"submissions/<participant>/[<problem>/]; 'judge-pipeline init DIR' lays a workspace with an empty contest"
        )
    known = contest_folders(workspace).get(name)
    if known is not None and known.resolve() != folder and known.is_dir():
        raise SettingsError(
            f"contest {name!r} is already known at {known}; rename {folder}, or write elsewhere with --out DIR"
        )
    _write_note(workspace, {**_noted(workspace), name: folder})
    return name


def _is_contest_name(name: str) -> bool:
    try:
        check_slug(name, "contest folder name")
    except SettingsError:
        return False
    return True


def _note_file(workspace: Workspace) -> Path:
    return workspace.out_dir / "contest_folders.json"


def _noted(workspace: Workspace) -> dict[str, Path]:
    file = _note_file(workspace)
    if not file.is_file():
        return {}
    try:
        return {str(name): Path(str(path)) for name, path in json.loads(file.read_text(encoding="utf-8")).items()}
    except (ValueError, AttributeError) as error:
        raise SettingsError(f"{file} is damaged ({error}); delete it and run your contest folders again") from None


def _write_note(workspace: Workspace, folders: dict[str, Path]) -> None:
    text = json.dumps({name: str(path) for name, path in sorted(folders.items())}, indent=1) + "\n"
    write_whole(_note_file(workspace), text.encode())
