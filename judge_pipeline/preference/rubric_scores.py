"""Rubric scores: which response of a pair satisfies an item better, asked in both orders (TRACE, section 3, step 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import pandas as pd

from judge_pipeline.preference.pair_question import pair_key
from judge_pipeline.preference.rubric_answers import score_fields
from judge_pipeline.preference.rubric_items import Item
from judge_pipeline.preference.rubric_pairs import ShownPair
from judge_pipeline.preference.rubric_questions import Answers, requests, score_shown
from judge_pipeline.preference.verdicts import unswapped
from judge_pipeline.tables.pair_judging import PRESENTATION_ORDERS
from judge_pipeline.tables.rubric import RUBRIC_SCORES

TwoOrders = Literal["must_agree", "forward_unless_tie"]


@dataclass(frozen=True)
class ScoreRequests:
    """What is asked to score pairs on items.

    Attributes:
        rows: a row for each pair, group of items and order.
        asked: request id -> pair, order and items, in the order of the rows.
    """

    rows: pd.DataFrame
    asked: dict[str, tuple[str, str, tuple[Item, ...]]]


def score_requests(
    preference_set: str, pairs: Sequence[ShownPair], items: Sequence[Item], items_per_call: int
) -> ScoreRequests:
    """Every pair on every item in both orders, so many items a call.

    Items that different rounds found are not asked in one call: what a round asked is asked no more when a later one
    adds items.

    Args:
        preference_set: the set's name, for the ids of what is asked.
        pairs: the pairs.
        items: the items.
        items_per_call: most items in a call.
    """
    shown: dict[str, Any] = {}
    asked = {}
    groups = list(_groups(items, items_per_call))
    for pair in pairs:
        key = pair_key(preference_set, pair.pair_id)
        for order in PRESENTATION_ORDERS:
            for number, group in enumerate(groups, start=1):  # the same pair again: servers cache what stands first
                name = f"{key}/rubric-{number}-{order}"
                shown[name] = score_shown(pair, group, order)
                asked[name] = (pair.pair_id, order, group)
    return ScoreRequests(requests(shown), asked)


def _groups(items: Sequence[Item], size: int) -> Iterator[tuple[Item, ...]]:
    by_round = sorted(items, key=_found_in)
    for _, together in groupby(by_round, key=_found_in):
        own = tuple(together)
        yield from (own[start : start + size] for start in range(0, len(own), size))


def _found_in(item: Item) -> int:
    """The round before whose end the item was there: people's items are there from the first on."""
    return item.round or 1


def rubric_scores(
    asked: ScoreRequests, answers: Answers, *, scorer: str | None, two_orders: TwoOrders = "must_agree"
) -> pd.DataFrame:
    """The answers as table RUBRIC_SCORES: a row for each pair and item, in the order in which they were asked.

    Args:
        asked: what was asked.
        answers: what was answered.
        scorer: the judge that answered; None where there is none.
        two_orders: how the answers of the two orders become one score; see :func:`combined`.
    """
    found: dict[tuple[str, str], dict[str, int | None]] = {}
    why: dict[tuple[str, str], list[str]] = {}
    for name, (pair_id, order, group) in asked.asked.items():
        value = answers.values.get(name)
        for field, item in zip(score_fields(len(group)), group, strict=True):
            key = (pair_id, item.slug)
            slot = None if value is None else value[field]
            found.setdefault(key, {})[order] = None if slot is None else _score(slot, order)
            if slot is None:
                why.setdefault(key, []).append(f"{order}: {answers.failures.get(name, 'no answer')}")
    return RUBRIC_SCORES.conform(
        [
            {
                "pair_id": pair_id,
                "item": item,
                "score": combined(scores["AB"], scores["BA"], two_orders),
                "score_ab": scores["AB"],
                "score_ba": scores["BA"],
                "scorer": scorer,
                "reason": "; ".join(why[pair_id, item]) if (pair_id, item) in why else None,
            }
            for (pair_id, item), scores in found.items()
        ]
    )


_SCORE_OF_RESPONSE: Mapping[str | None, int] = {"A": -1, "tie": 0, "B": 1}


def _score(slot: str, order: str) -> int:
    """In terms of y_A (-1) and y_B (+1)."""
    return _SCORE_OF_RESPONSE[unswapped("tie" if slot == "equal" else slot, order)]


def combined(score_ab: int | None, score_ba: int | None, two_orders: TwoOrders) -> int | None:
    """One score of the answers in both orders, each in terms of y_A (-1) and y_B (+1).

    ``must_agree``: what both say, else 0. ``forward_unless_tie``: where either is a tie, what order AB says (TRACE's
    public code). None where an order has no valid answer.
    """
    if score_ab is None or score_ba is None:
        return None
    if score_ab == score_ba:
        return score_ab
    return score_ab if two_orders == "forward_unless_tie" and 0 in (score_ab, score_ba) else 0
