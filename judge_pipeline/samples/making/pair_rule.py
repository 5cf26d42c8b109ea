"""The rule that chooses in the sample preference set, and the tasks that it chooses answers of.

- an answer is right where its program passes the task's checks; a right one is chosen over a wrong one;
- of two right ones, the one with fewer lines of code (blank lines and comments aside); as many: a tie;
- two wrong ones are a tie, marked as both bad.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_pipeline.preference.fenced_code import code_in

RULE = (
    "the right response over the wrong one, by running it; of two right ones the one with fewer lines of code, as many:"
    " tie; two wrong ones: tie, both bad"
)

_TASKS = Path(__file__).resolve().parent / "pair_tasks.toml"


def tasks() -> list[dict[str, Any]]:
    """The tasks with their answers."""
    found: list[dict[str, Any]] = tomllib.loads(_TASKS.read_text(encoding="utf-8"))["task"]
    return found


def answer_code(task: Mapping[str, Any], answer: str) -> str:
    """The code in an answer: of a chat, that of its fenced blocks."""
    return (code_in(answer) or "") if task["mode"] == "chat" else answer


def passes(task: Mapping[str, Any], answer: str) -> bool:
    """Whether the program with the answer in it passes the task's checks."""
    program = task.get("prefix", "") + answer_code(task, answer) + task.get("suffix", "")
    try:
        # The texts are our own, from this folder.
        exec(compile(f"{program}\n{task['checks']}", task["id"], "exec"), {"__name__": "sample"})  # noqa: S102
    except Exception:  # noqa: BLE001 - whatever a wrong answer raises, it is wrong
        return False
    return True


def lines_of_code(code: str) -> int:
    """Lines that are neither blank nor a comment."""
    return sum(1 for line in code.splitlines() if line.strip() and not line.strip().startswith("#"))


def choice(task: Mapping[str, Any], first: str, second: str) -> str:
    """What the rule chooses: A, B, tie or both_bad."""
    right = passes(task, first), passes(task, second)
    if right[0] != right[1]:
        return "A" if right[0] else "B"
    if not right[0]:
        return "both_bad"
    lines = [lines_of_code(answer_code(task, answer)) for answer in (first, second)]
    return "tie" if lines[0] == lines[1] else "A" if lines[0] < lines[1] else "B"
