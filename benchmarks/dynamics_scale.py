"""A large contest with recorded judges, from ``attempts`` to every table of revision: time, memory, growth.

Makes two contests (programs of 20 to 120 lines in C++, Java and Python, 2.8 attempts a trajectory, four judges'
recorded answers, a prompt with its time before every third attempt) and writes their tables to a temporary folder. A
process of its own reads each and makes trajectories, struggle curves, prompt windows, revisions, convergence, and the
tables of figures, timed one by one, by the clock and by the processor time of all processes. Memory is the resident set
of that process and all below it (CodeBLEU's), added up. The tables of the smaller contest are made twice and must have
the same bytes.

The ratio is 4 GiB over the peak of the larger contest. ``--reversed`` turns every trajectory round, so that the check
of turn order warns and revisions and convergence are made in both orders.

    python benchmarks/dynamics_scale.py [--attempts 100000] [--first 10000] [--reversed]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from made_programs import ENDINGS, made_program, made_trajectory
from process_memory import peak_until_end

from judge_pipeline.cocreation.splits import assign_splits
from judge_pipeline.table_schema import Table
from judge_pipeline.tables import ATTEMPTS, PREDICTIONS, PROMPT_LOGS, SPLIT_ASSIGNMENTS, STRUGGLE_CURVES, TRAJECTORIES
from judge_pipeline.tables.revision import (
    CHURN_EFFECTS,
    CHURN_SUMMARY,
    CONVERGENCE,
    PROMPT_WINDOWS,
    REVISION_GAINS,
    REVISIONS,
)

LIMIT_BYTES = 4 * 2**30
TARGET = 1.0
JUDGES = ("a", "b", "c", "d")
MAX_LINES = 120
N_DISTINCT = 400
"""Trajectories made line by line; others are these with one statement more, so that no two programs are equal."""

_STATEMENT = {
    "cpp": "long long extra{0} = {0};\n",
    "java": "class Extra{0} {{ int n = {0}; }}\n",
    "python": "extra{0} = {0}\n",
}
_GIVEN = (ATTEMPTS, SPLIT_ASSIGNMENTS, PREDICTIONS, PROMPT_LOGS)


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
            n_chars = _lay(Path(folder), n_attempts, given.reversed)
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
    for name, (taken, of_processor, n_rows) in told["tables"].items():
        print(f"  {name:16}{taken:9.1f} s{of_processor:9.1f} s of processor{n_rows:12,} rows")
    print(
        f"  {'together':16}{told['seconds']:9.1f} s{told['processor_seconds']:9.1f} s of processor, "
        f"peak {peak / 2**20:.0f} MiB in all processes"
    )
    return told, peak


def _lay(folder: Path, n_attempts: int, turned: bool) -> int:
    """Writes the tables that are given; how many characters the programs have."""
    rng = random.Random(n_attempts)
    made = _made_trajectories(rng)
    rows: list[dict[str, Any]] = []
    while len(rows) < n_attempts:
        rows += _trajectory(rng, made, len(rows), turned)
    attempts = ATTEMPTS.conform(rows[:n_attempts])
    splits = assign_splits(attempts, seed=1, val_share=0.1, test_share=0.1)
    tables = (attempts, splits, _predictions(attempts, splits), _prompt_logs(attempts))
    for table, frame in zip(_GIVEN, tables, strict=True):
        frame.to_parquet(folder / f"{table.name}.parquet")
    return int(attempts["source_code"].str.len().sum())


def _made_trajectories(rng: random.Random) -> list[tuple[str, list[str]]]:
    made = []
    for _ in range(N_DISTINCT):
        language = rng.choice(sorted(ENDINGS))
        turns = made_trajectory(language, rng)
        shorter = made_program(language, rng.randint(20, MAX_LINES), rng)
        made.append((language, [turn if turn.count("\n") <= MAX_LINES else shorter for turn in turns]))
    return made


def _trajectory(
    rng: random.Random, made: list[tuple[str, list[str]]], number: int, turned: bool
) -> list[dict[str, Any]]:
    language, programs = rng.choice(made)
    n_turns = 1
    while rng.random() < 0.64:
        n_turns += 1
    solved = rng.random() < 0.8
    start = pd.Timestamp("2026-04-01", tz="UTC") + pd.Timedelta(minutes=number % 10_000)
    rows = []
    for turn in range(1, n_turns + 1):
        source = programs[(turn - 1) % len(programs)] + _STATEMENT[language].format(number + turn)
        accepted = solved and turn == (1 if turned else n_turns)
        verdict = "AC" if accepted else "WA"
        attempt_id = f"{number + turn:016x}"
        rows.append(
            {
                "attempt_id": attempt_id, "participant": f"E{number % 5000:05}", "problem_id": f"P{number // 5000}",
                "turn": turn, "language": language, "source_code": source,
                "source_sha256": hashlib.sha256(source.encode()).hexdigest(), "source_lines": source.count("\n"),
                "verdict": verdict, "verdict_raw": verdict, "y": int(accepted),
                "submitted_at": start + pd.Timedelta(minutes=3 * turn), "timestamp_raw": None,
                "submission_id": attempt_id, "order_source": "instant", "path": "feed.csv", "row": number + turn,
                "reader": "made", "notes": None,
            }
        )  # fmt: skip
    return rows


def _predictions(attempts: pd.DataFrame, splits: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    joined = attempts.merge(splits[["participant", "problem_id", "split"]], on=["participant", "problem_id"])
    names = ["attempt_id", "participant", "problem_id", "turn", "language", "verdict", "y", "split"]
    parts = []
    for judge in JUDGES:
        p_ac = np.round(np.clip(rng.normal(0.4 + 0.3 * joined["y"].to_numpy(np.float64), 0.2), 0, 1), 2)
        parts.append(joined[names].assign(judge=judge, p_ac=p_ac, s_algo=3, s_robust=3, rationale="made"))
    return PREDICTIONS.conform(pd.concat(parts, ignore_index=True).assign(request_hash="0"))


def _prompt_logs(attempts: pd.DataFrame) -> pd.DataFrame:
    asked = attempts.iloc[::3]
    text = "In problem " + asked["problem_id"] + " my program is wrong. " + asked["source_code"].str.slice(0, 400)
    return PROMPT_LOGS.conform(
        pd.DataFrame(
            {
                "participant": asked["participant"], "path": "prompts/" + asked["participant"] + "/chat.json",
                "conversation": "1", "order": np.arange(len(asked)) + 1, "role": "user", "text": text,
                "text_sha256": "0", "at": asked["submitted_at"] - pd.Timedelta(minutes=1), "notes": None,
            }
        )
    )  # fmt: skip


def _make_tables(folder: Path) -> int:
    from judge_pipeline.cocreation import churn_effects, churn_summary, prompt_windows, revision, revision_gains
    from judge_pipeline.cocreation.trajectories import struggle_curves, trajectories

    attempts, splits, predictions, prompt_logs = (
        table.conform(pd.read_parquet(folder / f"{table.name}.parquet")) for table in _GIVEN
    )
    told: dict[str, tuple[float, float, int]] = {}
    digest = hashlib.sha256()

    def made(table: Table, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        started, of_processor = time.perf_counter(), _processor_seconds()
        frame = table.conform(make())
        taken = time.perf_counter() - started
        told[table.name] = (taken, _processor_seconds() - of_processor, len(frame))
        file = folder / "made.parquet"
        frame.to_parquet(file)
        digest.update(file.read_bytes())
        return frame

    started, of_processor = time.perf_counter(), _processor_seconds()
    ways = made(TRAJECTORIES, lambda: trajectories(attempts, splits))
    struggle = made(STRUGGLE_CURVES, lambda: struggle_curves(attempts, predictions, JUDGES))
    made(PROMPT_WINDOWS, lambda: prompt_windows.prompt_windows(prompt_windows.prompt_texts(attempts, prompt_logs)))
    texts = prompt_windows.prompt_texts(attempts, prompt_logs)
    changes = made(REVISIONS, lambda: revision.revisions(attempts, ways, texts, struggle))
    near = made(CONVERGENCE, lambda: revision.convergence(attempts, ways))
    made(CHURN_SUMMARY, lambda: churn_summary.churn_summary(changes, near, attempts, ways, seed=1))
    made(REVISION_GAINS, lambda: revision_gains.revision_gains(changes, seed=1))
    made(CHURN_EFFECTS, lambda: churn_effects.churn_effects(changes, seed=1))
    seconds = time.perf_counter() - started
    spent = _processor_seconds() - of_processor
    print(json.dumps({"tables": told, "seconds": seconds, "processor_seconds": spent, "sha256": digest.hexdigest()}))
    return 0


def _processor_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


if __name__ == "__main__":
    sys.exit(main())
