"""judges.yaml, checked: judges, their providers' rates, ceilings of money."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from judge_pipeline.settings.judge_parts import (
    Batch,
    JudgeBase,
    Limits,
    Price,
    Prompts,
    ServerUrl,
    Shards,
    System,
    batch_of_true,
)
from judge_pipeline.settings.names import SettingsModel, check_slug
from judge_pipeline.settings.reward_judge import RewardJudge
from judge_pipeline.settings.yaml_file import SettingsError

_NOT_PARAMETERS = {
    "api_base", "api_key", "base_url", "extra_headers", "headers", "max_retries", "messages", "mock_response", "model",
    "n", "num_retries", "response_format", "stream", "timeout",
}  # fmt: skip
"""Keys that ``parameters`` may not hold: identity, secrets and retries are said elsewhere."""


class LitellmJudge(JudgeBase):
    """A judge at a provider, or at an OpenAI-compatible URL, through litellm or straight over HTTP."""

    _not_of_attempts: ClassVar[frozenset[str]] = frozenset({"takes_images"})

    backend: Literal["litellm"]
    model: str = Field(min_length=1, description="litellm model name, for example openai/gpt-5.2-2025-12-11")
    base_url: ServerUrl | None = Field(default=None, description="URL of an OpenAI-compatible server")
    transport: Literal["litellm", "direct"] = Field(
        default="litellm", description="direct: straight to base_url over HTTP, at a sixth of the processor time"
    )
    api_key_env: str | None = Field(default=None, description="Environment variable that holds the key")
    prompt: str = Field(default="cocreation_judge.md.j2", description="Template in assets_config/prompts/")
    prompts: Prompts = Field(
        default_factory=dict, description="Question (pair, rubric_scores, ...) -> template; else the question's own"
    )
    answer_form: Literal["schema", "double_brackets", "result"] = Field(
        default="schema",
        description="How it states its choice among two responses: as JSON by our schema (schema); [[A]], [[B]], [[C]] "
        "for a tie (double_brackets; Skywork Critic); [RESULT] A or Result: A (result; Prometheus 2, Selene)",
    )
    parameters: dict[str, Any] = Field(default_factory=dict, description="Passed on to the model: temperature, ...")
    max_output_tokens: int | None = Field(default=None, ge=1, description="Answer limit; null: the provider's default")
    repair_max_output_tokens: int | None = Field(default=None, ge=1, description="Answer limit of the repair try")
    takes_images: bool | None = Field(
        default=None, description="Whether it is shown screenshots, where there are any; null: by litellm's table"
    )
    send_schema: bool | None = Field(default=None, description="Send the JSON schema; null: ask litellm")
    provider: str | None = Field(
        default=None, description="Entry under providers; null: host of base_url, else the first part of model"
    )
    repeats: int = Field(
        default=1, ge=1, le=100, description="How often each attempt is asked; the first answer is the judgment"
    )
    limits: Limits = Field(default=Limits(), description="Tries, time-outs, calls in flight")
    shards: Shards = 1
    price: Price | None = Field(default=None, description="Price; null: litellm's table")
    batch: Annotated[Batch | None, BeforeValidator(batch_of_true)] = Field(
        default=None, description="Ask by the provider's batch interface, cheaper and slower: true, or settings"
    )

    def sent_parameters(self) -> dict[str, Any]:
        """What is passed on to the model with the messages, the answer limit under the name that providers give it."""
        limit = {} if self.max_output_tokens is None else {"max_tokens": self.max_output_tokens}
        return self.parameters | limit

    @field_validator("parameters")
    @classmethod
    def _only_parameters_of_the_model(cls, value: dict[str, Any]) -> dict[str, Any]:
        taken = sorted(_NOT_PARAMETERS & value.keys())
        if taken:
            raise ValueError(f"cannot hold {', '.join(taken)}: the settings beside it, or judging itself, say these")
        return value

    @model_validator(mode="after")
    def _direct_speaks_one_dialect(self) -> LitellmJudge:
        if self.transport == "direct":
            if self.base_url is None:
                raise ValueError("transport: direct needs base_url, the URL of an OpenAI-compatible server")
            if not re.fullmatch(r"openai/.+", self.model):
                raise ValueError(
                    f"transport: direct speaks OpenAI's dialect only: write model as openai/NAME, where NAME is what "
                    f"the server calls it (not {self.model!r}), or use transport: litellm"
                )
        return self

    @model_validator(mode="after")
    def _batches_speak_one_dialect(self) -> LitellmJudge:
        if self.batch is not None and not re.fullmatch(r"openai/.+", self.model):
            raise ValueError(
                f"batch speaks OpenAI's dialect only: write model as openai/NAME, with base_url for another provider "
                f"that has the same interface (not {self.model!r}), or take batch away"
            )
        return self

    def missing_key(self, environment: Mapping[str, str]) -> str | None:
        """The unset variable that ``api_key_env`` names, if any."""
        return self.api_key_env if self.api_key_env and not environment.get(self.api_key_env) else None


class EmbeddedJudge(JudgeBase):
    """The small model that the lock file installs, run in process; it exercises the pipeline and does not judge."""

    _not_of_attempts: ClassVar[frozenset[str]] = frozenset({"max_output_tokens"})

    backend: Literal["embedded"]
    prompt: str = Field(default="embedded_judge.md.j2", description="Template in assets_config/prompts/")
    prompts: Prompts = Field(
        default_factory=dict, description="Question (pair, rubric_scores, ...) -> template; else the question's own"
    )
    max_code_chars: int = Field(default=420, ge=1, description="Characters of the source that it is shown")
    max_prompt_chars: int = Field(default=120, ge=0, description="Characters of Q_u that it is shown")
    threads: int = Field(default=2, ge=1, description="Processor threads of the model")
    context_tokens: int = Field(default=4096, ge=512, le=8192, description="Context window of the model")
    max_output_tokens: int = Field(default=600, ge=16, description="Answer limit, where it writes its answer")
    limits: Limits = Field(default=Limits(max_in_flight=1), description="Tries, time-outs, calls in flight")
    shards: Shards = 1


class RecordedJudge(JudgeBase):
    """Judge outputs collected elsewhere: a JSONL, CSV or Parquet file in the folder of the contest or preference set.

    Of a contest it has one row an attempt: attempt_id and p_ac, and, where there are any, s_algo, s_robust, rationale,
    model, error. Of a preference set it has one row a pair: pair_id, decision_ab and, where there was a second order,
    decision_ba, each A, B or tie in terms of the pair's own A and B; or one row an order: pair_id, presentation_order
    (AB, BA) and slot (first, second, tie), or decision (A, B, tie) in its place, and, where there are any, p_first,
    score_first, score_second, rationale, model, error. A blank choice is an invalid answer.
    """

    backend: Literal["recorded"]
    file: str = Field(min_length=1, description="File, relative to the folder of the contest or preference set")
    columns: dict[str, str] = Field(default_factory=dict, description="Our column name -> the file's")
    choice_words: dict[str, Literal["A", "B", "tie", "first", "second"]] = Field(
        default_factory=dict,
        description="Of preference sets: what the file calls a choice -> the choice, for example {'1': A, '2': B}",
    )
    model: str | None = Field(default=None, description="What the outputs came from, for people")

    @field_validator("file")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        if Path(value).is_absolute() or ".." in Path(value).parts:
            raise ValueError("must be a path inside the contest folder or preference set, without '..'")
        return value


class BaselineJudge(JudgeBase):
    """What a judge has to beat. Of attempts, a scikit-learn model of code and context, fitted on the train split.

    Of pairs, by ``pair_rule``: the longer response wins, the one that changes fewer lines wins, or a logistic model of
    the responses' features, fitted on the train split.
    """

    backend: Literal["baseline"]
    pair_rule: Literal["longer", "smaller_edit", "fitted"] = Field(
        default="fitted", description="How it chooses among two responses; attempts have no use for it"
    )
    max_features: int = Field(default=4000, ge=10, description="Character n-grams kept")
    inverse_regularization: float = Field(default=1.0, gt=0, description="C of the logistic regression")
    folds: int = Field(default=5, ge=2, description="Folds by trajectory for out-of-fold predictions on train")


AnyJudge = LitellmJudge | EmbeddedJudge | RewardJudge | RecordedJudge | BaselineJudge

JudgeSettings = Annotated[AnyJudge, Field(discriminator="backend")]


class Rates(SettingsModel):
    """How often a provider may be asked, by all judges, partitions and processes of this host together."""

    requests_per_minute: float | None = Field(default=None, gt=0, description="Calls a minute; null: no limit")
    tokens_per_minute: float | None = Field(
        default=None, gt=0, description="Tokens in and out a minute; null: no limit"
    )
    max_in_flight: int | None = Field(
        default=None,
        ge=1,
        description="Calls under way at once; null: the largest max_in_flight of its judges",
    )


class Ceilings(SettingsModel):
    """Money that asking stops before, in US dollars. Under a ceiling a model without a price is an error, not free."""

    run: float | None = Field(default=None, ge=0, description="For one run, all its judges together; null: none")
    contest: float | None = Field(
        default=None, ge=0, description="For one contest, all judges and runs together; null: none"
    )

    def is_set(self) -> bool:
        """Whether there is any ceiling."""
        return self.run is not None or self.contest is not None


class JudgesFile(SettingsModel):
    """assets_config/judges.yaml."""

    judges: dict[str, JudgeSettings] = Field(description="Judge name -> its settings", min_length=1)
    ceiling_usd: Ceilings = Field(default=Ceilings(), description="Money that asking stops before")
    providers: dict[str, Rates] = Field(default_factory=dict, description="Provider -> how often it may be asked")

    @field_validator("judges")
    @classmethod
    def _slugs(cls, value: dict[str, JudgeSettings]) -> dict[str, JudgeSettings]:
        for name in value:
            check_slug(name, "judge name")
        return value

    @model_validator(mode="after")
    def _named_providers(self) -> JudgesFile:
        for name, judge in self.judges.items():
            provider = judge.provider if isinstance(judge, LitellmJudge | RewardJudge) else None
            if provider is not None and provider not in self.providers:
                raise ValueError(f"judge {name!r}: provider {provider!r} is not under 'providers'; add it there")
        return self

    def names(self, system: System = "cocreation") -> list[str]:
        """The judges that serve the system, in the file's order."""
        return [name for name, judge in self.judges.items() if system in judge.systems]

    def panel(self, system: System = "cocreation") -> list[str]:
        """The judges of a system's panel, in the file's order: J of co-creation (eq. 10, 22; agreement), and the judges
        of preference that are pooled and ranked."""
        return [name for name in self.names(system) if self.in_panel(name)]

    def in_panel(self, name: str) -> bool:
        """Whether the judge belongs to the panels of the systems that it serves."""
        judge = self.judges[name]
        return judge.backend in ("litellm", "recorded", "reward") if judge.in_panel is None else judge.in_panel

    def get(self, name: str) -> AnyJudge:
        """The settings of one judge.

        Raises:
            SettingsError: no such judge; the message lists those that there are.
        """
        if name not in self.judges:
            raise SettingsError(f"judge {name!r} is not in judges.yaml; it lists: {', '.join(self.judges)}")
        return self.judges[name]
