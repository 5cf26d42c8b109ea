"""What the settings of all judges have in common, and the parts that they are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from judge_pipeline.settings.names import SettingsModel

Split = Literal["train", "val", "test"]
System = Literal["cocreation", "preference", "criteria"]


CONTEST_QUESTION = "attempt"
"""The question that the co-creation system asks; its template is ``prompt``, and no entry of ``prompts``."""

MOST_SHARDS = 1000
"""Into more nothing is cut: each shard is a step of a run."""


class Scope(SettingsModel):
    """Which attempts a judge is asked for; eq. 9 holds within it."""

    splits: tuple[Split, ...] = Field(default=("train", "val", "test"), description="Splits to judge", min_length=1)

    def in_words(self) -> str:
        """The scope as a phrase for tables and reports."""
        return "all attempts" if set(self.splits) == {"train", "val", "test"} else " and ".join(self.splits)


class JudgeBase(SettingsModel):
    """What every judge has, whatever answers for it."""

    _beside_the_answers: ClassVar[frozenset[str]] = frozenset(
        {"description", "family", "systems", "enabled", "scope", "in_panel", "api_key_env", "provider", "limits"}
        | {"price", "repair_max_output_tokens", "batch", "shards"}
    )
    """Settings that decide whether, when and at what price an answer comes, or for which rows; not what it is."""

    _of_pairs: ClassVar[frozenset[str]] = frozenset({"answer_form", "choice_words", "pair_rule"})
    """Settings that decide on choices among two responses alone."""

    _not_of_attempts: ClassVar[frozenset[str]] = frozenset()
    """Settings that decide on answers to every question but that of the contest."""

    description: str = Field(default="", description="What this judge is, for people")
    family: str | None = Field(
        default=None, min_length=1, max_length=80, description="Family that tables group it under, as 'reward model'"
    )
    systems: tuple[System, ...] = Field(default=("cocreation",), description="Systems that it serves")
    enabled: bool = Field(default=True, description="Whether a run without --judges includes it")
    scope: Scope = Field(default=Scope(), description="Attempts that it is asked for")
    in_panel: bool | None = Field(
        default=None, description="Whether it belongs to the panel J; by default recorded, litellm and reward judges do"
    )

    def missing_key(self, environment: Mapping[str, str]) -> str | None:
        """The environment variable that must be set before this judge can be asked; None if none is missing."""
        return None

    def answer_settings(self, question: str = CONTEST_QUESTION) -> dict[str, Any]:
        """The settings that can change an answer to a question, as JSON values: all but those that are known not to.

        Args:
            question: the question's name. That of the contest is asked by ``prompt``, every other by its entry in
                ``prompts``; what decides on choices among two responses counts for "pair" alone.
        """
        values = self.model_dump(mode="json", exclude=set(self._beside_the_answers))
        prompts = values.pop("prompts", {})
        if question != CONTEST_QUESTION:
            values.pop("prompt", None)
            values |= {"prompt": prompts[question]} if question in prompts else {}
        beside = frozenset() if question == "pair" else self._of_pairs
        beside |= self._not_of_attempts if question == CONTEST_QUESTION else frozenset()
        return {name: value for name, value in values.items() if name not in beside}


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


def batch_of_true(value: Any) -> Any:
    """``true`` means the defaults, ``false`` none."""
    return {} if value is True else None if value is False else value


def _checked_prompts(prompts: dict[str, str]) -> dict[str, str]:
    for question, template in prompts.items():
        if not re.fullmatch(r"[a-z_]+", question):
            raise ValueError(f"{question!r} is no name of a question: lower-case letters and '_', for example pair")
        if question == CONTEST_QUESTION:
            raise ValueError(f"{question!r} is asked by the template that 'prompt' names: write it there")
        if not re.fullmatch(r"[^/\\]+", template):
            raise ValueError(f"{template!r} must be the name of a file in assets_config/prompts/, not a path")
    return prompts


def _checked_url(value: str | None) -> str | None:
    if value is not None and not re.fullmatch(r"https?://[^/@\s]+(/[^@\s?]*)?", value):
        raise ValueError(
            "must be an http(s) URL such as http://127.0.0.1:8000/v1, without user, password or query; a key "
            "belongs in the environment variable that api_key_env names"
        )
    return value


Shards = Annotated[
    int,
    Field(
        ge=1,
        le=MOST_SHARDS,
        description="Parts that a run with shards cuts what it asks into, each asked by a process or worker of its own",
    ),
]
"""How many shards one judge's requests are cut into; 1 cuts nothing."""

Prompts = Annotated[dict[str, str], AfterValidator(_checked_prompts)]
"""Question name -> template, for questions other than that of the contest."""

ServerUrl = Annotated[str, AfterValidator(_checked_url)]
"""An http(s) URL without user, password or query."""
