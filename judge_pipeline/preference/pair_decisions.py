"""Judges' verdicts beside the pairs of a set: the table of decisions that every figure of this room starts from."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from judge_pipeline.preference.judged_pairs import PairError
from judge_pipeline.preference.verdicts import decisions_of


def pair_decisions(
    pairs: pd.DataFrame,
    verdicts: pd.DataFrame,
    splits: pd.DataFrame | None = None,
    families: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """What judges and people chose on each pair, as ``judged_pairs.judged_pairs`` takes it.

    Args:
        pairs: table PREFERENCE_PAIRS: label, category, votes, and the responses' lengths in characters.
        verdicts: as ``verdicts.decisions_of`` takes them: what was picked in each presentation order.
        splits: table PREFERENCE_SPLITS: pairs of one instruction are one cluster; None: each pair is one.
        families: judge -> its family, where known.

    Raises:
        PairError: a verdict on a pair that the set does not have, or two verdicts in one order.
    """
    try:
        decisions = decisions_of(verdicts)
    except ValueError as error:
        raise PairError(str(error)) from error
    known = pairs.set_index("pair_id")
    unknown = decisions[~decisions["pair_id"].isin(known.index)]
    if len(unknown):
        raise PairError(
            f"judge {unknown.iloc[0]['judge']!r} has a verdict on pair {unknown.iloc[0]['pair_id']!r}, which is not in "
            f"the set ({len(unknown)} such verdicts). Remedy: judge the set's pairs as they are now"
        )
    of_pairs = known.loc[decisions["pair_id"]].reset_index(drop=True)
    groups = None if splits is None else splits.set_index("pair_id")["instruction_group"]
    further = {
        "label": of_pairs["w"],
        "category": of_pairs["category"],
        "votes": of_pairs["votes"],
        "length_a": of_pairs["response_a"].str.len().astype("float64"),
        "length_b": of_pairs["response_b"].str.len().astype("float64"),
        "cluster": None if groups is None else decisions["pair_id"].map(groups),
        "family": decisions["judge"].map(dict(families or {})).astype(object),
    }
    return decisions.assign(**further)
