"""A day in the life: ``judge-pipeline ui`` with daemon and webserver, a provider that breaks, a browser, an auditor.

Nobody starts a run but by the one click that retries what failed.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS, JUDGE_OUTPUTS
from judge_pipeline_tests.browser import chromium
from judge_pipeline_tests.faults.running_system import RunningSystem
from judge_pipeline_tests.judging.conftest import Provider, answer_of, error, provider, valid
from judge_pipeline_tests.judging.test_cancel_from_ui import ask
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.orchestration.automation.loopback_receivers import Webhook, webhook
from judge_pipeline_tests.served_ui import lay_instance_settings

__all__ = ["provider"]

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.xdist_group("ui"), pytest.mark.timeout(900)]
SECONDS = 240
QUIET_SECONDS = 3.0
FINISHED = ("SUCCESS", "FAILURE", "CANCELED")


class Day(RunningSystem):
    """A fresh workspace with an empty contest folder; what is dropped into it comes from a contest made elsewhere."""

    def __init__(self, folder: Path, provider_url: str, hook_url: str) -> None:
        self.home = folder / "home"
        self.source = MiniContest(folder / "elsewhere").lay(3, 2)
        self.folder = self.home / "data" / "contests" / self.source.name
        (self.folder / "submissions").mkdir(parents=True)
        prompts = self.home / "assets_config" / "prompts"
        prompts.mkdir(parents=True)
        for template in (self.source.home / "assets_config" / "prompts").iterdir():
            (prompts / template.name).write_bytes(template.read_bytes())
        judge = {
            "backend": "litellm", "model": "openai/local", "base_url": provider_url, "transport": "direct",
            "price": {"input_usd_per_million_tokens": 0, "output_usd_per_million_tokens": 0},
            "limits": {"max_tries": 1},
        }  # fmt: skip
        self._write("assets_config/judges.yaml", {"judges": {"local": judge}})
        self._write("assets_config/contests.yaml", {"seed": 11, "resamples": 100})
        watch = {"quiet_seconds": QUIET_SECONDS, "interval_seconds": 1}
        self._write("assets_config/automation.yaml", {"watch": watch, "notify": {"interval_seconds": 1}})
        lay_instance_settings(self.home)
        self.workspace = Workspace.find({}, self.home)
        self._variables = {"JUDGE_PIPELINE_WEBHOOK_URL": hook_url}

    def drop(self, path: str, pieces: int = 1, pause_seconds: float = 0.0) -> None:
        """Copy a file of the contest made elsewhere, as a slow upload does: it grows."""
        data, target = (self.source.folder / path).read_bytes(), self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        for piece in range(1, pieces + 1):
            target.write_bytes(data[: len(data) * piece // pieces])
            time.sleep(pause_seconds)

    def dropped(self, pattern: str) -> list[str]:
        """What there is to be dropped, by its path."""
        found = self.source.folder.glob(pattern)
        return sorted(file.relative_to(self.source.folder).as_posix() for file in found)

    def runs(self) -> list[tuple[str, str, str]]:
        """Job, status and id of all runs, the oldest first."""
        found = ask(self.url, "{runsOrError{... on Runs{results{runId status jobName}}}}")["runsOrError"]["results"]
        return [(run["jobName"], run["status"], run["runId"]) for run in reversed(found)]

    def wait_for(self, holds: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + SECONDS
        while not holds():
            assert self.process.poll() is None, "the UI ended"
            assert time.monotonic() < deadline, f"{SECONDS} s were not enough for {what}; runs: {self.runs()}"
            time.sleep(0.5)

    def ended(self, job: str, n: int, status: str = "SUCCESS") -> str:
        """Wait until the nth run of a job has ended, and so; its id."""

        def of_job() -> list[tuple[str, str]]:
            return [(status, run) for own, status, run in self.runs() if own == job]

        self.wait_for(lambda: len(of_job()) >= n and of_job()[n - 1][0] in FINISHED, f"run {n} of {job} to end")
        found, run = of_job()[n - 1]
        assert found == status, self.why(run)
        return run

    def reported_after(self, run: str) -> None:
        """Wait until a report has ended well that was begun after a run."""

        def is_there() -> bool:
            runs = self.runs()
            later = runs[[own for _, _, own in runs].index(run) + 1 :]
            ended = [status for job, status, _ in later if job == "report_contest"]
            under_way = [status for _, status, _ in runs if status not in FINISHED]
            return ended[-1:] == ["SUCCESS"] and not under_way

        self.wait_for(is_there, f"a report after run {run}")

    def why(self, run: str) -> str:
        """What a run's steps said when they failed."""
        error = "error{message errorChain{error{message}}}"
        fields = f"... on EventConnection{{events{{... on ExecutionStepFailureEvent{{stepKey {error}}}}}}}"
        found = ask(self.url, f'{{logsForRun(runId:"{run}"){{{fields}}}}}')
        return json.dumps([event for event in found["logsForRun"]["events"] if event])

    def command(self, *arguments: str) -> str:
        """What a command prints."""
        environment = os.environ | {"JUDGE_PIPELINE_HOME": str(self.home)}
        command = [sys.executable, "-m", "judge_pipeline.cli.main", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def n_attempts(self) -> int:
        """Attempts that were read."""
        return len(store_of(self.workspace).read(ATTEMPTS, self.source.name))


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as state:
        yield state


@pytest.fixture
def day(tmp_path: Path, provider: Provider, hook: Webhook) -> Iterator[Day]:
    provider.behave = lambda request, _: valid(p_ac=answer_of(request.text))
    made = Day(tmp_path, provider.url, hook.url)
    with made.started():
        yield made


@pytest.fixture
def page() -> Iterator[Page]:
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1400, "height": 1000})
        tab.set_default_timeout(60_000)
        yield tab


def test_a_day_in_the_life(day: Day, provider: Provider, hook: Webhook, page: Page) -> None:
    *first, new_1, new_2, new_3, late = day.dropped("submissions/*/*/*.txt")
    _a_contest_arrives_in_pieces(day, provider, first)
    _three_more_submissions(day, provider, [new_1, new_2, new_3], late)
    failed = _the_provider_breaks(day, provider, hook)
    _mended_and_retried_in_the_ui(day, provider, page, failed)
    _the_report_is_read(day, page)
    _one_number_is_traced_home(day, [*first, new_1, new_2, new_3, late])


def _a_contest_arrives_in_pieces(day: Day, provider: Provider, submissions: list[str]) -> None:
    for path in (*day.dropped("prompts/*/chat.md"), *submissions):
        day.drop(path, pieces=3, pause_seconds=0.15)
    assert day.runs() == [], "it is not read while it still grows"
    day.ended("read_contest", 1)
    assert day.n_attempts() == len(submissions)
    day.ended("judge_contest", 1)
    assert len(provider.requests) == len(submissions)
    day.ended("report_contest", 1)
    day.ended("compare_contests", 1)


def _three_more_submissions(day: Day, provider: Provider, submissions: list[str], late: str) -> None:
    before = day.n_attempts()
    provider.behave = lambda request, _: replace(valid(p_ac=answer_of(request.text)), delay=3 * QUIET_SECONDS)
    for path in submissions:
        day.drop(path)
    day.ended("read_contest", 2)
    day.wait_for(lambda: len(provider.requests) == before + 3, "the new attempts to be asked about")
    day.drop(
        late
    )  # settles while they are being judged, so that no report comes between, on a machine that is not busy
    day.ended("judge_contest", 2)
    assert len(provider.requests) == before + 3, "only the new ones are judged"
    assert len({request.text for request in provider.requests}) == before + 3
    assert len(store_of(day.workspace).read(JUDGE_OUTPUTS, day.source.name, "local")) == before + 3


def _the_provider_breaks(day: Day, provider: Provider, hook: Webhook) -> str:
    provider.behave = lambda *_: error(401, "the key was withdrawn", "invalid_api_key")
    failed = day.ended("judge_contest", 3, "FAILURE")
    day.wait_for(lambda: hook.got, "the notification")
    [told] = hook.got
    [run] = told["runs"]
    assert (run["run_id"], run["job"]) == (failed, "judge_contest")
    assert "authentication" in run["failure_classes"]
    assert run["url"] == f"{day.url}/runs/{failed}"
    assert "judge-pipeline run" in run["command"]
    assert day.source.name in run["command"]
    return failed


def _mended_and_retried_in_the_ui(day: Day, provider: Provider, page: Page, failed: str) -> None:
    provider.behave = lambda request, _: valid(p_ac=answer_of(request.text))
    before = len(provider.requests)
    page.goto(f"{day.url}/runs/{failed}")
    page.get_by_role("button", name="Re-execute").first.click()
    retried = day.ended("judge_contest", 4)
    assert len(provider.requests) == before + 1
    assert len(store_of(day.workspace).read(JUDGE_OUTPUTS, day.source.name, "local")) == day.n_attempts()
    day.reported_after(retried)


def _the_report_is_read(day: Day, page: Page) -> None:
    address = day.reports_url + f"/{day.source.name}/cocreation_report.html"
    reply = page.goto(address)
    assert reply is not None
    assert reply.status == 200
    expect(page.get_by_role("heading", level=1).first).to_be_visible()
    expect(page.get_by_text("local").first).to_be_visible()


def _one_number_is_traced_home(day: Day, submissions: list[str]) -> None:
    figure = ["brier", "--judge", "local", "--split", "test", "--contest", day.source.name]
    text = json.dumps(json.loads(day.command("trace", *figure, "--json")))
    read = {path: hashlib.sha256((day.folder / path).read_bytes()).hexdigest() for path in submissions}
    named = [path for path, sha256 in read.items() if path in text and sha256 in text]
    assert named, text[:2000]
    back = day.command("trace", named[0], "--contest", day.source.name)
    assert "judge_metrics" in back
