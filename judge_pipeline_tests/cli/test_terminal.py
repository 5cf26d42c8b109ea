"""What the terminal shows while a contest is read."""

from __future__ import annotations

import io

from rich.console import Console

from judge_pipeline.cli.terminal import TerminalProgress


def _shown(times: list[float], reports: list[tuple[int, int, int]]) -> list[str]:
    out = io.StringIO()
    now = [0.0]
    progress = TerminalProgress(Console(file=out, width=200), clock=lambda: now[0])
    for at, report in zip(times, reports, strict=True):
        now[0] = at
        progress.reading("spring", *report)
    return out.getvalue().splitlines()


def test_a_contest_that_is_read_at_once_has_no_line() -> None:
    assert _shown([100.0, 100.5], [(1, 10, 0), (10, 10, 0)]) == []


def test_a_large_one_has_a_line_now_and_then_and_one_at_the_end() -> None:
    lines = _shown(
        [100.0, 110.0, 111.0, 116.0, 117.0],
        [(1, 2000, 0), (1000, 2000, 0), (1100, 2000, 1), (1600, 2000, 3), (2000, 2000, 3)],
    )
    assert lines == [
        "  … spring: 1,000 of 2,000 files read, 100.0/s, 10 s left",
        "  … spring: 1,600 of 2,000 files read, 100.0/s, 4 s left, 3 set aside",
        "  … spring: 2,000 of 2,000 files read, 117.6/s, 0 s left, 3 set aside",
    ]
