"""What the co-creation report is made from: its tables, where they come from, and what each judge is."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from functools import cached_property

import pandas as pd

from judge_pipeline import tables
from judge_pipeline.figures.estimates import text
from judge_pipeline.table_schema import Table


@dataclass(frozen=True)
class CocreationReportInput:
    """The tables of one contest, by the names of ``tables``; each is conformed to its schema when given.

    Those that a run of an earlier version has not made are None; the report says less then.

    Raises:
        TableError: a table does not fit its schema.
    """

    contest_overview: pd.DataFrame
    ingest_quarantine: pd.DataFrame
    judge_coverage: pd.DataFrame
    judge_metrics: pd.DataFrame
    judge_agreement: pd.DataFrame
    judge_curves: pd.DataFrame
    trajectories: pd.DataFrame
    struggle_curves: pd.DataFrame
    success_at_turn: pd.DataFrame
    survival: pd.DataFrame
    prompt_code_ned: pd.DataFrame | None = None
    prompt_code_summary: pd.DataFrame | None = None
    judge_differences: pd.DataFrame | None = None
    judge_scores: pd.DataFrame | None = None
    judge_calibration: pd.DataFrame | None = None
    judge_panels: pd.DataFrame | None = None
    acceptance_rates: pd.DataFrame | None = None
    judge_canary_effects: pd.DataFrame | None = None
    anchor_figures: pd.DataFrame | None = None
    rerating_agreement: pd.DataFrame | None = None
    success_curves: pd.DataFrame | None = None
    survival_curves: pd.DataFrame | None = None
    survival_groups: pd.DataFrame | None = None
    survival_tests: pd.DataFrame | None = None
    hazards: pd.DataFrame | None = None
    struggle_groups: pd.DataFrame | None = None
    trajectory_patterns: pd.DataFrame | None = None
    pattern_groups: pd.DataFrame | None = None
    revisions: pd.DataFrame | None = None
    convergence: pd.DataFrame | None = None
    churn_summary: pd.DataFrame | None = None
    revision_gains: pd.DataFrame | None = None
    churn_effects: pd.DataFrame | None = None
    prompt_space: pd.DataFrame | None = None
    prompt_space_test: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        for name, schema in self.schemas().items():
            given = getattr(self, name)
            if given is not None or name not in self.optional():
                object.__setattr__(self, name, schema.conform(given))

    def with_tables(self, **changed: pd.DataFrame) -> CocreationReportInput:
        """The same with these tables in place of its own; the others were checked already and are not copied.

        Raises:
            TableError: one of these tables does not fit its schema.
        """
        other, schemas = copy(self), self.schemas()
        vars(other).pop("labelled", None)  # made of tables that may be others now
        for name, frame in changed.items():
            object.__setattr__(other, name, schemas[name].conform(frame))
        return other

    @cached_property
    def labelled(self) -> CocreationReportInput:
        """The same tables with every judge called by its label; many parts of a report ask for them."""
        return with_labels(self)

    @classmethod
    def schemas(cls) -> dict[str, Table]:
        """The schema of each table, by its name."""
        by_name = {table.name: table for table in tables.ALL_TABLES}
        return {item.name: by_name[item.name] for item in fields(cls) if item.name in by_name}

    @classmethod
    def optional(cls) -> frozenset[str]:
        """The tables without which a report is made, too."""
        return frozenset(item.name for item in fields(cls) if item.default is None)


@dataclass(frozen=True, slots=True)
class ReportProvenance:
    """Where a report's numbers come from. No clock: the same data give the same bytes.

    Attributes:
        contest: the contest's slug.
        fingerprint: hash over the contest's files.
        seed: the seed of the contest's settings.
        resamples: resamples of the cluster bootstrap behind the intervals.
        code_version: version of judge_pipeline.
        context: whether judges saw Q_u: ``nonblind`` or ``blind``.
        title: the contest's name for people.
        note: what a reader must know about these data, from contest.yaml.
        prompt_hashes: judge -> sha256 of the prompt template that it was asked with.
        asked_with: judge -> the parameters that it was asked with, as JSON (column of ``judge_versions``).
        data_versions: table -> its data version.
        settings: any further setting that bears on the numbers, as text.
        version: the version of the package.
    """

    contest: str
    fingerprint: str
    seed: int
    resamples: int
    code_version: str
    context: str
    title: str | None = None
    note: str | None = None
    prompt_hashes: Mapping[str, str] = field(default_factory=dict)
    asked_with: Mapping[str, str] = field(default_factory=dict)
    data_versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    version: str = ""


@dataclass(frozen=True, slots=True)
class JudgeKind:
    """What a judge is, as far as a reader of its figures must know.

    Attributes:
        judge: its name in judges.yaml.
        backend: the backend that answers for it.
        simulated: whether its outputs were made up to show what figures look like.
        verified: whether its table satisfied eq. 9.
        status: state of its table.
        reason: why it is not verified.
    """

    judge: str
    backend: str
    simulated: bool
    verified: bool
    status: str
    reason: str | None

    @property
    def tags(self) -> tuple[str, ...]:
        """The words that stand beside its name wherever one of its figures is shown."""
        tags = ["simulated"] if self.simulated else []
        tags += [self.backend] if self.backend in ("embedded", "baseline") else []
        return tuple(tags if self.verified else [*tags, self.status])

    @property
    def label(self) -> str:
        """Its name with those of its tags that the name does not already say."""
        said = [tag for tag in self.tags if tag not in self.judge]
        return f"{self.judge} ({', '.join(said)})" if said else self.judge


def judge_kinds(coverage: pd.DataFrame) -> dict[str, JudgeKind]:
    """``judge_coverage`` as judge -> what it is, in the table's order.

    A judge is simulated where its name begins with ``simulated`` or its model is ``simulated``.
    """
    return {
        row["judge"]: JudgeKind(
            judge=row["judge"],
            backend=row["backend"],
            simulated=row["judge"].startswith("simulated") or text(row["model"]) == "simulated",
            verified=row["status"] == "verified",
            status=row["status"],
            reason=text(row["reason"]),
        )
        for row in coverage.to_dict("records")
    }


_JUDGES_OF = {
    "judge_differences": ("judge_1", "judge_2"),
    "judge_scores": ("judge",),
    "judge_calibration": ("judge",),
    "judge_panels": ("best_judge",),
    "acceptance_rates": ("judge",),
    "judge_canary_effects": ("judge",),
    "anchor_figures": ("judge",),
    "rerating_agreement": ("other",),
    "struggle_groups": ("judge",),
}
"""Where the optional tables name a judge."""


def with_labels(given: CocreationReportInput) -> CocreationReportInput:
    """The same tables with every judge called by its label, so that no figure can be shown without its tags."""
    labels = {judge: kind.label for judge, kind in judge_kinds(given.judge_coverage).items()}

    def relabelled(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
        return frame.assign(**{name: frame[name].map(lambda judge: labels.get(judge, judge)) for name in columns})

    return given.with_tables(
        judge_metrics=relabelled(given.judge_metrics, "judge"),
        judge_curves=relabelled(given.judge_curves, "judge"),
        judge_agreement=relabelled(given.judge_agreement, "judge_1", "judge_2"),
        **{
            name: relabelled(frame, *(column for column in columns if column in frame))
            for name, columns in _JUDGES_OF.items()
            if (frame := getattr(given, name)) is not None
        },
    )
