"""Recovery and stagnation of single trajectories, by stated rules (paper 1, IV-C3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.null_reasons import first_reason
from judge_pipeline.cocreation.trajectories import trajectories as trajectories_of
from judge_pipeline.cocreation.turn_orders import AS_RECORDED, attempts_by_order
from judge_pipeline.statistics.score_counts import FloatArray
from judge_pipeline.tables.struggle import TRAJECTORY_PATTERNS

_GROUP = ["participant", "problem_id"]
_ROUNDING = 1e-9
"""Differences of confidences below this are floating-point noise: 0.5 - 0.3 counts as 0.2."""


@dataclass(frozen=True, slots=True)
class PatternRules:
    """When a trajectory recovers and when it stagnates.

    Attributes:
        recovery_change: by how much the mean confidence falls, and later rises, at least.
        stagnation_change: changes smaller than this count as none.
        stagnation_turns: how many consecutive turns without change and without an accepted attempt are stagnation.
    """

    recovery_change: float = 0.2
    stagnation_change: float = 0.05
    stagnation_turns: int = 3


def trajectory_patterns(
    attempts: pd.DataFrame, trajectories: pd.DataFrame, curves: pd.DataFrame, rules: PatternRules
) -> pd.DataFrame:
    """The table ``trajectory_patterns``, in both orders where the check of turn order warns.

    Recovery of confidence: the mean over the panel falls by ``recovery_change`` or more from some turn to a later one,
    and rises by as much or more from there to a later one. Stagnation: in ``stagnation_turns`` or more consecutive
    turns the mean changes by less than ``stagnation_change`` each, and none is accepted. Both need the mean at every
    turn, and turns enough for the rule. Recovery of the outcome: rejected attempts come first, an accepted one follows.

    Args:
        attempts: table ATTEMPTS.
        trajectories: table TRAJECTORIES of the same attempts.
        curves: table STRUGGLE_CURVES, for the mean confidence of each attempt.
        rules: the limits.
    """
    if trajectories.empty:
        return TRAJECTORY_PATTERNS.empty()
    confidence = curves.set_index("attempt_id")["p_mean"]
    parts = []
    for order, turned in attempts_by_order(attempts, trajectories).items():
        table = trajectories if order == AS_RECORDED else trajectories_of(turned, trajectories)
        rows = turned[["attempt_id", *_GROUP, "turn", "y"]].sort_values([*_GROUP, "turn"], ignore_index=True)
        rows["p"] = confidence.reindex(rows["attempt_id"]).to_numpy(np.float64)
        parts.append(_patterns(table, rows, rules).assign(order=order))
    return TRAJECTORY_PATTERNS.conform(pd.concat(parts, ignore_index=True)[TRAJECTORY_PATTERNS.column_names])


def _patterns(trajectories: pd.DataFrame, rows: pd.DataFrame, rules: PatternRules) -> pd.DataFrame:
    groups = rows.assign(known=rows["p"].notna()).groupby(_GROUP, sort=True)
    found = groups.agg(n_known=("known", "sum"), last=("turn", "max"))
    found["depth"] = _recovery_depth(rows)
    found["flat"] = _longest_flat(rows, rules.stagnation_change)
    table = trajectories.merge(found.reset_index(), on=_GROUP, how="left", validate="one_to_one")
    return _with_outcome(_with_confidence(table, rules))


def _with_confidence(table: pd.DataFrame, rules: PatternRules) -> pd.DataFrame:
    n_turns = table["n_turns"].to_numpy(np.int64)
    unknown = [f"{n - k} of {n} turns have no mean confidence" for n, k in zip(n_turns, table["n_known"], strict=True)]
    incomplete = [
        (table["n_known"] < n_turns, unknown),
        (table["last"] != n_turns, "a turn is not in the table"),
    ]
    falls = first_reason(len(table), [*incomplete, (n_turns < 3, "a fall and a rise take 3 turns")])
    needed = rules.stagnation_turns + 1
    flat = first_reason(len(table), [*incomplete, (n_turns < needed, f"the rule needs {needed} turns")])
    depth, flat_turns = table["depth"].where(falls.isna()), table["flat"].astype("Int64").where(flat.isna())
    return table.assign(
        recovery_depth=depth,
        recovered=(depth >= rules.recovery_change - _ROUNDING).astype("boolean").where(falls.isna()),
        recovered_reason=falls,
        flat_turns=flat_turns,
        stagnated=(flat_turns >= rules.stagnation_turns).astype("boolean").where(flat.isna()),
        stagnated_reason=flat,
    )


def _with_outcome(table: pd.DataFrame) -> pd.DataFrame:
    solved = table["solved"].to_numpy(bool)
    n_decided = (table["n_turns"] - table["n_undecided"]).to_numpy(np.int64)
    before = table["n_rejected_before_first_ac"].to_numpy(np.int64)
    reason = first_reason(
        len(table),
        [
            (n_decided == 0, "no attempt is decided"),
            (solved & (before == 0), "the first decided attempt was accepted: there was nothing to recover from"),
            (~solved & (table["n_undecided"] > 0), "attempts without a verdict may still be accepted"),
        ],
    )
    return table.assign(
        n_rejected_first=np.where(solved, before, n_decided),
        solved_after_rejection=table["solved"].astype("boolean").where(reason.isna()),
        solved_after_rejection_reason=reason,
    )


def _recovery_depth(rows: pd.DataFrame) -> pd.Series:
    """For each trajectory the largest d such that confidence falls by d to some turn and rises by d after it; >= 0."""
    groups, backwards = rows.groupby(_GROUP, sort=True), rows.iloc[::-1].groupby(_GROUP, sort=True)
    fall = groups["p"].cummax() - rows["p"]
    rise = backwards["p"].cummax().sort_index() - rows["p"]
    return np.minimum(fall, rise).groupby([rows[name] for name in _GROUP], sort=True).max()


def _longest_flat(rows: pd.DataFrame, limit: float) -> pd.Series:
    """For each trajectory the most consecutive turns that change by less than ``limit`` and are not accepted."""
    change: FloatArray = rows.groupby(_GROUP, sort=True)["p"].diff().to_numpy(np.float64)
    accepted = (rows["y"] == 1).fillna(False).to_numpy(bool)
    is_flat = (np.abs(change) < limit - _ROUNDING) & ~accepted
    # A run is what lies between two turns that are not flat; turn 1 never is, so runs stay within a trajectory.
    run = np.cumsum(~is_flat)
    length = pd.Series(is_flat).groupby(run).cumsum()
    return length.groupby([rows[name] for name in _GROUP], sort=True).max()
