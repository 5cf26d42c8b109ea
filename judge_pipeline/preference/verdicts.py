"""What a judge decided on a preference pair, in the order it was shown and in terms of the original A and B.

A judge sees two responses in a presentation order: AB shows y_A first, BA shows y_B first. It picks a slot (first,
second), calls a tie, or its answer is invalid (None). ``unswapped`` is the one place where slots become responses.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from judge_pipeline.statistics.score_counts import IntArray

PRESENTATION_ORDERS = ("AB", "BA")
SLOTS = ("first", "second", "tie")
CHOICES = ("A", "B", "tie")

A, B, TIE, INVALID, NOT_ASKED = 0, 1, 2, -1, -2
"""Decisions as whole numbers; those of ``CHOICES`` are their places."""

_RESPONSES = {
    ("first", "AB"): "A", ("second", "AB"): "B", ("first", "BA"): "B", ("second", "BA"): "A",
}  # fmt: skip


def unswapped(slot: str | None, presentation_order: str) -> str | None:
    """The decision in terms of the original A and B of what was picked in a presentation order.

    Args:
        slot: first, second, tie, or None for an invalid answer.
        presentation_order: AB or BA.

    Returns:
        A, B, tie, or None for an invalid answer.

    Raises:
        ValueError: another slot or order.
    """
    if presentation_order not in PRESENTATION_ORDERS:
        raise ValueError(f"presentation order {presentation_order!r} is not one of {', '.join(PRESENTATION_ORDERS)}")
    if slot is None or slot == "tie":
        return slot
    if slot not in SLOTS:
        raise ValueError(f"slot {slot!r} is not one of {', '.join(SLOTS)}, or None for an invalid answer")
    return _RESPONSES[slot, presentation_order]


def decisions_of(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts, a row for each order, as decisions, a row for each pair and judge.

    Args:
        verdicts: columns pair_id, judge, presentation_order (AB, BA) and slot (first, second, tie; None: invalid).

    Returns:
        Columns pair_id, judge, decision_ab, decision_ba in order of first appearance. An order that was not asked of a
        judge on a pair is None there, as an invalid answer is; where nothing was shown in the order BA, the column is
        left out: one order.

    Raises:
        ValueError: a slot or order that is none, or an order that stands twice for a pair and a judge.
    """
    twice = verdicts.duplicated(["pair_id", "judge", "presentation_order"])
    if twice.any():
        row = verdicts[twice].iloc[0]
        raise ValueError(
            f"judge {row['judge']!r} has two verdicts on pair {row['pair_id']!r} in order {row['presentation_order']}. "
            "Remedy: keep one"
        )
    found: dict[tuple[str, str], dict[str, str | None]] = {}
    columns = verdicts[["pair_id", "judge", "presentation_order", "slot"]].itertuples(index=False, name=None)
    for pair_id, judge, order, slot in columns:
        decision = unswapped(None if pd.isna(slot) else slot, order)
        found.setdefault((pair_id, judge), {})[f"decision_{order.lower()}"] = decision
    names = ["decision_ab"]
    names += ["decision_ba"] if (verdicts["presentation_order"] == "BA").any() else []
    rows = [{"pair_id": p, "judge": j, **{n: of.get(n) for n in names}} for (p, j), of in found.items()]
    return pd.DataFrame(rows, columns=["pair_id", "judge", *names], dtype=object)


def verdicts_of(decisions: pd.DataFrame) -> pd.DataFrame:
    """The reverse: decisions in terms of A and B as what was picked in each presentation order.

    Args:
        decisions: columns pair_id, judge, decision_ab and, where both orders were asked, decision_ba.

    Returns:
        Columns pair_id, judge, presentation_order, slot.
    """
    slots = {(response, order): slot for (slot, order), response in _RESPONSES.items()}
    rows = []
    for row in decisions.to_dict("records"):
        for order in PRESENTATION_ORDERS:
            name = f"decision_{order.lower()}"
            if name in row:
                decision = None if pd.isna(row[name]) else row[name]
                slot = decision if decision in (None, "tie") else slots[decision, order]
                shown = {"presentation_order": order, "slot": slot}
                rows.append({"pair_id": row["pair_id"], "judge": row["judge"], **shown})
    return pd.DataFrame(rows, columns=["pair_id", "judge", "presentation_order", "slot"], dtype=object)


def codes_of(decisions: pd.Series) -> IntArray:
    """Decisions as whole numbers: A 0, B 1, tie 2, and a missing one -1 (invalid).

    Raises:
        ValueError: a decision that is none of these.
    """
    missing = decisions.isna()
    codes = decisions.map({name: place for place, name in enumerate(CHOICES)})
    wrong = ~missing & codes.isna()
    if wrong.any():
        place, value = decisions.index[wrong][0], decisions[wrong].iloc[0]
        raise ValueError(
            f"{place}: {decisions.name} is {value!r}, which is none of {', '.join(CHOICES)}. Remedy: give one of them"
        )
    return np.asarray(codes.fillna(INVALID), np.int64)
