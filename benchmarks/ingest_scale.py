"""Many artifacts to Parquet through the real asset: time, memory of all its processes, and a second run.

Makes a contest of ``--files`` artifacts (a fifth are whole pages of some 40 KB, the others text files of some 4 KB,
all with sources of 30 to 120 lines) with a few chat logs, in a temporary folder; then materializes
``read_contest_folder`` twice, each time in a new process. Memory is the resident set of that process and all below it,
added up, looked at ten times a second from outside; what they share is counted more than once. The second run must
open no file and give the same bytes.

The ratio is 1.5 GiB over the peak of the first run.

    python benchmarks/ingest_scale.py [--files 100000]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from made_pages import made_page, made_text
from process_memory import peak_until_end

LIMIT_BYTES = 1.5 * 2**30
TARGET = 1.0
CONTEST = "scale"


def main() -> int:
    """Runs the benchmark; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000, help="artifacts to make")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return _materialize(arguments.child)
    with tempfile.TemporaryDirectory(prefix="ingest_scale_") as folder:
        home = Path(folder)
        n_bytes = _lay(home, arguments.files)
        print(f"{arguments.files} artifacts, {n_bytes / 1e6:.0f} MB, {len(os.sched_getaffinity(0))} core(s)")
        first, peak = _run("first run", home, arguments.files)
        second, _ = _run("second run", home, arguments.files)
        if second["opened"] or second["sha256"] != first["sha256"]:
            sys.exit(f"the second run opened {second['opened']} files, or gave other tables")
    ratio = LIMIT_BYTES / peak
    print(f"ratio {ratio:.2f} target {TARGET:g}")
    return 0 if ratio >= TARGET else 1


def _lay(home: Path, n_files: int) -> int:
    """Writes the workspace and the contest; how many bytes its artifacts have."""
    (home / "assets_config").mkdir()
    (home / "assets_config" / "judges.yaml").write_text("judges:\n  text: {backend: baseline}\n", encoding="utf-8")
    (home / "assets_config" / "contests.yaml").write_text("time_zone: Asia/Tokyo\n", encoding="utf-8")
    contest = home / "data" / "contests" / CONTEST
    total = 0
    for number in range(n_files):
        page = made_page(number) if number % 5 == 0 else made_text(number)
        folder = contest / "submissions" / f"E{number % 500:03}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / page.name).write_bytes(page.data)
        total += len(page.data)
    for number in range(50):
        folder = contest / "prompts" / f"E{number:03}"
        folder.mkdir(parents=True)
        (folder / "chat.md").write_text(f"## User\n\nHelp me with {number}.\n\n## Assistant\n\nSort it.\n", "utf-8")
    return total


def _run(name: str, home: Path, n_files: int) -> tuple[dict[str, int | str], float]:
    started = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, __file__, "--child", str(home)], stdout=subprocess.PIPE, env={**os.environ, **_QUIET}
    )
    peak = peak_until_end(child)
    seconds = time.perf_counter() - started
    if child.returncode or child.stdout is None:
        sys.exit(f"{name} failed")
    told: dict[str, int | str] = json.loads(child.stdout.read())
    print(
        f"{name}: {seconds:.1f} s, {n_files / seconds:.0f} files/s, peak {peak / 2**20:.0f} MiB in all processes; "
        f"{told['opened']} files opened, {told['parsed']} parsed, {told['attempts']} attempts"
    )
    return told, peak


_QUIET = {"DAGSTER_DISABLE_TELEMETRY": "1"}


def _materialize(home: Path) -> int:
    import dagster as dg

    from judge_pipeline.assets.contest import read_contest_folder
    from judge_pipeline.orchestration.instance import open_instance
    from judge_pipeline.orchestration.partitions import CONTESTS
    from judge_pipeline.orchestration.resources import SilentProgress, WorkspaceResource
    from judge_pipeline.orchestration.stored_tables import store_of
    from judge_pipeline.settings import Workspace
    from judge_pipeline.tables import ATTEMPTS, INGEST_QUARANTINE, PROMPT_LOGS, SUBMISSION_ARTIFACTS

    workspace = Workspace.find({}, home)
    store = store_of(workspace)
    with open_instance(workspace) as instance:
        instance.add_dynamic_partitions(CONTESTS.name or "", [CONTEST])
        result = dg.materialize(
            [read_contest_folder],
            instance=instance,
            partition_key=CONTEST,
            resources={
                "workspace": WorkspaceResource.of(workspace),
                "store": store,
                "io_manager": store,
                "progress": dg.ResourceDefinition.hardcoded_resource(SilentProgress()),
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
    made = result.asset_materializations_for_node("read_contest_folder")
    metadata = next(event.metadata for event in made if event.asset_key.path[-1] == ATTEMPTS.name)
    digest = hashlib.sha256()
    for table in (SUBMISSION_ARTIFACTS, PROMPT_LOGS, ATTEMPTS, INGEST_QUARANTINE):
        digest.update(store.path(table, CONTEST).read_bytes())
    told = {
        "opened": metadata["files_opened"].value,
        "parsed": metadata["files_parsed"].value,
        "attempts": metadata["dagster/row_count"].value,
        "sha256": digest.hexdigest(),
    }
    print(json.dumps(told))
    return 0 if result.success else 1


if __name__ == "__main__":
    sys.exit(main())
