"""A look that finds nothing new takes less than a second with 500 contests and eight judges.

Writing what 500 contests leave in an instance takes minutes, so a fifth of them has a fifth of the time; all 500 are
measured by benchmarks/idle_tick.py.
"""

from __future__ import annotations

import time
from pathlib import Path

import dagster as dg
import pytest
import yaml

from judge_pipeline.orchestration.automation.content import contest_content
from judge_pipeline.orchestration.automation.reading_state import CONTENT, DEFAULTS, defaults_sha256
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.orchestration.automation.made_daemon import MadeDaemon

N_CONTESTS, N_JUDGES = 100, 8
SECONDS = 0.2


def laid(home: Path) -> Workspace:
    config = home / "assets_config"
    config.mkdir()
    judges = {f"judge-{number}": {"backend": "baseline"} for number in range(1, N_JUDGES + 1)}
    (config / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")
    (config / "contests.yaml").write_text("seed: 1\n", encoding="utf-8")
    (config / "automation.yaml").write_text("watch: {quiet_seconds: 0}\n", encoding="utf-8")
    for number in range(1, N_CONTESTS + 1):
        folder = home / "data" / "contests" / f"contest-{number:03}"
        (folder / "submissions" / "E001").mkdir(parents=True)
        for file in ("submissions/E001/1.txt", "submissions/E001/2.txt", "contest.yaml"):
            (folder / file).write_text(f"title: {number}\n", encoding="utf-8")
    return Workspace.find({}, home)


def materialized(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """What runs would have left: everything made, in its order."""

    def note(asset: str, partition: str | None, **metadata: str) -> None:
        tags = {"dagster/data_version": f"{asset} {partition}"}
        event = dg.AssetMaterialization(asset, partition=partition, metadata=metadata, tags=tags)
        instance.report_runless_asset_event(event)

    for folder in sorted((workspace.data_dir / "contests").iterdir()):
        said = {CONTENT: contest_content(folder, {}), DEFAULTS: defaults_sha256(workspace, "contest")}
        for asset in ("attempts", "splits", "judge_requests"):
            note(asset, folder.name, **said)
        for number in range(1, N_JUDGES + 1):
            note("judge_outputs", f"{folder.name}|judge-{number}")
        note("judge_coverage", folder.name)
        note("cocreation_report", folder.name)
    note("start_page", None)


@pytest.mark.slow
def test_an_idle_look_over_100_contests_takes_a_fifth_of_a_second(tmp_path: Path) -> None:
    """In processor time: how busy the machine is says nothing of the look."""
    workspace = laid(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        materialized(workspace, instance)
        daemon = MadeDaemon(workspace, instance)
        for _ in range(10):  # the first looks hash every folder, as many as there is time for in each
            assert daemon.tick(start=False) == []
        spent = []
        for _ in range(3):
            began = time.process_time()
            found = daemon.look()
            spent.append(time.process_time() - began)
            assert not found.run_requests
        assert f"folders looked at: {N_CONTESTS}; none has changed" in str(found.skip_reason)
        assert min(spent) < SECONDS
        changed = workspace.data_dir / "contests" / "contest-050" / "submissions" / "E001" / "3.txt"
        changed.write_text("Result: AC\n", encoding="utf-8")
        seen = [request.partition_key for _ in range(5) for request in daemon.tick(start=False)]
        assert set(seen) == {"contest-050"}
