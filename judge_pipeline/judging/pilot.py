"""A pilot: a few attempts that stand for the rest, drawn without any look at labels."""

from __future__ import annotations

import hashlib
from collections import defaultdict

import pandas as pd

STRATA = ("split", "problem_id", "language")
"""What a pilot is stratified by. Verdicts and outcomes of trajectories are not among it: they would leak into which
attempts are asked, and so into how much of what a judge sees is accepted."""


def pilot(requests_in_scope: pd.DataFrame, n: int, seed: int) -> frozenset[str]:
    """The attempt_ids of a stratified sample of n attempts; all of them where there are no more.

    The r-th of the n_s attempts of stratum s (r from 0, in an order drawn by hash) stands at (r + u_s) / n_s, with u_s
    in [0, 1) drawn by hash, too; the pilot is the n that stand lowest. So each stratum has its share to within one
    attempt, strata too small for a share of their own have their chance, a larger pilot holds every smaller one, and
    nothing depends on the order of the rows.

    Args:
        requests_in_scope: a table with attempt_id and the columns of ``STRATA``.
        n: how many, at least 1.
        seed: draws.
    """
    strata: dict[tuple[str, ...], list[tuple[float, str]]] = defaultdict(list)
    columns = [requests_in_scope[name] for name in ("attempt_id", *STRATA)]
    for attempt_id, *values in zip(*columns, strict=True):
        stratum = tuple("" if pd.isna(value) else str(value) for value in values)
        strata[stratum].append((_draw(seed, "attempt", attempt_id), attempt_id))
    places = []
    for stratum, members in strata.items():
        offset = _draw(seed, "stratum", *stratum)
        for rank, (drawn, attempt_id) in enumerate(sorted(members)):
            places.append(((rank + offset) / len(members), drawn, attempt_id))
    return frozenset(attempt_id for _, _, attempt_id in sorted(places)[:n])


def _draw(seed: int, *parts: str) -> float:
    """A number in [0, 1) that the seed and the parts decide."""
    digest = hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2.0**56
