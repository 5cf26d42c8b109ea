"""What the graph holds, in few queries: what is materialized since when, which runs are under way or were asked for.

Dagster's own conditions and staleness look at each partition on its own. Here an asset is asked for once, all of its
partitions together, and what a materialization says of itself is looked up where it decides, and remembered: an event
never changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import dagster as dg
from dagster._core.definitions.data_version import CODE_VERSION_TAG, DATA_VERSION_TAG, INPUT_DATA_VERSION_TAG_PREFIX
from dagster._core.storage.dagster_run import IN_PROGRESS_RUN_STATUSES
from dagster._core.storage.tags import PARTITION_NAME_TAG, RUN_KEY_TAG

from judge_pipeline.orchestration.automation.living import has_died, is_living
from judge_pipeline.orchestration.automation.reading_again import MOST_RUNS, Try
from judge_pipeline.orchestration.automation.reading_state import CONTENT, CONTENT_TAG, DEFAULTS

CODE_TAG = "judge_pipeline/code_version"
"""Tag of a run that a sensor started: the code version under which it is wanted."""

_AT_ONCE = 500
_INPUT = f"{INPUT_DATA_VERSION_TAG_PREFIX}/"


@dataclass(frozen=True, slots=True)
class Told:
    """What a materialization says of itself.

    Attributes:
        run_id: the run that made it.
        code_version: under which it was made.
        inputs: asset -> the data version of it that it was made from.
        content: of a reading: the folder's content.
        defaults: of a reading: that of the file of defaults.
    """

    run_id: str
    code_version: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    content: str | None = None
    defaults: str | None = None

    def was_made_from(self, asset: str, version: str | None) -> bool:
        """Whether it was made from that data version of one partition of an asset."""
        # Of an input that has partitions Dagster notes the sha256 of their versions, of one partition, too.
        both = {version, hashlib.sha256(version.encode()).hexdigest()} if version is not None else set()
        return self.inputs.get(asset) in both


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A run that has not ended.

    Attributes:
        job: its job.
        partition: the contest or preference set; None: it has none.
        tags: its tags.
    """

    job: str
    partition: str | None
    tags: Mapping[str, str]


class GraphState:
    """A look at the instance, made anew for each tick; everything is asked for once, when it is needed.

    Args:
        instance: what is looked at.
        remembered: storage id -> what its event says; of earlier looks at the same instance, and added to.
    """

    def __init__(self, instance: dg.DagsterInstance, remembered: dict[int, Told]) -> None:
        self._instance = instance
        self._remembered = remembered
        self._ids: dict[str, Mapping[str, int]] = {}
        self._versions: dict[str, Mapping[str, Mapping[str, str]]] = {}

    def ids(self, asset: str) -> Mapping[str, int]:
        """Partition -> id of its last materialization; ids grow with time, over all assets."""
        if asset not in self._ids:
            self._ids[asset] = self._instance.get_latest_storage_id_by_partition(
                dg.AssetKey(asset), dg.DagsterEventType.ASSET_MATERIALIZATION
            )
        return self._ids[asset]

    def last_id(self, asset: str) -> int:
        """Id of the last materialization of an asset that has no partitions; 0: there is none."""
        records = self._instance.fetch_materializations(dg.AssetKey(asset), limit=1).records
        return records[0].storage_id if records else 0

    def version(self, asset: str, partition: str) -> str | None:
        """The data version of a partition, as it was materialized last."""
        if asset not in self._versions:
            self._versions[asset] = self._instance.event_log_storage.get_latest_tags_by_partition(
                dg.AssetKey(asset), dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION_TAG]
            )
        return self._versions[asset].get(partition, {}).get(DATA_VERSION_TAG)

    def look_up(self, asset: str, partitions: Iterable[str]) -> None:
        """Have ready what the last materializations of partitions say of themselves."""
        ids = self.ids(asset)
        numbers = {ids[partition] for partition in partitions if partition in ids}
        missing = sorted(numbers - self._remembered.keys())
        for start in range(0, len(missing), _AT_ONCE):
            part = missing[start : start + _AT_ONCE]
            wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), storage_ids=part)
            for record in self._instance.fetch_materializations(wanted, limit=len(part)).records:
                self._remembered[record.storage_id] = _told(record)

    def told(self, asset: str, partition: str) -> Told | None:
        """What the last materialization of a partition says of itself; None: there is none."""
        number = self.ids(asset).get(partition)
        if number is not None and number not in self._remembered:
            self.look_up(asset, [partition])
        return None if number is None else self._remembered.get(number)

    def wanted_code(self, run_id: str) -> str | None:
        """The code version under which a run was wanted, of one that a sensor started for that."""
        run = self._instance.get_run_by_id(run_id)
        return run.tags.get(CODE_TAG) if run is not None else None

    def has_succeeded(self, run_id: str) -> bool:
        """Whether the run has ended well."""
        run = self._instance.get_run_by_id(run_id)
        return run is not None and run.status is dg.DagsterRunStatus.SUCCESS

    def last_succeeded(self, job: str, partition: str) -> bool:
        """Whether the last run of a job for a partition has ended well."""
        wanted = dg.RunsFilter(job_name=job, tags={PARTITION_NAME_TAG: partition})
        return any(run.status is dg.DagsterRunStatus.SUCCESS for run in self._instance.get_runs(wanted, limit=1))

    def tries(self, job: str, partition: str) -> list[Try]:
        """The last runs of a job for a partition, newest first."""
        wanted = dg.RunsFilter(job_name=job, tags={PARTITION_NAME_TAG: partition})
        return [_try(record) for record in self._instance.get_run_records(wanted, limit=MOST_RUNS)]

    def try_of(self, run_id: str) -> Try | None:
        """One run; None: it is not known."""
        record = self._instance.get_run_record_by_id(run_id)
        return None if record is None else _try(record)

    def under_way(self, dimension: str) -> list[UnderWay]:
        """The runs that have not ended and whose process may live.

        Args:
            dimension: of the partitions that are named: "contest" or "preference_set".
        """
        runs = self._instance.get_runs(dg.RunsFilter(statuses=list(IN_PROGRESS_RUN_STATUSES)))
        own = f"{PARTITION_NAME_TAG}/{dimension}"
        return [
            UnderWay(run.job_name, run.tags.get(own) or run.tags.get(PARTITION_NAME_TAG), run.tags)
            for run in runs
            if is_living(run.tags)
        ]

    def asked(self, keys: Iterable[str]) -> set[str]:
        """Those of the run keys for which there is a run already, whoever asked for it."""
        wanted, found = sorted(set(keys)), set()
        for start in range(0, len(wanted), _AT_ONCE):
            tags = {RUN_KEY_TAG: wanted[start : start + _AT_ONCE]}
            found |= {run.tags[RUN_KEY_TAG] for run in self._instance.get_runs(dg.RunsFilter(tags=tags))}
        return found


def _try(record: dg.RunRecord) -> Try:
    run = record.dagster_run
    died = not run.is_finished and has_died(run.tags)
    ended = record.end_time or record.update_timestamp.timestamp() if run.is_finished or died else None
    return Try(
        run.run_id,
        ended,
        died or run.status is dg.DagsterRunStatus.FAILURE,
        run.status is dg.DagsterRunStatus.CANCELED,
        run.tags.get(CONTENT_TAG),
    )


def _told(record: dg.EventLogRecord) -> Told:
    materialization = record.asset_materialization
    if materialization is None:
        return Told(record.run_id)
    tags = materialization.tags or {}
    said = {name: str(value.value) for name, value in materialization.metadata.items() if name in (CONTENT, DEFAULTS)}
    return Told(
        record.run_id,
        tags.get(CODE_VERSION_TAG),
        {tag.removeprefix(_INPUT): value for tag, value in tags.items() if tag.startswith(_INPUT)},
        said.get(CONTENT),
        said.get(DEFAULTS),
    )
