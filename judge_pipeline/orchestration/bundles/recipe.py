"""Which jobs make which tables of a bundle anew, and which of them cannot be made from what is in it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.bundles.facts import BundleFacts
from judge_pipeline.orchestration.canary_run import ATTEMPTS_TAG
from judge_pipeline.orchestration.guidance_run import CONFIGURATIONS_TAG
from judge_pipeline.orchestration.judging_run import LIMIT_TAG, STORED_TAG
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import RecordedJudge, Workspace
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    ANCHOR_RUNS,
    JUDGE_CANARIES,
    JUDGE_COVERAGE,
    JUDGE_OUTPUTS,
    JUDGE_REPEATS,
    RERATING_KEYS,
    RERATINGS,
)
from judge_pipeline.tables.criteria import TABLES as CRITERIA_TABLES
from judge_pipeline.tables.criteria_ablation import CRITERIA_ABLATION
from judge_pipeline.tables.guidance import GUIDANCE
from judge_pipeline.tables.pair_judging import PAIR_JUDGE_COVERAGE, PAIR_JUDGMENTS
from judge_pipeline.tables.rubric import RUBRIC, RUBRIC_SCORES

if TYPE_CHECKING:
    from judge_pipeline.orchestration.parquet_store import ParquetStore

_READ_TOGETHER: dict[str, tuple[tuple[str, ...], ...]] = {
    "contest": (
        ("submission_artifacts", "prompt_logs", "attempts", "ingest_quarantine"),
        ("participant_contexts",),
        ("splits",),
        ("judge_requests", "redaction_counts", "verdict_word_counts"),
    ),
    "preference_set": (
        ("preference_pairs", "preference_quarantine", "preference_selection"),
        ("preference_splits",),
        ("dataset_profile",),
        ("pair_texts", "pair_redaction_counts"),
    ),
}
"""What the job that reads makes; what one step makes is made together or not at all."""

_BY_PEOPLE = "it holds what people answered, or who was asked: there is nothing to make it from"
_ASKED_OVER_TIME = "it was asked in periods of its own, which no later run is in"
_FAILED = "some of its questions failed, and failures are not repeated"
_NO_FILE = "is not in the bundle"
_NOT_USED = ("stale", "damaged")


@dataclass(frozen=True)
class Jobs:
    """The names of the jobs (``definitions``), by what they do."""

    read: str
    judge: str
    report: str
    read_set: str
    judge_set: str
    rubric: str
    report_set: str
    guidance: str
    criteria: str
    report_criteria: str
    canary: str


@dataclass(frozen=True)
class Step:
    """One run of a job.

    Attributes:
        job: the job.
        judge: its judge, or judge and configuration.
        without: assets of the job that are not made.
        tags: of the run.
    """

    job: str
    judge: str | None = None
    without: frozenset[str] = frozenset()
    tags: Mapping[str, str] = field(default_factory=dict)

    def in_words(self) -> str:
        """The job and its judge."""
        return self.job if self.judge is None else f"{self.job} {self.judge}"


def not_recomputed(stored: Workspace, facts: BundleFacts) -> dict[str, str]:
    """The tables of a bundle that are taken as they are: ``table/partition`` -> why.

    Which may be is decided here and not by the bundle: only what is read, asked over time or answered by people. A
    table of figures is always made anew.

    Args:
        stored: the unpacked bundle as a workspace, with its own tables.
        facts: what it says of itself.
    """
    store, name = store_of(stored), facts.name
    given: dict[str, str] = {}
    for together in _READ_TOGETHER[facts.kind]:
        why = next((facts.withheld[table] for table in together if table in facts.withheld), None)
        if why is not None:
            given |= {f"{table}/{name}": why for table in together}
    if facts.kind == "contest":
        given |= {f"{table.name}/{name}": _BY_PEOPLE for table in (RERATING_KEYS, RERATINGS)}
        given |= {_part(ANCHOR_RUNS, name, judge): _ASKED_OVER_TIME for judge in store.parts(ANCHOR_RUNS, name)}
        as_they_are = _judges_as_they_are(stored, facts, JUDGE_OUTPUTS, JUDGE_COVERAGE)
        for judge, why in as_they_are.items():
            given |= {_part(table, name, judge): why for table in (JUDGE_OUTPUTS, JUDGE_REPEATS)}
            if why.endswith(_NO_FILE):
                given[f"{JUDGE_COVERAGE.name}/{name}"] = f"it tells whether what judge {judge} said is of today: {why}"
        for judge in store.parts(JUDGE_CANARIES, name):
            if store.read(JUDGE_CANARIES, name, judge)["failure_class"].notna().any():
                given[_part(JUDGE_CANARIES, name, judge)] = (
                    "some of its questions failed, and failures are not repeated"
                )
    else:
        for judge, why in _judges_as_they_are(stored, facts, PAIR_JUDGMENTS, PAIR_JUDGE_COVERAGE).items():
            given[_part(PAIR_JUDGMENTS, name, judge)] = why
        file = stored.preference(_data_file(stored, facts, "")).rubric.recorded_scores
        if file is not None and not _data_file(stored, facts, file).is_file():
            given[f"{RUBRIC_SCORES.name}/{name}"] = f"{file}, which holds the scores, {_NO_FILE}"
    return {file: why for file, why in given.items() if _is_there(stored, file)}


def steps_of(stored: Workspace, facts: BundleFacts, given: Mapping[str, str], jobs: Jobs) -> list[Step]:
    """The jobs that make the bundle's tables anew, in their order."""
    steps = _contest_steps if facts.kind == "contest" else _set_steps
    return steps(stored, facts.name, given, jobs)


def _contest_steps(stored: Workspace, name: str, given: Mapping[str, str], jobs: Jobs) -> list[Step]:
    store = store_of(stored)
    steps = [*_reading("contest", jobs.read, name, given)]
    partly = _partly_answered(store, JUDGE_COVERAGE, name)
    for judge in store.parts(JUDGE_OUTPUTS, name):
        if _part(JUDGE_OUTPUTS, name, judge) not in given:
            steps.append(Step(jobs.judge, judge, tags=_stored_only(judge in partly)))
    for judge in store.parts(JUDGE_CANARIES, name):
        if _part(JUDGE_CANARIES, name, judge) not in given:
            n = store.read(JUDGE_CANARIES, name, judge)["attempt_id"].nunique()
            steps += [Step(jobs.canary, judge, tags={ATTEMPTS_TAG: str(n)})] if n else []
    if store.path(JUDGE_COVERAGE, name).is_file():
        without = {JUDGE_COVERAGE.name} if f"{JUDGE_COVERAGE.name}/{name}" in given else set()
        steps.append(Step(jobs.report, without=frozenset(without)))
    return steps


def _set_steps(stored: Workspace, name: str, given: Mapping[str, str], jobs: Jobs) -> list[Step]:
    store = store_of(stored)
    steps = [*_reading("preference_set", jobs.read_set, name, given)]
    partly = _partly_answered(store, PAIR_JUDGE_COVERAGE, name)
    for judge in store.parts(PAIR_JUDGMENTS, name):
        if _part(PAIR_JUDGMENTS, name, judge) not in given:
            steps.append(Step(jobs.judge_set, judge, tags=_stored_only(judge in partly)))
    if store.path(RUBRIC, name).is_file():
        taken = {RUBRIC_SCORES.name} if f"{RUBRIC_SCORES.name}/{name}" in given else set[str]()
        steps.append(Step(jobs.rubric, without=frozenset(taken)))
    if store.path(PAIR_JUDGE_COVERAGE, name).is_file():
        steps.append(Step(jobs.report_set))
    keys = sorted({key for table in CRITERIA_TABLES for key in store.parts(table, name)})
    for judge in store.parts(GUIDANCE, name):
        configurations = [key.partition("@")[2] for key in keys if key.partition("@")[0] == judge]
        steps.append(Step(jobs.guidance, judge, tags={CONFIGURATIONS_TAG: ",".join(configurations)}))
    for key in keys:
        steps.append(Step(jobs.criteria, key, tags=_pairs_of(store, name, key)))
    if store.path(CRITERIA_ABLATION, name).is_file():
        steps.append(Step(jobs.report_criteria))
    return steps


def _reading(kind: str, job: str, name: str, given: Mapping[str, str]) -> Iterable[Step]:
    tables = {table for together in _READ_TOGETHER[kind] for table in together}
    taken = {
        table
        for together in _READ_TOGETHER[kind]
        for table in together
        if any(f"{t}/{name}" in given for t in together)
    }
    if taken < tables:
        yield Step(job, without=frozenset(taken))


def _judges_as_they_are(stored: Workspace, facts: BundleFacts, table: Table, coverage: Table) -> dict[str, str]:
    """Judges whose table cannot be made from what the bundle holds -> why."""
    store, judges, name = store_of(stored), stored.judges(), facts.name
    listed = set(judges.names("cocreation" if facts.kind == "contest" else "preference"))
    states = {}
    if store.path(coverage, name).is_file():
        rows = store.read(coverage, name)
        states = dict(zip(rows["judge"], rows["status"], strict=True))
    found = {}
    for judge in store.parts(table, name):
        settings = judges.get(judge) if judge in listed else None
        if settings is None:
            found[judge] = "judges.yaml no longer lists the judge for it"
        elif states.get(judge) in _NOT_USED:
            found[judge] = f"the table is {states[judge]}: no figure rests on it, and what it answers is asked no more"
        elif isinstance(settings, RecordedJudge) and not _data_file(stored, facts, settings.file).is_file():
            found[judge] = f"{settings.file}, which holds what the judge said, {_NO_FILE}"
    return found


def _data_file(stored: Workspace, facts: BundleFacts, file: str) -> Path:
    return stored.data_dir.parent / facts.data_folder / file


def _partly_answered(store: ParquetStore, coverage: Table, name: str) -> set[str]:
    """Judges whose tables were accepted though answers were missing: a pilot, or a lower ``min_coverage``."""
    if not store.path(coverage, name).is_file():
        return set()
    rows = store.read(coverage, name)
    return set(rows.loc[rows["status"] == "unverified", "judge"])


def _stored_only(partly: bool) -> dict[str, str]:
    return {STORED_TAG: "yes"} if partly else {}


def _pairs_of(store: ParquetStore, name: str, key: str) -> dict[str, str]:
    """How many pairs a judge under a configuration was given, as its first table says."""
    for table in CRITERIA_TABLES:
        if store.path(table, name, key).is_file():
            made_under = store.provenance(table, name, key) or {}
            n = made_under.get("n_pairs")
            return {LIMIT_TAG: str(n)} if isinstance(n, int) and n > 0 else {}
    return {}


def _part(table: Table, name: str, judge: str) -> str:
    return f"{table.name}/{name}/{judge}"


def _is_there(stored: Workspace, file: str) -> bool:
    return (stored.out_dir / "tables" / f"{file}.parquet").is_file()
