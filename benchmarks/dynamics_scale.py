"""A large contest with recorded judges, from ``attempts`` to every table of how people get there: time, memory, growth.

Lays two contests (``made_contest.py``) in a temporary folder. A process of its own reads the tables of each and makes
all tables of dynamics from them, timed one by one, by the clock and by the processor time of all processes. Memory is
the resident set of that process and all below it (CodeBLEU's), added up. The tables of the smaller contest are made
twice and must have the same bytes.

The ratio is 4 GiB over the peak of the larger contest. ``--reversed`` turns every trajectory round, so that the check
of turn order warns and all that depends on it is made in both orders.

    python benchmarks/dynamics_scale.py [--attempts 100000] [--first 10000] [--reversed]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from made_contest import GIVEN, JUDGES, lay_contest
from process_memory import peak_until_end

from judge_pipeline.table_schema import Table
from judge_pipeline.tables import (
    INGEST_QUARANTINE,
    dynamics,
    hazards,
    prompt_space,
    revision,
    struggle,
    time_to_success,
)

LIMIT_BYTES = 4 * 2**30
TARGET = 1.0


def main() -> int:
    """Runs the benchmark; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attempts", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=10_000, help="attempts of the smaller contest; 0 for none")
    parser.add_argument("--reversed", action="store_true", help="every trajectory the wrong way round")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return _make_tables(given.child)
    seconds: dict[int, float] = {}
    peak = 0.0
    for n_attempts in [n for n in (given.first, given.attempts) if n]:
        with tempfile.TemporaryDirectory(prefix="dynamics_scale_") as folder:
            n_chars = lay_contest(Path(folder), n_attempts, given.reversed)
            print(f"{n_attempts} attempts, {n_chars / 1e6:.0f} MB of programs, {len(os.sched_getaffinity(0))} core(s)")
            told, peak = _run(Path(folder))
            seconds[n_attempts] = told["processor_seconds"]
            if n_attempts == given.first and _run(Path(folder))[0]["sha256"] != told["sha256"]:
                sys.exit("a second run gave other tables")
    if given.first and given.attempts != given.first:
        times = seconds[given.attempts] / seconds[given.first]
        print(f"{given.attempts / given.first:g} times the attempts take {times:.1f} times the processor time")
    ratio = LIMIT_BYTES / peak
    print(f"ratio {ratio:.2f} target {TARGET:g}")
    return 0 if ratio >= TARGET else 1


def _run(folder: Path) -> tuple[dict[str, Any], float]:
    child = subprocess.Popen([sys.executable, __file__, "--child", str(folder)], stdout=subprocess.PIPE)
    peak = peak_until_end(child)
    if child.returncode or child.stdout is None:
        sys.exit("making the tables failed")
    told: dict[str, Any] = json.loads(child.stdout.read())
    print(
        f"  {'together':20}{told['seconds']:9.1f} s{told['processor_seconds']:9.1f} s of processor, "
        f"peak {peak / 2**20:.0f} MiB in all processes, load {os.getloadavg()[1]:.1f}",
        flush=True,
    )
    return told, peak


class _Timed:
    """Tables as they are made: says how long each takes and how many rows it has; a hash of all their bytes."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "made.parquet"
        self._digest = hashlib.sha256()
        self.made: set[str] = set()

    def __call__(self, table: Table, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        started, of_processor = time.perf_counter(), _processor_seconds()
        frame = table.conform(make())
        taken = time.perf_counter() - started
        spent = _processor_seconds() - of_processor
        self.made.add(table.name)
        line = f"  {table.name:20}{taken:9.1f} s{spent:9.1f} s of processor{len(frame):12,} rows"
        print(line, file=sys.stderr, flush=True)  # as they come: the standard output is the whole account's
        frame.to_parquet(self._file)
        self._digest.update(self._file.read_bytes())
        return frame

    def sha256(self) -> str:
        return self._digest.hexdigest()


def _make_tables(folder: Path) -> int:
    started, of_processor = time.perf_counter(), _processor_seconds()
    given = {table.name: table.conform(pd.read_parquet(folder / f"{table.name}.parquet")) for table in GIVEN}
    made = _Timed(folder)
    ways = _of_time(made, given)
    curves = _of_judges(made, given, ways)
    _of_revision(made, given, ways, curves)
    _of_prompts(made, given, ways)
    if missing := {table.name for table in dynamics.TABLES} - made.made:
        sys.exit(f"these tables of dynamics are not made here: {', '.join(sorted(missing))}")
    told = {
        "seconds": time.perf_counter() - started,
        "processor_seconds": _processor_seconds() - of_processor, "sha256": made.sha256(),
    }  # fmt: skip
    print(json.dumps(told))
    return 0


def _of_time(made: _Timed, given: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of time to success; ``trajectories``, on which others rest, is returned."""
    from judge_pipeline.cocreation import hazards as of_hazards
    from judge_pipeline.cocreation import overview, success_by_group, trajectories, trajectory_times
    from judge_pipeline.cocreation import time_to_success as curves

    attempts, logs = given["attempts"], given["prompt_logs"]
    ways = made(dynamics.TRAJECTORIES, lambda: trajectories.trajectories(attempts, given["splits"]))
    made(
        dynamics.CONTEST_OVERVIEW,
        lambda: overview.contest_overview(attempts, logs, ways, given["splits"], INGEST_QUARANTINE.empty()),
    )
    made(dynamics.SUCCESS_AT_TURN, lambda: trajectories.success_at_turn(ways))
    made(dynamics.SURVIVAL, lambda: trajectories.survival(ways))
    times = made(time_to_success.TRAJECTORY_TIMES, lambda: trajectory_times.trajectory_times(attempts, logs, ways))
    made(time_to_success.SUCCESS_CURVES, lambda: success_by_group.success_curves(times, seed=1))
    made(time_to_success.SURVIVAL_CURVES, lambda: curves.survival_curves(times))
    made(time_to_success.SURVIVAL_GROUPS, lambda: success_by_group.survival_groups(times, seed=1))
    made(time_to_success.SURVIVAL_TESTS, lambda: curves.survival_tests(times))
    made(hazards.HAZARDS, lambda: of_hazards.hazards(attempts, ways))
    return ways


def _of_judges(made: _Timed, given: dict[str, pd.DataFrame], ways: pd.DataFrame) -> pd.DataFrame:
    """Tables of judges' confidence; ``struggle_curves``, on which others rest, is returned."""
    from judge_pipeline.cocreation import pattern_groups, trajectory_patterns
    from judge_pipeline.cocreation import struggle as of_struggle
    from judge_pipeline.cocreation.trajectories import struggle_curves

    attempts, predictions = given["attempts"], given["predictions"]
    curves = made(dynamics.STRUGGLE_CURVES, lambda: struggle_curves(attempts, predictions, JUDGES))
    turns = made(struggle.STRUGGLE_TURNS, lambda: of_struggle.struggle_turns(attempts, predictions, ways, JUDGES))
    made(struggle.STRUGGLE_GROUPS, lambda: of_struggle.struggle_groups(turns, ways, seed=1))
    rules = trajectory_patterns.PatternRules()
    patterns = made(
        struggle.TRAJECTORY_PATTERNS, lambda: trajectory_patterns.trajectory_patterns(attempts, ways, curves, rules)
    )
    made(struggle.PATTERN_GROUPS, lambda: pattern_groups.pattern_groups(patterns, seed=1))
    return curves


def _of_revision(made: _Timed, given: dict[str, pd.DataFrame], ways: pd.DataFrame, curves: pd.DataFrame) -> None:
    """Tables of how programs change, and with which prompts."""
    from judge_pipeline.cocreation import (
        churn_effects,
        churn_summary,
        code_similarity,
        prompt_windows,
        revision_gains,
    )
    from judge_pipeline.cocreation import revision as of_revision

    attempts, logs = given["attempts"], given["prompt_logs"]
    made(
        revision.PROMPT_WINDOWS,
        lambda: prompt_windows.prompt_windows(prompt_windows.prompt_texts(attempts, logs)),
    )
    scores = made(revision.CODE_SIMILARITIES, lambda: code_similarity.code_similarities(attempts, ways))
    changes = made(
        revision.REVISIONS,
        lambda: of_revision.revisions(
            attempts, ways, prompt_windows.prompt_texts(attempts, logs), curves, similarities=scores
        ),
    )
    near = made(revision.CONVERGENCE, lambda: of_revision.convergence(attempts, ways, similarities=scores))
    made(revision.CHURN_SUMMARY, lambda: churn_summary.churn_summary(changes, near, attempts, ways, seed=1))
    made(revision.REVISION_GAINS, lambda: revision_gains.revision_gains(changes, seed=1))
    made(revision.CHURN_EFFECTS, lambda: churn_effects.churn_effects(changes, seed=1))


def _of_prompts(made: _Timed, given: dict[str, pd.DataFrame], ways: pd.DataFrame) -> None:
    """Tables of prompts alone."""
    from judge_pipeline.cocreation import prompt_code
    from judge_pipeline.cocreation import prompt_space as of_prompt_space

    contexts = given["participant_contexts"]
    ned = made(
        dynamics.PROMPT_CODE_NED, lambda: prompt_code.prompt_code_ned(given["judge_requests"], given["attempts"])
    )
    made(dynamics.PROMPT_CODE_SUMMARY, lambda: prompt_code.prompt_code_summary(ned, seed=1))
    space = made(prompt_space.PROMPT_SPACE, lambda: of_prompt_space.prompt_space(contexts, ways, seed=1))
    made(prompt_space.PROMPT_SPACE_TEST, lambda: of_prompt_space.prompt_space_test(contexts, space, seed=1))


def _processor_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


if __name__ == "__main__":
    sys.exit(main())
