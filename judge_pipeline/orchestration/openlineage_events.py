"""A run that has ended as OpenLineage events: START and COMPLETE, FAIL or ABORT of it and of each of its steps. Pure.

A dataset is a table's partition (``attempts/mini``), its version the sha256 of its Parquet bytes. Events say what a
table is called, what columns it has, how many rows, and under which code it was made; no row, no label, no text of
people or models, and no words of an error are in them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from openlineage.client.event_v2 import InputDataset, OutputDataset, RunEvent

State = Literal["COMPLETE", "FAIL", "ABORT"]

PRODUCER = f"urn:judge_pipeline:{version('judge-pipeline')}"

_STEPS = uuid.UUID("6a2f4d2e-9a55-5a0e-8a53-0d8f8f2c9f11")
"""Namespace of the ids of steps: the same step of the same run has the same id whenever its events are sent."""


@dataclass(frozen=True, slots=True)
class DatasetFacts:
    """A table's partition as a step read or made it.

    Attributes:
        name: ``table/partition``, or the table where it has none.
        version: sha256 of its bytes; None where it is no table of the store (a folder that people bring).
        n_rows: its rows; None where that is not known.
    """

    name: str
    version: str | None = None
    n_rows: int | None = None

    @property
    def table(self) -> str:
        """The table's name."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class StepFacts:
    """A step of a run.

    Attributes:
        name: its key in Dagster.
        started_at: seconds since 1970.
        ended_at: the same.
        state: how it ended.
        problem: why it failed, without words of others: failure classes, or the kind of error; None otherwise.
        code_version: of the code that computes what it makes; None where it made nothing.
        inputs: what it read.
        outputs: what it made.
    """

    name: str
    started_at: float
    ended_at: float
    state: State
    problem: str | None = None
    code_version: str | None = None
    inputs: tuple[DatasetFacts, ...] = ()
    outputs: tuple[DatasetFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A run that has ended.

    Attributes:
        run_id: Dagster's, a UUID.
        job: its job, or the assets that it made.
        started_at: seconds since 1970.
        ended_at: the same.
        state: how it ended.
        partition: dimension -> key; empty where it has none.
        steps: those that were started, in their order.
    """

    run_id: str
    job: str
    started_at: float
    ended_at: float
    state: State
    partition: Mapping[str, str]
    steps: tuple[StepFacts, ...]


Columns = Mapping[str, Sequence[tuple[str, str, str]]]
"""Table -> name, kind and description of its columns."""


def events_of_run(run: RunFacts, namespace: str, columns: Columns) -> list[RunEvent]:
    """The run's events in the order in which things happened.

    Args:
        run: the run.
        namespace: of its jobs and datasets.
        columns: of every table.
    """
    from openlineage.client.event_v2 import Job, Run, RunState

    build = _Builder(namespace, columns)
    job = Job(namespace, run.job, build.job_facets("JOB"))
    whole = Run(run.run_id, {**build.run_facets(run.partition), **build.problem(_first_problem(run))})
    events = [build.event(RunState.START, run.started_at, Run(run.run_id, build.run_facets(run.partition)), job)]
    for step in run.steps:
        events += build.of_step(run, step)
    inputs, outputs = _of_all(run.steps)
    events.append(build.event(RunState[run.state], run.ended_at, whole, job, inputs, outputs))
    return events


def _first_problem(run: RunFacts) -> str | None:
    if run.state == "COMPLETE":
        return None
    return next((f"{step.name}: {step.problem}" for step in run.steps if step.problem), "it did not come to an end")


def _of_all(steps: Iterable[StepFacts]) -> tuple[list[DatasetFacts], list[DatasetFacts]]:
    """What a run read that it had not made itself, and what it made."""
    outputs = {made.name: made for step in steps for made in step.outputs}
    inputs = {read.name: read for step in steps for read in step.inputs if read.name not in outputs}
    return sorted(inputs.values(), key=lambda d: d.name), sorted(outputs.values(), key=lambda d: d.name)


class _Builder:
    """Makes events of one namespace."""

    def __init__(self, namespace: str, columns: Columns) -> None:
        self._namespace, self._columns = namespace, columns

    def of_step(self, run: RunFacts, step: StepFacts) -> list[RunEvent]:
        from openlineage.client.event_v2 import Job, Run, RunState
        from openlineage.client.facet_v2 import parent_run

        parent = parent_run.ParentRunFacet(
            parent_run.Run(run.run_id), parent_run.Job(self._namespace, run.job), producer=PRODUCER
        )
        step_id = str(uuid.uuid5(_STEPS, f"{run.run_id}/{step.name}"))
        facets = {**self.run_facets(run.partition, step.code_version), "parent": parent}
        job = Job(self._namespace, f"{run.job}.{step.name}", self.job_facets("STEP"))
        started = self.event(RunState.START, step.started_at, Run(step_id, facets), job)
        ended = Run(step_id, {**facets, **self.problem(step.problem)})
        inputs, outputs = list(step.inputs), list(step.outputs)
        return [started, self.event(RunState[step.state], step.ended_at, ended, job, inputs, outputs)]

    def event(
        self, state: Any, at: float, run: Any, job: Any, inputs: Sequence[DatasetFacts] = (),
        outputs: Sequence[DatasetFacts] = (),
    ) -> RunEvent:  # fmt: skip
        from openlineage.client.event_v2 import RunEvent

        return RunEvent(
            eventTime=datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"),
            producer=PRODUCER,
            eventType=state,
            run=run,
            job=job,
            inputs=[self._input(each) for each in inputs],
            outputs=[self._output(each) for each in outputs],
        )

    def job_facets(self, kind: str) -> dict[str, Any]:
        from openlineage.client.facet_v2 import job_type_job

        return {"jobType": job_type_job.JobTypeJobFacet("BATCH", "DAGSTER", kind, producer=PRODUCER)}

    def run_facets(self, partition: Mapping[str, str], code_version: str | None = None) -> dict[str, Any]:
        from openlineage.client.facet_v2 import processing_engine_run, tags_run

        tags = dict(sorted(partition.items())) | ({"code_version": code_version} if code_version else {})
        fields = [tags_run.TagsRunFacetFields(name, value, "judge_pipeline") for name, value in tags.items()]
        engine = processing_engine_run.ProcessingEngineRunFacet(
            version("dagster"), "Dagster", version("judge-pipeline"), producer=PRODUCER
        )
        facets: dict[str, Any] = {"processing_engine": engine}
        return facets | ({"tags": tags_run.TagsRunFacet(fields, producer=PRODUCER)} if fields else {})

    def problem(self, problem: str | None) -> dict[str, Any]:
        from openlineage.client.facet_v2 import error_message_run

        if problem is None:
            return {}
        return {"errorMessage": error_message_run.ErrorMessageRunFacet(problem, "python", producer=PRODUCER)}

    def _input(self, dataset: DatasetFacts) -> InputDataset:
        from openlineage.client.event_v2 import InputDataset

        return InputDataset(self._namespace, dataset.name, facets=self._facets(dataset))

    def _output(self, dataset: DatasetFacts) -> OutputDataset:
        from openlineage.client.event_v2 import OutputDataset
        from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

        made: dict[str, Any] = {}
        if dataset.n_rows is not None:
            facet = statistics.OutputStatisticsOutputDatasetFacet(rowCount=dataset.n_rows, producer=PRODUCER)
            made = {"outputStatistics": facet}
        return OutputDataset(self._namespace, dataset.name, facets=self._facets(dataset), outputFacets=made)

    def _facets(self, dataset: DatasetFacts) -> dict[str, Any]:
        from openlineage.client.facet_v2 import dataset_version_dataset, datasource_dataset, schema_dataset

        source = datasource_dataset.DatasourceDatasetFacet(
            f"{self._namespace} tables", "urn:judge_pipeline:tables", producer=PRODUCER
        )
        facets: dict[str, Any] = {"dataSource": source}
        if dataset.version is not None:
            facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(dataset.version, producer=PRODUCER)
        columns = self._columns.get(dataset.table)
        if columns is not None:
            fields = [schema_dataset.SchemaDatasetFacetFields(name, kind, words) for name, kind, words in columns]
            facets["schema"] = schema_dataset.SchemaDatasetFacet(fields, producer=PRODUCER)
        return facets
