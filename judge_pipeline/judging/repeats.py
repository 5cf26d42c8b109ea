"""Repeats: how far a judge's answers to the same request lie apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from judge_pipeline.judging.checkpoint import Checkpoint
from judge_pipeline.judging.prepared import Settings, prepare
from judge_pipeline.judging.verification import in_scope
from judge_pipeline.settings import LitellmJudge
from judge_pipeline.tables import JUDGE_REPEATS


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
    prepared = prepare(judge, settings, in_scope(requests, settings.scope), prompts_dir)
    stored = checkpoint.answered(judge, prepared.first_of)
    rows = []
    for attempt_id, first in prepared.hash_of.items():
        hashes = [first, *prepared.further_of[attempt_id]]
        answers = [stored[hash_].answer for hash_ in hashes if hash_ in stored]
        first_p = stored[first].answer["p_ac"] if first in stored else None
        rows.append({"attempt_id": attempt_id, "judge": judge, "p_ac_first": first_p} | spread(answers, len(hashes)))
    return JUDGE_REPEATS.conform(rows)


def spread(answers: Sequence[Mapping[str, Any]], n_repeats: int) -> dict[str, Any]:
    """Mean, sample standard deviation and range of the answers; null, with the reason, where they are undefined.

    Args:
        answers: the valid answers, each with p_ac, s_algo and s_robust.
        n_repeats: how often was to be asked.
    """
    n = len(answers)
    p = [float(answer["p_ac"]) for answer in answers]
    missing = f"{n_repeats - n} of {n_repeats} repeats have no valid answer" if n < n_repeats else None
    return {
        "n_repeats": n_repeats,
        "n_answered": n,
        "p_ac_mean": fmean(p) if n else None,
        "p_ac_sd": stdev(p) if n > 1 else None,
        "p_ac_min": min(p, default=None),
        "p_ac_max": max(p, default=None),
        "s_algo_range": _range([answer["s_algo"] for answer in answers]),
        "s_robust_range": _range([answer["s_robust"] for answer in answers]),
        "reason": missing,
    }


def _range(values: Sequence[int]) -> int | None:
    return max(values) - min(values) if len(values) > 1 else None
