"""preference.yaml, checked: which format a preference set's files have, and what its importer chooses."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from judge_pipeline.settings.bundle import BUNDLE_WORDS, Level
from judge_pipeline.settings.names import SettingsModel
from judge_pipeline.settings.redaction import PairRedaction

PAIR_COLUMNS = (
    "pair_id", "instruction", "prior_turns", "prefix", "suffix", "code_to_edit", "response_a", "response_b", "w",
    "category", "language", "natural_language", "split", "model_a", "model_b", "evidence_a", "evidence_b", "aspects",
    "votes",
)  # fmt: skip
"""What a column of a table may hold (``format: table``)."""

Presence = Literal["keep", "leave_out"]


class SourceChoices(SettingsModel):
    """What every importer may be told; what it leaves out or swaps is counted in ``preference_selection``."""

    TRACE: ClassVar[dict[str, Any]] = {}
    """What ``selection: trace`` sets, where a key is not given."""

    ties: Presence = Field(default="keep", description="Whether pairs with a tie are kept; figures leave them out")
    both_bad: Literal["tie", "leave_out"] = Field(
        default="tie", description="What 'both are bad' is: a tie, marked, or a reason to leave the pair out"
    )
    identical: Presence = Field(
        default="keep", description="Whether pairs are kept whose responses differ in outer white space at most"
    )
    empty: Literal["keep", "set_aside"] = Field(
        default="keep", description="What a blank response is: a model's empty answer, kept and noted, or a fault"
    )
    swap: Literal["none", "seeded"] = Field(
        default="none",
        description="seeded: a coin drawn from the seed and the pair's id decides whether its responses are swapped",
    )


class _TraceSelection(SourceChoices):
    """A format that TRACE selects from."""

    selection: Literal["own", "trace"] = Field(
        default="own", description="trace: the keys below are as in TRACE's public code, where they are not given"
    )

    @model_validator(mode="before")
    @classmethod
    def _as_trace(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("selection") == "trace":
            return {**cls.TRACE, **values}
        return values


class TableSource(SourceChoices):
    """CSV, TSV, JSON, JSON lines or Parquet with a pair a row; the columns by their names or as ``columns`` says."""

    format: Literal["table"] = Field(default="table", description="Tables by a mapping of columns")
    columns: dict[str, str] = Field(
        default_factory=dict,
        description="Our column -> the file's column, or a path into nested ones such as meta.lang; columns called as "
        "ours need no mention",
    )
    empty: Literal["keep", "set_aside"] = Field(
        default="set_aside", description="What a blank response is: a model's empty answer, kept and noted, or a fault"
    )
    choice_words: dict[str, Literal["A", "B", "tie", "both_bad"]] = Field(
        default_factory=dict, description="What the file calls a choice -> the choice, for example {left: A, '2': B}"
    )
    annotators: tuple[str, ...] = Field(
        default=(), description="Columns that each hold one annotator's choice; without a column w, the majority is w"
    )
    no_majority: Literal["leave_out", "tie"] = Field(
        default="leave_out", description="What w is where no choice has more votes than every other"
    )

    @field_validator("columns")
    @classmethod
    def _our_columns(cls, value: dict[str, str]) -> dict[str, str]:
        unknown = sorted(value.keys() - set(PAIR_COLUMNS))
        if unknown:
            raise ValueError(f"{', '.join(unknown)} is no column of ours; use {', '.join(PAIR_COLUMNS)}")
        return value


class CopilotArenaSource(_TraceSelection):
    """Copilot Arena's votes between two completions in an editor."""

    TRACE: ClassVar[dict[str, Any]] = {"accepted": "second", "swap": "trace"}

    format: Literal["copilot_arena"] = Field(description="Copilot Arena votes")
    accepted: Literal["any", "second"] = Field(
        default="any",
        description="second: only votes for the completion shown second, which a person has to ask for; all of these "
        "are then for B, so swap",
    )
    swap: Literal["none", "seeded", "trace"] = Field(  # type: ignore[assignment]  # one more way than others have
        default="none", description="trace: the pairs that TRACE's public code swaps (its order and random state 42)"
    )


class EditBenchSource(_TraceSelection):
    """EDIT-Bench's votes between two edits of marked code."""

    TRACE: ClassVar[dict[str, Any]] = {"privacy": "Research", "identical": "leave_out"}

    format: Literal["edit_bench"] = Field(description="EDIT-Bench votes")
    privacy: str | None = Field(default=None, description="Only rows with this value of privacy; null: all")


class LmArenaSource(_TraceSelection):
    """LMArena's (Chatbot Arena's) human preferences between two chats."""

    TRACE: ClassVar[dict[str, Any]] = {
        "ties": "leave_out",
        "both_bad": "leave_out",
        "first_vote_only": True,
        "fenced_code": "shared_language",
        "fenced_prompt": True,
    }

    format: Literal["lmarena"] = Field(description="LMArena human preference")
    only_code: bool = Field(default=True, description="Only what is flagged is_code")
    single_turn: bool = Field(default=True, description="Only one question with one answer each")
    fenced_code: Literal["any", "both_answers", "shared_language"] = Field(
        default="both_answers",
        description="both_answers: both hold a fenced block of code; shared_language: with a language in common",
    )
    fenced_prompt: bool = Field(default=False, description="Only prompts with a fenced block in a known language")
    first_vote_only: bool = Field(default=False, description="Only the first vote of a session (evaluation_order 1)")


class JudgeBenchSource(SourceChoices):
    """JudgeBench: which of two responses is right, by an objective label."""

    format: Literal["judgebench"] = Field(description="JudgeBench pairs")
    sources: tuple[str, ...] = Field(
        default=(), description="Only pairs whose source begins so, for example livecodebench; empty: all"
    )


class BigCodeRewardSource(SourceChoices):
    """BigCodeReward and BigCodeArena: votes between two programs that were run."""

    format: Literal["bigcodereward"] = Field(description="BigCodeReward votes, BigCodeArena preferences")
    single_turn: bool = Field(default=False, description="Only sessions with one question")


class WebDevJudgeSource(SourceChoices):
    """WebDevJudge, or WebDev Arena's votes that it is drawn from."""

    format: Literal["webdevjudge"] = Field(description="WebDevJudge pairs")
    screenshots: str | None = Field(
        default=None,
        description="Folder in the set's folder that holds QUESTION_ID_a.png and QUESTION_ID_b.png, as WebDevJudge's "
        "scripts make them; null: there are none",
    )


class MtBenchSource(SourceChoices):
    """MT-Bench human judgments: several annotators' votes become one pair."""

    format: Literal["mt_bench"] = Field(description="MT-Bench human judgments")
    turns: Literal["both", "first", "second"] = Field(default="both", description="Which turn's votes")
    no_majority: Literal["leave_out", "tie"] = Field(
        default="leave_out", description="What w is where no choice has more votes than every other"
    )


class AutoJSource(SourceChoices):
    """Auto-J's pairwise test set."""

    format: Literal["auto_j"] = Field(description="Auto-J pairs")
    scenarios: tuple[str, ...] = Field(default=(), description="Only these scenarios; empty: all")


class PandaLmSource(SourceChoices):
    """PandaLM's test set with three annotators."""

    format: Literal["pandalm"] = Field(description="PandaLM pairs")
    no_majority: Literal["leave_out", "tie"] = Field(
        default="leave_out", description="What w is where no choice has more votes than every other"
    )


class IcaiSource(SourceChoices):
    """Annotated pairs as ICAI and Feedback Forensics write them."""

    format: Literal["icai"] = Field(description="ICAI annotated pairs")
    annotator: str | None = Field(
        default=None, description="Name or id of the annotator whose choice is w; null: the file's default annotator"
    )


Source = Annotated[
    TableSource
    | CopilotArenaSource
    | EditBenchSource
    | LmArenaSource
    | JudgeBenchSource
    | BigCodeRewardSource
    | WebDevJudgeSource
    | MtBenchSource
    | AutoJSource
    | PandaLmSource
    | IcaiSource,
    Field(discriminator="format"),
    BeforeValidator(lambda value: {"format": "table", **value} if isinstance(value, dict) else value),
]

SOURCES: tuple[type[SourceChoices], ...] = (
    TableSource, CopilotArenaSource, EditBenchSource, LmArenaSource, JudgeBenchSource, BigCodeRewardSource,
    WebDevJudgeSource, MtBenchSource, AutoJSource, PandaLmSource, IcaiSource,
)  # fmt: skip
"""The settings of every format, in the order of the documents."""


class PreferenceSplit(SettingsModel):
    """How pairs are split: by identical instruction, so that none is in two splits."""

    train: float = Field(default=0.2, ge=0, lt=1, description="Share of the pairs in train; val takes the rest")
    by_source: bool = Field(default=True, description="Whether a split that the source states is kept")


class PreferenceModelSettings(SettingsModel):
    """How the models of what people and judges weigh are made (TRACE, section 3, step 3)."""

    standardization: Literal["all_pairs", "per_annotator"] = Field(
        default="all_pairs",
        description="Over which pairs rubric scores are standardized: all, once for everybody; or those that each "
        "chose on, as TRACE's public code does",
    )
    coefficient: Literal["full_sample", "bootstrap_mean"] = Field(
        default="full_sample",
        description="What a coefficient is: the full sample's, or the mean over resamples, as in TRACE's public code",
    )
    resamples: int = Field(default=1000, ge=100, description="Bootstrap resamples of pairs behind every model")


class PairJudging(SettingsModel):
    """What judges of pairs are shown, and what they may answer. Both presentation orders are always asked."""

    may_tie: bool = Field(
        default=False, description="Whether a judge may call a tie; false: it must choose, as in TRACE (section 3)"
    )
    context_chars: int = Field(
        default=24_000, ge=0, description="Characters of each of instruction, code to edit, prefix and suffix"
    )
    response_chars: int = Field(default=24_000, ge=1, description="Characters of each response")


class RubricSettings(SettingsModel):
    """Where a set's rubric comes from, and who scores pairs on it. Judges are named as in judges.yaml."""

    human_items: str | None = Field(
        default="software-engineering.yaml",
        description="File of assets_config/rubrics/ with the items R_H that people wrote; null: none",
    )
    generate: bool = Field(default=True, description="false: no items are generated, whatever proposer says")
    proposer: str | None = Field(
        default=None, description="Judge that proposes axes on which responses differ; null: no items are generated"
    )
    merger: str | None = Field(default=None, description="Judge that merges proposals into items; null: the proposer")
    scorer: str | None = Field(default=None, description="Judge that scores pairs on items; null: no scores")
    recorded_scores: str | None = Field(
        default=None,
        description="File in the set's folder with scores that were collected elsewhere, read in the scorer's place: "
        "pair_id, item, and score_ab and score_ba, or score",
    )
    second_scorer: str | None = Field(
        default=None,
        description="Judge that scores a sample of the pairs again, to see how far scores can be relied on",
    )
    splits: tuple[Literal["train", "val", "test"], ...] = Field(
        default=("train", "val", "test"),
        min_length=1,
        description="Splits whose pairs the rubric is found on; all, as in the paper. Scores are of all pairs",
    )
    batch_pairs: int = Field(default=5, ge=1, le=20, description="Pairs that one call compares to propose axes")
    batches: int = Field(default=10, ge=1, description="Batches in a round")
    axes: int = Field(default=5, ge=1, le=20, description="Most axes that one call may propose")
    rounds: int = Field(
        default=3, ge=1, le=10, description="Rounds; from the second on the pairs that the rubric so far predicts worst"
    )
    at_most: int = Field(
        default=12, ge=1, le=60, description="Most items of the rubric; items that people wrote are kept even beyond it"
    )
    merge_at_once: int = Field(
        default=60, ge=2, description="Most proposals merged in one call; more are merged in parts, then those"
    )
    pair_chars: int = Field(
        default=8000, ge=200, description="Characters of a pair that a model is shown: context and both responses"
    )
    items_per_call: int = Field(
        default=5, ge=1, le=20, description="Items that a pair is scored on in one call; the embedded model: 1"
    )
    two_orders: Literal["must_agree", "forward_unless_tie"] = Field(
        default="must_agree",
        description="must_agree: a score is what both orders say, else 0; forward_unless_tie: where one order says "
        "equal, that of the order AB stands, as in TRACE's public code",
    )
    agreement_pairs: int = Field(default=100, ge=1, description="Pairs that the second scorer scores")

    @field_validator("recorded_scores")
    @classmethod
    def _stays_inside(cls, value: str | None) -> str | None:
        if value is not None and (PurePosixPath(value).is_absolute() or ".." in PurePosixPath(value).parts):
            raise ValueError("must be a path inside the set's folder, without '..'")
        return value

    @model_validator(mode="after")
    def _one_source_of_scores(self) -> RubricSettings:
        if self.scorer is not None and self.recorded_scores is not None:
            raise ValueError(
                f"scorer names {self.scorer!r} and recorded_scores a file: scores come from one of them; take the "
                "other away"
            )
        return self

    @model_validator(mode="after")
    def _second_is_another(self) -> RubricSettings:
        if self.second_scorer is not None and self.second_scorer == self.scorer:
            raise ValueError(
                f"second_scorer and scorer are both {self.scorer!r}: a judge always agrees with itself; name another"
            )
        return self


class PreferenceSettings(SettingsModel):
    """assets_config/preference.yaml (the defaults) with a set's own preference.yaml over it."""

    title: str | None = Field(default=None, description="Name of the set, for people")
    note: str | None = Field(default=None, description="What a reader must know about these data")
    chosen_by: str = Field(
        default="people",
        min_length=1,
        description="Who or what chose, for example 'people' or 'a stated rule; no person chose'; shown beside figures",
    )
    files: tuple[str, ...] = Field(
        default=("*.csv", "*.tsv", "*.jsonl", "*.json", "*.parquet"),
        min_length=1,
        description="Which files of the set's folder hold pairs: names or patterns with * and ?",
    )
    source: Source = Field(default=TableSource(), description="Which format they have, and what its importer chooses")
    redaction: PairRedaction = Field(
        default=PairRedaction(), description="Personal data that is replaced before judges are asked"
    )
    bundle: Level = Field(default="redacted", description=BUNDLE_WORDS)
    split: PreferenceSplit = Field(default=PreferenceSplit(), description="Shares of the splits")
    judging: PairJudging = Field(default=PairJudging(), description="What judges of pairs are shown and may answer")
    rubric: RubricSettings = Field(default=RubricSettings(), description="How the rubric is found and scored")
    seed: int = Field(default=20260401, ge=0, description="The one seed: splits, swaps, bootstrap")
    scoring_rule: Literal["trace", "exact", "judgebench", "pandalm", "bigcodereward"] = Field(
        default="trace",
        description="How a judge's answers are scored against people's choices (docs/how-to/evaluate-preferences.md)",
    )
    resamples: int = Field(default=2000, ge=100, description="Bootstrap resamples behind the intervals of accuracy")
    models: PreferenceModelSettings = Field(
        default=PreferenceModelSettings(), description="Models of what people and judges weigh"
    )
    natural_languages: Literal["high", "low"] = Field(
        default="high",
        description="Accuracy of the profile's natural languages; high takes about 1 GB of memory and 15 s to load",
    )

    @field_validator("files")
    @classmethod
    def _inside(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        outside = [name for name in value if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/")]
        if outside:
            raise ValueError(f"{', '.join(outside)} leaves the set's folder; name files below it")
        return value
