"""contests.yaml and contest.yaml, checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from judge_pipeline.settings.bundle import BUNDLE_WORDS, Level
from judge_pipeline.settings.names import SettingsModel
from judge_pipeline.settings.redaction import RedactionSettings
from judge_pipeline.settings.yaml_file import SettingsError

TABLE_COLUMNS = (
    "participant", "problem_id", "verdict", "language", "submitted_at", "submission_id", "source_code", "source_path",
)  # fmt: skip
"""What a table may tell of a submission; ``source_path`` is a file beside the table that holds the source."""

ARCHIVE_FIELDS = ("submission_id", "verdict", "participant", "problem_id", "language")
"""What the name of a file in a judge's export may tell."""


class SplitRatios(SettingsModel):
    """Shares of the trajectories that go to val and test; train takes the rest."""

    val: float = Field(default=0.1, gt=0, lt=1, description="Share of val")
    test: float = Field(default=0.1, gt=0, lt=1, description="Share of test")

    @model_validator(mode="after")
    def _leave_train(self) -> SplitRatios:
        if self.val + self.test >= 1:
            raise ValueError("val and test together must leave something for train")
        return self


class CanarySettings(SettingsModel):
    """How ``judge-pipeline canary`` measures how far planted texts move a judge."""

    attempts: int = Field(default=20, ge=2, le=10_000, description="Attempts of val and test that texts are planted in")


class RevisionSettings(SettingsModel):
    """How revisions are told apart, and how prompts are matched with problems."""

    incremental_at_most: float = Field(
        default=0.1, gt=0, lt=1, description="Largest churn (NED or 1 - CodeBLEU) of an incremental fix"
    )
    rewrite_at_least: float = Field(default=0.5, gt=0, le=1, description="Smallest churn of a rewrite")
    mentions: Literal["message", "conversation"] = Field(
        default="message",
        description="Whether a prompt that mentions no problem belongs to none, or to those mentioned last before it "
        "in its conversation",
    )
    model_levels: int = Field(
        default=1000, ge=4, le=5000, description="Most participants and problems together in a mixed model"
    )

    @model_validator(mode="after")
    def _apart(self) -> RevisionSettings:
        if self.incremental_at_most >= self.rewrite_at_least:
            raise ValueError("incremental_at_most must be below rewrite_at_least")
        return self


class AnchorSettings(SettingsModel):
    """The attempts of a contest that judges are asked about again and again, to see whether they drift."""

    attempts: int = Field(
        default=50,
        ge=2,
        le=10_000,
        description="Draw so many attempts of val and test, to be asked about again",
    )
    attempt_ids: str | tuple[str, ...] | None = Field(
        default=None,
        description="Instead: these attempts; a list of ids, or a file in the contest folder with one id a line",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> AnchorSettings:
        if self.attempt_ids is not None and "attempts" in self.model_fields_set:
            raise ValueError("attempts draws a sample and attempt_ids names attempts; keep one of the two")
        if isinstance(self.attempt_ids, str):
            file = Path(self.attempt_ids)
            if file.is_absolute() or ".." in file.parts or not file.name:
                raise ValueError("attempt_ids must be a list, or a file in the contest folder such as anchor.txt")
        if isinstance(self.attempt_ids, tuple):
            _check_anchor_ids(self.attempt_ids)
        return self

    def named(self, folder: Path) -> list[str] | None:
        """The ids of the attempts that are named, in their order; None where a sample is drawn.

        Args:
            folder: the contest folder, in which a file of ids lies. Blank lines and those that begin with ``#`` are
                passed over.

        Raises:
            SettingsError: the file is not there or cannot be read, or names fewer than two attempts, or one twice.
        """
        if self.attempt_ids is None or isinstance(self.attempt_ids, tuple):
            return None if self.attempt_ids is None else list(self.attempt_ids)
        file = folder / self.attempt_ids
        try:
            lines = [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines()]
            ids = [line for line in lines if line and not line.startswith("#")]
            _check_anchor_ids(ids)
        except UnicodeDecodeError:
            raise SettingsError(f"{file}: is not UTF-8; save it as UTF-8, one attempt_id a line") from None
        except OSError as error:
            raise SettingsError(
                f"{file}: {error.strerror or error}; anchor.attempt_ids in contest.yaml names this file"
            ) from None
        except ValueError as error:
            raise SettingsError(f"{file}: {error}") from None
        return ids


def _check_anchor_ids(ids: Sequence[str]) -> None:
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ValueError(f"names {', '.join(map(repr, twice[:3]))} more than once; name each attempt once")
    if len(ids) < 2:
        raise ValueError("names fewer than 2 attempts; name those that are to be asked about, one attempt_id each")


class DynamicsSettings(SettingsModel):
    """How times to success are grouped and summed up, and which struggle curves recover or stagnate."""

    participant_groups: dict[str, str] = Field(
        default_factory=dict, description="Participant -> group (a team, a course), to be compared with each other"
    )
    max_levels: int = Field(default=20, ge=2, le=100, description="Groupings with more groups are not compared")
    horizon_turns: int = Field(default=10, ge=1, description="Where restricted means in turns end")
    horizon_minutes: int = Field(default=60, ge=1, description="Where restricted means in minutes end")
    recovery_change: float = Field(
        default=0.2, gt=0, le=1, description="Fall of the panel's mean confidence, and later rise, of a recovery"
    )
    stagnation_change: float = Field(
        default=0.05, gt=0, le=1, description="Changes of the panel's mean confidence below this count as none"
    )
    stagnation_turns: int = Field(
        default=3, ge=1, description="Consecutive turns without change and without AC that are stagnation"
    )


class ContestSettings(SettingsModel):
    """assets_config/contests.yaml (the defaults) with a contest's own contest.yaml over it."""

    title: str | None = Field(default=None, description="Name of the contest, for people")
    note: str | None = Field(default=None, description="What a reader of the report must know about these data")
    time_zone: str | None = Field(default=None, description="Zone of times without one; null: such times are unknown")
    context: Literal["nonblind", "blind"] = Field(default="nonblind", description="Whether judges see Q_u")
    context_roles: Literal["prompts", "dialogue"] = Field(default="prompts", description="What Q_u is built from")
    problem_statements: bool = Field(default=False, description="Whether judges see problems/<problem>.md")
    max_code_chars: int = Field(default=12000, ge=1, description="MAX_CODE_CHARS")
    max_prompt_chars: int = Field(default=12000, ge=0, description="MAX_PROMPT_CHARS")
    split: SplitRatios = Field(default=SplitRatios(), description="Shares of val and test")
    seed: int = Field(default=20260401, ge=0, description="The one seed: splits, bootstrap, baseline")
    resamples: int = Field(default=2000, ge=100, description="Bootstrap resamples")
    trajectory_pages: int = Field(
        default=200,
        ge=0,
        description="How many pages of trajectories a run makes, drawn by the seed where there are more trajectories",
    )
    min_coverage: float = Field(default=1.0, gt=0, le=1, description="Share of its scope that a judge must answer")
    verdict_words: dict[str, str] = Field(default_factory=dict, description="Further verdict words -> verdict")
    problem_names: dict[str, str] = Field(default_factory=dict, description="Problem names on pages -> problem id")
    redaction: RedactionSettings = Field(
        default=RedactionSettings(), description="Personal data that is replaced before judges are asked"
    )
    mask_verdict_words: bool = Field(
        default=False, description="Whether words for verdicts in Q_u are replaced before judges are asked"
    )
    anchor: AnchorSettings | None = Field(
        default=None, description="Ask judges about the same attempts by schedule, and compare; null: do not"
    )
    canary: CanarySettings = Field(
        default=CanarySettings(), description="How it is measured whether judges can be talked round"
    )
    revision: RevisionSettings = Field(
        default=RevisionSettings(),
        description="Which revisions are fixes or rewrites, and what prompts belong to",
    )
    dynamics: DynamicsSettings = Field(
        default=DynamicsSettings(),
        description="How times to success are grouped, and what recovery and stagnation are",
    )
    bundle: Level = Field(default="redacted", description=BUNDLE_WORDS)
    participant_names: dict[str, str] = Field(
        default_factory=dict, description="Participants in artifacts (a feed's team id, a handle) -> participant"
    )
    columns: dict[str, str] = Field(
        default_factory=dict,
        description="Our column -> the column of CSV, TSV, JSON lines and Parquet; usual names need no mention",
    )
    archive_names: str = Field(
        default="{submission_id}_{verdict}_{participant}_{problem_id}",
        description="Form of the names in a ZIP export, without extension; {other} is passed over",
    )

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str | None) -> str | None:
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        if value is not None:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError) as error:
                raise ValueError("is not a time zone; use a name such as Asia/Tokyo or UTC") from error
        return value

    @field_validator("columns")
    @classmethod
    def _our_columns(cls, value: dict[str, str]) -> dict[str, str]:
        unknown = sorted(value.keys() - set(TABLE_COLUMNS))
        if unknown:
            raise ValueError(f"{', '.join(unknown)} is no column of ours; use {', '.join(TABLE_COLUMNS)}")
        return value

    @field_validator("archive_names")
    @classmethod
    def _fields_apart(cls, value: str) -> str:
        pieces = re.split(r"\{(\w+)\}", value)
        fields = [name for name in pieces[1::2] if name != "other"]
        unknown = sorted(set(fields) - set(ARCHIVE_FIELDS))
        if unknown or not fields or "{" in "".join(pieces[0::2]):
            raise ValueError(f"must be made of {', '.join('{' + name + '}' for name in (*ARCHIVE_FIELDS, 'other'))}")
        if len(set(fields)) != len(fields) or not all(pieces[2:-1:2]):
            raise ValueError("must name each field once, with a separator between any two")
        return value

    @field_validator("verdict_words")
    @classmethod
    def _known_verdicts(cls, value: dict[str, str]) -> dict[str, str]:
        from judge_pipeline.tables import VERDICTS

        for word, verdict in value.items():
            if verdict not in VERDICTS:
                raise ValueError(f"{word!r}: {verdict!r} is no verdict; use one of {', '.join(VERDICTS)}")
        return value
