"""Compile and run every source text of the sample contest against its problem's tests, and write ``verdicts.jsonl``.

Run as ``python -m judge_pipeline.samples.making.run_programs``; it needs gcc, g++, javac and java on Linux and takes
some minutes. One line for each distinct source: its sha256, problem, language, verdict, the verdict of each test in
order, the compiler's or interpreter's complaint, and the processor time and memory it took (these two vary from run to
run; nothing depends on them but what the pages show). ``--only-new`` runs what the file does not hold yet; use it after
a change of the plan, never after one of the tests.

``--check FACTOR`` runs with the time limits multiplied what that could change (for a factor of 1 or more, what ran out
of time somewhere), writes nothing, and lists what differs from the file: there should be nothing from 0.5 to 2.5, or
verdicts would hang on the machine's speed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path

from judge_pipeline.samples.making.catalogue import MAKING, problems
from judge_pipeline.samples.making.execution import Outcome, execute
from judge_pipeline.samples.making.plan import planned_attempts

VERDICTS_FILE = MAKING / "verdicts.jsonl"


@dataclass(frozen=True, slots=True)
class Submission:
    """A source text to run: its sha256, problem, language and text."""

    source_sha256: str
    problem_id: str
    language: str
    source: str


def submissions() -> list[Submission]:
    """The distinct source texts of the plan, in the plan's order."""
    found = {
        attempt.source_sha256: Submission(attempt.source_sha256, attempt.problem_id, attempt.language, attempt.source)
        for attempt in planned_attempts()
    }
    return list(found.values())


def run(submission: Submission, time_factor: float = 1.0) -> Outcome:
    """Run one source text on its problem's tests, with the time limit multiplied by ``time_factor``."""
    problem = problems()[submission.problem_id]
    return execute(
        submission.source, submission.language, replace(problem, time_limit_s=problem.time_limit_s * time_factor)
    )


@cache
def recorded_outcomes(path: Path = VERDICTS_FILE) -> dict[str, Outcome]:
    """What ``verdicts.jsonl`` holds, by the source's sha256.

    Raises:
        FileNotFoundError: the file is not there; run this module to write it.
    """
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["source_sha256"]] = Outcome(
            row["verdict"], tuple(row["tests"]), row["detail"], row["cpu_ms"], row["memory_kb"]
        )
    return found


def _run_all(todo: list[Submission], time_factor: float, workers: int) -> Iterator[tuple[Submission, Outcome]]:
    with ThreadPoolExecutor(workers) as pool:
        for number, (submission, outcome) in enumerate(
            zip(todo, pool.map(lambda one: run(one, time_factor), todo), strict=True), start=1
        ):
            print(f"\r{number}/{len(todo)}", end="", file=sys.stderr)
            yield submission, outcome
    print(file=sys.stderr)


def _write(workers: int, *, only_new: bool) -> None:
    known = recorded_outcomes() if only_new and VERDICTS_FILE.exists() else {}
    todo = [submission for submission in submissions() if submission.source_sha256 not in known]
    measured = {submission.source_sha256: outcome for submission, outcome in _run_all(todo, 1.0, workers)}
    outcomes = known | measured
    lines = []
    for submission in submissions():
        about = {
            "source_sha256": submission.source_sha256,
            "problem": submission.problem_id,
            "language": submission.language,
        }
        outcome = asdict(outcomes[submission.source_sha256])
        lines.append(json.dumps(about | outcome, ensure_ascii=False) + "\n")
    VERDICTS_FILE.write_text("".join(lines), encoding="utf-8", newline="\n")


def _check(time_factor: float, workers: int) -> int:
    differing = 0
    todo = submissions()
    if time_factor >= 1:
        todo = [one for one in todo if "TLE" in recorded_outcomes()[one.source_sha256].tests]
    for submission, outcome in _run_all(todo, time_factor, workers):
        wanted = recorded_outcomes()[submission.source_sha256]
        if (outcome.verdict, outcome.tests) != (wanted.verdict, wanted.tests):
            differing += 1
            about = f"{submission.problem_id} {submission.language} {submission.source_sha256[:12]}"
            print(f"\n{about}: {wanted.verdict} {wanted.tests}, now {outcome.verdict} {outcome.tests}")
    return differing


def main() -> None:
    """Write ``verdicts.jsonl``, or check it with ``--check FACTOR``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", type=float, metavar="FACTOR", help="compare, with time limits times FACTOR")
    parser.add_argument("--only-new", action="store_true", help="keep what is recorded; run the sources that are not")
    parser.add_argument("--workers", type=int, default=2, help="programs to run at a time (default 2)")
    chosen = parser.parse_args()
    if chosen.check is None:
        _write(chosen.workers, only_new=chosen.only_new)
    else:
        sys.exit(1 if _check(chosen.check, chosen.workers) else 0)


if __name__ == "__main__":
    main()
