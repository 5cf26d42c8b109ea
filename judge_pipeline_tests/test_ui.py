"""The Dagster UI in a real browser: the graph, one judge's partition failing, retried, and looked at."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from judge_pipeline.definitions import READ_CONTEST, build_definitions
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS, JUDGE_OUTPUTS
from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.mini_contest import MiniContest

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.xdist_group("ui"), pytest.mark.timeout(400)]
SECONDS = 120
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> MiniContest:
    """A contest that was read, and not yet judged."""
    mini = MiniContest(tmp_path_factory.mktemp("ui") / "home").lay()
    template = Path(__file__).resolve().parent.parent / "dagster.yaml"
    (mini.home / "dagster.yaml").write_bytes(template.read_bytes())
    workspace = Workspace.find({}, mini.home)
    with open_instance(workspace) as instance:
        assert run_job(build_definitions(workspace), instance, READ_CONTEST, mini.name).error is None
    return mini


@pytest.fixture(scope="module")
def url(contest: MiniContest) -> Iterator[str]:
    """Where ``judge-pipeline ui`` serves it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "judge_pipeline.cli.main", "ui", "--port", str(port)]
    environment = os.environ | {"JUDGE_PIPELINE_HOME": str(contest.home)}
    log = (contest.home / "ui.log").open("wb")
    server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: has_loaded(address), "the UI to load the graph", server)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)


@pytest.fixture
def page(url: str) -> Iterator[Page]:
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1400, "height": 1000}, base_url=url)
        tab.set_default_timeout(30_000)
        yield tab


def ask(url: str, query: str) -> dict[str, Any]:
    """What the UI's own GraphQL interface answers."""
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(f"{url}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        data: dict[str, Any] = json.load(reply)["data"]
    return data


def has_loaded(url: str) -> bool:
    try:
        return any(
            node["assetKey"]["path"] == ["attempts"] for node in ask(url, "{assetNodes{assetKey{path}}}")["assetNodes"]
        )
    except OSError:
        return False


def wait_for(holds: Callable[[], bool], what: str, server: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert server is None or server.poll() is None, f"the server ended while waiting for {what}"
        assert time.monotonic() < deadline, f"{SECONDS} s were not enough for {what}"
        time.sleep(0.5)


def runs_of_judges(url: str) -> list[tuple[str, str]]:
    """(run id, status) of the runs that materialize judge_outputs, newest first."""
    runs = ask(url, "{runsOrError{... on Runs{results{runId status assetSelection{path}}}}}")["runsOrError"]["results"]
    return [(r["runId"], r["status"]) for r in runs if {"path": ["judge_outputs"]} in (r["assetSelection"] or [])]


def finished_run(url: str, n: int) -> tuple[str, str]:
    """The newest of n runs, once it has ended."""
    done = ("SUCCESS", "FAILURE", "CANCELED")
    wait_for(lambda: len(runs_of_judges(url)) == n and runs_of_judges(url)[0][1] in done, f"run {n} to end")
    return runs_of_judges(url)[0]


def choose(page: Page, partition: str) -> None:
    """Choose a partition in the first dimension that has none yet; the list closes if the dialog is still moving."""
    item = (
        page.locator("[role=menuitem], [role=option], [class*=menu-item], [class*=MenuItem]")
        .filter(has_text=partition)
        .first
    )

    def listed() -> bool:
        page.get_by_role("dialog").get_by_text("Select a partition or create one").first.click()
        page.wait_for_timeout(1000)
        return item.is_visible()

    wait_for(listed, f"the list with {partition}")
    item.click()
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)


def test_the_graph_loads_without_a_dialog_over_it(page: Page) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("/asset-groups")
    for group in ("contest", "judges", "dynamics", "reports"):
        expect(page.get_by_text(group, exact=True).first).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto("/assets/judge_metrics?view=overview")
    expect(page.get_by_text("One figure of one judge").first).to_be_visible()
    expect(page.get_by_text("ci95_low").first).to_be_visible()
    assert errors == []


def test_a_judge_fails_is_retried_and_its_table_is_seen(page: Page, url: str, contest: MiniContest) -> None:
    page.goto("/assets/judge_outputs?view=overview")
    page.get_by_role("button", name="Materialize").first.click()
    for partition in (contest.name, "sharp"):
        choose(page, partition)
    page.get_by_role("dialog").get_by_role("button", name="Launch").last.click()

    run_id, status = finished_run(url, 1)
    assert status == "FAILURE", "its file of recorded outputs is not there yet"
    page.goto(f"/runs/{run_id}")
    expect(page.get_by_text("recorded/sharp.jsonl").first).to_be_visible()

    attempts = store_of(Workspace.find({}, contest.home)).read(ATTEMPTS, contest.name)
    contest.record("sharp", {row.attempt_id: 0.25 + 0.5 * row.y for row in attempts.itertuples()})
    page.get_by_role("button", name="Re-execute").first.click()
    run_id, status = finished_run(url, 2)
    assert status == "SUCCESS"

    page.goto(f"/assets/judge_outputs?view=partitions&partition={contest.name}%7Csharp")
    expect(page.get_by_text("judge_outputs/mini/sharp.parquet").first).to_be_visible()
    page.get_by_text("Show Markdown").first.click()
    expect(page.get_by_role("dialog").get_by_text(attempts["attempt_id"].iloc[0])).to_be_visible()
    judged = store_of(Workspace.find({}, contest.home)).read(JUDGE_OUTPUTS, contest.name, "sharp")
    assert len(judged) == len(attempts)
