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


def tell_progress(
    context: dg.AssetExecutionContext, what: str, clock: Callable[[], float] = time.monotonic
) -> Callable[[Progress], None]:
    """What judging may call at each step.

    Args:
        context: of the running step; it has the resource ``progress``.
        what: the judge, or what else is asked.
        clock: seconds on a clock that never goes back.
    """
    told = context.resources.progress
    logged_at = float("-inf")

    def show(progress: Progress) -> None:
        nonlocal logged_at
        told.judging(what, progress)
        if progress.is_complete or clock() - logged_at >= SECONDS_BETWEEN_LINES:
            logged_at = clock()
            context.log.info(f"{what}: {progress.in_words()}")

    return show
