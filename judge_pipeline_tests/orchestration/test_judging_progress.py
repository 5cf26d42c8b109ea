from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from judge_pipeline.orchestration.judging_progress import SECONDS_BETWEEN_LINES, tell_progress


def lines_at(seconds_a_line: float, until: float) -> list[float]:
    """When lines are begun, if a line takes so long and judging tells how far it is once a second."""
    now, begun = 0.0, []

    def info(line: str) -> None:
        nonlocal now
        begun.append(now)
        now += seconds_a_line

    progress = SimpleNamespace(is_complete=False, in_words=lambda: "1 of 10")
    resources = SimpleNamespace(progress=SimpleNamespace(judging=lambda what, progress: None))
    context: Any = SimpleNamespace(log=SimpleNamespace(info=info), resources=resources)
    show = tell_progress(context, "judge", clock=lambda: now)
    while now < until:
        show(progress)  # type: ignore[arg-type]
        now += 1.0
    return begun


def test_lines_are_some_seconds_apart() -> None:
    assert lines_at(0.0, 35.0) == [0.0, SECONDS_BETWEEN_LINES, 2 * SECONDS_BETWEEN_LINES, 3 * SECONDS_BETWEEN_LINES]


def test_lines_that_take_long_hold_judging_up_for_a_tenth_of_the_time_at_most() -> None:
    begun = lines_at(6.0, 600.0)
    assert begun[:2] == [0.0, 60.0]
    assert 6.0 * len(begun) <= 600.0 / 10 + 6.0
