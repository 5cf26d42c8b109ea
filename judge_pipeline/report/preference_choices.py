"""What each judge chose on a pair in both orders, with its reasons, as a person would read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.figures.estimates import text
from judge_pipeline.report.preference_inputs import PreferenceReportInput

MAX_RATIONALE_CHARS = 500
_NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """A judge on one pair.

    Attributes:
        judge: what the page calls it.
        shown_first: what it chose with A shown first and with B shown first: A, B, tie, ``invalid: why`` or
            ``not asked``.
        choice: A or B, where both orders that were asked give it; None otherwise.
        changed: whether two valid answers differ.
        reasons: its reasons in both orders, with the order before each.
    """

    judge: str
    shown_first: tuple[str, str]
    choice: str | None
    changed: bool
    reasons: tuple[str, ...]

    @property
    def words(self) -> str:
        """The choice, or why there is none."""
        if self.choice is not None:
            return self.choice
        if self.changed:
            return "changed with the order"
        return "tie" if "tie" in self.shown_first else "no valid choice"


def verified_judges(given: PreferenceReportInput) -> list[str]:
    """The judges, as the tables call them, whose tables are whole; all where no coverage is known."""
    kinds = given.kinds
    if not kinds:
        return list(given.pair_judgments)
    return [kind.label for kind in kinds.values() if kind.verified and kind.label in given.pair_judgments]


def choices_of_pairs(judgments: Mapping[str, pd.DataFrame], judges: Collection[str]) -> dict[str, list[JudgeChoice]]:
    """Pair -> what these judges chose on it, judges in the order given."""
    found: dict[str, list[JudgeChoice]] = {}
    for judge in judges:
        by_pair: dict[str, dict[str, Mapping[Any, Any]]] = {}
        for row in judgments[judge].to_dict("records"):
            by_pair.setdefault(row["pair_id"], {})[row["presentation_order"]] = row
        for pair, orders in by_pair.items():
            found.setdefault(pair, []).append(_choice(judge, orders))
    return found


def _choice(judge: str, orders: Mapping[str, Mapping[Any, Any]]) -> JudgeChoice:
    decisions = [text(orders[order]["decision"]) for order in sorted(orders)]
    same = decisions[0] if len(set(decisions)) == 1 else None
    return JudgeChoice(
        judge,
        (_shown(orders.get("AB")), _shown(orders.get("BA"))),
        same if same in ("A", "B") else None,
        None not in decisions and len(set(decisions)) > 1,
        tuple(
            f"{'A' if order == 'AB' else 'B'} first: {_cut(reason)}"
            for order in sorted(orders)
            if (reason := text(orders[order]["rationale"])) is not None
        ),
    )


def _shown(row: Mapping[Any, Any] | None) -> str:
    if row is None:
        return _NOT_ASKED
    decision = text(row["decision"])
    return decision or f"invalid: {(text(row['failure_class']) or 'no reason given').replace('_', ' ')}"


def _cut(reason: str) -> str:
    return reason if len(reason) <= MAX_RATIONALE_CHARS else f"{reason[:MAX_RATIONALE_CHARS]}…"
