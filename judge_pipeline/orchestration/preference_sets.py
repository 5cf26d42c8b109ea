"""Which preference sets there are, where their folders lie, and which of a folder's files hold pairs.

A set is a folder in ``data/preference/``, or one that was noted (``note_preference_set``): the latter stands in
``preference_folders.json`` in the output folder, so that the UI finds it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from judge_pipeline.orchestration.noted_folders import FolderKind
from judge_pipeline.settings import PreferenceSettings, RecordedJudge, Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    criteria,
    criteria_ablation,
    guidance,
    misalignment,
    pair_judging,
    preference,
    preference_accuracy,
    rubric,
)

SET_TABLES: dict[str, Table] = {
    table.name: table
    for module in (
        preference, pair_judging, preference_accuracy, rubric, misalignment, criteria, criteria_ablation, guidance
    )
    for table in module.TABLES
}  # fmt: skip
"""Every table of preference sets, by its name. A set may be called as a contest is; their tables are apart."""

_SETS = FolderKind("preference set", "preference", "preference_folders.json", "name your sets' folders again")
_SETTINGS = "preference.yaml"


def preference_folders(workspace: Workspace) -> dict[str, Path]:
    """Set name -> folder, sorted by name; folders whose names cannot be partition keys are left out."""
    return _SETS.folders(workspace)


def preference_folder(workspace: Workspace, name: str) -> Path:
    """The folder of one set.

    Raises:
        SettingsError: there is no such set, or its folder has gone.
    """
    folder = preference_folders(workspace).get(name)
    if folder is None:
        raise SettingsError(
            f"preference set {name!r} has no folder: put it at {workspace.data_dir / 'preference' / name}, with its "
            f"files and a {_SETTINGS} in it"
        )
    if not folder.is_dir():
        raise SettingsError(f"preference set {name!r}: its folder {folder} is gone; bring it back")
    return folder


def note_preference_set(workspace: Workspace, folder: Path) -> str:
    """Make a folder known as a preference set, under its name, and return the name.

    Raises:
        SettingsError: it is no folder, its name cannot be a partition key, or another folder is known under the name.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise SettingsError(f"{folder} is not a folder; a preference set is a folder with files of pairs in it")
    return _SETS.note(workspace, folder)


def files_of_judges(workspace: Workspace) -> frozenset[str]:
    """The files, relative to a set's folder, in which recorded judges' choices are looked for: they hold no pairs."""
    judges = workspace.judges()
    listed = [judges.get(name) for name in judges.names("preference")]
    return frozenset(Path(judge.file).as_posix() for judge in listed if isinstance(judge, RecordedJudge))


def set_files(
    folder: Path, settings: PreferenceSettings, of_judges: frozenset[str] = frozenset()
) -> Iterator[tuple[str, bytes]]:
    """The files of a set that hold pairs: path relative to the folder, with ``/``, and bytes; sorted by path.

    Args:
        folder: the set's.
        settings: which files hold pairs.
        of_judges: files that hold what judges chose, and are passed over.

    Raises:
        SettingsError: no file of the folder is one of ``settings.files``, or one cannot be read.
    """
    found = False
    for path, file in set_files_found(folder, settings, of_judges):
        found = True
        try:
            yield path, file.read_bytes()
        except OSError as error:
            raise SettingsError(f"{file}: cannot be read ({error}); make it readable, or take it away") from None
    if not found:
        raise SettingsError(
            f"{folder} holds no file of pairs ({', '.join(settings.files)}); put them there, or name them in "
            f"'files' of {folder / _SETTINGS}"
        )


def set_files_found(
    folder: Path, settings: PreferenceSettings, of_judges: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Path]]:
    """The same files without their bytes: path relative to the folder, with ``/``, and where it lies."""
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if hidden or file.is_symlink() or not file.is_file() or path == _SETTINGS or path in of_judges:
            continue
        if any(fnmatchcase(path, pattern) for pattern in settings.files):
            yield path, file
