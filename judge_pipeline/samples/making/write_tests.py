"""Write ``problems/<id>/tests/NN.in`` and ``NN.out`` from ``inputs.py`` and ``answers.py``.

Run as ``python -m judge_pipeline.samples.making.write_tests``. The files are committed; a test of the project
compares them with what this writes.
"""

from __future__ import annotations

import random
from pathlib import Path

from judge_pipeline.samples.making.answers import ANSWERS
from judge_pipeline.samples.making.inputs import INPUTS

SEED = 20260307


def problem_tests(problem_id: str) -> list[tuple[str, str]]:
    """The problem's tests in order, each an input and its right output, both ending in a newline.

    Raises:
        KeyError: no such problem.
    """
    rng = random.Random(f"{SEED}/{problem_id}")
    return [(text, ANSWERS[problem_id](text) + "\n") for text in INPUTS[problem_id](rng)]


def write_tests(problems_dir: Path) -> None:
    """Write the tests of every problem below ``problems_dir``, which holds one folder a problem."""
    for problem_id in INPUTS:
        folder = problems_dir / problem_id / "tests"
        folder.mkdir(parents=True, exist_ok=True)
        for number, (given, wanted) in enumerate(problem_tests(problem_id), start=1):
            (folder / f"{number:02d}.in").write_text(given, encoding="utf-8", newline="\n")
            (folder / f"{number:02d}.out").write_text(wanted, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_tests(Path(__file__).parent / "problems")
