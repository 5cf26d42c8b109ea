"""The sample preference set from ``pair_tasks.toml``: every answer is run against its task's checks, a rule chooses.

No person chose. The rule (``RULE``) stands in the set's preference.yaml and README, too:

- an answer is right where its program passes the task's checks; a right one is chosen over a wrong one;
- of two right ones, the one with fewer lines of code (blank lines and comments aside); as many: a tie;
- two wrong ones are a tie, marked as both bad.

``python -m judge_pipeline.samples.making.make_sample_pairs`` writes the set anew: the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from judge_pipeline.preference.fenced_code import code_in

HERE = Path(__file__).resolve().parent
SET = HERE.parent / "preference_sets" / "sample-pairs"

RULE = (
    "the right response over the wrong one, by running it; of two right ones the one with fewer lines of code, as many:"
    " tie; two wrong ones: tie, both bad"
)

_SEED = "20260401"


def tasks() -> list[dict[str, Any]]:
    """The tasks with their answers."""
    found: list[dict[str, Any]] = tomllib.loads((HERE / "pair_tasks.toml").read_text(encoding="utf-8"))["task"]
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


def pairs() -> Iterator[dict[str, Any]]:
    """The pairs: every two answers of a task, in an order drawn by a seed."""
    for task in tasks():
        for i, j in combinations(range(len(task["answers"])), 2):
            pair_id = f"{task['id']}-{i + 1}{j + 1}"
            turned = hashlib.sha256(f"{_SEED} {pair_id}".encode()).digest()[0] % 2
            first, second = (task["answers"][k].strip("\n") for k in ((j, i) if turned else (i, j)))
            context = {name: task.get(name) or None for name in ("instruction", "prefix", "code_to_edit", "suffix")}
            yield {
                "pair_id": pair_id,
                "category": task["mode"],
                "language": "Python",
                **context,
                "response_a": first,
                "response_b": second,
                "w": choice(task, first, second),
            }


def sample_pairs() -> str:
    """The set's pairs.jsonl."""
    return "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs())


def main() -> None:
    """Write pairs.jsonl."""
    (SET / "pairs.jsonl").write_text(sample_pairs(), encoding="utf-8")


if __name__ == "__main__":
    main()
