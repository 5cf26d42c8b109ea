"""What contest.yaml may say about personal data in what judges are sent."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

RedactionKind = Literal["secret", "email", "phone", "name", "participant"]

REDACTION_KINDS: tuple[RedactionKind, ...] = ("secret", "email", "phone", "name", "participant")
"""All kinds of personal data. Where two findings overlap, the kind that stands first here wins."""


class RedactionSettings(BaseModel):
    """What is replaced by a token in what judges are sent, and in its export. On by default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(default=True, description="Whether anything is replaced")
    off_reason: str | None = Field(
        default=None, description="Why it is off, or why kinds leaves some out; required then"
    )
    kinds: tuple[RedactionKind, ...] = Field(default=REDACTION_KINDS, description="Kinds that are replaced")
    names: tuple[str, ...] = Field(default=(), description="Names of people, replaced as whole words")
    phone_regions: tuple[str, ...] = Field(
        default=("JP", "US"), description="Regions (ISO 3166) whose notation without country code is recognized"
    )
    key_env: str = Field(
        default="JUDGE_PIPELINE_PSEUDONYM_KEY",
        description="Environment variable with the key of pseudonyms; unset: ids read [redacted:participant]",
    )

    @field_validator("names")
    @classmethod
    def _long_enough(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        short = [name for name in value if len(name.strip()) < 2]
        if short:
            raise ValueError(f"{short[0]!r} is too short: it would be found inside code; give a fuller name")
        return value

    @field_validator("phone_regions")
    @classmethod
    def _regions(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [region for region in value if not re.fullmatch("[A-Z]{2}", region)]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no region; use two capital letters such as JP or US")
        return value

    @model_validator(mode="after")
    def _off_for_a_reason(self) -> RedactionSettings:
        left_out = [kind for kind in REDACTION_KINDS if kind not in self.kinds]
        if (not self.enabled or left_out) and not (self.off_reason or "").strip():
            what = f"kinds leaves out {', '.join(left_out)}" if self.enabled else "enabled is false"
            raise ValueError(f"{what}: say why in off_reason, since names, addresses and keys may go to a provider")
        return self

    def active_kinds(self) -> tuple[RedactionKind, ...]:
        """The kinds that are replaced; none where it is off."""
        return self.kinds if self.enabled else ()


class PairRedaction(RedactionSettings):
    """The same of a preference set, and what becomes of screenshots: nothing in an image is looked for or replaced."""

    screenshots: Literal["withhold", "show"] = Field(
        default="withhold",
        description="show: judges that take images are sent the screenshots of responses as they are, with whatever "
        "names, faces or keys are in them; look at them first",
    )
