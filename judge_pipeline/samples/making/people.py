"""The participants of the sample contest, read from ``people.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Literal

from judge_pipeline.samples.making.catalogue import MAKING
from judge_pipeline.samples.making.retype import Style


@dataclass(frozen=True, slots=True)
class Participant:
    """One participant.

    Attributes:
        name: E001 to E012.
        languages: what they write in; a second language is where they turn when stuck.
        skill: how well they do, on the scale of the problems' difficulty.
        layout: how their submission pages look.
        later: how those from problem P06 on look, where that differs.
        folders: whether their pages lie in a folder for each problem.
        log: how their chats were kept.
        tongue: the language they write prompts in.
        style: how they type programs.
    """

    name: str
    languages: tuple[str, ...]
    skill: float
    layout: str
    folders: bool
    log: Literal["text", "markdown", "export", "none"]
    tongue: Literal["en", "ja"]
    style: Style
    later: str | None = None

    def layout_for(self, problem_id: str) -> str:
        """The layout of their pages for this problem."""
        return self.later if self.later and problem_id >= "P06" else self.layout


@cache
def participants() -> dict[str, Participant]:
    """All participants by name, in order."""
    entries = tomllib.loads((MAKING / "people.toml").read_text(encoding="utf-8"))["participant"]
    found = {}
    for entry in entries:
        style = Style(**entry.pop("style"))
        languages = tuple(entry.pop("languages"))
        found[entry["name"]] = Participant(**entry, languages=languages, style=style)
    return found
