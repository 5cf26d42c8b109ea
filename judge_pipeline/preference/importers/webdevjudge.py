"""WebDevJudge, and WebDev Arena's votes that it is drawn from: two web pages for one wish.

``data/all.jsonl`` as WebDevJudge's script makes it from WebDev Arena (with ``label``), or WebDev Arena's own rows (with
``winner``). The responses are the code of the last message of each chat; screenshots are files of their own, named by
the question.
"""

from __future__ import annotations

from typing import Any

from judge_pipeline.preference.drafts import Faulty, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, label_of, response_of, structure_of, turns_of
from judge_pipeline.settings.preference import WebDevJudgeSource


def pair_of(values: Values, source: WebDevJudgeSource) -> PairDraft:
    """The pair of a line."""
    field = "label" if values.get("label") is not None else "winner"
    turns = turns_of(values.get("conversation_a"), "conversation_a")
    asked = [i for i, (role, _) in enumerate(turns) if role == "user"]
    if not asked:
        raise Faulty("conversation_a", values.get("conversation_a"), "asks nothing", "remove the row")
    question = label_of(values.get("question_id"), "question_id")
    folder = source.screenshots
    shots = None if folder is None or question is None else f"{folder.rstrip('/')}/{question}"
    return PairDraft(
        _code(values.get("conversation_a"), "conversation_a"),
        _code(values.get("conversation_b"), "conversation_b"),
        choice_of(values.get(field), field),
        pair_id=question,
        instruction=turns[asked[-1]][1] or None,
        prior_turns=turns[: asked[-1]],
        category=label_of(values.get("category"), "category"),
        natural_language=label_of(values.get("language"), "language"),
        model_a=label_of(values.get("model_a"), "model_a"),
        model_b=label_of(values.get("model_b"), "model_b"),
        evidence_a={} if shots is None else {"screenshot": f"{shots}_a.png"},
        evidence_b={} if shots is None else {"screenshot": f"{shots}_b.png"},
    )


def _code(value: Any, field: str) -> str:
    """The code of the last message's object."""
    messages = structure_of(value, field)
    last = messages[-1] if isinstance(messages, list) and messages else None
    made = structure_of(last.get("object"), f"{field}.object") if isinstance(last, dict) else None
    return response_of(made.get("code") if isinstance(made, dict) else None, f"{field}: code of the last message")


IMPORTER = Importer(
    "webdevjudge", pair_of, "loader", "github.com/lcy2723/WebDevJudge data/prepare.py, evaluator/likert.py"
)
