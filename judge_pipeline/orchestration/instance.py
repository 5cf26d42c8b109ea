"""The Dagster instance of a workspace: runs, events and logs, the same for the UI and the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import dagster as dg

from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS
from judge_pipeline.orchestration.preference_sets import preference_folders
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

_WITHOUT_FILE = "telemetry:\n  enabled: false\n"


def dagster_home(workspace: Workspace) -> Path:
    """``<out>/dagster``, with the workspace's dagster.yaml copied into it where that has changed."""
    home = workspace.out_dir / "dagster"
    theirs = workspace.config_dir.parent / "dagster.yaml"
    wanted = theirs.read_bytes() if theirs.is_file() else _WITHOUT_FILE.encode()
    ours = home / "dagster.yaml"
    if not ours.is_file() or ours.read_bytes() != wanted:
        write_whole(ours, wanted)
    return home


def open_instance(workspace: Workspace) -> dg.DagsterInstance:
    """The instance, with a partition for every folder of a contest or a preference set that there is.

    Raises:
        SettingsError: Dagster's own records are damaged.
    """
    from sqlalchemy.exc import DatabaseError

    home = dagster_home(workspace)
    try:
        instance = dg.DagsterInstance.from_config(str(home))
        register_contests(instance, workspace)
        register_preference_sets(instance, workspace)
    except DatabaseError as error:
        raise SettingsError(
            f"Dagster's records of runs in {home} cannot be read ({error.orig}); move that folder away: tables and "
            "answers lie elsewhere and are kept"
        ) from None
    return instance


def register_contests(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    """Add a partition for each contest folder that has none, and return their names."""
    return _register(instance, CONTESTS, contest_folders(workspace))


def register_preference_sets(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    """Add a partition for each folder of a preference set that has none, and return their names."""
    return _register(instance, PREFERENCE_SETS, preference_folders(workspace))


def _register(
    instance: dg.DagsterInstance, partitions: dg.DynamicPartitionsDefinition, folders: Iterable[str]
) -> list[str]:
    name = str(partitions.name)
    known = set(instance.get_dynamic_partitions(name))
    new = [folder for folder in folders if folder not in known]
    if new:
        instance.add_dynamic_partitions(name, new)
    return new
