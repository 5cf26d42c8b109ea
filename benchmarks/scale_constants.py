"""What a contest takes by its size, from files to the report: the constants of ``scale_model.py``.

For each of ``--attempts`` sizes: a contest of that many artifacts (a fifth whole pages of some 40 KB, as in
``ingest_scale.py``) is laid, and a new process runs the jobs of the command line: read, judge (a judge at a loopback
server over ``transport: direct``, and the baseline), report, compare. Told are processor seconds of all processes of a
job but the server's, the peak of their memory together, bytes of tables, checkpoint, report and of Dagster's records,
and events. What grows is taken from the two largest sizes, what does not is what is left.

Then the checkpoint alone: answers a second written one at a time and in groups as calls in flight make them, to SQLite
and, where its programs are there, to PostgreSQL; and bytes for an answer with some 700 prompt tokens.

    python benchmarks/scale_constants.py [--attempts 1000 4000] [--answers 3000]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from ingest_scale import CONTEST, _lay
from judging import loopback
from process_memory import peak_until_end
from resume import SETTINGS, stored, table

from judge_pipeline.settings import packaged_config_dir

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

JUDGES = """\
judges:
  loopback:
    backend: litellm
    model: openai/loopback
    base_url: {url}
    transport: direct
    send_schema: false
    limits: {{max_in_flight: 64}}
  text: {{backend: baseline}}
"""
IN_GROUP = 64
LATENCY_MS = 20


def main() -> int:
    """Measure and print; 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attempts", type=int, nargs="*", default=[1000, 4000], help="sizes of contests")
    parser.add_argument("--answers", type=int, default=3000, help="answers written to each store")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        return run_contest(asked.child)
    told = [measure(n) for n in sorted(asked.attempts)]
    for small, large in pairwise(told):
        print_growth(small, large)
    if asked.answers:
        measure_stores(asked.answers)
    print(f"load average at the end: {', '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} cores")
    return 0


def measure(n: int) -> dict[str, float]:
    """What a contest of n artifacts takes, by name."""
    with tempfile.TemporaryDirectory(prefix="scale_") as folder, loopback(LATENCY_MS) as url:
        home = Path(folder)
        n_bytes = _lay(home, n)
        (home / "assets_config" / "judges.yaml").write_text(JUDGES.format(url=url), encoding="utf-8")
        shutil.copytree(packaged_config_dir() / "prompts", home / "assets_config" / "prompts")
        command = [sys.executable, __file__, "--child", str(home)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "DAGSTER_DISABLE_TELEMETRY": "1"})
        peak = peak_until_end(child)
        if child.returncode or child.stdout is None:
            sys.exit(f"the contest of {n} failed")
        told: dict[str, float] = json.loads(child.stdout.read().splitlines()[-1])
    told |= {"artifacts_bytes": float(n_bytes), "peak_bytes": float(peak), "n": float(n)}
    print(f"{n} artifacts: " + ", ".join(f"{name} {value:,.4g}" for name, value in told.items()), flush=True)
    return told


def print_growth(small: dict[str, float], large: dict[str, float]) -> None:
    """What grows with the attempts, and what is left where there are none."""
    more = large["attempts"] - small["attempts"]
    for name in sorted(set(small) - {"n", "attempts"}):
        each = (large[name] - small[name]) / more
        print(f"  {name:32} {each:12.5g} an attempt, {small[name] - each * small['attempts']:12.5g} besides")


def run_contest(home: Path) -> int:
    """In a process of its own: every job of the contest, told as JSON on the last line."""
    from judge_pipeline.definitions import (
        COMPARE_CONTESTS,
        JUDGE_CONTEST,
        READ_CONTEST,
        REPORT_CONTEST,
        build_definitions,
    )
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.runs import run_job
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.settings import Workspace
    from judge_pipeline.tables import ATTEMPTS

    workspace = Workspace.find({}, home)
    out, told = workspace.out_dir, {}
    definitions = build_definitions(workspace)
    with open_instance(workspace) as instance:
        before = 0.0
        for what, job, contest, judge in (
            ("read", READ_CONTEST, CONTEST, None),
            ("judge", JUDGE_CONTEST, CONTEST, "loopback"),
            ("judge_stored", JUDGE_CONTEST, CONTEST, "loopback"),
            ("baseline", JUDGE_CONTEST, CONTEST, "text"),
            ("report", REPORT_CONTEST, CONTEST, None),
            ("compare", COMPARE_CONTESTS, None, None),
        ):
            started, at = cpu_seconds(), time.perf_counter()
            outcome = run_job(definitions, instance, job, contest, judge)
            if outcome.error is not None:
                failed = [e.dagster_event for e in instance.all_logs(outcome.run_id) if e.dagster_event]
                steps = [str(event.step_key) for event in failed if event.is_step_failure]
                sys.exit(f"{job}: {', '.join(steps)}: {outcome.error}")
            told[f"{what}_cpu_seconds"] = cpu_seconds() - started
            told[f"{what}_events"] = float(len(instance.all_logs(outcome.run_id)))
            bytes_now = bytes_of(out / "dagster")
            told[f"{what}_dagster_bytes"], before = bytes_now - before, bytes_now
            print(f"{what}: {time.perf_counter() - at:.1f} s", file=sys.stderr, flush=True)
    told["attempts"] = float(len(store_of(workspace).read(ATTEMPTS, CONTEST)))
    told |= {f"{name}_bytes": bytes_of(out / name) for name in ("tables", "exports", "reports", "ingest_cache")}
    told["checkpoint_bytes"] = float(sum(file.stat().st_size for file in out.glob("checkpoint.sqlite*")))
    print(json.dumps(told))
    return 0


def cpu_seconds() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def bytes_of(folder: Path) -> float:
    """Of all files below a folder."""
    return float(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))


def measure_stores(n: int) -> None:
    """Answers a second that the checkpoint takes, and bytes for one."""
    from judge_pipeline.judging.prepared import prepare

    prepared = prepare("stored", SETTINGS, table(2 * n, 1200, 1200), packaged_config_dir() / "prompts")
    hashes = list(prepared.hashes[0])
    with tempfile.TemporaryDirectory(prefix="scale_") as folder:
        for name, url in stores(Path(folder)):
            for in_group, part in ((1, hashes[:n]), (IN_GROUP, hashes[n:])):
                records = [stored(prepared, hash_) for hash_ in part]
                print(f"  {name}, {in_group} a transaction: {written(url, records, in_group)}", flush=True)
            print(f"  {name}: {looked_at(url):.2f} µs of processor a call to add up what was spent", flush=True)
        size = sum(file.stat().st_size for file in Path(folder).glob("c.sqlite*"))
        print(f"  SQLite: {size / len(hashes):,.0f} bytes an answer")


@contextmanager
def _postgresql() -> Iterator[Any]:
    from judge_pipeline_tests.postgresql import running_server

    try:
        server = running_server()
        yield server.__enter__()
    except BaseException as error:  # noqa: BLE001  pytest's skip is none of Exception
        print(f"  PostgreSQL: left out ({str(error)[:80]})")
        yield None
        return
    server.__exit__(None, None, None)


def stores(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and URL of each store."""
    yield "SQLite", f"sqlite:///{folder / 'c.sqlite'}"
    with _postgresql() as server:
        if server is not None:
            url = server.new_database()
            yield "PostgreSQL", url
            database = url.rpartition("/")[2]
            ((size,),) = server.execute(database, f"SELECT pg_database_size('{database}')")
            print(f"  PostgreSQL: {size:,} bytes in all")


def written(url: str, records: list[Any], in_group: int) -> str:
    """How fast the records were written."""
    from judge_pipeline.judging.checkpoint.store import Checkpoint

    with closing(Checkpoint(url)) as checkpoint:
        checkpoint.longest_answer("nobody")  # opens it
        at, cpu = time.perf_counter(), time.process_time()
        for start in range(0, len(records), in_group):
            checkpoint.record(records[start : start + in_group])
        seconds, cpu = time.perf_counter() - at, time.process_time() - cpu
    return f"{len(records) / seconds:,.0f} answers/s, {1000.0 * cpu / len(records):.3f} ms of processor an answer"


def looked_at(url: str) -> float:
    """Microseconds of processor that adding up the costs of all calls takes for each, as under a ceiling."""
    from judge_pipeline.judging.checkpoint.store import Checkpoint
    from judge_pipeline.judging.money import ContestSpending

    with closing(Checkpoint(url)) as checkpoint:
        n = sum(1 for _ in checkpoint.costs(0))
        cpu = time.process_time()
        ContestSpending(checkpoint, frozenset(), "nobody").usd("none", 0.0)
        return 1e6 * (time.process_time() - cpu) / n


if __name__ == "__main__":
    sys.exit(main())
