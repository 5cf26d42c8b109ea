"""Splits by trajectory (paper 1, IV-A4): each group (u, p) lies in exactly one of train, val and test.

The order in which groups are drawn is that of a seeded hash of the group's own names, so that neither the order of
the rows nor the platform's random numbers play a part. A ledger holds what earlier runs decided, and no group moves.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

import pandas as pd

from judge_pipeline.tables import SPLIT_ASSIGNMENTS, SPLITS_LEDGER

Group = tuple[str, str]

STRATA = ("solved", "unsolved", "unlabelled")


def split_sizes(n: int, val_share: float, test_share: float) -> dict[str, int]:
    """How many of n groups go to each split.

    Val and test take floor(share * n) each, at least 1 where n >= 3; train takes the rest. Shares are read as the
    decimal fractions that they are written as, so that 0.29 of 100 is 29. Example: 184 groups, 0.1 and 0.1, are
    148 / 18 / 18 (paper 1, Table I).

    Raises:
        ValueError: a share is not in (0, 1), or the two leave nothing for train.
    """
    shares = [Fraction(repr(float(share))) for share in (val_share, test_share)]
    if min(shares) <= 0 or sum(shares) >= 1:
        raise ValueError(
            f"val_share={val_share!r} and test_share={test_share!r} must be above 0 and leave a share for train"
        )
    least = 1 if n >= 3 else 0
    val, test = (max(least, math.floor(share * n)) for share in shares)
    return {"train": n - val - test, "val": val, "test": test}


def assign_splits(
    attempts: pd.DataFrame,
    *,
    seed: int,
    val_share: float,
    test_share: float,
    ledger: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The split of every trajectory that has attempts.

    Sizes are those of ``split_sizes``, shared out over the strata (a group is solved where an attempt was accepted,
    unsolved where attempts have labels but none is accepted, unlabelled where none has a label) by largest
    remainder. Within a stratum groups are drawn in the order of a seeded hash. Attempts without source or without
    label count like any other.

    With a ledger, groups that it knows keep their split, whatever their stratum has become, and new groups fill val
    and test up to the sizes for all present groups as far as they reach. Groups that only the ledger knows are not
    in the table; ``updated_ledger`` keeps them. What first decided a group's split stays with it, so that the table is
    the same with the ledger that it came from.

    Args:
        attempts: rows with participant, problem_id and y (1, 0 or missing); the order of rows is of no matter.
        seed: the seed of the draw.
        val_share: share of the groups for val, in (0, 1).
        test_share: share of the groups for test, in (0, 1).
        ledger: table SPLITS_LEDGER of an earlier run, or None.

    Returns:
        Table SPLIT_ASSIGNMENTS, sorted by participant and problem; empty where there are no attempts.

    Raises:
        ValueError: shares that leave nothing for train.
        TableError: a ledger that names a group twice or an unknown split.
    """
    groups = _groups(attempts)
    sizes = split_sizes(len(groups), val_share, test_share)
    held = {group: entry for group, entry in _ledger_entries(ledger).items() if group in groups}
    known = {group: split for group, (split, _) in held.items()}
    strata = {group: stratum for group, (stratum, _) in groups.items()}
    drawn = _draw(strata, known, sizes, seed)
    rows = [
        {
            "participant": group[0],
            "problem_id": group[1],
            "split": known.get(group) or drawn[group],
            "stratum": stratum,
            "n_attempts": n_attempts,
            "assigned_by": held[group][1] if group in held else "seed",
        }
        for group, (stratum, n_attempts) in sorted(groups.items())
    ]
    return SPLIT_ASSIGNMENTS.conform(rows)


def with_splits(attempts: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """The attempts with their trajectory's split in a column ``split``, null where it has none; rows stay in order."""
    groups = splits[["participant", "problem_id", "split"]]
    return attempts.merge(groups, on=["participant", "problem_id"], how="left")


def updated_ledger(ledger: pd.DataFrame | None, splits: pd.DataFrame) -> pd.DataFrame:
    """The ledger with the groups of ``splits`` added: nothing that it held is lost or changed.

    Returns:
        Table SPLITS_LEDGER, sorted by participant and problem.

    Raises:
        ValueError: ``splits`` puts a group elsewhere than the ledger does.
    """
    entries = _ledger_entries(ledger)
    for participant, problem_id, split, assigned_by in splits[SPLITS_LEDGER.column_names].itertuples(index=False):
        held, _ = entries.setdefault((participant, problem_id), (split, assigned_by))
        if held != split:
            raise ValueError(
                f"trajectory ({participant}, {problem_id}) is {held} in the ledger but {split} in the new assignment; "
                f"assign with the ledger so that no group moves"
            )
    rows = [
        {"participant": u, "problem_id": p, "split": split, "assigned_by": assigned_by}
        for (u, p), (split, assigned_by) in sorted(entries.items())
    ]
    return SPLITS_LEDGER.conform(rows)


def _groups(attempts: pd.DataFrame) -> dict[Group, tuple[str, int]]:
    """Each group's stratum and number of attempts."""
    labels: dict[Group, list[bool]] = {}
    counts: Counter[Group] = Counter()
    for participant, problem_id, y in zip(attempts["participant"], attempts["problem_id"], attempts["y"], strict=True):
        group = (str(participant), str(problem_id))
        counts[group] += 1
        decided = labels.setdefault(group, [])
        if not pd.isna(y):
            decided.append(int(y) == 1)
    return {group: (_stratum(labels[group]), n) for group, n in counts.items()}


def _stratum(decided: list[bool]) -> str:
    if not decided:
        return "unlabelled"
    return "solved" if any(decided) else "unsolved"


def _ledger_entries(ledger: pd.DataFrame | None) -> dict[Group, tuple[str, str]]:
    """Group -> its split, and what decided it."""
    if ledger is None or ledger.empty:
        return {}
    table = SPLITS_LEDGER.conform(ledger[SPLITS_LEDGER.column_names])
    return {(u, p): (split, assigned_by) for u, p, split, assigned_by in table.itertuples(index=False)}


def _draw(
    strata: Mapping[Group, str], known: Mapping[Group, str], sizes: Mapping[str, int], seed: int
) -> dict[Group, str]:
    """The split of each group that is not known."""
    waiting = {
        stratum: _hash_order((g for g in strata if strata[g] == stratum and g not in known), seed) for stratum in STRATA
    }
    held = Counter((known[group], strata[group]) for group in known)
    totals = Counter(strata.values())
    wanted = _affordable(
        {split: max(0, sizes[split] - sum(held[split, s] for s in STRATA)) for split in ("val", "test")},
        sum(map(len, waiting.values())),
    )
    drawn: dict[Group, str] = {}
    for split in ("val", "test"):
        # A stratum's due: its part of the whole split, less what the ledger already gave it there.
        due = {s: max(Fraction(0), _part(sizes[split], totals[s], len(strata)) - held[split, s]) for s in STRATA}
        taken = share_out(wanted[split], due, {s: len(waiting[s]) for s in STRATA})
        for stratum, n in taken.items():
            drawn.update(dict.fromkeys(waiting[stratum][:n], split))
            waiting[stratum] = waiting[stratum][n:]
    drawn.update(dict.fromkeys((group for rest in waiting.values() for group in rest), "train"))
    return drawn


def _part(size: int, n: int, total: int) -> Fraction:
    return Fraction(size * n, total) if total else Fraction(0)


def _affordable(wanted: dict[str, int], n: int) -> dict[str, int]:
    """What val and test can have of n new groups: all they want, or parts of n where they want more than there are."""
    if sum(wanted.values()) <= n:
        return wanted
    return share_out(n, {split: Fraction(size) for split, size in wanted.items()}, wanted)


def share_out(total: int, weights: Mapping[str, Fraction], capacity: Mapping[str, int]) -> dict[str, int]:
    """A total shared out over the keys by largest remainder, none getting more than its capacity.

    Each key first gets the whole part of total * weight / sum of weights; what is left goes one by one to the
    largest remainders (ties: the larger capacity left, then the key that comes first), passing over keys that are
    full. Keys without weight get something only when those with a weight are full.

    Raises:
        ValueError: the total exceeds the sum of capacities.
    """
    if total > sum(capacity[key] for key in weights):
        raise ValueError(f"cannot share out {total}: the capacities add up to {sum(capacity.values())}")
    sum_of_weights = sum(weights.values())
    quota = {key: total * weight / sum_of_weights if sum_of_weights else Fraction(0) for key, weight in weights.items()}
    shares = {key: min(math.floor(quota[key]), capacity[key]) for key in weights}
    while (left := total - sum(shares.values())) > 0:
        open_keys = [key for key in weights if shares[key] < capacity[key]]
        # Largest lack first: after the whole parts are given, the lack is the remainder.
        by_lack = sorted(open_keys, key=lambda key: (shares[key] - quota[key], shares[key] - capacity[key]))
        for key in by_lack[:left]:
            shares[key] += 1
    return shares


def _hash_order(groups: Iterable[Group], seed: int) -> list[Group]:
    """The groups in the order of a seeded hash of their names, which no other group and no platform influences."""

    def rank(group: Group) -> tuple[bytes, Group]:
        return hashlib.sha256(json.dumps([seed, *group]).encode("ascii")).digest(), group

    return sorted(groups, key=rank)
