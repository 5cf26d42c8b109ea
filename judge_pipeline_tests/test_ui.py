"""The Dagster UI in a real browser: the graph, one judge's partition failing, retried, and looked at."""

from __future__ import annotations

import functools
import http.client
import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import dagster as dg
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
from judge_pipeline_tests.served_ui import lay_instance_settings, served_ui

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.xdist_group("ui"), pytest.mark.timeout(600)]
SECONDS = 120
expect.set_options(timeout=60_000)

CHANGE = "mutation{setAutoMaterializePaused(paused:false)}"
ELSEWHERE = """<body><iframe name="below"></iframe><iframe src="UI/"></iframe>
<form method="post" enctype="text/plain" action="UI/graphql?query=CHANGE" target="below"></form><script>
const image = new Image(), form = document.forms[0], socket = new WebSocket("UI/graphql".replace("http", "ws"));
const ended = (on, ...names) => new Promise(end => names.forEach(name => on.addEventListener(name, () => end(name))));
const asked = {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain; x=application/json"}};
const body = JSON.stringify({query: decodeURIComponent("CHANGE")});
Promise.all([
  ended(socket, "open", "error"), ended(image, "load", "error"), ended(document.querySelector("iframe"), "load"),
  fetch("UI/graphql", {...asked, body}).catch(() => 0),
]).then(ends => document.title = `socket: ${ends[0]}`);
image.src = "UI/graphql?query=CHANGE";
form.submit();
</script>"""
"""A page that does what a page can to change something at the UI, and to show it to be clicked in."""


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> MiniContest:
    """A contest that was read, and not yet judged."""
    mini = MiniContest(tmp_path_factory.mktemp("ui") / "home").lay()
    lay_instance_settings(mini.home)
    workspace = Workspace.find({}, mini.home)
    with open_instance(workspace) as instance:
        assert run_job(build_definitions(workspace), instance, READ_CONTEST, mini.name).error is None
    return mini


@pytest.fixture(scope="module")
def url(contest: MiniContest) -> Iterator[str]:
    """Where ``judge-pipeline ui`` serves it."""
    with served_ui(contest.home) as (address, _):
        wait_for(lambda: has_loaded(address), "the UI to load the graph")
        yield address


@pytest.fixture
def page(url: str) -> Iterator[Page]:
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1400, "height": 1000}, base_url=url)
        tab.set_default_timeout(90_000)
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


def wait_for(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
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
    for group in ("contest", "judges", "time_to_success", "struggle", "revision", "reports"):
        expect(page.get_by_text(group, exact=True).first).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto("/assets/judge_metrics?view=overview")
    expect(page.get_by_text("One figure of one judge").first).to_be_visible()
    expect(page.get_by_text("ci95_low").first).to_be_visible()
    assert errors == []


def test_a_page_elsewhere_changes_nothing_and_the_ui_s_own_pages_are_kept_up_to_date(
    page: Page, url: str, tmp_path: Path
) -> None:
    elsewhere = ELSEWHERE.replace("CHANGE", quote(CHANGE)).replace("UI", url)
    (tmp_path / "index.html").write_text(elsewhere, encoding="utf-8")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=tmp_path)
    came: list[int] = []
    page.on("response", lambda reply: came.append(reply.status) if reply.url.startswith(url) else None)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://localhost:{server.server_address[1]}/")
        expect(page).to_have_title("socket: error")
        server.shutdown()
    assert not is_changed(url)
    assert set(came) == {403}

    target = f"/graphql?query={quote(CHANGE)}"
    body, own = json.dumps({"query": CHANGE}).encode(), {"Content-Type": "application/json"}
    assert status_of(url, "GET", target, {}) == 405
    assert status_of(url, "POST", "/graphql", own | {"Origin": "http://elsewhere.example"}, body) == 403
    assert status_of(url, "POST", "/graphql", own | {"Host": "elsewhere.example"}, body) == 421
    assert not is_changed(url)

    told: list[str | bytes] = []
    page.on("websocket", lambda opened: opened.on("framereceived", lambda frame: told.append(frame)))
    page.goto("/overview")
    wait_for(lambda: page.wait_for_timeout(100) or bool(told), "the page to be told something")
    assert status_of(url, "POST", "/graphql", own | {"Origin": url}, body) == 200
    assert is_changed(url), "what shows that nothing was changed would show it"


def is_changed(url: str) -> bool:
    return not ask(url, "{instance{autoMaterializePaused}}")["instance"]["autoMaterializePaused"]


def status_of(url: str, method: str, target: str, headers: dict[str, str], body: bytes | None = None) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(method, target, body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


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
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    link = page.locator("a[href$='/mini/cocreation_report.html']").first
    answer = page.request.get(link.get_attribute("href") or "")
    assert answer.status == 404 and "report_contest" in answer.text(), "it is not made yet"
    expect(page.locator("a[href$='/mini/trace/judge-sharp.html']").first).to_be_visible()
    judged = store_of(Workspace.find({}, contest.home)).read(JUDGE_OUTPUTS, contest.name, "sharp")
    assert len(judged) == len(attempts)


@pytest.fixture
def drawn(contest: MiniContest) -> None:
    """An asset with a figure; made before there is a browser, whose event loop is in the way of a run's own."""
    workspace = Workspace.find({}, contest.home)
    wanted = {dg.AssetKey("trajectories"), dg.AssetKey("success_at_turn")}
    job = build_definitions(workspace).resolve_implicit_global_asset_job_def().get_subset(asset_selection=wanted)
    with open_instance(workspace) as instance:
        assert job.execute_in_process(instance=instance, partition_key=contest.name).success


@pytest.mark.usefixtures("drawn")
def test_a_failed_check_says_what_to_do_and_a_launch_form_what_its_fields_mean(
    page: Page, contest: MiniContest
) -> None:
    page.goto("/assets/judge_coverage?view=checks&checkDetail=none_stale")
    expect(page.get_by_text("Where it fails: launch judge_contest for the judges named").first).to_be_visible()

    page.goto("/jobs")
    page.get_by_text("judge_contest", exact=True).first.click()
    page.get_by_role("button", name="Materialize all").first.click(modifiers=["Shift"])
    field = page.get_by_role("dialog").get_by_text("ceiling_usd").first
    expect(field).to_be_visible()
    expect(page.get_by_role("dialog").get_by_text("out_dir")).to_have_count(0)
    field.click()
    expect(page.get_by_role("dialog").get_by_text("Stop before this run has spent").first).to_be_visible()

    page.goto(f"/assets/success_at_turn?view=partitions&partition={contest.name}")
    page.locator("tr", has=page.get_by_text("picture", exact=True)).get_by_text("Show Markdown").click()
    picture = page.get_by_role("dialog").locator("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 300")
