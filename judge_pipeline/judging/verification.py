"""Scope and acceptance of a judge's output table (paper 1, eq. 9)."""

from __future__ import annotations

import math

import pandas as pd

from judge_pipeline.settings import Scope

_SHOWN = 5


def in_scope(requests: pd.DataFrame, scope: Scope) -> pd.DataFrame:
    """The rows of ``judge_requests`` that a judge with this scope is asked for, index 0..n-1.

    Taking the scope of what is in scope already changes nothing.
    """
    is_in = requests["split"].isin(scope.splits)
    chosen = requests.copy(deep=False) if is_in.all() else requests[is_in]
    chosen.index = pd.RangeIndex(len(chosen))  # resetting it would copy all again
    return chosen


def verify(outputs: pd.DataFrame, requests_in_scope: pd.DataFrame, min_coverage: float = 1.0) -> list[str]:
    """What keeps a judge's table from being accepted (paper 1, eq. 9); an empty list means that it is verified.

    Checked: every attempt in scope has a row (with ``min_coverage`` below 1, at least that share of them), no attempt
    has two, none is outside the scope, p_ac is neither missing nor outside [0, 1], and no row carries an error.

    Args:
        outputs: a table with the columns of ``judge_outputs`` that are used: attempt_id, p_ac, error.
        requests_in_scope: the judge's requests; their attempt_ids are the set that eq. 9 counts over.
        min_coverage: share of the attempts in scope that must have a judgment, in (0, 1].

    Returns:
        A sentence for each problem, naming up to five of the attempts.
    """
    wanted = set(requests_in_scope["attempt_id"])
    rows = outputs["attempt_id"]
    p_ac = pd.to_numeric(outputs["p_ac"], errors="coerce")
    missing = wanted - set(rows)
    needed = math.ceil(min_coverage * len(wanted) - 1e-9)
    problems = []
    if len(wanted) - len(missing) < needed:
        problems.append(_name(sorted(missing), f"of {len(wanted)} attempts have no judgment"))
    for wrong, what in (
        (rows[rows.duplicated()], "attempts have more than one row"),
        (rows[~rows.isin(wanted)], "attempts are outside the judge's scope"),
        (rows[p_ac.isna()], "attempts have no p_ac"),
        (rows[(p_ac < 0) | (p_ac > 1)], "attempts have a p_ac outside [0, 1]"),
        (rows[outputs["error"].notna()], "attempts carry an error"),
    ):
        if len(wrong):
            problems.append(_name(sorted(set(wrong)), what))
    return problems


def _name(attempt_ids: list[str], what: str) -> str:
    shown = ", ".join(attempt_ids[:_SHOWN]) + (", ..." if len(attempt_ids) > _SHOWN else "")
    return f"{len(attempt_ids)} {what}: {shown}"
