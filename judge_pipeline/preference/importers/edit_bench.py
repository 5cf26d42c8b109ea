"""EDIT-Bench: votes between two edits of marked code (Chi et al., 2025b).

Two forms: raw votes as TRACE's public code reads them (``responseItems``, a list of two, and ``acceptedIndex``), and
the redacted votes that TRACE publishes (``llm_response_a``, ``llm_response_b``, ``winner``). The benchmark's tasks on
Hugging Face hold no votes.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from judge_pipeline.preference.drafts import Faulty, LeftOut, PairDraft
from judge_pipeline.preference.importers.importer import Importer, Values
from judge_pipeline.preference.row_values import choice_of, index_choice, label_of, response_of, structure_of, text_of
from judge_pipeline.settings.preference import EditBenchSource

_NEEDED = ("prefix", "user_input", "code_to_edit")


def pair_of(values: Values, source: EditBenchSource) -> PairDraft:
    """The pair of a vote."""
    if "responseItems" not in values:
        return _redacted(values)
    if source.privacy is not None and values.get("privacy") != source.privacy:
        raise LeftOut(f"privacy is not {source.privacy}", "source.privacy")
    items = _items(values["responseItems"])
    if any(key not in items[0] for key in _NEEDED):
        raise LeftOut("the vote has no prefix, no instruction or no marked code", None)
    return PairDraft(
        response_of(items[0].get("response"), "responseItems[0].response"),
        response_of(items[1].get("response"), "responseItems[1].response"),
        index_choice(values.get("acceptedIndex"), "acceptedIndex"),
        pair_id=label_of(values.get("pairId"), "pairId"),
        instruction=text_of(items[0].get("user_input"), "user_input"),
        prefix=text_of(items[0].get("prefix"), "prefix"),
        suffix=text_of(items[0].get("suffix"), "suffix"),
        code_to_edit=text_of(items[0].get("code_to_edit"), "code_to_edit"),
        language=label_of(items[0].get("language") or values.get("language"), "language"),
        model_a=label_of(items[0].get("model"), "model_a"),
        model_b=label_of(items[1].get("model"), "model_b"),
    )


def _items(value: Any) -> list[Mapping[str, Any]]:
    """Both responses; written as JSON, or as Python prints a list (as the public CSV does)."""
    try:
        items = structure_of(value, "responseItems")
    except Faulty:
        try:
            items = ast.literal_eval(str(value))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            items = None
    if not isinstance(items, list) or len(items) != 2 or not all(isinstance(item, Mapping) for item in items):
        raise Faulty("responseItems", value, "is no list of two responses", "write it as JSON, or remove the row")
    return items


def _redacted(values: Values) -> PairDraft:
    return PairDraft(
        response_of(values.get("llm_response_a"), "llm_response_a"),
        response_of(values.get("llm_response_b"), "llm_response_b"),
        choice_of(values.get("winner"), "winner"),
        pair_id=label_of(values.get("question_id"), "question_id"),
        instruction=text_of(values.get("user_input"), "user_input"),
        prefix=text_of(values.get("prefix"), "prefix"),
        suffix=text_of(values.get("suffix"), "suffix"),
        code_to_edit=text_of(values.get("code_to_edit"), "code_to_edit"),
    )


IMPORTER = Importer(
    "edit_bench",
    pair_of,
    "loader",
    "github.com/rShar01/TRACE editbench_utils.py, datasets/subset_editbench_deidentification_annotations.csv",
)
