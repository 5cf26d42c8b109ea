"""What is asked of every row of a table: what its prompt may show, and what an answer to it must be.

Judging itself knows nothing of contests or preference sets: it renders rows, asks, and keeps what was answered. A
``Question`` is what one use of it says of its rows. That of the co-creation system (paper 1, eq. 7 and 8) stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from judge_pipeline.judging.answer import Answer, Judgment, parse_answer
from judge_pipeline.judging.failures import Failure
from judge_pipeline.judging.pilot import pilot
from judge_pipeline.judging.request import JUDGED_FIELDS, SHOWN_FIELDS, Image, PromptTemplate
from judge_pipeline.judging.scoring import JUDGMENT_SCORING, Scoring

if TYPE_CHECKING:
    import pandas as pd

    from judge_pipeline.settings import EmbeddedJudge, LitellmJudge, RewardJudge

    Asked = LitellmJudge | EmbeddedJudge | RewardJudge

Row = Mapping[str, Any]

Reader = Callable[[str | None, str | None], Answer[BaseModel] | Failure]
"""The text that a model returned, and the reason why it stopped -> the answer, or why there is none."""


def reader_of(model: type[BaseModel]) -> Reader:
    """Reads one JSON object that must be this model (:func:`judge_pipeline.judging.answer.parse_answer`)."""
    return partial(parse_answer, model=model)


@dataclass(frozen=True)
class Question:
    """What is asked of every row of a table.

    Attributes:
        name: for settings (``prompts``) and messages; lower-case letters and underscores.
        id_column: the column that says whose row it is; its values are told to the checkpoint.
        judged_fields: fields that hold text by people, programs or models: data, never instructions. A value may be a
            text, or a list or mapping of such values.
        shown_fields: all fields that a template can use; any other name in it is an error.
        templates: how a judge states its answer (``schema``; see ``answer_form`` in the settings; ``embedded``,
            ``reward``) -> the prompt template that asks for it so, where the judge's settings name none.
        answer_model: what an answer to a row must be; given None, what it must be for any row.
        embedded_answer_model: the same where the embedded model writes it, held to its lengths by a grammar; None: no
            other.
        unpack: a row -> the fields that a template can use.
        shorten: the same row for the embedded model, which is shown less.
        scoring: how the embedded model's token probabilities become an answer; None where it writes one.
        readers: answer form -> how an answer in that form is read; ``schema`` is read as JSON.
        keeps_invalid: whether an answer that stays invalid is the judge's own, and not asked for again.
        choose: rows, n, seed -> the ids of a pilot of n rows.
        images: a row -> the images that it can show, by name, in the order in which they are shown; they follow the
            last message of the user where the judge takes images. Which are shown, by name, is the field ``images`` of
            templates that may use it. None: it never shows any.
    """

    name: str
    id_column: str
    judged_fields: tuple[str, ...]
    shown_fields: tuple[str, ...]
    templates: Mapping[str, str]
    answer_model: Callable[[Row | None], type[BaseModel]]
    unpack: Callable[[Row], Row] = field(default=lambda row: row)
    shorten: Callable[[EmbeddedJudge, Row], Row] = field(default=lambda _settings, row: row)
    scoring: Scoring | None = None
    readers: Mapping[str, Reader] = field(default_factory=dict)
    keeps_invalid: bool = False
    embedded_answer_model: Callable[[Row | None], type[BaseModel]] | None = None
    choose: Callable[[pd.DataFrame, int, int], frozenset[str]] = pilot
    images: Callable[[Row], Mapping[str, Image]] | None = None

    def form(self, settings: Asked) -> str:
        """How the judge states its answer to this question."""
        if settings.backend != "litellm":
            return settings.backend
        return settings.answer_form if settings.answer_form in self.readers else "schema"

    def template(self, settings: Asked) -> str:
        """The name of the judge's prompt template."""
        named = settings.prompts.get(self.name)
        if named is None and self.name == ATTEMPT.name and settings.backend != "reward":
            named = settings.prompt
        return named or self.templates[self.form(settings)]

    def load_template(self, settings: Asked, prompts_dir: Path) -> PromptTemplate:
        """The judge's prompt template.

        Raises:
            JudgingError: it is missing or wrong.
        """
        return PromptTemplate.load(prompts_dir, self.template(settings), self.judged_fields, self.shown_fields)

    def reader(self, settings: Asked, row: Row | None) -> Reader:
        """How the judge's answer to the row is read."""
        return self.readers.get(self.form(settings)) or reader_of(self.model(settings, row))

    def model(self, settings: Asked, row: Row | None) -> type[BaseModel]:
        """What the judge's answer to the row must be."""
        if settings.backend == "embedded" and self.embedded_answer_model is not None:
            return self.embedded_answer_model(row)
        return self.answer_model(row)


def same_for_all(model: type[BaseModel]) -> Callable[[Row | None], type[BaseModel]]:
    """An answer to any row must be this model."""
    return lambda _row: model


def _shortened_attempt(settings: EmbeddedJudge, row: Row) -> Row:
    """The request with code and context cut to what the model is shown; what was cut is added to the counts."""
    code, prompt = str(row["source_code"]), str(row["prompt_text"])
    return {
        **row,
        "source_code": code[: settings.max_code_chars],
        "prompt_text": prompt[: settings.max_prompt_chars],
        "source_chars_cut": row["source_chars_cut"] + max(0, len(code) - settings.max_code_chars),
        "prompt_chars_cut": row["prompt_chars_cut"] + max(0, len(prompt) - settings.max_prompt_chars),
    }


ATTEMPT = Question(
    name="attempt",
    id_column="attempt_id",
    judged_fields=JUDGED_FIELDS,
    shown_fields=SHOWN_FIELDS,
    templates={"schema": "cocreation_judge.md.j2", "embedded": "embedded_judge.md.j2"},
    answer_model=same_for_all(Judgment),
    shorten=_shortened_attempt,
    scoring=JUDGMENT_SCORING,
)
"""Was the attempt accepted, and how good is it? Rows of ``judge_requests``; a :class:`Judgment` answers one."""
