"""Trajectories (u, p): time to success, Success@Turn, Kaplan-Meier, struggle curves (paper 1, IV-C3, IV-C4, V-B2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge_pipeline.statistics import survival as time_to_success
from judge_pipeline.table_schema import TableError
from judge_pipeline.tables import STRUGGLE_CURVES, SUCCESS_AT_TURN, SURVIVAL, TRAJECTORIES

_GROUP = ["participant", "problem_id"]


def trajectories(attempts: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    """One row for each trajectory, with eq. 12 and 13; the table ``trajectories``.

    An attempt without a label (still being judged, or not understood) keeps its turn and is counted, but is neither
    success nor rejection: an unsolved trajectory is censored at its last decided turn, and one in which nothing is
    decided has no time at all.

    Args:
        attempts: the table ``attempts``.
        splits: the table ``splits``.

    Raises:
        TableError: a trajectory without a split, or a turn that occurs twice in one.
    """
    if attempts.empty:
        return TRAJECTORIES.empty()
    _check_turns(attempts)
    rows = attempts[[*_GROUP, "turn"]].copy()
    label = attempts["y"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    turn = attempts["turn"].to_numpy(dtype=np.float64)
    rows["first_ac_turn"] = np.where(label == 1, turn, np.nan)
    rows["last_decided"] = np.where(np.isnan(label), np.nan, turn)
    first = rows.groupby(_GROUP)["first_ac_turn"].transform("min").to_numpy()
    rows["n_undecided"] = np.isnan(label)
    rows["n_accepted"] = label == 1
    rows["n_rejected_before_first_ac"] = (label == 0) & (turn < first)
    rows["n_rejected_after_first_ac"] = (label == 0) & (turn > first)
    counts = ["n_undecided", "n_accepted", "n_rejected_before_first_ac", "n_rejected_after_first_ac"]
    groups = rows.groupby(_GROUP, sort=True)
    table = groups[counts].sum().astype("int64")
    table["n_turns"] = groups.size()
    table["first_ac_turn"] = groups["first_ac_turn"].min()
    table["solved"] = table["first_ac_turn"].notna()
    table["event"] = table["solved"]
    # T = min(T*, K): the first accepted turn is always decided, so it never lies after the last decided one.
    table["time_turns"] = table["first_ac_turn"].fillna(groups["last_decided"].max())
    return TRAJECTORIES.conform(_with_split(table.reset_index(), splits)[TRAJECTORIES.column_names])


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """Where the rejections of solved trajectories lie: the mark of lists read in the wrong direction.

    Attributes:
        n_solved: solved trajectories.
        n_rejected_before_first_ac: their rejected attempts before the first accepted one.
        n_rejected_after_first_ac: their rejected attempts after it.
        warning: what to suspect, where most rejections follow the first AC; None otherwise.
    """

    n_solved: int
    n_rejected_before_first_ac: int
    n_rejected_after_first_ac: int
    warning: str | None


def check_turn_order(table: pd.DataFrame) -> OrderCheck:
    """Count the rejections before and after the first AC in the table ``trajectories``, and warn if most follow it.

    Contest sites list newest first. Read as oldest first, a trajectory "succeeds" at once and fails afterwards.
    """
    before = int(table["n_rejected_before_first_ac"].sum())
    after = int(table["n_rejected_after_first_ac"].sum())
    warning = None
    if after > before:
        warning = (
            f"{after} of the {before + after} rejected attempts in solved trajectories follow the first accepted one: "
            "check that newest-first lists were not read as oldest-first (column order_source of attempts)"
        )
    return OrderCheck(int(table["solved"].sum()), before, after, warning)


def struggle_curves(attempts: pd.DataFrame, predictions: pd.DataFrame, panel: Sequence[str]) -> pd.DataFrame:
    """Mean judge confidence at each turn and its change (eq. 10-11, 22-23); the table ``struggle_curves``.

    The mean is over the whole panel or is null: a mean over those who happened to answer would jump where a judge
    comes or goes. The change is null at turn 1, and where either turn's mean is null.

    Args:
        attempts: the table ``attempts``.
        predictions: the table ``predictions``; judges outside the panel are ignored.
        panel: the judges J.

    Raises:
        TableError: a turn that occurs twice in a trajectory.
    """
    if attempts.empty:
        return STRUGGLE_CURVES.empty()
    _check_turns(attempts)
    judges = sorted(set(panel))
    table = attempts[["attempt_id", *_GROUP, "turn", "y"]].sort_values([*_GROUP, "turn"], ignore_index=True)
    answers = predictions.loc[predictions["judge"].isin(judges), ["attempt_id", "judge", "p_ac"]]
    wide = answers.pivot(index="attempt_id", columns="judge", values="p_ac")
    wide = wide.reindex(index=table["attempt_id"], columns=judges).astype("float64").reset_index(drop=True)
    table["n_judges"] = wide.notna().sum(axis=1)
    complete = (table["n_judges"] == len(judges)) & bool(judges)
    table["p_mean"] = wide.mean(axis=1).where(complete)
    follows = table.groupby(_GROUP)["turn"].diff() == 1
    before = table.groupby(_GROUP)["p_mean"].shift(1)
    table["delta_p_mean"] = (table["p_mean"] - before).where(follows)
    table["reason"] = _struggle_reasons(table, wide, follows.to_numpy(), before.to_numpy())
    return STRUGGLE_CURVES.conform(table[STRUGGLE_CURVES.column_names])


def success_at_turn(table: pd.DataFrame) -> pd.DataFrame:
    """S(k) for every turn up to the longest trajectory's (eq. 14, 24); the table ``success_at_turn``.

    The denominator is every trajectory of the table ``trajectories``, those without a decision included. The interval
    is Wilson's over trajectories.
    """
    if table.empty:
        return SUCCESS_AT_TURN.empty()
    first = table["first_ac_turn"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    last_turn = int(max(table["n_turns"].max(), np.nan_to_num(first).max()))
    curve = time_to_success.success_at_turn(first, last_turn)
    waiting = int(((table["n_undecided"] > 0) & ~table["solved"].astype(bool)).sum())
    hold = "unsolved trajectory holds" if waiting == 1 else "unsolved trajectories hold"
    reason = f"{waiting} {hold} attempts without a verdict, so S(k) may still rise" if waiting else None
    rows = pd.DataFrame(
        {
            "turn": curve.turn,
            "n_solved": curve.n_solved,
            "value": curve.value,
            "n": len(table),
            "n_left_out": 0,
            "ci95_low": curve.ci95_low,
            "ci95_high": curve.ci95_high,
            "reason": reason,
        }
    )
    return SUCCESS_AT_TURN.conform(rows)


def survival(table: pd.DataFrame) -> pd.DataFrame:
    """Kaplan-Meier estimate of being unsolved after each turn (eq. 25), with numbers at risk; the table ``survival``.

    Trajectories in which nothing is decided have no time and are left out, counted.
    """
    timed = table[table["time_turns"].notna()]
    if timed.empty:
        return SURVIVAL.empty()
    curve = time_to_success.kaplan_meier(timed["time_turns"].to_numpy(dtype=np.int64), timed["event"].to_numpy(bool))
    rows = pd.DataFrame(
        {
            "turn": curve.turn,
            "n_at_risk": curve.n_at_risk,
            "n_events": curve.n_events,
            "n_censored": curve.n_censored,
            "value": curve.value,
            "n": len(timed),
            "n_left_out": len(table) - len(timed),
            "ci95_low": curve.ci95_low,
            "ci95_high": curve.ci95_high,
            "reason": [_no_band_reason(share, low) for share, low in zip(curve.value, curve.ci95_low, strict=True)],
        }
    )
    return SURVIVAL.conform(rows)


def _check_turns(attempts: pd.DataFrame) -> None:
    twice = attempts.duplicated([*_GROUP, "turn"], keep=False)
    if twice.any():
        where = attempts.loc[twice, [*_GROUP, "turn"]].iloc[0].to_dict()
        raise TableError(f"table attempts: {int(twice.sum())} rows share a trajectory's turn, first {where}")


def _with_split(table: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    joined = table.merge(splits[[*_GROUP, "split"]], on=_GROUP, how="left", validate="one_to_one")
    without = joined["split"].isna()
    if without.any():
        where = joined.loc[without, _GROUP].iloc[0].to_dict()
        raise TableError(f"table splits: {int(without.sum())} trajectories have no split, first {where}; rerun splits")
    return joined


def _struggle_reasons(
    table: pd.DataFrame, wide: pd.DataFrame, follows: np.ndarray, before: np.ndarray
) -> list[str | None]:
    """Why p_mean, or failing that its change, is null, row by row."""
    absent = wide.isna().to_numpy()
    names = list(wide.columns)
    reasons: list[str | None] = []
    for i, (turn, p_mean) in enumerate(zip(table["turn"], table["p_mean"], strict=True)):
        if not names:
            reasons.append("the panel has no judge")
        elif np.isnan(p_mean):
            missing = ", ".join(name for name, is_absent in zip(names, absent[i], strict=True) if is_absent)
            reasons.append(f"not judged by {missing} of the panel")
        elif turn == 1:
            reasons.append("no change: turn 1 has no turn before it")
        elif not follows[i]:
            reasons.append("no change: the turn before is not in the table")
        elif np.isnan(before[i]):
            reasons.append("no change: the turn before was not judged by the whole panel")
        else:
            reasons.append(None)
    return reasons


def _no_band_reason(share: float, low: float) -> str | None:
    if not np.isnan(low):
        return None
    return f"the log(-log) band does not exist where the share is {share:g}"
