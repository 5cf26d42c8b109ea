"""Preference pairs with what judges, users and annotators chose, checked and as whole numbers.

The one table that all figures of this room start from has a row for each pair and judge. Where its index is text, it
says where each row stands in a file, so that faults can be named; else rows are numbered from 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from judge_pipeline.preference.verdicts import CHOICES, INVALID, NOT_ASKED, codes_of
from judge_pipeline.statistics.score_counts import FloatArray, IntArray

REQUIRED = ("pair_id", "judge", "label", "decision_ab")
OF_A_PAIR = ("label", "category", "cluster", "length_a", "length_b", "votes")
"""Columns that must be the same in every row of a pair."""


class PairError(ValueError):
    """Decisions that cannot be evaluated. The message names the place, the value and the remedy."""


@dataclass(frozen=True)
class JudgedPairs:
    """Pairs by their ids, so that resamples do not depend on the order of rows, and judges by first appearance.

    Attributes:
        pair_ids: the pairs, sorted.
        labels: the human choices, codes of ``verdicts``; shape (pairs,).
        judges: the judges' names.
        ab: decisions in order AB, NOT_ASKED where a judge has no row; shape (pairs, judges).
        ba: decisions in order BA, or None where there is one order.
        cluster: for each pair the index of its cluster; shape (pairs,).
        n_clusters: how many clusters.
        categories: for each pair its category or None.
        lengths: of y_A and y_B, NaN where unknown; shape (pairs, 2).
        annotators: the annotators' names.
        votes: the annotators' choices, INVALID where there is none; shape (pairs, annotators).
        families: judge -> its family, where stated.
    """

    pair_ids: tuple[str, ...]
    labels: IntArray
    judges: tuple[str, ...]
    ab: IntArray
    ba: IntArray | None
    cluster: IntArray
    n_clusters: int
    categories: tuple[str | None, ...]
    lengths: FloatArray
    annotators: tuple[str, ...]
    votes: IntArray
    families: dict[str, str]

    def of_judge(self, judge: int) -> tuple[IntArray, IntArray | None]:
        """The judge's decisions in order AB and, or None, in order BA."""
        return self.ab[:, judge], None if self.ba is None else self.ba[:, judge]

    def choices(self) -> IntArray:
        """What each judge chose, whatever the order: its answer where both orders give the same, else INVALID.

        With one order its answer in that. Shape (pairs, judges).
        """
        known = np.where(self.ab >= 0, self.ab, INVALID)
        return known if self.ba is None else np.where(self.ab == self.ba, known, INVALID)


def judged_pairs(decisions: pd.DataFrame) -> JudgedPairs:
    """The table of decisions, checked.

    Args:
        decisions: a row for each pair and judge: pair_id, judge, label (A, B, tie), decision_ab (A, B, tie; missing:
            invalid), and, where there is any of it, decision_ba, category, cluster (pairs drawn together, for example
            those of one instruction; a missing one: the pair alone), length_a and length_b, votes (JSON object
            {annotator: A, B or tie}), and family (of the judge).

    Raises:
        PairError: no row, a value that is none of these, a pair that a judge has twice, or a pair that its rows state
            differently.
    """
    missing = [name for name in REQUIRED if name not in decisions.columns]
    if missing:
        raise PairError(f"column(s) {', '.join(missing)} are missing. Remedy: give {', '.join(REQUIRED)}")
    if not len(decisions):
        raise PairError("there is no row. Remedy: give one row for each pair and judge")
    if not all(isinstance(place, str) for place in decisions.index):
        decisions = decisions.set_axis([f"row {number}" for number in range(1, len(decisions) + 1)])
    _check_names(decisions)
    pairs = _pairs_of(decisions)
    pair, judge = pd.factorize(decisions["pair_id"], sort=True)[0], pd.factorize(decisions["judge"])[0]
    judges = tuple(dict.fromkeys(decisions["judge"]))
    try:
        labels = codes_of(pairs["label"])
        ab = _placed(decisions["decision_ab"], pair, judge, (len(pairs), len(judges)))
        both = "decision_ba" in decisions.columns
        ba = _placed(decisions["decision_ba"], pair, judge, ab.shape) if both else None
    except ValueError as error:
        raise PairError(str(error)) from error
    cluster, n_clusters = _clusters(pairs)
    annotators, votes = _votes(pairs)
    return JudgedPairs(
        tuple(pairs["pair_id"]), labels, judges, ab, ba, cluster, n_clusters, _categories(pairs),
        _lengths(pairs), annotators, votes, _families(decisions),
    )  # fmt: skip


def _check_names(decisions: pd.DataFrame) -> None:
    for name in ("pair_id", "judge", "label"):
        blank = decisions[name].isna() | (decisions[name] == "")
        if blank.any():
            remedy = "leave out pairs that nobody chose on" if name == "label" else "give every row its name"
            raise PairError(f"{decisions.index[blank][0]}: {name} is blank. Remedy: {remedy}")
    twice = decisions.duplicated(["pair_id", "judge"])
    if twice.any():
        row = decisions[twice].iloc[0]
        same = (decisions["pair_id"] == row["pair_id"]) & (decisions["judge"] == row["judge"])
        raise PairError(
            f"{decisions.index[twice][0]}: judge {row['judge']!r} has pair {row['pair_id']!r} a second time (first: "
            f"{decisions.index[same][0]}). Remedy: keep one row for each pair and judge"
        )


def _pairs_of(decisions: pd.DataFrame) -> pd.DataFrame:
    """The first row of each pair, by their ids, after a look whether the others say the same."""
    first = decisions.drop_duplicates("pair_id").sort_values("pair_id", kind="stable")
    place = pd.factorize(decisions["pair_id"], sort=True)[0]
    for name in OF_A_PAIR:
        if name not in decisions.columns:
            continue
        stated = first[name].take(place)
        here, there = decisions[name].to_numpy(object), stated.to_numpy(object)
        differs = ~((here == there) | (pd.isna(here) & pd.isna(there)))
        if differs.any():
            at = int(np.flatnonzero(differs)[0])
            raise PairError(
                f"{decisions.index[at]}: {name} of pair {decisions['pair_id'].iloc[at]!r} is {here[at]!r}, and at "
                f"{stated.index[at]} it is {there[at]!r}. Remedy: state the same in every row of a pair"
            )
    return first


def _placed(values: pd.Series, pair: IntArray, judge: IntArray, shape: tuple[int, ...]) -> IntArray:
    table = np.full(shape, NOT_ASKED, np.int64)
    table[pair, judge] = codes_of(values)
    return table


def _clusters(pairs: pd.DataFrame) -> tuple[IntArray, int]:
    if "cluster" not in pairs.columns:
        return np.arange(len(pairs)), len(pairs)
    # A pair without a cluster is alone: no cluster of another pair is a tuple.
    keys = [
        (pair,) if pd.isna(cluster) else cluster
        for pair, cluster in zip(pairs["pair_id"], pairs["cluster"], strict=True)
    ]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return np.array([places[key] for key in keys], np.int64), len(places)


def _categories(pairs: pd.DataFrame) -> tuple[str | None, ...]:
    if "category" not in pairs.columns:
        return (None,) * len(pairs)
    return tuple(None if pd.isna(value) else str(value) for value in pairs["category"])


def _lengths(pairs: pd.DataFrame) -> FloatArray:
    if not {"length_a", "length_b"} <= set(pairs.columns):
        return np.full((len(pairs), 2), np.nan)
    return np.asarray(pairs[["length_a", "length_b"]].astype("float64"), np.float64)


def _votes(pairs: pd.DataFrame) -> tuple[tuple[str, ...], IntArray]:
    if "votes" not in pairs.columns:
        return (), np.zeros((len(pairs), 0), np.int64)
    read = [_votes_of(place, value) for place, value in pairs["votes"].items()]
    annotators = tuple(sorted({name for votes in read for name in votes}))
    column = {name: place for place, name in enumerate(annotators)}
    votes = np.full((len(pairs), len(annotators)), INVALID, np.int64)
    for row, of_pair in enumerate(read):
        for name, choice in of_pair.items():
            votes[row, column[name]] = CHOICES.index(choice)
    return annotators, votes


def _votes_of(place: Any, value: Any) -> dict[str, str]:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return {}
    try:
        votes = json.loads(value)
    except (TypeError, ValueError, RecursionError):
        votes = None
    if not isinstance(votes, dict) or any(choice not in CHOICES for choice in votes.values()):
        shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
        raise PairError(
            f'{place}: votes is {shown}, which is not a JSON object of choices. Remedy: write {{"annotator": "A"}}, '
            f"with {', '.join(CHOICES)}, or leave it blank"
        )
    return votes


def _families(decisions: pd.DataFrame) -> dict[str, str]:
    if "family" not in decisions.columns:
        return {}
    stated = decisions.loc[decisions["family"].notna(), ["judge", "family"]].drop_duplicates()
    twice = stated.duplicated("judge")
    if twice.any():
        judge = stated[twice].iloc[0]["judge"]
        raise PairError(
            f"{stated.index[twice][0]}: judge {judge!r} has a second family, {stated[twice].iloc[0]['family']!r}. "
            "Remedy: state one family for each judge"
        )
    return dict(zip(stated["judge"], stated["family"], strict=True))
