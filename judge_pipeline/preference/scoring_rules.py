"""Scoring rules of the field by name: which pairs count, and when a judge's answers on a pair are right.

The same answers give other figures under other rules, so a figure states its rule. In terms of the original A and B:

- ``trace`` (TRACE, section 3 and Table 2): right where both orders choose the response that people chose.
- ``exact`` (Auto-J): right where both orders give the human label, ties included.
- ``judgebench`` (JudgeBench): each order adds 1 where right, takes 1 where it chooses the other response, else nothing;
  right where the sum is above 0.
- ``pandalm`` (PandaLM): the order AB alone; an invalid answer is a tie; ties count.
- ``bigcodereward`` (BigCodeReward): the order AB alone; invalid answers are dropped; ties count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge_pipeline.preference.verdicts import INVALID, NOT_ASKED, TIE
from judge_pipeline.statistics.score_counts import IntArray

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scores:
    """What a rule makes of one judge's answers; arrays of shape (pairs,).

    Attributes:
        offered: the judge was asked, and the rule has pairs with such a label.
        counted: of these, the pairs behind Acc.
        right: of these, those that are right.
        choice: the pairs behind Acc_PC: the same choice in both orders; None where the rule or the answers have one.
    """

    offered: BoolArray
    counted: BoolArray
    right: BoolArray
    choice: BoolArray | None


_Scored = tuple[BoolArray, BoolArray, BoolArray | None]
"""Counted, right and choice before what is not offered is taken off."""


@dataclass(frozen=True, slots=True)
class ScoringRule:
    """One rule.

    Attributes:
        name: what it is called.
        words: what it counts as right, in a sentence.
        ties: whether pairs that people call a tie count; else they are left out.
        two_orders: whether it looks at both orders, where there are both.
        decide: labels, decisions in order AB and, or None, in order BA -> counted, right, choice.
    """

    name: str
    words: str
    ties: bool
    two_orders: bool
    decide: Callable[[IntArray, IntArray, IntArray | None], _Scored]

    def score(self, labels: IntArray, ab: IntArray, ba: IntArray | None) -> Scores:
        """The answers of one judge, scored.

        Args:
            labels: the human choices, codes of ``verdicts``, shape (pairs,).
            ab: decisions in order AB; NOT_ASKED where the judge has none.
            ba: decisions in order BA, or None where there is one order.
        """
        offered = (ab != NOT_ASKED) & (self.ties | (labels != TIE))
        counted, right, choice = self.decide(labels, ab, ba if self.two_orders else None)
        return Scores(offered, offered & counted, offered & right, None if choice is None else offered & choice)


def _same(ab: IntArray, ba: IntArray) -> BoolArray:
    """A valid answer, the same in both orders: two invalid answers are not the same answer."""
    same: BoolArray = (ab == ba) & (ab >= 0)
    return same


def _all(labels: IntArray) -> BoolArray:
    return np.ones(len(labels), np.bool_)


def _trace(labels: IntArray, ab: IntArray, ba: IntArray | None) -> _Scored:
    if ba is None:
        return _all(labels), ab == labels, None
    choice = _same(ab, ba) & (ab != TIE)
    return _all(labels), choice & (ab == labels), choice


def _exact(labels: IntArray, ab: IntArray, ba: IntArray | None) -> _Scored:
    if ba is None:
        return _all(labels), ab == labels, None
    choice = _same(ab, ba)
    return _all(labels), choice & (ab == labels), choice


def _judgebench(labels: IntArray, ab: IntArray, ba: IntArray | None) -> _Scored:
    if ba is None:
        return _all(labels), ab == labels, None
    points = sum(np.where((side >= 0) & (side != TIE), np.where(side == labels, 1, -1), 0) for side in (ab, ba))
    return _all(labels), np.asarray(points) > 0, _same(ab, ba) & (ab != TIE)


def _pandalm(labels: IntArray, ab: IntArray, ba: IntArray | None) -> _Scored:
    return _all(labels), np.where(ab == INVALID, TIE, ab) == labels, None


def _bigcodereward(labels: IntArray, ab: IntArray, ba: IntArray | None) -> _Scored:
    return ab != INVALID, ab == labels, None


SCORING_RULES: Mapping[str, ScoringRule] = {
    rule.name: rule
    for rule in (
        ScoringRule("trace", "right is people's choice in both orders; tied labels are left out", False, True, _trace),
        ScoringRule("exact", "right is people's label in both orders, ties included", True, True, _exact),
        ScoringRule(
            "judgebench", "each order +1 right, -1 wrong, 0 else; right is a sum above 0", False, True, _judgebench
        ),
        ScoringRule(
            "pandalm", "right is people's label in order AB; an invalid answer is a tie", True, False, _pandalm
        ),
        ScoringRule(
            "bigcodereward",
            "right is people's label in order AB; invalid answers are dropped",
            True,
            False,
            _bigcodereward,
        ),
    )
}
"""The rules by name."""
