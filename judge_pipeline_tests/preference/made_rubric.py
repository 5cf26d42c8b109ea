"""Scripted models for finding and scoring a rubric: answers that follow stated rules, and what they were asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from judge_pipeline.judging.question import Question
from judge_pipeline.preference.rubric_items import Item
from judge_pipeline.preference.rubric_questions import ID, Answers
from judge_pipeline.tables import PAIR_TEXTS

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


class Scripted:
    """Answers a question by a function of what is shown; None: no valid answer. Answers are held to the question's
    model, as the engine does."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.shown: dict[str, dict[str, Any]] = {}

    def __call__(self, question: Question, rows: pd.DataFrame) -> Answers:
        values, failures = {}, {}
        for row in rows.to_dict("records"):
            shown = dict(question.unpack(row))
            assert set(shown) <= set(question.shown_fields) and set(question.judged_fields) <= set(shown)
            self.shown[row[ID]] = shown
            found = self._answer(shown)
            if found is None:
                failures[row[ID]] = "invalid: scripted"
            else:
                values[row[ID]] = question.answer_model(row).model_validate(found).model_dump()
        return Answers(values, failures, {name: f"hash of {name}" for name in values})


def made_texts(responses: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Table PAIR_TEXTS of pairs with these responses and nothing else but an instruction."""
    rows = [
        dict.fromkeys(PAIR_TEXTS.column_names)
        | {"pair_id": name, "instruction": "do", "response_a": a, "response_b": b}
        for name, (a, b) in responses.items()
    ]
    return PAIR_TEXTS.conform(rows)


def item(slug: str, origin: str = "human", round_: int | None = None, **more: Any) -> Item:
    """An item whose words say its slug."""
    return Item(slug, f"Title {slug}", f"high {slug}", f"low {slug}", origin, round=round_, **more)


def axis(title: str) -> dict[str, str]:
    """An axis as a model answers it."""
    return {"title": title, "high": f"more {title}", "low": f"less {title}"}


def shown_text(shown: Mapping[str, Any]) -> str:
    """All that is shown, as one text."""
    return json.dumps(shown, ensure_ascii=False)
