"""Time to success of each trajectory, in turns and in minutes (paper 1, eq. 12-13, 25)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from judge_pipeline.cocreation.null_reasons import first_reason
from judge_pipeline.cocreation.prompt_windows import Mentions, first_prompts
from judge_pipeline.cocreation.trajectories import trajectories as trajectories_of
from judge_pipeline.cocreation.turn_orders import AS_RECORDED, attempts_by_order
from judge_pipeline.similarity.languages import programming_language
from judge_pipeline.tables.time_to_success import TIME_UNITS, TRAJECTORY_TIMES

TURNS, SINCE_ATTEMPT, SINCE_PROMPT = TIME_UNITS
NOTHING_DECIDED = "no attempt is decided"
NO_GROUP = "no group"
NOT_STATED = "not stated"
_GROUP = ["participant", "problem_id"]
_MINUTE = np.timedelta64(60, "s")


def trajectory_times(
    attempts: pd.DataFrame,
    prompt_logs: pd.DataFrame,
    trajectories: pd.DataFrame,
    *,
    participant_groups: Mapping[str, str] | None = None,
    problem_names: Mapping[str, str] | None = None,
    mentions: Mentions = "message",
) -> pd.DataFrame:
    """The table ``trajectory_times``.

    Minutes run from the first attempt, or from the first prompt about the problem, to the first accepted attempt, else
    to the last decided one. They are whole, rounded down: pages often show no seconds. A trajectory that is solved at
    once takes 0 minutes since its first attempt. Where an instant is missing or runs against the order of turns, the
    time is null. Minutes are given in the recorded order only: instants have one order.

    Args:
        attempts: table ATTEMPTS.
        prompt_logs: table PROMPT_LOGS.
        trajectories: table TRAJECTORIES of the same attempts.
        participant_groups: participant -> group; none by default.
        problem_names: further names of problems, for what prompts belong to.
        mentions: how far a mention of a problem reaches.
    """
    if trajectories.empty:
        return TRAJECTORY_TIMES.empty()
    parts = []
    for order, turned in attempts_by_order(attempts, trajectories).items():
        table = trajectories if order == AS_RECORDED else trajectories_of(turned, trajectories)
        table = _with_groups(table, turned, participant_groups or {}).assign(order=order)
        parts.append(_in_turns(table))
        if order == AS_RECORDED:
            prompts = first_prompts(attempts, prompt_logs, problem_names=problem_names, mentions=mentions)
            instants = _with_instants(table, attempts, prompts)
            parts += [_in_minutes(instants), _since_prompts(instants, set(prompt_logs["participant"]))]
    return TRAJECTORY_TIMES.conform(pd.concat(parts, ignore_index=True)[TRAJECTORY_TIMES.column_names])


def _with_groups(table: pd.DataFrame, attempts: pd.DataFrame, groups: Mapping[str, str]) -> pd.DataFrame:
    first = attempts.sort_values("turn", kind="stable").drop_duplicates(_GROUP)[[*_GROUP, "language"]]
    words = {name: programming_language(name) or name for name in first["language"].dropna().unique()}
    joined = table.merge(first, on=_GROUP, how="left", validate="one_to_one")
    joined["language"] = joined["language"].map(words).astype("object").fillna(NOT_STATED)
    named = joined["participant"].map(groups).astype("object").fillna(NO_GROUP)
    joined["participant_group"] = named if groups else None
    return joined


def _in_turns(table: pd.DataFrame) -> pd.DataFrame:
    undecided = table["time_turns"].isna()
    return table.assign(
        time_unit=TURNS, time=table["time_turns"], reason=first_reason(len(table), [(undecided, NOTHING_DECIDED)])
    )


def _with_instants(table: pd.DataFrame, attempts: pd.DataFrame, prompts: pd.DataFrame) -> pd.DataFrame:
    """Beside each trajectory the instants of its first and of its last counted attempt, and of the first prompt."""
    at = attempts[[*_GROUP, "turn", "submitted_at"]]
    first = at[at["turn"] == 1].drop(columns="turn").rename(columns={"submitted_at": "first_at"})
    last = at.rename(columns={"turn": "time_turns", "submitted_at": "last_at"})
    joined = table.merge(first, on=_GROUP, how="left", validate="one_to_one")
    joined = joined.merge(last, on=[*_GROUP, "time_turns"], how="left", validate="one_to_one")
    return joined.merge(prompts, on=_GROUP, how="left", validate="one_to_one").fillna({"n_untimed": 0})


def _in_minutes(table: pd.DataFrame) -> pd.DataFrame:
    first, last = table["first_at"], table["last_at"]
    reason = first_reason(
        len(table),
        [
            (table["time_turns"].isna(), NOTHING_DECIDED),
            (first.isna(), "the time of turn 1 is unknown"),
            (last.isna(), "the time of the last counted turn is unknown"),
            (last < first, "times run against the order of turns"),
        ],
    )
    return table.assign(time_unit=SINCE_ATTEMPT, time=_minutes(first, last, reason), reason=reason)


def _since_prompts(table: pd.DataFrame, with_logs: set[str]) -> pd.DataFrame:
    asked, last = table["first_prompt_at"], table["last_at"]
    reason = first_reason(
        len(table),
        [
            (table["time_turns"].isna(), NOTHING_DECIDED),
            (~table["participant"].isin(with_logs), "the participant has no prompt log"),
            (asked.isna() & (table["n_untimed"] == 0), "no prompt is about the problem"),
            (table["n_untimed"] > 0, "a prompt about the problem has no time, and may be the first"),
            (table["first_at"].isna(), "the time of turn 1 is unknown"),
            (last.isna(), "the time of the last counted turn is unknown"),
            (asked > table["first_at"], "the first prompt about the problem follows the first attempt"),
            (last < asked, "times run against the order of turns"),
        ],
    )
    return table.assign(time_unit=SINCE_PROMPT, time=_minutes(asked, last, reason), reason=reason)


def _minutes(start: pd.Series, end: pd.Series, reason: pd.Series) -> pd.Series:
    return ((end - start) // _MINUTE).astype("Int64").where(reason.isna())
