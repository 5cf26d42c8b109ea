"""One judge's choices on the pairs of a set, in both presentation orders: made into a table, and verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from judge_pipeline.judging.settled import OWN_FAILURES
from judge_pipeline.preference.screenshots import shown_and_not
from judge_pipeline.preference.verdicts import PRESENTATION_ORDERS, unswapped
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS

_SLOTS = {"A": "first", "B": "second", "tie": "tie"}
"""A judge calls what it is shown first A, in either order."""

_SHOWN = 5


def pair_judgments(
    judge: str, rows: pd.DataFrame, answers: pd.DataFrame, *, takes_images: bool = False
) -> pd.DataFrame:
    """The judge's choices, from its answers.

    Args:
        judge: its name.
        rows: what it was asked (``pair_question.pair_rows``).
        answers: what it answered (``answers_table.answers_table``), in any order.
        takes_images: whether it is shown screenshots.

    Returns:
        Table PAIR_JUDGMENTS in the order of ``rows``: a row for each answer, and for each that stayed invalid. What the
        provider failed to bring has no row: see :func:`missing`.
    """
    of_row = answers.set_index("id")
    made = []
    for row in rows.to_dict("records"):
        answer = of_row.loc[row["request_id"]].to_dict()
        if answer["answer"] is None and answer["failure_class"] not in OWN_FAILURES:
            continue
        n_screenshots, left_out = shown_and_not(row, takes_images)
        shown = {"n_screenshots": n_screenshots, "screenshots_left_out": left_out}
        made.append(_row(judge, row["pair_id"], row["presentation_order"], answer) | shown)
    return PAIR_JUDGMENTS.conform(pd.DataFrame(made, columns=PAIR_JUDGMENTS.column_names, dtype="object"))


def _row(judge: str, pair_id: str, order: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    fields = answer["answer"] or {}
    slot = _SLOTS[fields["choice"]] if fields else None
    taken = ("failure_class", "failure", "request_hash", "model", "repair", "n_tries", "latency_ms", "tokens_in")
    further = ("tokens_out", "cost_usd")
    return {
        "pair_id": pair_id,
        "presentation_order": order,
        "judge": judge,
        "slot": slot,
        "decision": unswapped(slot, order),
        **{name: fields.get(name) for name in ("p_first", "score_first", "score_second", "rationale")},
        **{name: answer[name] for name in (*taken, *further)},
    }


def missing(rows: pd.DataFrame, answers: pd.DataFrame, pilot: frozenset[str] | None = None) -> list[str]:
    """What keeps the table from being accepted: answers that the provider, and not the judge, failed to bring.

    An answer that stays invalid, refused or cut off is the judge's own and counts as wrong (TRACE, Table 2).

    Args:
        rows: what was to be asked.
        answers: what came of it.
        pilot: ids of the rows that a limit left; None: all.

    Returns:
        A sentence for each failure class, naming up to five of the pairs; empty where nothing is missing.
    """
    pair_of = dict(zip(rows["request_id"], rows["pair_id"], strict=True))
    wanted = answers[answers["id"].isin(pair_of) & (answers["id"].isin(pilot) if pilot is not None else True)]
    absent = wanted[wanted["answer"].isna() & ~wanted["failure_class"].isin(OWN_FAILURES)]
    problems = []
    for name, failed in absent.groupby(absent["failure_class"].fillna("not asked"), sort=True):
        pairs = sorted({pair_of[id_] for id_ in failed["id"]})
        first = next((text for text in failed["failure"] if isinstance(text, str)), None)
        problems.append(
            f"{len(failed)} of {len(wanted)} answers are missing ({name}), of pairs {_named(pairs)}"
            + (f"; the first says: {first}" if first else "")
        )
    return problems


def not_verified(
    judgments: pd.DataFrame, pair_ids: Sequence[str], orders: Sequence[str] = PRESENTATION_ORDERS
) -> list[str]:
    """What keeps a stored table from being whole: every pair in scope once in every order, and no other.

    Args:
        judgments: table PAIR_JUDGMENTS.
        pair_ids: the pairs in the judge's scope.
        orders: the presentation orders that were asked.

    Returns:
        A sentence for each problem; empty where the table is verified.
    """
    wanted = {(pair_id, order) for pair_id in pair_ids for order in orders}
    there = list(zip(judgments["pair_id"], judgments["presentation_order"], strict=True))
    twice = sorted({pair for (pair, _), n in Counter(there).items() if n > 1})
    absent = sorted({pair for pair, _ in wanted - set(there)})
    further = sorted({pair for pair, _ in set(there) - wanted})
    found = (
        (absent, f"of {len(set(pair_ids))} pairs lack an answer"),
        (twice, "pairs have two answers in one order"),
        (further, "pairs are outside the judge's scope, or in an order that was not asked"),
    )
    return [f"{len(pairs)} {what}: {_named(pairs)}" for pairs, what in found if pairs]


def _named(pair_ids: Sequence[str]) -> str:
    return ", ".join(pair_ids[:_SHOWN]) + (", ..." if len(pair_ids) > _SHOWN else "")
