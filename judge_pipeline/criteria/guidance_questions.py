"""What a synthesizer of guidance is asked, and what it must answer (CriterAlign, section 3.3, HPAG).

Here alone, and of training pairs alone, a model is shown what people chose. The choice, the judge's decision and
aspects are of closed sets; all else was written by people or models and is judged text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from judge_pipeline.criteria.questions import ID, criteria_question
from judge_pipeline.judging.question import Question, Row, same_for_all
from judge_pipeline.settings.guidance import (
    LONGEST_GUIDANCE_CHARS,
    LONGEST_PATTERN_CHARS,
    MOST_PATTERNS,
    Gap,
)

LONGEST_RATIONALE_CHARS = 800
"""Longest reconstructed rationale accepted; the prompt asks for far less."""

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


def _as_line(value: Any) -> Any:
    """The text on one line; nothing else of it changes."""
    return " ".join(value.split()) if isinstance(value, str) else value


_Text = Annotated[str, BeforeValidator(_as_line), Field(min_length=1, max_length=LONGEST_GUIDANCE_CHARS)]


class HumanRationale(BaseModel):
    """Why people chose as they did, reconstructed."""

    model_config = _STRICT

    rationale: Annotated[str, BeforeValidator(_as_line)] = Field(
        min_length=1,
        max_length=LONGEST_RATIONALE_CHARS,
        description="What most likely decided, in short",
    )


class Divergence(BaseModel):
    """Something that people weigh otherwise than the judge."""

    model_config = _STRICT

    text: Annotated[str, BeforeValidator(_as_line)] = Field(
        min_length=1,
        max_length=LONGEST_PATTERN_CHARS,
        description=f"What people weigh, in one sentence of at most {LONGEST_PATTERN_CHARS} characters",
    )
    gap: Gap = Field(description="What the judge does with it: missed, over_emphasized or under_emphasized")


class GuidanceAnswer(BaseModel):
    """Divergence patterns, and what follows from them for each stage."""

    model_config = _STRICT

    patterns: list[Divergence] = Field(
        min_length=1, max_length=MOST_PATTERNS, description=f"1 to {MOST_PATTERNS} patterns, the commonest first"
    )
    generator: _Text = Field(description="What whoever writes criteria is told")
    criterion_judge: _Text = Field(description="What whoever compares responses on one criterion is told")
    final_judge: _Text = Field(description="What whoever decides between the responses is told")


def _unpacked(row: Row) -> Mapping[str, Any]:
    return {**row, **json.loads(row["shown"])}


HUMAN_RATIONALE = replace(
    criteria_question(
        "human_rationale", lambda _row, _short: HumanRationale, plain=("human_choice", "aspects"), packed=("aspects",)
    ),
    name="guidance_human_rationale",
    templates={"schema": "guidance_human_rationale.md.j2"},
    embedded_answer_model=None,
)
"""Why did people choose this response? s_human of one training record."""

GENERAL = Question(
    name="guidance_general",
    id_column=ID,
    judged_fields=("records",),
    shown_fields=("records", "facts"),
    templates={"schema": "guidance_general.md.j2"},
    answer_model=same_for_all(GuidanceAnswer),
    unpack=_unpacked,
)
"""What do people weigh that the judge does not, over all records? G-HPAG."""

CATEGORY = replace(
    GENERAL,
    name="guidance_category",
    judged_fields=("records", "category", "general"),
    shown_fields=("records", "facts", "category", "general"),
    templates={"schema": "guidance_category.md.j2"},
)
"""The same in one category of tasks, beside what is shared by all: C-HPAG."""

QUESTIONS = (HUMAN_RATIONALE, GENERAL, CATEGORY)
