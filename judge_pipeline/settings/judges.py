"""judges.yaml, checked: judges, their providers' rates, ceilings of money."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from judge_pipeline.settings.names import SettingsModel, check_slug
from judge_pipeline.settings.yaml_file import SettingsError

Split = Literal["train", "val", "test"]
System = Literal["cocreation", "preference", "criteria"]


class Scope(SettingsModel):
    """Which attempts a judge is asked for; eq. 9 holds within it."""

    splits: tuple[Split, ...] = Field(default=("train", "val", "test"), description="Splits to judge", min_length=1)

    def in_words(self) -> str:
        """The scope as a phrase for tables and reports."""
        return "all attempts" if set(self.splits) == {"train", "val", "test"} else " and ".join(self.splits)


class _Judge(SettingsModel):
    _beside_the_answers: ClassVar[frozenset[str]] = frozenset(
        {"description", "systems", "enabled", "scope", "in_panel", "api_key_env", "provider", "limits", "price"}
        | {"repair_max_output_tokens", "batch"}
    )
    """Settings that decide whether, when and at what price an answer comes, or for which attempts; not what it is."""

    description: str = Field(default="", description="What this judge is, for people")
    systems: tuple[System, ...] = Field(default=("cocreation",), description="Systems that it serves")
    enabled: bool = Field(default=True, description="Whether a run without --judges includes it")
    scope: Scope = Field(default=Scope(), description="Attempts that it is asked for")
    in_panel: bool | None = Field(
        default=None, description="Whether it belongs to the panel J; by default recorded and litellm judges do"
    )

    def missing_key(self, environment: Mapping[str, str]) -> str | None:
        """The environment variable that must be set before this judge can be asked; None if none is missing."""
        return None

    def answer_settings(self) -> dict[str, Any]:
        """The settings that can change an answer, as JSON values: all but those that are known not to."""
        return self.model_dump(mode="json", exclude=set(self._beside_the_answers))


class Price(SettingsModel):
    """What a model costs, in US dollars per million tokens."""

    input_usd_per_million_tokens: float = Field(ge=0, description="Price of prompt tokens")
    output_usd_per_million_tokens: float = Field(ge=0, description="Price of answer tokens, thinking included")

    def cost_usd(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost, in US dollars."""
        millions = tokens_in * self.input_usd_per_million_tokens + tokens_out * self.output_usd_per_million_tokens
        return millions / 1_000_000.0

    def less(self, discount: float) -> Price:
        """The price with a share of it taken off."""
        return Price(
            input_usd_per_million_tokens=self.input_usd_per_million_tokens * (1.0 - discount),
            output_usd_per_million_tokens=self.output_usd_per_million_tokens * (1.0 - discount),
        )


class Limits(SettingsModel):
    """How hard a judge may be asked, and how often again."""

    max_in_flight: int = Field(default=8, ge=1, description="Calls under way at once")
    max_tries: int = Field(default=4, ge=1, le=20, description="Tries for one answer, the first included")
    timeout_seconds: float = Field(default=120.0, gt=0, description="Time that one try may take")
    backoff_seconds: float = Field(default=1.0, ge=0, description="Wait after the first failed try; doubles each time")
    max_backoff_seconds: float = Field(default=60.0, ge=0, description="Longest wait between tries")
    sleep_seconds: float = Field(default=0.0, ge=0, description="Pause after each call (SLEEP_SECONDS of Table III)")
    save_every: int = Field(
        default=1, ge=1, description="Calls that are written down together (SAVE_EVERY of Table III); a kill loses them"
    )
    stop_after_failures: int = Field(
        default=10,
        ge=1,
        description="Attempts in a row that fail in one class, with no answer yet, after which the run asks no more",
    )


class Batch(SettingsModel):
    """How a judge is asked through its provider's batch interface; ``batch: true`` takes the defaults."""

    completion_window: str = Field(
        default="24h",
        pattern=r"^[1-9]\d{0,3}[hd]$",
        description="Time within which the provider answers, as it says it",
    )
    max_requests: int = Field(default=50_000, ge=1, le=50_000, description="Most requests in one batch")
    max_megabytes: int = Field(default=100, ge=1, le=200, description="Largest input file, in millions of bytes")
    discount: float = Field(default=0.5, ge=0, lt=1, description="Share of the price that a batch costs less")
    re_ask: Literal["batch", "directly"] = Field(
        default="batch", description="How what needs another try is asked: in a further batch, or at once at full price"
    )

    def completion_hours(self) -> float:
        """The completion window, in hours."""
        return float(self.completion_window[:-1]) * (24.0 if self.completion_window.endswith("d") else 1.0)


def _batch_of_true(value: Any) -> Any:
    """``true`` means the defaults, ``false`` none."""
    return {} if value is True else None if value is False else value


_NOT_PARAMETERS = {
    "api_base", "api_key", "base_url", "extra_headers", "headers", "max_retries", "messages", "mock_response", "model",
    "n", "num_retries", "response_format", "stream", "timeout",
}  # fmt: skip
"""Keys that ``parameters`` may not hold: identity, secrets and retries are said elsewhere."""


class LitellmJudge(_Judge):
    """A judge at a provider, or at an OpenAI-compatible URL, through litellm or straight over HTTP."""

    backend: Literal["litellm"]
    model: str = Field(min_length=1, description="litellm model name, for example openai/gpt-5.2-2025-12-11")
    base_url: str | None = Field(default=None, description="URL of an OpenAI-compatible server")
    transport: Literal["litellm", "direct"] = Field(
        default="litellm", description="direct: straight to base_url over HTTP, at a sixth of the processor time"
    )
    api_key_env: str | None = Field(default=None, description="Environment variable that holds the key")
    prompt: str = Field(default="cocreation_judge.md.j2", description="Template in assets_config/prompts/")
    parameters: dict[str, Any] = Field(default_factory=dict, description="Passed on to the model: temperature, ...")
    max_output_tokens: int | None = Field(default=None, ge=1, description="Answer limit; null: the provider's default")
    repair_max_output_tokens: int | None = Field(default=None, ge=1, description="Answer limit of the repair try")
    send_schema: bool | None = Field(default=None, description="Send the JSON schema; null: ask litellm")
    provider: str | None = Field(
        default=None, description="Entry under providers; null: host of base_url, else the first part of model"
    )
    repeats: int = Field(
        default=1, ge=1, le=100, description="How often each attempt is asked; the first answer is the judgment"
    )
    limits: Limits = Field(default=Limits(), description="Tries, time-outs, calls in flight")
    price: Price | None = Field(default=None, description="Price; null: litellm's table")
    batch: Annotated[Batch | None, BeforeValidator(_batch_of_true)] = Field(
        default=None, description="Ask by the provider's batch interface, cheaper and slower: true, or settings"
    )

    def sent_parameters(self) -> dict[str, Any]:
        """What is passed on to the model with the messages, the answer limit under the name that providers give it."""
        limit = {} if self.max_output_tokens is None else {"max_tokens": self.max_output_tokens}
        return self.parameters | limit

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"https?://[^/@\s]+(/[^@\s?]*)?", value):
            raise ValueError(
                "must be an http(s) URL such as http://127.0.0.1:8000/v1, without user, password or query; a key "
                "belongs in the environment variable that api_key_env names"
            )
        return value

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


class EmbeddedJudge(_Judge):
    """The small model that the lock file installs, run in process; it exercises the pipeline and does not judge."""

    backend: Literal["embedded"]
    prompt: str = Field(default="embedded_judge.md.j2", description="Template in assets_config/prompts/")
    max_code_chars: int = Field(default=420, ge=1, description="Characters of the source that it is shown")
    max_prompt_chars: int = Field(default=120, ge=0, description="Characters of Q_u that it is shown")
    threads: int = Field(default=2, ge=1, description="Processor threads of the model")
    context_tokens: int = Field(default=4096, ge=512, le=8192, description="Context window of the model")
    limits: Limits = Field(default=Limits(max_in_flight=1), description="Tries, time-outs, calls in flight")


class RecordedJudge(_Judge):
    """Judge outputs collected elsewhere: a JSONL, CSV or Parquet file in the contest's folder."""

    backend: Literal["recorded"]
    file: str = Field(min_length=1, description="File, relative to the contest folder")
    columns: dict[str, str] = Field(default_factory=dict, description="Our column name -> the file's")
    model: str | None = Field(default=None, description="What the outputs came from, for people")

    @field_validator("file")
    @classmethod
    def _stays_inside(cls, value: str) -> str:
        if Path(value).is_absolute() or ".." in Path(value).parts:
            raise ValueError("must be a path inside the contest folder, without '..'")
        return value


class BaselineJudge(_Judge):
    """A scikit-learn model of the text of code and context, fitted on the train split: what a judge has to beat."""

    backend: Literal["baseline"]
    max_features: int = Field(default=4000, ge=10, description="Character n-grams kept")
    inverse_regularization: float = Field(default=1.0, gt=0, description="C of the logistic regression")
    folds: int = Field(default=5, ge=2, description="Folds by trajectory for out-of-fold predictions on train")


JudgeSettings = Annotated[LitellmJudge | EmbeddedJudge | RecordedJudge | BaselineJudge, Field(discriminator="backend")]


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
            provider = judge.provider if isinstance(judge, LitellmJudge) else None
            if provider is not None and provider not in self.providers:
                raise ValueError(f"judge {name!r}: provider {provider!r} is not under 'providers'; add it there")
        return self

    def names(self, system: System = "cocreation") -> list[str]:
        """The judges that serve the system, in the file's order."""
        return [name for name, judge in self.judges.items() if system in judge.systems]

    def panel(self) -> list[str]:
        """The judges of the panel J (eq. 10, 22; agreement), in the file's order."""
        return [name for name, judge in self.judges.items() if self.in_panel(name)]

    def in_panel(self, name: str) -> bool:
        """Whether the judge belongs to the panel J."""
        judge = self.judges[name]
        return judge.backend in ("litellm", "recorded") if judge.in_panel is None else judge.in_panel

    def get(self, name: str) -> LitellmJudge | EmbeddedJudge | RecordedJudge | BaselineJudge:
        """The settings of one judge.

        Raises:
            SettingsError: no such judge; the message lists those that there are.
        """
        if name not in self.judges:
            raise SettingsError(f"judge {name!r} is not in judges.yaml; it lists: {', '.join(self.judges)}")
        return self.judges[name]
