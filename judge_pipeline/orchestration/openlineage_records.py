"""What Dagster's records say of a run that has ended, for OpenLineage: its steps, what they read, what they made.

Dagster notes of a partitioned input a hash over its partitions' versions. Here each partition that was read is named
with its own version: the newest one that was there when the step began.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    DagsterEvent,
    DagsterEventType,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventRecordsResult,
)

from judge_pipeline.orchestration.automation.failed_runs import dimensions_of, run_name
from judge_pipeline.orchestration.judging_run import FAILURE_CLASSES
from judge_pipeline.orchestration.openlineage_events import DatasetFacts, RunFacts, State, StepFacts
from judge_pipeline.table_schema import Table

_STATES: dict[DagsterRunStatus, State] = {
    DagsterRunStatus.SUCCESS: "COMPLETE",
    DagsterRunStatus.FAILURE: "FAIL",
    DagsterRunStatus.CANCELED: "ABORT",
}
_KINDS = {
    DagsterEventType.STEP_START,
    DagsterEventType.STEP_SUCCESS,
    DagsterEventType.STEP_FAILURE,
    DagsterEventType.LOADED_INPUT,
    DagsterEventType.ASSET_MATERIALIZATION,
}
_READ_TAG = "dagster/input_data_version/"
_VERSION_TAG, _CODE_TAG = "dagster/data_version", "dagster/code_version"


def run_facts(instance: DagsterInstance, run: DagsterRun) -> RunFacts | None:
    """The facts of a run; None where it has not ended, or ended before it began."""
    stats = instance.get_run_stats(run.run_id)
    state, started, ended = _STATES.get(run.status), stats.start_time, stats.end_time
    if state is None or started is None or ended is None:
        return None
    partition = dimensions_of(instance, run)
    by_step: dict[str, list[tuple[float, DagsterEvent]]] = {}
    for entry in instance.all_logs(run.run_id, of_type=_KINDS):
        event = entry.dagster_event
        if event is not None and event.step_key is not None:
            by_step.setdefault(event.step_key, []).append((entry.timestamp, event))
    steps = [_step(instance, name, events, partition, state, ended) for name, events in by_step.items()]
    in_order = sorted((step for step in steps if step is not None), key=lambda step: (step.started_at, step.name))
    return RunFacts(run.run_id, run_name(run), started, ended, state, partition, tuple(in_order))


def _step(
    instance: DagsterInstance, name: str, events: Sequence[tuple[float, DagsterEvent]], partition: Mapping[str, str],
    of_run: State, run_ended_at: float,
) -> StepFacts | None:  # fmt: skip
    started = next((at for at, e in events if e.event_type == DagsterEventType.STEP_START), None)
    if started is None:
        return None
    failed = next(((at, e) for at, e in events if e.event_type == DagsterEventType.STEP_FAILURE), None)
    done = next((at for at, e in events if e.event_type == DagsterEventType.STEP_SUCCESS), None)
    made = [e.step_materialization_data.materialization for _, e in events if e.is_step_materialization]
    loaded = {str(e.event_specific_data.input_name) for _, e in events if _is_loading(e)}  # type: ignore[union-attr]
    noted = {tag.removeprefix(_READ_TAG) for m in made for tag in m.tags or {} if tag.startswith(_READ_TAG)}
    inputs = [
        facts
        for table in sorted((loaded | noted) - {m.asset_key.to_user_string() for m in made})
        for facts in _read(instance, table, partition, started)
    ]
    state: State = "COMPLETE"
    ended, problem = done, None
    if failed is not None:
        ended, state, problem = failed[0], "FAIL", _problem(failed[1])
    elif done is None:
        ended, state, problem = run_ended_at, "ABORT" if of_run == "ABORT" else "FAIL", "it did not come to an end"
    code = next((m.tags[_CODE_TAG] for m in made if m.tags and _CODE_TAG in m.tags), None)
    outputs = tuple(sorted((_facts(m) for m in made), key=lambda facts: facts.name))
    return StepFacts(name, started, ended or run_ended_at, state, problem, code, tuple(inputs), outputs)


def _is_loading(event: DagsterEvent) -> bool:
    return event.event_type == DagsterEventType.LOADED_INPUT


def _problem(event: DagsterEvent) -> str:
    """Failure classes, or the kind of the error: nobody's words, which may hold anything."""
    data = event.step_failure_data
    if data.user_failure_data is not None and FAILURE_CLASSES in data.user_failure_data.metadata:
        return str(data.user_failure_data.metadata[FAILURE_CLASSES].value)
    error = data.error
    while error is not None and error.cause is not None:
        error = error.cause
    return "it failed" if error is None or error.cls_name is None else error.cls_name


def _read(instance: DagsterInstance, table: str, partition: Mapping[str, str], before: float) -> list[DatasetFacts]:
    """The partitions of a table that belong to a run's, as they were when the step began."""
    key = AssetKey.from_user_string(table)
    newest = instance.event_log_storage.get_latest_storage_id_by_partition(key, DagsterEventType.ASSET_MATERIALIZATION)
    if not newest:
        only = _latest(instance, AssetRecordsFilter(key, before_timestamp=before))
        return [_facts(only)] if only is not None else [DatasetFacts(_name(table, _of_run(partition)))]
    ours = sorted(each for each in newest if _belongs(each, partition))
    found = [_latest(instance, AssetRecordsFilter(key, asset_partitions=[p], before_timestamp=before)) for p in ours]
    return [_facts(each) for each in found if each is not None]


def _latest(instance: DagsterInstance, wanted: AssetRecordsFilter) -> AssetMaterialization | None:
    records: EventRecordsResult = instance.fetch_materializations(wanted, limit=1)
    return records.records[0].asset_materialization if records.records else None


def _belongs(key: str, partition: Mapping[str, str]) -> bool:
    """Whether a table's partition is of the run's contest or set, and, where both have one, of its judge."""
    if not partition:
        return True
    parts = key.split("|")
    of = _of_run(partition)
    judge = partition.get("judge")
    return of in parts and (len(parts) == 1 or judge is None or judge in parts)


def _of_run(partition: Mapping[str, str]) -> str | None:
    return partition.get("contest", partition.get("preference_set"))


def _facts(made: AssetMaterialization) -> DatasetFacts:
    rows = made.metadata.get("dagster/row_count")
    n_rows = rows.value if rows is not None and isinstance(rows.value, int) else None
    version = (made.tags or {}).get(_VERSION_TAG)
    return DatasetFacts(_name(made.asset_key.to_user_string(), made.partition), version, n_rows)


def _name(table: str, partition: str | None) -> str:
    return table if partition is None else f"{table}/{partition.replace('|', '/')}"


def table_columns(tables: Iterable[Table]) -> dict[str, list[tuple[str, str, str]]]:
    """Table -> name, kind and description of its columns."""
    return {table.name: [(c.name, c.kind, c.description) for c in table.columns] for table in tables}
