"""Attempts in the order of the table, and the other way round where that order is in doubt (facts: turn order).

A list that shows the newest attempt first, read as oldest first, turns every trajectory round. Where the check of turn
order warns, figures of how people get there are given in both orders, so that a reader sees what hangs on it.
"""

from __future__ import annotations

import pandas as pd

from judge_pipeline.cocreation.trajectories import check_turn_order
from judge_pipeline.tables.columns import ORDERS

AS_RECORDED, REVERSED = ORDERS


def attempts_by_order(attempts: pd.DataFrame, trajectories: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The attempts under ``as_recorded``, and under ``reversed`` too where most rejections follow the first AC.

    Args:
        attempts: table ATTEMPTS.
        trajectories: table TRAJECTORIES of the same attempts, whose order is checked.
    """
    orders = {AS_RECORDED: attempts}
    if check_turn_order(trajectories).warning is not None:
        orders[REVERSED] = with_turns_reversed(attempts)
    return orders


def with_turns_reversed(attempts: pd.DataFrame) -> pd.DataFrame:
    """The attempts with the turns of each trajectory counted from its end; rows stay where they are.

    Every trajectory is turned, whatever its order rests on: which of them were read the wrong way is not known.
    """
    turns = attempts.groupby(["participant", "problem_id"])["turn"]
    return attempts.assign(turn=turns.transform("max") + turns.transform("min") - attempts["turn"])
