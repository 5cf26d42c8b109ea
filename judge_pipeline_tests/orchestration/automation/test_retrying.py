"""The nightly retry: which runs are made anew, by the real job over a real instance."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import yaml

from judge_pipeline.definitions import CHAINS
from judge_pipeline.orchestration.automation.retrying import DAYS, MOST_FAILURES, NAME, MayRetry, failed_last
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.orchestration.automation.made_daemon import TAGS_OF_DAGSTER, MadeDaemon

pytestmark = TAGS_OF_DAGSTER

FAILURE, SUCCESS, STARTED = dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.STARTED


@pytest.fixture
def mini(tmp_path: Path) -> MiniContest:
    made = MiniContest(tmp_path / "home").lay(3, 2)
    (made.home / "assets_config" / "automation.yaml").write_text("watch: {quiet_seconds: 0}\n", encoding="utf-8")
    return made


@pytest.fixture
def daemon(mini: MiniContest) -> Iterator[MadeDaemon]:
    workspace = Workspace.find({}, mini.home)
    with open_instance(workspace) as instance:
        yield MadeDaemon(workspace, instance)


def ended(daemon: MadeDaemon, job: str, partition: str, status: dg.DagsterRunStatus) -> None:
    daemon.pretend(dg.RunRequest(run_key=None, job_name=job, partition_key=partition), status)


def failed(daemon: MadeDaemon) -> list[str]:
    return [one.in_words() for one in failed_last(daemon.instance, CHAINS, datetime.now(UTC))]


def test_what_failed_last_is_named_in_the_order_of_the_chain(daemon: MadeDaemon) -> None:
    for job, partition, statuses in [
        ("report_contest", "mini", [FAILURE]),
        ("read_contest", "mini", [SUCCESS, FAILURE]),
        ("read_contest", "other", [FAILURE, SUCCESS]),
        ("report_contest", "other", [FAILURE, STARTED]),
        ("canary", "mini|text", [FAILURE]),
    ]:
        for status in statuses:
            ended(daemon, job, partition, status)
    assert failed(daemon) == ["read_contest of mini", "report_contest of mini"]


def test_what_fails_again_and_again_is_left_to_people(daemon: MadeDaemon) -> None:
    schedule, at = daemon.repository.get_schedule_def(NAME), datetime.now(UTC) + timedelta(minutes=1)
    context = dg.build_schedule_context(daemon.instance, scheduled_execution_time=at)
    for _ in range(MOST_FAILURES):
        ended(daemon, "read_contest", "mini", FAILURE)
    assert isinstance(schedule(context), dg.RunRequest)
    ended(daemon, "read_contest", "mini", FAILURE)
    said = schedule(context)
    assert isinstance(said, dg.SkipReason)
    words = "left to people, for it has failed more than 7 times in a row: read_contest of mini"
    assert said.skip_message == words
    [one] = failed_last(daemon.instance, CHAINS, at)
    assert "8 times in a row" in str(MayRetry(daemon.workspace, CHAINS).why_not(one, 0))


def test_what_failed_long_ago_is_left_alone(daemon: MadeDaemon) -> None:
    ended(daemon, "read_contest", "mini", FAILURE)
    later = datetime.now(UTC) + timedelta(days=DAYS, minutes=1)
    assert failed_last(daemon.instance, CHAINS, later) == []


def test_the_schedule_is_off_and_starts_one_job_a_night(daemon: MadeDaemon) -> None:
    schedule = daemon.repository.get_schedule_def(NAME)
    assert schedule.default_status is dg.DefaultScheduleStatus.STOPPED
    at = datetime.now(UTC) + timedelta(minutes=1)
    context = dg.build_schedule_context(daemon.instance, scheduled_execution_time=at)
    assert isinstance(schedule(context), dg.SkipReason)
    ended(daemon, "read_contest", "mini", FAILURE)
    asked = schedule(context)
    assert isinstance(asked, dg.RunRequest)
    assert asked.run_key == f"{NAME}-{at.date().isoformat()}"


@pytest.mark.slow
def test_the_failed_run_is_made_anew_and_the_rest_follows_by_itself(daemon: MadeDaemon, mini: MiniContest) -> None:
    settings = mini.folder / "contest.yaml"
    settings.write_text("time_zone: Mars/Base\n", encoding="utf-8")
    daemon.until_quiet(daemon.without_reports)
    assert failed(daemon) == ["read_contest of mini"]
    by_hand = mini.home / "assets_config" / "contests.yaml"
    settings.unlink()
    by_hand.write_text("seed: 12\nresamples: 100\n", encoding="utf-8")
    night(daemon)
    assert failed(daemon) == []
    assert len(store_of(daemon.workspace).read(ATTEMPTS, "mini")) > 0
    assert daemon.until_quiet(daemon.without_reports)[0] == "judge_contest mini|text"


@pytest.mark.slow
def test_a_judge_is_asked_by_night_under_the_rules_of_what_runs_by_itself(
    daemon: MadeDaemon, mini: MiniContest
) -> None:
    daemon.until_quiet(daemon.only_read)
    ended(daemon, "judge_contest", "mini|text", FAILURE)
    [run] = daemon.instance.get_runs(dg.RunsFilter(job_name="judge_contest", statuses=[FAILURE]))
    daemon.instance.add_run_tags(run.run_id, {"dagster/partition/contest": "mini", "dagster/partition/judge": "text"})
    automation = mini.home / "assets_config" / "automation.yaml"
    for by_itself, n_made in (("none", 0), ("free", 1)):
        automation.write_text(yaml.safe_dump({"judging": {"by_itself": by_itself}}), encoding="utf-8")
        before = len(daemon.instance.get_runs(dg.RunsFilter(job_name="judge_contest")))
        night(daemon)
        assert len(daemon.instance.get_runs(dg.RunsFilter(job_name="judge_contest"))) == before + n_made


@pytest.mark.slow
def test_one_that_cannot_be_started_ends_no_night(daemon: MadeDaemon, mini: MiniContest) -> None:
    """Its partition was deleted in the UI; or its set's settings are broken."""
    shutil.copytree(mini.folder, mini.folder.parent / "another")
    broken = mini.home / "data" / "preference" / "broken"
    broken.mkdir(parents=True)
    (broken / "preference.yaml").write_text("source: {format: tab", encoding="utf-8")
    daemon.instance.add_dynamic_partitions("contest", ["mini"])
    ended(daemon, "read_contest", "another", FAILURE)
    ended(daemon, "find_rubric_of_preference_set", "broken", FAILURE)
    ended(daemon, "read_contest", "mini", FAILURE)
    night(daemon)
    assert failed(daemon) == ["read_contest of another", "find_rubric_of_preference_set of broken"]
    assert len(store_of(daemon.workspace).read(ATTEMPTS, "mini")) > 0


def night(daemon: MadeDaemon) -> None:
    """Make the job's run, as the schedule has it made."""
    job = daemon.repository.get_job(NAME)
    assert job.execute_in_process(instance=daemon.instance).success
