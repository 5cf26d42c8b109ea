"""Choices that no call was made for (of records, of a rule, of a fitted model) as rows of ``PAIR_JUDGMENTS``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judge_pipeline.judging.failures import Failure
from judge_pipeline.preference.verdicts import SLOTS, unswapped
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS

PairOrder = tuple[str, str]
"""A pair_id and a presentation order."""

_UNASKED = dict.fromkeys(name for name in PAIR_JUDGMENTS.column_names if name != "judge")


def slot_of(decision: str | None, presentation_order: str) -> str | None:
    """What was picked in a presentation order, of a decision in terms of y_A and y_B: the reverse of ``unswapped``.

    Raises:
        ValueError: another decision or order.
    """
    for slot in (None, *SLOTS):
        if unswapped(slot, presentation_order) == decision:
            return slot
    raise ValueError(f"decision {decision!r} is not one of A, B, tie, or None for an invalid answer")


def choice_row(
    pair_id: str,
    presentation_order: str,
    picked: str | Failure,
    request_hash: str,
    further: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One row, by the names of the columns of ``PAIR_JUDGMENTS`` but ``judge``.

    Args:
        pair_id: the pair.
        presentation_order: AB or BA.
        picked: the slot (first, second, tie), or why there is none.
        request_hash: identity of the choice.
        further: other columns that are known (p_first, rationale, model, ...).
    """
    failure = picked if isinstance(picked, Failure) else None
    slot = None if isinstance(picked, Failure) else picked
    return {
        **_UNASKED,
        **(further or {}),
        "pair_id": pair_id,
        "presentation_order": presentation_order,
        "slot": slot,
        "decision": unswapped(slot, presentation_order),
        "failure_class": failure and failure.failure_class,
        "failure": failure and failure.text,
        "request_hash": request_hash,
        "n_tries": 0,
    }


def choices_table(judge: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows as table PAIR_JUDGMENTS of one judge, in their order."""
    return PAIR_JUDGMENTS.conform([{**row, "judge": judge} for row in rows])
