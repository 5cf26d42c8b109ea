"""Tells how far a judge is: the terminal of every step, the run's log in the UI every so many seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:
    from judge_pipeline.judging.progress import Progress

SECONDS_BETWEEN_LINES = 10.0
"""In the run's log; the last step has a line in any case."""

_TIMES_A_LINE_TAKES = 10.0
"""Judging stands still while a line is written, which takes seconds where Dagster's database is away."""


def tell_progress(
    context: dg.AssetExecutionContext | dg.OpExecutionContext, what: str, clock: Callable[[], float] = time.monotonic
) -> Callable[[Progress], None]:
    """What judging may call at each step.

    Args:
        context: of the running step; it has the resource ``progress``.
        what: the judge, or what else is asked.
        clock: seconds on a clock that never goes back.
    """
    told = context.resources.progress
    next_line_at = float("-inf")

    def show(progress: Progress) -> None:
        nonlocal next_line_at
        told.judging(what, progress)
        began = clock()
        if progress.is_complete or began >= next_line_at:
            context.log.info(f"{what}: {progress.in_words()}")
            next_line_at = began + max(SECONDS_BETWEEN_LINES, _TIMES_A_LINE_TAKES * (clock() - began))

    return show
