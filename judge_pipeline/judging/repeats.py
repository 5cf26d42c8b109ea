"""Repeats: how far a judge's answers to the same request lie apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.checkpoint.stored_rows import read_judgments
from judge_pipeline.judging.outputs import parsed_answers
from judge_pipeline.judging.prepared import Settings, prepare
from judge_pipeline.judging.verification import in_scope
from judge_pipeline.settings import LitellmJudge
from judge_pipeline.tables import JUDGE_REPEATS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


def repeat_spread(
    judge: str, settings: Settings, requests: pd.DataFrame, checkpoint: Checkpoint, prompts_dir: Path
) -> pd.DataFrame:
    """Table JUDGE_REPEATS: one row for each attempt in scope; empty where the judge is asked once.

    Args:
        judge: the judge's name.
        settings: its settings.
        requests: table ``judge_requests`` of the contest.
        checkpoint: the store of what is answered.
        prompts_dir: where prompt templates lie.

    Raises:
        JudgingError: the prompt template is missing or wrong, or the checkpoint cannot be read.
    """
    if not isinstance(settings, LitellmJudge) or settings.repeats == 1:
        return JUDGE_REPEATS.empty()
    prepared = prepare(judge, settings, in_scope(requests, settings.scope), prompts_dir, checkpoint)
    stored = read_judgments(checkpoint, judge, prepared.all_hashes)
    places = prepared.first_slots
    by_slot = {name: np.full(prepared.n_slots, np.nan) for name in ("p_ac", "s_algo", "s_robust")}
    answers = parsed_answers(stored, prepared)
    for name, values in by_slot.items():
        values[stored.slots] = answers.column(name).to_numpy()
    spreads = spread(*(values[places] for values in by_slot.values()))
    columns = {"attempt_id": prepared.attempt_ids, "judge": judge, "p_ac_first": by_slot["p_ac"][places[0]]}
    return JUDGE_REPEATS.conform(pd.DataFrame(columns | spreads, columns=JUDGE_REPEATS.column_names))


def spread(p_ac: Floats, s_algo: Floats, s_robust: Floats) -> dict[str, Any]:
    """Mean, sample standard deviation and range of the answers; NaN, with the reason, where they are undefined.

    Args:
        p_ac: float64 of shape (repeats, attempts); NaN where a repeat has no valid answer.
        s_algo: the same of the rubric scores.
        s_robust: likewise.

    Returns:
        Columns of JUDGE_REPEATS, a value for each attempt.
    """
    n_repeats = len(p_ac)
    n = (~np.isnan(p_ac)).sum(axis=0)
    low, high = _extreme(p_ac, np.fmin), _extreme(p_ac, np.fmax)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 is NaN: undefined
        mean = np.where(low == high, low, np.nansum(p_ac, axis=0) / n)  # of equal answers exactly the answer
        sd = np.sqrt(np.nansum((p_ac - mean) ** 2, axis=0) / (n - 1))
    missing = [f"{n_repeats - k} of {n_repeats} repeats have no valid answer" if k < n_repeats else None for k in n]
    return {
        "n_repeats": n_repeats,
        "n_answered": n,
        "p_ac_mean": np.where(n > 0, mean, np.nan),
        "p_ac_sd": np.where(n > 1, sd, np.nan),
        "p_ac_min": low,
        "p_ac_max": high,
        "s_algo_range": _range(s_algo, n),
        "s_robust_range": _range(s_robust, n),
        "reason": missing,
    }


def _extreme(values: Floats, of_two: np.ufunc) -> Floats:
    """The least or greatest of each attempt's answers; NaN where it has none."""
    found: Floats = of_two.reduce(values, axis=0)
    return found


def _range(values: Floats, n: NDArray[np.int64]) -> Floats:
    return np.where(n > 1, _extreme(values, np.fmax) - _extreme(values, np.fmin), np.nan)
