"""Copilot Arena: votes between two completions in an editor (Chi et al., 2025).

Three forms: the examples in its repository (``prefix``, ``suffix``, ``completion_a``, ``completion_b``,
``acceptedIndex``), its raw votes (``completionItems``, a JSON list of two), and the redacted votes that TRACE publishes
(``redacted_prefix``, ..., ``winner``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge_pipeline.preference.drafts import Faulty, LeftOut, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, index_choice, label_of, response_of, structure_of, text_of
from judge_pipeline.settings.preference import CopilotArenaSource


def pair_of(values: Values, source: CopilotArenaSource) -> PairDraft:
    """The pair of a vote. The first completion is the one that the editor shows first."""
    if "redacted_llm_response_a" in values:
        return _redacted(values)
    first, second = _items(values)
    w = index_choice(values.get("acceptedIndex"), "acceptedIndex")
    if source.accepted == "second" and w == "A":
        raise LeftOut("the completion shown first was accepted", "source.accepted")
    return PairDraft(
        response_of(first.get("completion"), "completion_a"),
        response_of(second.get("completion"), "completion_b"),
        w,
        pair_id=label_of(values.get("pairId"), "pairId"),
        prefix=text_of(first.get("prefix"), "prefix"),
        suffix=text_of(first.get("suffix"), "suffix"),
        language=label_of(values.get("languageId") or values.get("language"), "language"),
        model_a=label_of(first.get("model"), "model_a"),
        model_b=label_of(second.get("model"), "model_b"),
    )


def _items(values: Values) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Both completions, each with its context and its model."""
    if "completionItems" not in values:
        context = {"prefix": values.get("prefix"), "suffix": values.get("suffix")}
        both = [{"completion": values.get(f"completion_{x}"), "model": values.get(f"model_{x}")} for x in "ab"]
        return context | both[0], both[1]
    items = structure_of(values["completionItems"], "completionItems")
    if not isinstance(items, list) or len(items) != 2 or not all(isinstance(item, Mapping) for item in items):
        raise Faulty("completionItems", values["completionItems"], "is no list of two completions", "remove the row")
    if "prefix" not in items[0]:
        raise LeftOut("the vote has no prefix", None)
    return items[0], items[1]


def _redacted(values: Values) -> PairDraft:
    return PairDraft(
        response_of(values.get("redacted_llm_response_a"), "redacted_llm_response_a"),
        response_of(values.get("redacted_llm_response_b"), "redacted_llm_response_b"),
        choice_of(values.get("winner"), "winner"),
        pair_id=label_of(values.get("question_id"), "question_id"),
        prefix=text_of(values.get("redacted_prefix"), "redacted_prefix"),
        suffix=text_of(values.get("redacted_suffix"), "redacted_suffix"),
    )


IMPORTER = Importer(
    "copilot_arena",
    pair_of,
    "files",
    "github.com/lmarena/copilot-arena (examples), github.com/rShar01/TRACE copilot_utils.py, datasets/copilot.csv",
)
