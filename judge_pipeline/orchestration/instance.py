"""The Dagster instance of a workspace: runs, events and logs, the same for the UI and the command line."""

from __future__ import annotations

import re
from pathlib import Path

import dagster as dg

from judge_pipeline.orchestration.contest_folders import contest_folders
from judge_pipeline.orchestration.one_at_a_time import one_at_a_time
from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS
from judge_pipeline.orchestration.preference_sets import preference_folders
from judge_pipeline.orchestration.whole_files import write_whole
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError

_WITHOUT_FILE = """\
telemetry: {enabled: false}
nux: {enabled: false}
python_logs: {python_log_level: INFO}
concurrency:
  runs: {max_concurrent_runs: 4}
run_launcher: {module: judge_pipeline.orchestration.run_launcher, class: LocalLauncher}
run_monitoring: {enabled: true, start_timeout_seconds: 180, max_resume_run_attempts: 0, poll_interval_seconds: 30}
"""
"""What an instance is like where the workspace has no dagster.yaml: as with the one of the checkout."""

_MOST_TRIES = 10


def dagster_home(workspace: Workspace) -> Path:
    """``<out>/dagster``, with the workspace's dagster.yaml copied into it where that has changed."""
    home = workspace.out_dir / "dagster"
    theirs = workspace.config_dir.parent / "dagster.yaml"
    wanted = theirs.read_bytes() if theirs.is_file() else _WITHOUT_FILE.encode()
    ours = home / "dagster.yaml"
    if not ours.is_file() or ours.read_bytes() != wanted:
        write_whole(ours, wanted)
    return home


def dagster_environment(workspace: Workspace) -> dict[str, str]:
    """What the environment of a process must say in which Dagster loads the graph of the workspace."""
    return {
        "DAGSTER_HOME": str(dagster_home(workspace)),
        "JUDGE_PIPELINE_HOME": str(workspace.config_dir.parent),
        "JUDGE_PIPELINE_OUT": str(workspace.out_dir),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "DAGSTER_DISABLE_TELEMETRY": "1",
    }


def open_instance(workspace: Workspace) -> dg.DagsterInstance:
    """The instance, with a partition for every folder of a contest or a preference set that there is.

    Raises:
        SettingsError: Dagster's own records are damaged, or cannot be used now: the disk is full, they are locked.
    """
    from sqlalchemy.exc import DatabaseError, OperationalError

    home = dagster_home(workspace)
    try:
        # Two that make Dagster's files at once leave them in a state that neither can read.
        with one_at_a_time(home / "opening.lock", lambda: None):
            instance = dg.DagsterInstance.from_config(str(home))
            register_contests(instance, workspace)
            register_preference_sets(instance, workspace)
    except OperationalError as error:
        if away := database_is_away(error):
            raise _cannot_be_reached(away, home) from None
        raise SettingsError(
            f"Dagster's records of runs in {home} cannot be used now ({error.orig}): make room on the disk, or wait "
            "until the other program lets go of them, and run the same command again; nothing is lost"
        ) from None
    except DatabaseError as error:
        raise SettingsError(
            f"Dagster's records of runs in {home} cannot be read ({error.orig}); move that folder away: tables and "
            "answers lie elsewhere and are kept"
        ) from None
    except dg.DagsterInvalidConfigError as error:
        said = " ".join(str(error).split())
        missing = re.search(r"environment variable \"?'?(\w+)", said)
        why = f"it names the variable {missing[1]}, which is not set" if missing else said[:1000]
        raise SettingsError(f"{home / 'dagster.yaml'} cannot be used: {why}") from None
    except Exception as error:
        away = database_is_away(error)
        if away is None:
            raise
        raise _cannot_be_reached(away, home) from None
    return instance


def database_is_away(error: BaseException) -> str | None:
    """What PostgreSQL's client says where an error of Dagster is that it cannot reach its database; None elsewhere.

    Dagster has tried for some seconds by then. It is one line, which names host and port, and no password.
    """
    from sqlalchemy.exc import OperationalError

    ours = error.__class__.__module__.startswith("dagster_postgres")
    cause = error.__cause__ if ours else error
    if isinstance(cause, OperationalError) and type(cause.orig).__module__.startswith("psycopg2"):
        return str(cause.orig).strip().partition("\n")[0]
    return str(error) if ours else None


def _cannot_be_reached(said: str, home: Path) -> SettingsError:
    return SettingsError(
        f"Dagster's database cannot be reached ({said}). See whether its server runs and lets this user in, and "
        f"what the variable says that {home / 'dagster.yaml'} names under storage"
    )


def register_contests(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    """Add a partition for each contest folder that has none, and return their names."""
    return _added(instance, str(CONTESTS.name), list(contest_folders(workspace)))


def register_preference_sets(instance: dg.DagsterInstance, workspace: Workspace) -> list[str]:
    """Add a partition for each folder of a preference set that has none, and return their names."""
    return _added(instance, str(PREFERENCE_SETS.name), list(preference_folders(workspace)))


def _added(instance: dg.DagsterInstance, name: str, folders: list[str]) -> list[str]:
    """Add the partitions that are not there, and return them.

    Dagster looks which are there before it adds: what a daemon or another command adds meanwhile is an error of its
    database, and adds none of the others.
    """
    from sqlalchemy.exc import IntegrityError

    for left in range(_MOST_TRIES, 0, -1):
        known = set(instance.get_dynamic_partitions(name))
        new = [folder for folder in folders if folder not in known]
        try:
            if new:
                instance.add_dynamic_partitions(name, new)
            return new
        except IntegrityError:
            if left == 1:
                raise
    return []
