"""Splits of a preference set: seeded, by identical instruction, so that no instruction is in two splits.

Groups are drawn in the order of a seeded hash of the group itself: neither the order of rows nor the platform's random
numbers play a part. A ledger holds what earlier runs decided, and no group moves.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pandas as pd

from judge_pipeline.preference.pairs import instruction_group
from judge_pipeline.tables.preference import PREFERENCE_SPLITS, PREFERENCE_SPLITS_LEDGER


def assign_preference_splits(
    pairs: pd.DataFrame,
    *,
    seed: int,
    train_share: float,
    by_source: bool = True,
    ledger: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The split of every pair: train takes floor(train_share * n) of the n pairs, val the rest.

    Pairs of the same instruction (outer white space aside; where there is none, of the same context) go together, so
    train may hold fewer than that where the next group would be too large. Where there are two groups or more and the
    share is above 0, train holds at least one.

    With ``by_source``, a group whose pairs all state one and the same split keeps it, and only the others are drawn. A
    group that the ledger knows keeps its split whatever else holds, and what first decided it; new groups fill train as
    far as it reaches.

    Args:
        pairs: table PREFERENCE_PAIRS; the order of rows is of no matter.
        seed: the seed of the draw.
        train_share: share of the pairs for train, in [0, 1).
        by_source: whether a split that the source states is kept.
        ledger: table PREFERENCE_SPLITS_LEDGER of an earlier run, or None.

    Returns:
        Table PREFERENCE_SPLITS, in the order of ``pairs``.

    Raises:
        ValueError: a share outside [0, 1).
        TableError: a ledger that names a group twice or an unknown split.
    """
    if not 0 <= train_share < 1:
        raise ValueError(f"train_share={train_share!r} must be at least 0 and below 1: val takes the rest")
    groups = [
        instruction_group(row[0], row[1:])
        for row in pairs[["instruction", "prefix", "code_to_edit", "suffix", "prior_turns"]].itertuples(index=False)
    ]
    known = _entries(ledger)
    if by_source:
        known = {group: (split, "source") for group, split in _stated(groups, pairs["split"]).items()} | known
    sizes = Counter(groups)
    drawn = _draw(sizes, {group: split for group, (split, _) in known.items()}, train_share, seed)
    rows = []
    for pair_id, group in zip(pairs["pair_id"], groups, strict=True):
        split, assigned_by = known.get(group) or (drawn[group], "seed")
        rows.append({"pair_id": pair_id, "split": split, "instruction_group": group, "assigned_by": assigned_by})
    return PREFERENCE_SPLITS.conform(rows)


def updated_preference_ledger(ledger: pd.DataFrame | None, splits: pd.DataFrame) -> pd.DataFrame:
    """The ledger with the groups of ``splits`` added, sorted by group: nothing that it held is lost or changed."""
    entries = _by_group(splits) | _entries(ledger)
    rows = [
        {"instruction_group": group, "split": split, "assigned_by": assigned_by}
        for group, (split, assigned_by) in sorted(entries.items())
    ]
    return PREFERENCE_SPLITS_LEDGER.conform(rows)


def _entries(ledger: pd.DataFrame | None) -> dict[str, tuple[str, str]]:
    """Group -> its split, and what decided it."""
    return {} if ledger is None else _by_group(PREFERENCE_SPLITS_LEDGER.conform(ledger))


def _by_group(rows: pd.DataFrame) -> dict[str, tuple[str, str]]:
    columns = rows[PREFERENCE_SPLITS_LEDGER.column_names].itertuples(index=False)
    return {group: (split, assigned_by) for group, split, assigned_by in columns}


def _stated(groups: list[str], splits: pd.Series) -> dict[str, str]:
    """The groups whose pairs all state one and the same split."""
    stated: dict[str, set[str | None]] = {}
    for group, split in zip(groups, splits, strict=True):
        stated.setdefault(group, set()).add(split if isinstance(split, str) else None)
    single = {group: next(iter(found)) for group, found in stated.items() if len(found) == 1}
    return {group: split for group, split in single.items() if split is not None}


def _draw(sizes: Mapping[str, int], known: Mapping[str, str], train_share: float, seed: int) -> dict[str, str]:
    """Train or val for each group that is not known yet."""
    n = sum(sizes.values())
    room = math.floor(Fraction(repr(float(train_share))) * n)  # as the decimal fraction that it is written as
    taken = sum(size for group, size in sizes.items() if known.get(group) == "train")
    new = sorted((g for g in sizes if g not in known), key=lambda g: hashlib.sha256(f"{seed} {g}".encode()).digest())
    drawn = {}
    for group in new:
        fits = taken + sizes[group] <= room
        drawn[group] = "train" if fits else "val"
        taken += sizes[group] if fits else 0
    if taken == 0 and train_share > 0 and len(new) > 1:
        smallest = min(new, key=lambda g: sizes[g])  # of equals the first drawn
        drawn[smallest] = "train"
    return drawn
