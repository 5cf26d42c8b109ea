"""Which preference set an argument of the command line means: a folder, or the name of a set that is known."""

from __future__ import annotations

from pathlib import Path

import click

from judge_pipeline.settings import Workspace, check_slug
from judge_pipeline.settings.yaml_file import SettingsError


def set_folder(workspace: Workspace, given: Path) -> Path:
    """The set's folder: the one that is given, else that of the set which is called so.

    Raises:
        click.BadParameter: it is neither, or the folder's name cannot be a set's.
    """
    from judge_pipeline.orchestration.preference_sets import preference_folders

    known = {} if given.is_dir() else preference_folders(workspace)
    folder = known.get(str(given), given)
    if not folder.is_dir():
        names = ", ".join(known) or "none"
        raise click.BadParameter(
            f"{str(given)!r} is no folder, and no preference set that is known by its name ({names})",
            param_hint="SET_DIR",
        )
    try:
        check_slug(folder.resolve().name, "preference set folder name")
    except SettingsError as error:
        raise click.BadParameter(str(error), param_hint="SET_DIR") from None
    return folder
