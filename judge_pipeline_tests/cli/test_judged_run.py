"""What commands say of each judge's run."""

from __future__ import annotations

import io

from rich.console import Console

from judge_pipeline.cli.judged_run import ask_judges
from judge_pipeline.cli.terminal import TerminalProgress
from judge_pipeline.orchestration.runs import JobOutcome

CHECKS = (
    "judge_outputs: verified: spring, m: 8 of 9 attempts have no answer: a1, .... To do: launch judge_contest again.",
    "judge_outputs: answers_vary: spring, m: one answer to all. To do: look at the prompt.",
)


def test_that_a_pilot_leaves_a_judge_unverified_is_said_and_is_no_warning() -> None:
    said = io.StringIO()
    console = Console(file=said, width=200)
    ask_judges(console, TerminalProgress(console), ["m", "n"], lambda _: JobOutcome("run", None, CHECKS), pilots=["m"])
    assert said.getvalue().splitlines() == [
        "Judging m",
        "  · a pilot: judge_outputs: verified: spring, m: 8 of 9 attempts have no answer: a1, ....",
        f"  ! {CHECKS[1]}",
        "Judging n",
        f"  ! {CHECKS[0]}",
        f"  ! {CHECKS[1]}",
    ]
