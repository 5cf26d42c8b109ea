"""The two chains of jobs that follow a folder: of contests and of preference sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import dagster as dg

from judge_pipeline.orchestration.partitions import CONTESTS, PREFERENCE_SETS
from judge_pipeline.settings import System

Dimension = Literal["contest", "preference_set"]


@dataclass(frozen=True, slots=True)
class Chain:
    """The jobs that follow one kind of folder, and the assets by which is seen how far they are.

    Attributes:
        dimension: the partitions' dimension; a judged partition has a judge beside it.
        partitions: the partitions, one a folder.
        system: what judges are asked for.
        folder: the asset that stands for the folder.
        reading: the asset whose materialization says which content was read.
        last_of_reading: the asset that the reading job makes last.
        judged_from: assets that judges' tables are made from.
        judged: the asset by judge.
        coverage: the asset of the report's job that says which judges' tables are read.
        measured: an asset of the report's job that what is over all is made from.
        report: the asset that the report's job makes last.
        over_all: an asset that is made over all folders.
        read_job, judge_job, report_job, compare_job: the jobs.
        rubric_job, rubric: the job that finds a set's rubric, and what it makes last; None: there is none.
        page_job: the job that makes a report's page once more after what is over all; None: it shows nothing of it.
    """

    dimension: Dimension
    partitions: dg.DynamicPartitionsDefinition
    system: System
    folder: str
    reading: str
    last_of_reading: str
    judged_from: tuple[str, ...]
    judged: str
    coverage: str
    measured: str
    report: str
    over_all: str
    read_job: str
    judge_job: str
    report_job: str
    compare_job: str
    rubric_job: str | None = None
    rubric: str | None = None
    page_job: str | None = None

    def in_order(self) -> list[str]:
        """The names of its jobs, in the order in which they follow each other."""
        jobs = (self.read_job, self.judge_job, self.rubric_job, self.report_job, self.compare_job, self.page_job)
        return [job for job in jobs if job is not None]

    def judged_key(self, name: str, judge: str) -> str:
        """The key of a judge's partition, its dimensions in the order of their names."""
        return str(dg.MultiPartitionKey({self.dimension: name, "judge": judge}))

    def name_of(self, key: str) -> str:
        """The contest or set of a judge's partition."""
        first, _, second = key.partition("|")
        return first if self.dimension == "contest" else second


def contest_chain(read_job: str, judge_job: str, report_job: str, compare_job: str) -> Chain:
    """The chain of contests."""
    return Chain(
        dimension="contest",
        partitions=CONTESTS,
        system="cocreation",
        folder="contest_folder",
        reading="attempts",
        last_of_reading="judge_requests",
        judged_from=("judge_requests", "attempts", "splits"),
        judged="judge_outputs",
        coverage="judge_coverage",
        measured="cocreation_report",
        report="cocreation_report",
        over_all="start_page",
        read_job=read_job,
        judge_job=judge_job,
        report_job=report_job,
        compare_job=compare_job,
    )


def preference_chain(
    read_job: str, judge_job: str, rubric_job: str, report_job: str, compare_job: str, page_job: str
) -> Chain:
    """The chain of preference sets."""
    return Chain(
        dimension="preference_set",
        partitions=PREFERENCE_SETS,
        system="preference",
        folder="preference_folder",
        reading="preference_pairs",
        last_of_reading="pair_texts",
        judged_from=("pair_texts", "preference_pairs", "preference_splits"),
        judged="pair_judgments",
        coverage="pair_judge_coverage",
        measured="preference_accuracy",
        report="preference_report",
        over_all="preference_ranks",
        read_job=read_job,
        judge_job=judge_job,
        report_job=report_job,
        compare_job=compare_job,
        rubric_job=rubric_job,
        rubric="rubric_score_agreement",
        page_job=page_job,
    )
