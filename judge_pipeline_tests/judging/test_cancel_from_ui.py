"""A run is cancelled from the UI: it stops within seconds, whatever it waits for, and keeps what was answered."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge_pipeline.definitions import READ_CONTEST, build_definitions
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.pacing.window import News
from judge_pipeline.judging.pacing.window_store import WindowStore
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.settings import Workspace
from judge_pipeline_tests.killing import kill_group
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.served_ui import lay_instance_settings

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ui"), pytest.mark.timeout(500)]
SECONDS = 180
SECONDS_TO_CANCEL = 10.0
JUDGES = ("hanging", "told_to_wait", "paced", "crowded")


@pytest.fixture
def contest(provider: Any, tmp_path: Path) -> MiniContest:
    """A contest that was read, with a judge for each thing that can be waited for; each is a provider of its own."""
    mini = MiniContest(tmp_path / "home").lay(3, 2)
    judges = {
        name: {
            "backend": "litellm", "model": f"openai/{name}", "base_url": provider.url, "transport": "direct",
            "provider": name, "limits": {"max_in_flight": 2, "timeout_seconds": 300},
        }
        for name in JUDGES
    }  # fmt: skip
    providers: dict[str, Any] = {name: {} for name in JUDGES} | {"paced": {"requests_per_minute": 2}}
    settings = {"judges": judges, "providers": providers}
    (mini.home / "assets_config" / "judges.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    lay_instance_settings(mini.home)
    workspace = Workspace.find({}, mini.home)
    with open_instance(workspace) as instance:
        assert run_job(build_definitions(workspace), instance, READ_CONTEST, mini.name).error is None
    return mini


@pytest.fixture
def ui(contest: MiniContest) -> Iterator[str]:
    """Where ``judge-pipeline ui`` serves it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "judge_pipeline.cli.main", "ui", "--port", str(port)]
    environment = os.environ | {"JUDGE_PIPELINE_HOME": str(contest.home)}
    with (contest.home / "ui.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: _repository(url) is not None, "the UI to load the graph")
        yield url
    finally:
        kill_group(server.pid)
        server.wait(20)


def ask(url: str, query: str) -> dict[str, Any]:
    """What the UI's own GraphQL interface answers."""
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(f"{url}/graphql", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        answer: dict[str, Any] = json.load(reply)
    assert "errors" not in answer, answer
    data: dict[str, Any] = answer["data"]
    return data


def wait_for(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"{SECONDS} s were not enough for {what}"
        time.sleep(0.2)


def _repository(url: str) -> tuple[str, str] | None:
    """Location and repository, once they are loaded."""
    try:
        found = ask(url, "{repositoriesOrError{... on RepositoryConnection{nodes{name location{name}}}}}")
    except OSError:
        return None
    nodes = found["repositoriesOrError"].get("nodes") or []
    return (nodes[0]["location"]["name"], nodes[0]["name"]) if nodes else None


def launch(url: str, judge: str) -> str:
    """Start the job for the judge; the run's id."""
    location, repository = _repository(url) or ("", "")
    partition = {"dagster/partition": f"mini|{judge}", "dagster/partition/contest": "mini"}
    partition["dagster/partition/judge"] = judge
    tags = ",".join(f'{{key:"{key}",value:"{value}"}}' for key, value in partition.items())
    selector = f'{{repositoryLocationName:"{location}",repositoryName:"{repository}",jobName:"judge_contest"}}'
    found = ask(
        url,
        f'mutation{{launchRun(executionParams:{{selector:{selector},runConfigData:"{{}}",mode:"default",'
        f"executionMetadata:{{tags:[{tags}]}}}}){{__typename ... on LaunchRunSuccess{{run{{runId}}}}"
        "... on PythonError{message} ... on InvalidSubsetError{message}}}",
    )["launchRun"]
    assert found["__typename"] == "LaunchRunSuccess", found
    return str(found["run"]["runId"])


def status(url: str, run: str) -> str:
    return str(ask(url, f'{{runOrError(runId:"{run}"){{... on Run{{status}}}}}}')["runOrError"]["status"])


def seconds_to_cancel(url: str, run: str) -> float:
    """Cancel the run as the UI does, and wait until it has stopped."""
    began = time.monotonic()
    found = ask(url, f'mutation{{terminateRun(runId:"{run}"){{__typename}}}}')
    assert found["terminateRun"]["__typename"] == "TerminateRunSuccess", found
    wait_for(lambda: status(url, run) in ("CANCELED", "FAILURE", "SUCCESS"), "the run to stop")
    seconds = time.monotonic() - began
    assert status(url, run) == "CANCELED"
    return seconds


def test_whatever_a_judge_waits_for_a_cancelled_run_stops_and_keeps_its_answers(
    contest: MiniContest, ui: str, provider: Any, faults: Any
) -> None:
    told: list[float] = []

    def requests_of(judge: str) -> int:
        return sum(request.body["model"] == judge for request in provider.requests)

    def behave(request: Any, n: int) -> Any:
        judge = request.body["model"]
        if judge == "hanging" and requests_of(judge) > 3:
            return faults.Behaviour(body=faults.valid().body, delay=120)
        if judge == "told_to_wait" and requests_of(judge) > 3:
            told.append(time.monotonic())
            return faults.error(429, "slow down", "rate_limit_exceeded", Retry_After="300")
        return faults.valid()

    provider.behave = behave
    workspace = Workspace.find({}, contest.home)
    url = workspace.checkpoint_url
    others = WindowStore(url)

    def hold() -> None:
        others.renew("crowded", "another", News(holds=2, wanted=2, maximum=2))

    def crowded() -> bool:
        hold()
        import sqlite3

        with closing(sqlite3.connect(workspace.out_dir / "checkpoint.sqlite")) as file:
            return file.execute("SELECT count(*) FROM window_shares WHERE provider = 'crowded'").fetchone() == (2,)

    hold()
    waits: dict[str, Callable[[], bool]] = {
        "hanging": lambda: requests_of("hanging") >= 4,
        "told_to_wait": lambda: bool(told) and time.monotonic() - told[-1] > 1.0,
        "paced": lambda: requests_of("paced") >= 1 and _judgments(url, "paced") >= 1,
        "crowded": crowded,
    }
    for judge, waiting in waits.items():
        run = launch(ui, judge)
        wait_for(waiting, f"{judge} to wait")
        time.sleep(1.0)
        hold()
        assert status(ui, run) == "STARTED", judge
        assert seconds_to_cancel(ui, run) < SECONDS_TO_CANCEL, judge
        asked = requests_of(judge)
        kept = {"hanging": 3, "told_to_wait": 3, "paced": 1, "crowded": 0}[judge]
        assert _judgments(url, judge) == kept, judge
        time.sleep(0.5)
        assert requests_of(judge) == asked, judge
    others.close()


def _judgments(url: str, judge: str) -> int:
    import sqlalchemy as sa

    with closing(Checkpoint(url)) as checkpoint, checkpoint._connect() as connection:
        return int(
            connection.execute(sa.text("SELECT count(*) FROM judgments WHERE judge = :j"), {"j": judge}).scalar_one()
        )
