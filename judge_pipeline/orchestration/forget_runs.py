"""Taking a contest's or preference set's runs out of Dagster's records.

Their events hold previews of tables, and failures name attempts.

Dagster cannot take one partition out of an asset's history (``wipe_asset_partitions`` is not there for its SQL
storages), and wiping whole assets would take that of all contests. So the contest's runs are deleted, which is what
the UI's "Delete" does, and what deleting a run leaves behind (the latest materialization and the check results beside
the events) is mended in the tables themselves. Tables and answers lie elsewhere and are not touched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import sqlalchemy as sa
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, AssetKeyTable, SqlEventLogStorageTable

from judge_pipeline.settings.yaml_file import SettingsError

_CHUNK = 500


def runs_of_contest(instance: dg.DagsterInstance, contest: str) -> list[str]:
    """Ids of the runs that have the contest as their partition, or wrote an event of one of its partitions."""
    of_judges = SqlEventLogStorageTable.c.partition.startswith(f"{contest}|", autoescape=True)
    return _runs_of(instance, "contest", contest, of_judges)


def runs_of_preference_set(instance: dg.DagsterInstance, preference_set: str) -> list[str]:
    """The same of a preference set. Runs of a contest that is called alike are among them: partitions have no kind."""
    of_judges = SqlEventLogStorageTable.c.partition.endswith(f"|{preference_set}", autoescape=True)
    return _runs_of(instance, "preference_set", preference_set, of_judges)


def _runs_of(
    instance: dg.DagsterInstance, dimension: str, partition: str, of_judges: sa.ColumnElement[bool]
) -> list[str]:
    found = set()
    for tag in ("dagster/partition", f"dagster/partition/{dimension}"):
        found |= {r.dagster_run.run_id for r in instance.get_run_records(dg.RunsFilter(tags={tag: partition}))}
    events = SqlEventLogStorageTable.c
    theirs = sa.or_(events.partition == partition, of_judges)
    with _storage(instance).index_connection() as connection:
        found |= {row[0] for row in connection.execute(sa.select(events.run_id).where(theirs).distinct())}
    return sorted(found - {""})


def unfinished_runs(instance: dg.DagsterInstance, runs: Sequence[str]) -> list[str]:
    """Those of the runs that are not at an end, as far as Dagster knows."""
    records = (instance.get_run_by_id(run) for run in runs)
    return [record.run_id for record in records if record is not None and not record.is_finished]


def forget_runs(instance: dg.DagsterInstance, home: Path, runs: Sequence[str]) -> None:
    """Delete the runs with all that was recorded of them, and overwrite the pages where it stood.

    Args:
        instance: the instance.
        home: its folder.
        runs: ids, as ``runs_of_contest`` gives them.
    """
    storage = _storage(instance)
    for run in runs:
        instance.delete_run(run)
        instance.compute_log_manager.delete_logs(prefix=[run])
        for file in (home / "history" / "runs").glob(f"{run}.db*"):
            file.unlink(missing_ok=True)
    for start in range(0, len(runs), _CHUNK):
        _mend_index(storage, runs[start : start + _CHUNK])
    for file in sorted(home.rglob("*.db")):
        with closing(sqlite3.connect(file, timeout=60, isolation_level=None)) as database:
            for statement in ("PRAGMA secure_delete=ON", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM"):
                database.execute(statement)
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _mend_index(storage: SqlEventLogStorage, runs: Sequence[str]) -> None:
    """Check results of the runs go; assets whose latest materialization was theirs get the latest that is left."""
    keys = AssetKeyTable.c
    with storage.index_connection() as connection:
        checks = AssetCheckExecutionsTable
        connection.execute(sa.delete(checks).where(checks.c.run_id.in_(runs)))
        for (asset,) in connection.execute(sa.select(keys.asset_key).where(keys.last_run_id.in_(runs))).fetchall():
            latest = _latest(connection, asset)
            values = {"last_materialization": latest[0], "last_run_id": latest[1], "cached_status_data": None}
            connection.execute(sa.update(AssetKeyTable).where(keys.asset_key == asset).values(**values))


def _latest(connection: Any, asset: str) -> tuple[Any, Any]:
    events = SqlEventLogStorageTable.c
    query = (
        sa.select(events.event, events.run_id)
        .where(events.asset_key == asset, events.dagster_event_type == "ASSET_MATERIALIZATION")
        .order_by(events.id.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return (None, None) if row is None else (row[0], row[1])


def _storage(instance: dg.DagsterInstance) -> SqlEventLogStorage:
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        raise SettingsError(
            f"Dagster keeps its events in {type(storage).__name__}, from which a contest's runs cannot be taken; "
            "delete them there by hand"
        )
    return storage
