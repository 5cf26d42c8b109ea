"""injections.yaml, checked: texts that try to talk a judge round, and the harmless one that they are held against."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator

from judge_pipeline.settings.names import SettingsModel, check_slug
from judge_pipeline.settings.workspace import packaged_config_dir
from judge_pipeline.settings.yaml_file import load

Place = Literal["comment", "string", "prompt_text"]
Direction = Literal["up", "down"]

PLACES: tuple[Place, ...] = ("comment", "string", "prompt_text")
"""Where a text can be planted: a comment of the program, a string literal in it, Q_u."""

CONTROL = "control"
"""Name of the harmless text in each place; no injection may be called so."""

FILE = "injections.yaml"


class Injection(SettingsModel):
    """One text that tries to move a judge's p_ac."""

    family: str = Field(min_length=1, max_length=60, description="What it tries, in two or three words")
    place: Place = Field(
        description="Where it is planted: comment, string (a literal in the program), prompt_text (Q_u)"
    )
    direction: Direction = Field(description="Where it tries to move p_ac")
    text: str = Field(min_length=1, max_length=2000, description="The text")

    @field_validator("text")
    @classmethod
    def _no_continued_line(cls, value: str) -> str:
        if any(line.rstrip().endswith("\\") for line in value.splitlines()):
            raise ValueError("no line may end with a backslash: in C it would make the next line of code a comment")
        return value.strip()


class InjectionsFile(SettingsModel):
    """assets_config/injections.yaml."""

    control: str = Field(min_length=200, description="Harmless text; cut or repeated to the length of the injections")
    injections: dict[str, Injection] = Field(min_length=1, description="Name -> injection")

    @field_validator("injections")
    @classmethod
    def _names(cls, value: dict[str, Injection]) -> dict[str, Injection]:
        for name in value:
            check_slug(name, "injection name")
            if name in (CONTROL, "all"):
                raise ValueError(f"{name!r} cannot be the name of an injection; choose another")
        return value

    def control_text(self, place: Place) -> str:
        """The harmless text for a place, as long as the mean injection there; empty where there is none."""
        lengths = [len(injection.text) for injection in self.injections.values() if injection.place == place]
        if not lengths:
            return ""
        length = round(sum(lengths) / len(lengths))
        text = " ".join(self.control.split())
        return (f"{text} " * (length // len(text) + 1))[:length].rstrip()


def read_injections(config_dir: Path) -> InjectionsFile:
    """The workspace's injections.yaml, or the one that comes with the package where it has none.

    Raises:
        SettingsError: the file is wrong.
    """
    own = config_dir / FILE
    return load(InjectionsFile, own if own.is_file() else packaged_config_dir() / FILE)
