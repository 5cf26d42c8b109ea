"""Time to success in turns: Success@Turn (paper 1, eq. 14, 24) and Kaplan-Meier (eq. 25).

Both are plain NumPy; the tests hold Kaplan-Meier and its band to lifelines. Importing lifelines costs seconds, and its
step function is a dozen lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judge_pipeline.statistics.ratios import Z95, ratio, wilson_interval
from judge_pipeline.statistics.score_counts import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class SuccessAtTurn:
    """S(k) for k = 1..K, arrays of shape (K,): turns, trajectories solved by then, S(k), and its Wilson interval."""

    turn: IntArray
    n_solved: IntArray
    value: FloatArray
    ci95_low: FloatArray
    ci95_high: FloatArray


@dataclass(frozen=True, slots=True)
class KaplanMeier:
    """The Kaplan-Meier estimate at turns 0..K, arrays of shape (K + 1,), or at fewer of them.

    Attributes:
        turn: 0, 1, ..., the last observed turn.
        n_at_risk: trajectories unsolved and still observed just before the turn.
        n_events: trajectories first solved at the turn.
        n_censored: trajectories last observed, unsolved, at the turn.
        value: share still unsolved after the turn.
        ci95_low: lower end of the band; NaN where it is undefined: where the share is 1 (after turn 0) or 0. At turn 0
            it is 1 unless something happened at once.
        ci95_high: upper end of the band.
    """

    turn: IntArray
    n_at_risk: IntArray
    n_events: IntArray
    n_censored: IntArray
    value: FloatArray
    ci95_low: FloatArray
    ci95_high: FloatArray


def success_at_turn(first_ac_turn: ArrayLike, last_turn: int) -> SuccessAtTurn:
    """S(k) for k = 1..last_turn over all trajectories.

    Args:
        first_ac_turn: T* of each trajectory, shape (G,), NaN where it was never solved; G >= 1.
        last_turn: the last turn observed in any trajectory.
    """
    first = np.asarray(first_ac_turn, np.float64)
    turn = np.arange(1, last_turn + 1)
    n_solved = np.searchsorted(np.sort(first[~np.isnan(first)]), turn, side="right")
    low, high = wilson_interval(n_solved, len(first))
    return SuccessAtTurn(turn, n_solved, ratio(n_solved, len(first)), low, high)


def kaplan_meier(time_turns: ArrayLike, event: ArrayLike, *, every_turn: bool = True) -> KaplanMeier:
    """Kaplan-Meier with the log(-log) Greenwood band (Kalbfleisch and Prentice), the band that lifelines draws.

    Args:
        time_turns: T of each trajectory, whole turns >= 1 or whole minutes >= 0, shape (G,); G >= 1.
        event: delta, whether success was observed at T, shape (G,).
        every_turn: whether to give it at every turn; else at 0 and where something happened: for minutes, of which a
            wrong date can make millions.
    """
    time = np.asarray(time_turns, np.int64)
    solved = np.asarray(event, np.bool_)
    turn = np.arange(int(time.max()) + 1) if every_turn else np.unique(np.append(time, 0))
    place = np.searchsorted(turn, time)
    n_events = np.bincount(place[solved], minlength=len(turn))
    n_censored = np.bincount(place[~solved], minlength=len(turn))
    n_at_risk = len(time) - np.concatenate([[0], np.cumsum(n_events + n_censored)[:-1]])
    value = np.cumprod(1 - n_events / n_at_risk)
    # Greenwood's sum has an infinite term where all at risk succeed; the share is 0 there and has no band.
    variance = np.cumsum(np.nan_to_num(ratio(n_events, n_at_risk * (n_at_risk - n_events))))
    inside = (value > 0) & (value < 1)
    log_share = np.log(value, out=np.full(len(value), np.nan), where=inside)
    spread = Z95 * np.sqrt(variance) / log_share
    centre = np.log(-log_share)
    low, high = np.exp(-np.exp(centre - spread)), np.exp(-np.exp(centre + spread))
    if value[0] == 1:
        low[0], high[0] = 1.0, 1.0
    return KaplanMeier(turn, n_at_risk, n_events, n_censored, value, low, high)
