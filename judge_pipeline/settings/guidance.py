"""Guidance files, checked: what people weigh when they choose, for each stage that is given it (CriterAlign, HPAG).

A file is ready-made, in assets_config/guidance/, or was synthesized from training pairs of a preference set and is
frozen: it then says what it was made from, and holds the sha256 of its content.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from judge_pipeline.settings.names import SettingsModel

FOLDER = "guidance"
"""Where ready-made files lie, below assets_config/."""

LONGEST_GUIDANCE_CHARS = 1500
"""Longest text for one stage; guidance is compact."""

LONGEST_PATTERN_CHARS = 300
MOST_PATTERNS = 6

Gap = Literal["missed", "over_emphasized", "under_emphasized"]
"""What the judge does with something that people weigh otherwise."""

_WORD = re.compile(r"(?:[^\W_]|[+#])+")


def category_key(name: str) -> str:
    """What two spellings of one category have in common: ``Web-Development`` and ``web development`` are one."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", name).casefold())) or name.strip()


def _one_line(value: str) -> str:
    text = " ".join(value.split())
    if not text:
        raise ValueError("is blank; say in words what it is, or take the key away")
    return text


class DivergencePattern(SettingsModel):
    """Something that people weigh otherwise than the judge."""

    text: str = Field(min_length=1, max_length=LONGEST_PATTERN_CHARS, description="What people weigh, in one sentence")
    gap: Gap = Field(description="What the judge does with it")

    _one_line = field_validator("text")(_one_line)


class GuidanceTexts(SettingsModel):
    """Divergence patterns, and what follows from them for each guided stage."""

    patterns: tuple[DivergencePattern, ...] = Field(
        default=(), max_length=MOST_PATTERNS, description="Where people and the judge differ; for people, not shown"
    )
    generator: str = Field(max_length=LONGEST_GUIDANCE_CHARS, description="Given to the criterion generator")
    criterion_judge: str = Field(max_length=LONGEST_GUIDANCE_CHARS, description="Given to the criterion judge")
    final_judge: str = Field(
        max_length=LONGEST_GUIDANCE_CHARS, description="Given to the final judge, and to a monolithic one"
    )

    _one_line = field_validator("generator", "criterion_judge", "final_judge")(_one_line)


class CategoryGuidance(GuidanceTexts):
    """The same of one category of tasks; it specializes the general guidance and does not replace it."""

    also_called: tuple[str, ...] = Field(default=(), description="Further names of the category in data")


class GuidanceSource(SettingsModel):
    """What guidance was synthesized from."""

    preference_set: str = Field(description="The preference set")
    split: Literal["train"] = Field(description="The split of all its pairs")
    judge: str = Field(description="The judge whose gaps were found")
    judge_model: str = Field(description="Its model")
    synthesizer: str = Field(description="Who found them")
    synthesizer_model: str = Field(description="Its model")
    seed: int = Field(description="Seed of the draw where not all records fitted")
    prompts: dict[str, str] = Field(description="Prompt template -> its sha256")
    n_train: int = Field(ge=0, description="Training pairs that there are")
    left_out: dict[str, int] = Field(default_factory=dict, description="Why a pair is in no record -> how many")
    pairs: dict[str, str] = Field(
        min_length=1, description="Id of each pair among the records -> its group of identical instruction"
    )


class GuidanceFile(SettingsModel):
    """A guidance file."""

    title: str | None = Field(default=None, description="What it is, for people")
    note: str | None = Field(default=None, description="Where it comes from")
    content_sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        description="sha256 of all the rest: by it edited guidance is known, and refused. People's files need none",
    )
    source: GuidanceSource | None = Field(
        default=None, description="What it was synthesized from; null: people wrote it, and no pair of data"
    )
    general: GuidanceTexts = Field(description="Shared by all tasks")
    categories: dict[str, CategoryGuidance] = Field(
        default_factory=dict, description="Category of tasks -> what is particular to it"
    )

    @model_validator(mode="after")
    def _told_apart(self) -> GuidanceFile:
        seen: dict[str, str] = {}
        for name, category in self.categories.items():
            for key in sorted({category_key(called) for called in (name, *category.also_called)}):
                if not key:
                    raise ValueError(f"categories.{name}: a category has a blank name; name it")
                if key in seen:
                    raise ValueError(f"categories {seen[key]!r} and {name!r} are both called {key!r}; join them")
                seen[key] = name
        return self

    def category_called(self, name: str | None) -> str | None:
        """The category of the file that data calls so; None where there is none."""
        key = None if name is None else category_key(name)
        found = (
            own
            for own, category in self.categories.items()
            if key in {category_key(called) for called in (own, *category.also_called)}
        )
        return next(found, None)


class GuidanceSynthesis(SettingsModel):
    """How guidance is synthesized from training pairs."""

    record_chars: int = Field(
        default=8_000,
        ge=200,
        description="Characters of one pair, context and both responses, in a record that a synthesizer is given",
    )
    category_records: int = Field(
        default=5, ge=1, description="Fewest training records of a category that is given guidance of its own"
    )
    tokens_of: dict[str, Annotated[int, Field(ge=1000)]] = Field(
        default_factory=dict,
        description="Synthesizer -> tokens of records at once, where its context window holds others than "
        "guidance_tokens",
    )
