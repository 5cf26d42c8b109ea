"""A complete run over what is stored already: from the table of requests to the judge's table, nothing asked.

The store is SQLite and holds a judgment and a call for each request. The peer, in the same run, renders and hashes
every request, as a resume would have to without the memo of rendered requests (and reads nothing); it is measured on a
part of the requests and counted up. Beside it stands a bare count of the judge's rows, the least that can be asked.

    python benchmarks/resume.py [--requests 200000] [--code-chars 300] [--context-chars 300] [--runs 5]

The sides take turns, and each figure is the median over the runs. The first run, which renders everything for the memo,
is shown and not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from judge_pipeline.judging.checkpoint.store import CallRow, Checkpoint, Record, StoredJudgment, utc_now
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.judging.prepared import Prepared, prepare
from judge_pipeline.settings import LitellmJudge, packaged_config_dir
from judge_pipeline.tables import JUDGE_REQUESTS

PROMPTS = packaged_config_dir() / "prompts"
JUDGE = "stored"
OVER_RENDERING = 5.0
PEER_REQUESTS = 10_000
SETTINGS = LitellmJudge(backend="litellm", model="openai/stored", base_url="http://127.0.0.1:9/v1", send_schema=False)


def main() -> int:
    """Measure, and print the seconds and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=200_000, help="stored judgments")
    parser.add_argument("--code-chars", type=int, default=300, help="characters of each attempt's source")
    parser.add_argument("--context-chars", type=int, default=300, help="characters of each attempt's context")
    parser.add_argument("--runs", type=int, default=5, help="runs that are counted")
    asked = parser.parse_args()
    requests = table(asked.requests, asked.code_chars, asked.context_chars)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "checkpoint.sqlite"
        fill(file, requests)
        seconds = compare(file, requests, asked.runs)
    ours = seconds["complete run"]
    ratio = seconds["render and hash all"] / ours
    print(f"load average at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} cores")
    print(f"seconds of a complete run over {asked.requests} stored judgments: {ours:.2f}")
    print(f"ratio {ratio:.2f} target {OVER_RENDERING:g}")
    return 0 if ratio >= OVER_RENDERING else 1


def table(n: int, code_chars: int, context_chars: int) -> pd.DataFrame:
    """n different requests."""
    rng = random.Random(1)
    line = "a = list(map(int, input().split())); print(sum(sorted(a)))\n"
    source = (line * (code_chars // len(line) + 1))[:code_chars]
    question = "How do I read n integers and sort them fast? "
    context = (question * (context_chars // len(question) + 1))[:context_chars]
    rows = [
        {
            "attempt_id": f"{rng.getrandbits(64):016x}", "split": "test", "problem_id": f"P{number % 12}",
            "language": "Python 3", "source_code": f"# {number}\n{source}",
            "prompt_text": context, "problem_statement": None,
            "context": "nonblind", "source_chars_cut": 0, "prompt_chars_cut": 0, "request_sha256": f"{number:064x}",
        }
        for number in range(n)
    ]  # fmt: skip
    return JUDGE_REQUESTS.conform(rows)


def fill(file: Path, requests: pd.DataFrame) -> None:
    """A judgment and a call for each request, written as a run would write them."""
    with closing(Checkpoint(f"sqlite:///{file}")) as checkpoint:
        prepared = prepare(JUDGE, SETTINGS, requests, PROMPTS)
        hashes = list(prepared.hashes[0])
        random.Random(2).shuffle(hashes)  # answers come in no order of the table
        for start in range(0, len(hashes), 2000):
            checkpoint.record([stored(prepared, hash_) for hash_ in hashes[start : start + 2000]])


def stored(prepared: Prepared, hash_: str) -> Record:
    """What one answered call leaves."""
    task = prepared.task(hash_)
    _, request = task.build()
    share = int(hash_[:8], 16) / 0xFFFFFFFF
    answer: dict[str, Any] = {"p_ac": round(share, 3), "s_algo": 1 + int(share * 4), "s_robust": 3}
    answer["rationale"] = f"Sorts and sums as asked; reads the line at once, which is within the limits ({hash_})."
    latency_ms, cost_usd = 900.0 + 100.0 * share, 0.002 * share
    call = CallRow(
        JUDGE, hash_, task.attempt_id, 0, "run", 1, utc_now(), latency_ms, 700, 60, None, cost_usd, "stop", "stored-1",
        raw_text=json.dumps(answer),
    )  # fmt: skip
    return Record(request, call, StoredJudgment(JUDGE, hash_, task.attempt_id, answer, None, "stored-1", latency_ms))


def compare(file: Path, requests: pd.DataFrame, runs: int) -> dict[str, float]:
    """The median seconds of each side."""
    part = requests.head(PEER_REQUESTS)
    share = len(requests) / len(part)
    before_mb = peak_mb()
    sides: dict[str, tuple[Callable[[], None], float]] = {
        "complete run": (lambda: complete(file, requests), 1.0),
        "render and hash all": (lambda: render(part), share),
        "bare count": (lambda: count(file), 1.0),
    }
    first = timed(sides["complete run"][0])[0]
    print(f"{len(requests)} requests; the first run renders all for the memo: {first:.2f} s")
    wall: dict[str, list[float]] = {name: [] for name in sides}
    cpu: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(runs):
        for name, (side, factor) in sides.items():
            seconds, cpu_seconds = timed(side)
            wall[name].append(seconds * factor)
            cpu[name].append(cpu_seconds * factor)
    for name, (_, factor) in sides.items():
        counted = f", counted up from {len(part)}" if factor != 1.0 else ""
        print(f"{name:20} {median(wall[name]):8.3f} s, {median(cpu[name]):8.3f} s of processor{counted}")
    print(f"peak memory: {peak_mb():.0f} MB, of which {before_mb:.0f} MB before the first run (requests, making them)")
    return {name: median(values) for name, values in wall.items()}


def complete(file: Path, requests: pd.DataFrame) -> None:
    """The run that is measured, the store opened and closed with it."""
    context = JudgingContext({}, file.parent, PROMPTS)
    with closing(Checkpoint(f"sqlite:///{file}")) as checkpoint:
        result = judge_requests(JUDGE, SETTINGS, requests, checkpoint=checkpoint, context=context)
    if (len(result.outputs), result.n_asked, result.n_calls) != (len(requests), 0, len(requests)):
        raise SystemExit(f"{len(result.outputs)} of {len(requests)} judged, {result.n_asked} asked")


def render(requests: pd.DataFrame) -> None:
    """The peer: every request rendered and hashed, without the memo."""
    prepare(JUDGE, SETTINGS, requests, PROMPTS)


def count(file: Path) -> None:
    """How many judgments the judge has, asked of the database driver itself."""
    with closing(sqlite3.connect(file)) as store:
        store.execute("SELECT count(*) FROM judgments WHERE judge = ?", (JUDGE,)).fetchone()


def timed(side: Callable[[], None]) -> tuple[float, float]:
    """Seconds by the clock, and of this process's processor time."""
    wall, cpu = time.perf_counter(), time.process_time()
    side()
    return time.perf_counter() - wall, time.process_time() - cpu


def peak_mb() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000.0


if __name__ == "__main__":
    raise SystemExit(main())
