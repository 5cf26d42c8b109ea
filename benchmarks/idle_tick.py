"""How long the sensors take over many contests when nothing has changed, and when one has.

.venv/bin/python benchmarks/idle_tick.py [CONTESTS] [JUDGES] [FILES]

Folders of FILES small files each; what runs would have left is written into a Dagster instance directly. With
``--conditions`` the same graph is evaluated once by Dagster's own automation conditions, for comparison. With
``--daemon`` ``judge-pipeline ui`` is started over the workspace as well: every tick that its daemon has written down is
timed, of all sensors and schedules that are on, and what processor time the whole takes while nothing changes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import dagster as dg
import yaml

from judge_pipeline.definitions import build_definitions
from judge_pipeline.orchestration.automation.content import contest_content
from judge_pipeline.orchestration.automation.reading_state import CONTENT, DEFAULTS, defaults_sha256
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.served_ui import served_ui

TICKS = 10
DAEMON_SECONDS = 120
LIMIT_SECONDS = 1.0
"""Of a tick of the daemon in which nothing is found."""


def main() -> None:
    """Build the workspace, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("contests", 500), ("judges", 8), ("files", 40)):
        parser.add_argument(name, type=int, nargs="?", default=default)
    parser.add_argument("--conditions", action="store_true", help="measure Dagster's automation conditions, too")
    parser.add_argument("--daemon", action="store_true", help=f"measure the daemon for {DAEMON_SECONDS} s, too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        workspace = laid(home, given.contests, given.judges, given.files)
        definitions = build_definitions(workspace)
        with open_instance(workspace) as instance:
            seconds = timed(lambda: materialized(workspace, instance, definitions, given.judges))
            print(
                f"{given.contests} contests, {given.judges} judges, {given.files} files each; made in {seconds:.0f} s"
            )
            tick = ticking(definitions, instance, "watch_contests")
            print(f"first look of all folders, hashed: {timed(tick):.2f} s; then: {timed(tick):.2f} s")
            for name in ("watch_contests", "watch_preference_sets"):
                own = ticking(definitions, instance, name) if name != "watch_contests" else tick
                spent = sorted(timed(own) for _ in range(TICKS))
                print(f"idle tick of {name}: median {statistics.median(spent):.3f} s, longest {spent[-1]:.3f} s")
            changed = workspace.data_dir / "contests" / "contest-0001" / "submissions" / "E001" / "new.txt"
            changed.write_text("Result: AC\n", encoding="utf-8")
            print(f"tick that sees one change: {timed(tick):.3f} s")
            if given.conditions:
                first, second = by_conditions(definitions, instance)
                print(f"automation conditions: first tick {first:.1f} s, second, with nothing new, {second:.1f} s")
            if given.daemon:
                changed.unlink()
                by_daemon(home, instance)


def timed(work: Callable[[], object]) -> float:
    """Seconds that it takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def laid(home: Path, n_contests: int, n_judges: int, n_files: int) -> Workspace:
    """A workspace of small contests and baseline judges."""
    config = home / "assets_config"
    config.mkdir(parents=True)
    judges = {f"judge-{number}": {"backend": "baseline"} for number in range(1, n_judges + 1)}
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")
    (config / "contests.yaml").write_text("seed: 1\n", encoding="utf-8")
    (config / "automation.yaml").write_text("watch: {quiet_seconds: 0}\n", encoding="utf-8")
    for number in range(1, n_contests + 1):
        folder = home / "data" / "contests" / f"contest-{number:04}"
        (folder / "submissions" / "E001" / "p1").mkdir(parents=True)
        (folder / "contest.yaml").write_text("title: made\n", encoding="utf-8")
        for file in range(n_files):
            (folder / "submissions" / "E001" / "p1" / f"{file:03}.txt").write_text("Result: AC\n", encoding="utf-8")
    return Workspace.find({}, home)


def materialized(
    workspace: Workspace, instance: dg.DagsterInstance, definitions: dg.Definitions, n_judges: int
) -> None:
    """What runs of all contests and judges would have left in the instance."""
    graph = definitions.resolve_asset_graph()
    for folder in sorted((workspace.data_dir / "contests").iterdir()):
        said = {CONTENT: contest_content(folder, {}), DEFAULTS: defaults_sha256(workspace, "contest")}
        keys = [f"{folder.name}|judge-{number}" for number in range(1, n_judges + 1)]
        events = [("attempts", folder.name, said), ("splits", folder.name, {}), ("judge_requests", folder.name, {})]
        events += [("judge_outputs", key, {}) for key in keys] + [
            (name, folder.name, {}) for name in ("judge_coverage", "cocreation_report")
        ]
        for asset, partition, metadata in events:
            version = graph.get(dg.AssetKey(asset)).code_version
            tags = {"dagster/data_version": f"{asset}-{partition}", "dagster/code_version": str(version)}
            instance.report_runless_asset_event(
                dg.AssetMaterialization(asset, partition=partition, metadata=metadata, tags=tags)
            )
    instance.report_runless_asset_event(dg.AssetMaterialization("start_page"))


def ticking(definitions: dg.Definitions, instance: dg.DagsterInstance, name: str) -> Callable[[], object]:
    """One evaluation of a sensor, as the daemon has it made."""
    repository = definitions.get_repository_def()
    sensor = repository.get_sensor_def(name)
    cursor = ""

    def tick() -> dg.SensorResult:
        nonlocal cursor
        context = dg.build_sensor_context(instance=instance, repository_def=repository, sensor_name=name, cursor=cursor)
        result = sensor(context)
        assert isinstance(result, dg.SensorResult)
        cursor = result.cursor or ""
        return result

    return tick


def by_daemon(home: Path, instance: dg.DagsterInstance) -> None:
    """Print how long the daemon's ticks take, from their records; the first of each sensor hashes all folders."""
    with served_ui(home):
        time.sleep(DAEMON_SECONDS / 3)
        used, began = processor_seconds(home), time.time()
        time.sleep(DAEMON_SECONDS)
        share = (processor_seconds(home) - used) / (time.time() - began)
    slowest = 0.0
    for state in instance.all_instigator_state():
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id, after=began)
        spent = sorted(tick.end_timestamp - tick.timestamp for tick in ticks if tick.end_timestamp)
        if not spent:
            continue
        slowest = max(slowest, statistics.median(spent))
        said = ", ".join(sorted({tick.status.value for tick in ticks}))
        print(
            f"daemon, {state.instigator_name}: {len(spent)} ticks ({said}), median {statistics.median(spent):.3f} s, "
            f"longest {spent[-1]:.3f} s"
        )
    print(f"daemon, webserver and code server, idle: {share:.0%} of one processor")
    print(f"ratio {LIMIT_SECONDS / slowest:.2f} target 1")


def processor_seconds(home: Path) -> float:
    """Of all processes that the UI over this workspace has started."""
    mark, per_second = f"JUDGE_PIPELINE_HOME={home}".encode(), os.sysconf("SC_CLK_TCK")
    total = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(folder.name) != os.getpid() and mark in (folder / "environ").read_bytes().split(b"\0"):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                total += (int(fields[11]) + int(fields[12])) / per_second
    return total


def by_conditions(definitions: dg.Definitions, instance: dg.DagsterInstance) -> list[float]:
    """Seconds of two evaluations of the same graph, each of its assets with Dagster's eager condition."""
    conditioned = definitions.map_asset_specs(
        func=lambda spec: spec.replace_attributes(automation_condition=dg.AutomationCondition.eager())
    )
    spent, cursor = [], None
    for _ in range(2):
        started = time.perf_counter()
        cursor = dg.evaluate_automation_conditions(defs=conditioned, instance=instance, cursor=cursor).cursor
        spent.append(time.perf_counter() - started)
    return spent


if __name__ == "__main__":
    main()
