"""How long pages of the UI take to be usable in a workspace of many contests and judges.

    .venv/bin/python benchmarks/ui_pages.py [CONTESTS] [JUDGES] [--folder FOLDER] [--screenshots FOLDER] [--rounds 3]

Small contest folders; what reading, judging and reporting each of them would have left in Dagster's records is written
there directly: a materialization of eleven assets of each contest and of each judge's table, and the runs that made
them. Then ``judge-pipeline ui`` is started and its pages are opened in Chromium. The ratio is 10 seconds over the
slowest page.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
import uuid
from pathlib import Path

import dagster as dg
from idle_tick import laid
from playwright.sync_api import Page, expect

from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, REPORT_CONTEST, build_definitions
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.served_ui import served_ui

MADE = (
    "attempts", "splits", "judge_requests", "judge_coverage", "predictions", "judge_metrics", "trajectories",
    "success_at_turn", "struggle_curves", "contest_overview", "cocreation_report",
)  # fmt: skip
"""Assets of a contest that are materialized."""
LIMIT_SECONDS = 10.0
PREVIEW = (
    "| attempt_id | p_ac | s_algo | s_robust |\n|---|---|---|---|\n" + "| 0123456789abcdef | 0.731 | 3 | 2 |\n" * 10
)


def main() -> int:
    """Build the workspace, open its pages, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contests", type=int, nargs="?", default=500)
    parser.add_argument("judges", type=int, nargs="?", default=8)
    parser.add_argument("--folder", type=Path, help="where to make it, to be kept; used as it is where it is there")
    parser.add_argument("--rounds", type=int, default=3, help="how often each page is opened")
    parser.add_argument("--screenshots", type=Path, help="folder for a picture of each page")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = (given.folder or Path(folder) / "home").resolve()
        if not home.is_dir():
            recorded(laid(home, given.contests, given.judges, 1), given.judges)
        with served_ui(home) as (url, _), chromium() as browser:
            page = browser.new_page(viewport={"width": 1400, "height": 1000}, base_url=url)
            page.set_default_timeout(120_000)
            slowest = 0.0
            for name, address, text in pages(given.contests):
                seconds = sorted(opened(page, address, text) for _ in range(given.rounds))
                slowest = max(slowest, seconds[given.rounds // 2])
                print(
                    f"{name:<36} median {seconds[given.rounds // 2]:5.1f} s, longest {seconds[-1]:5.1f} s", flush=True
                )
                if given.screenshots:
                    page.wait_for_timeout(1500)
                    page.screenshot(path=given.screenshots / f"{name.replace(' ', '-')}.png")
            seconds = choosing(page)
            print(f"{'dialog of partitions, one chosen':<36} {seconds:5.1f} s")
            slowest = max(slowest, seconds)
    print(f"ratio {LIMIT_SECONDS / slowest:.2f} target 1")
    return 0 if slowest <= LIMIT_SECONDS else 1


def pages(n_contests: int) -> list[tuple[str, str, str | re.Pattern[str]]]:
    """Name, address, and what stands on it once it is usable."""
    last = f"contest-{n_contests:04}"
    return [
        ("lineage", "/asset-groups", "time_to_success"),
        ("catalog", "/assets", "acceptance_rates"),
        ("asset by contest", "/assets/judge_metrics?view=overview", "ci95_low"),
        ("partitions by contest", f"/assets/judge_metrics?view=partitions&partition={last}", "dagster/row_count"),
        ("partitions by contest and judge", f"/assets/judge_outputs?view=partitions&partition={last}%7Cjudge-1",
         "dagster/row_count"),
        ("lineage of an asset", "/assets/judge_metrics?view=lineage", "judge_coverage"),
        ("runs", "/runs", READ_CONTEST),
        ("overview", "/overview", "Timeline"),
        ("automation", "/automation", "watch_contests"),
    ]  # fmt: skip


def opened(page: Page, address: str, text: str | re.Pattern[str]) -> float:
    """Seconds from asking for the page until what it is for stands on it."""
    page.goto("about:blank")
    started = time.perf_counter()
    page.goto(address)
    expect(page.get_by_text(text).first).to_be_visible(timeout=120_000)
    return time.perf_counter() - started


def choosing(page: Page) -> float:
    """Seconds from *Materialize* to the list of contests, narrowed to one."""
    page.goto("/assets/judge_metrics?view=overview")
    button = page.get_by_role("button", name="Materialize").first
    expect(button).to_be_enabled(timeout=120_000)
    started = time.perf_counter()
    button.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(re.compile("Launch")).first).to_be_visible(timeout=120_000)
    return time.perf_counter() - started


def recorded(workspace: Workspace, n_judges: int) -> None:
    """Write what runs of all contests and judges would have left."""
    (workspace.config_dir / "automation.yaml").write_text("watch: {contests: false, preference_sets: false}\n", "utf-8")
    graph = build_definitions(workspace).resolve_asset_graph()
    started = time.perf_counter()
    with open_instance(workspace) as instance:
        for folder in sorted((workspace.data_dir / "contests").iterdir()):
            judged = [f"{folder.name}|judge-{number}" for number in range(1, n_judges + 1)]
            for asset in MADE:
                _materialize(instance, asset, folder.name, str(graph.get(dg.AssetKey(asset)).code_version))
            for key in judged:
                version = str(graph.get(dg.AssetKey("judge_outputs")).code_version)
                _materialize(instance, "judge_outputs", key, version)
            for job, key in [
                (READ_CONTEST, folder.name),
                *((JUDGE_CONTEST, k) for k in judged),
                (REPORT_CONTEST, folder.name),
            ]:
                _run(instance, job, key)
    print(f"records made in {time.perf_counter() - started:.0f} s: {len(MADE)} assets a contest", flush=True)


def _materialize(instance: dg.DagsterInstance, asset: str, partition: str, version: str) -> None:
    tags = {"dagster/data_version": f"{asset}-{partition}", "dagster/code_version": version}
    metadata = {"dagster/row_count": 250, "preview": dg.MetadataValue.md(PREVIEW)}
    instance.report_runless_asset_event(
        dg.AssetMaterialization(asset, partition=partition, metadata=metadata, tags=tags)
    )


def _run(instance: dg.DagsterInstance, job: str, partition: str) -> None:
    run = dg.DagsterRun(
        job, run_id=str(uuid.uuid4()), status=dg.DagsterRunStatus.SUCCESS, tags={"dagster/partition": partition}
    )
    instance.run_storage.add_run(run)


if __name__ == "__main__":
    sys.exit(main())
