"""Failing runs in a real Dagster instance, told to a real webhook on loopback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import dagster as dg
import pytest

from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, build_definitions
from judge_pipeline.orchestration.automation import notifying
from judge_pipeline.orchestration.automation.failed_runs import failed_run
from judge_pipeline.orchestration.automation.living import STARTED_BY_TAG
from judge_pipeline.orchestration.automation.notifying import NAME, TOLD_TAG, look_for_failures
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.secrets_file import SECRETS_FILE
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.orchestration.automation.loopback_receivers import Webhook, webhook

pytestmark = pytest.mark.slow
KEY = "sk-a-key-that-nobody-may-read-0123456789"


class Watched:
    """A workspace's instance, runs that fail in it, and looks for them as the daemon would take them."""

    def __init__(self, home: Path, hook: Webhook) -> None:
        config = home / "assets_config"
        config.mkdir(parents=True)
        (config / "judges.yaml").write_text("judges: {text: {backend: baseline}}\n")
        self.workspace = Workspace.find({}, home)
        self.instance = dg.DagsterInstance.ephemeral()
        self.hook, self.cursor = hook, None
        self.environment: dict[str, str] = {"JUDGE_PIPELINE_WEBHOOK_URL": hook.url, "SOME_API_KEY": KEY}

    def notify(self, text: str) -> None:
        (self.workspace.config_dir / "automation.yaml").write_text(f"notify: {text}\n")

    def fail(self, words: str = "the key was refused", tags: Mapping[str, str] | None = None) -> str:
        """Let a run fail; its id."""

        @dg.op
        def judge_outputs() -> None:
            raise dg.Failure(words, allow_retries=False)

        @dg.job(name="judge_contest")
        def job() -> None:
            judge_outputs()

        log = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        ran = job.execute_in_process(
            run_config=log, instance=self.instance, raise_on_error=False, tags=dict(tags or {})
        )
        return ran.run_id

    def look(self) -> str:
        """One look; what it says."""
        look = look_for_failures(self.workspace, self.instance, self.cursor, self.environment)
        self.cursor = look.cursor
        return look.words

    def told(self) -> list[str]:
        """Ids of the runs that the webhook was told of, in order."""
        return [run["run_id"] for body in self.hook.got for run in body["runs"]]


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    with webhook() as hook:
        watched = Watched(tmp_path, hook)
        with watched.instance:
            yield watched


def test_a_run_that_fails_is_told_once_and_an_old_one_is_not(watched: Watched) -> None:
    watched.fail("before anybody looked")
    watched.look()
    assert watched.look() == "no further run has failed"
    run = watched.fail(f"the provider says: wrong key {KEY}")
    assert watched.look() == "webhook: told of 1 of 1 failed runs"
    assert watched.look() == "no further run has failed"
    (body,) = watched.hook.got
    (told,) = body["runs"]
    assert (told["run_id"], told["job"], told["step"]) == (run, "judge_contest", "judge_outputs")
    assert told["url"] == f"http://127.0.0.1:3000/runs/{run}"
    assert told["words"] == "the provider says: wrong key [key removed]"
    assert watched.instance.get_run_by_id(run).tags[TOLD_TAG] == "webhook"  # type: ignore[union-attr]


def test_nothing_is_lost_while_the_webhook_is_down_and_nothing_is_told_twice(watched: Watched) -> None:
    watched.look()
    first, second = watched.fail(), watched.fail()
    watched.hook.status = 503
    assert "answered 503 Service Unavailable; tried again" in watched.look()
    assert watched.hook.tries == 1, "what is down is asked once a look"
    third = watched.fail()
    watched.look()
    watched.hook.status = 200
    watched.look()
    watched.look()
    assert watched.told() == [first, second, third]


def test_a_cursor_that_was_turned_back_or_lost_tells_nothing_twice(watched: Watched) -> None:
    watched.look()
    early = watched.cursor
    run = watched.fail()
    watched.look()
    watched.cursor = early
    watched.look()
    watched.cursor = "{damaged"
    watched.look()
    watched.look()
    assert watched.told() == [run]


def test_a_cursor_ahead_of_records_that_were_restored_loses_no_later_failure(watched: Watched) -> None:
    watched.fail()
    watched.cursor = "9" * 30
    watched.look()
    run = watched.fail()
    watched.look()
    assert watched.told() == [run]


def test_many_failures_at_once_are_grouped(watched: Watched) -> None:
    watched.notify("{most_messages: 2}")
    watched.look()
    runs = [watched.fail() for _ in range(5)]
    watched.look()
    assert [len(body["runs"]) for body in watched.hook.got] == [1, 4]
    assert watched.told() == runs


def test_a_message_that_the_other_side_does_not_take_holds_up_no_other(watched: Watched) -> None:
    """It is told without words; where that is not taken either, the tick says which run it was, and it is over."""
    watched.look()
    bad, good = watched.fail("unspeakable"), watched.fail("plain")
    watched.hook.refuses = "unspeakable"
    assert watched.look() == "webhook: told of 2 of 2 failed runs"
    assert [run["words"] for body in watched.hook.got for run in body["runs"]] == ["", "plain"]
    watched.hook.refuses = "judge_contest"
    worst = watched.fail()
    assert f"is not told of {worst}" in watched.look()
    assert watched.look() == "no further run has failed"
    assert watched.told() == [bad, good]
    assert watched.instance.get_run_by_id(worst).tags[TOLD_TAG] == "webhook (refused)"  # type: ignore[union-attr]


def test_runs_of_the_command_line_tell_it_themselves(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """And however many they are, they do not hide those that are told."""
    monkeypatch.setattr(notifying, "MOST_READ", 2)
    watched.look()
    for _ in range(3):
        watched.fail(tags={STARTED_BY_TAG: "command line"})
    run = watched.fail(tags={STARTED_BY_TAG: "a sensor"})
    watched.look()
    watched.look()
    assert watched.told() == [run]


def test_each_channel_is_tried_until_it_was_told(watched: Watched) -> None:
    watched.notify("{email_to: [team@example.org]}")
    watched.environment["JUDGE_PIPELINE_SMTP_URL"] = "smtp://127.0.0.1:1"
    watched.look()
    run = watched.fail()
    for _ in range(2):
        assert "e-mail: told of 0 of 1 failed runs; the mail server cannot be used" in watched.look()
    assert watched.told() == [run]
    del watched.environment["JUDGE_PIPELINE_SMTP_URL"]
    assert watched.look() == "no further run has failed"


def test_without_an_address_nobody_is_told_and_nothing_piles_up(watched: Watched) -> None:
    url = watched.environment.pop("JUDGE_PIPELINE_WEBHOOK_URL")
    assert "JUDGE_PIPELINE_WEBHOOK_URL" in watched.look()
    watched.fail()
    watched.look()
    watched.environment["JUDGE_PIPELINE_WEBHOOK_URL"] = url
    watched.look()
    assert watched.told() == []


def test_that_nobody_is_told_is_logged_once_and_again_when_that_has_changed_meanwhile(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every tick says it."""
    sensor = notifying.notifying_sensor(watched.workspace)
    logged, said = [], []
    for address in ("", "", watched.hook.url, "", ""):
        monkeypatch.setenv("JUDGE_PIPELINE_WEBHOOK_URL", address)
        with dg.build_sensor_context(watched.instance) as context:
            records: list[object] = []
            monkeypatch.setattr(context.log, "info", records.append)
            result = sensor(context)
        assert isinstance(result, dg.SkipReason)
        said.append(str(result.skip_message).partition(":")[0])
        logged.append(len(records))
    assert said == ["nobody is told", "nobody is told", "runs that fail from now on are told", *["nobody is told"] * 2]
    assert logged == [1, 0, 1, 1, 0]


def test_a_wrong_address_is_told_in_the_tick_and_what_fails_meanwhile_later(watched: Watched) -> None:
    watched.look()
    url = watched.environment["JUDGE_PIPELINE_WEBHOOK_URL"]
    watched.environment["JUDGE_PIPELINE_WEBHOOK_URL"] = "no address"
    run = watched.fail()
    assert "JUDGE_PIPELINE_WEBHOOK_URL is not" in watched.look()
    watched.environment["JUDGE_PIPELINE_WEBHOOK_URL"] = url
    watched.look()
    assert watched.told() == [run]


def test_a_refused_table_is_told_by_the_sensor_of_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph's own job, its failure in the words of judging, the address from a secrets file."""
    mini = MiniContest(tmp_path / "home").lay(4, 3)
    workspace = Workspace.find({}, mini.home)
    with webhook() as hook, open_instance(workspace) as instance:
        secrets = tmp_path / "secrets"
        secrets.write_text(f"JUDGE_PIPELINE_WEBHOOK_URL={hook.url}\n")
        secrets.chmod(0o600)
        monkeypatch.setenv(SECRETS_FILE, str(secrets))
        monkeypatch.setenv("JUDGE_PIPELINE_UI_URL", "https://judges.test/ui")
        definitions = build_definitions(workspace)
        sensor = definitions.resolve_sensor_def(NAME)

        def tick(cursor: str | None) -> str | None:
            context = dg.build_sensor_context(instance, cursor=cursor)
            assert isinstance(sensor(context), dg.SkipReason)
            return context.cursor

        cursor = tick(None)
        assert run_job(definitions, instance, READ_CONTEST, mini.name).error is None
        mini.record("sharp", {"no attempt of the contest": 0.5})
        outcome = run_job(definitions, instance, JUDGE_CONTEST, mini.name, "sharp", {STARTED_BY_TAG: "test"})
        assert outcome.error is not None
        tick(cursor)
        (body,) = hook.got
        (told,) = body["runs"]
        assert (told["job"], told["partition"], told["step"]) == (
            "judge_contest",
            "contest mini, judge sharp",
            "judge_outputs",
        )
        assert told["failure_classes"].endswith(" no_record")
        assert told["words"].startswith("judge sharp, contest mini: the table is not accepted (eq. 9)")
        assert told["command"] == "judge-pipeline run data/contests/mini --judges sharp"
        assert told["url"] == f"https://judges.test/ui/runs/{outcome.run_id}"
        run = instance.get_run_by_id(outcome.run_id)
        assert run is not None
        assert failed_run(workspace, instance, run).run_id == outcome.run_id
        assert "secret-of-the-hook" not in repr([entry.user_message for entry in instance.all_logs(outcome.run_id)])


def test_a_run_whose_process_is_gone_is_told_as_whoever_noticed_says_it(watched: Watched) -> None:
    """Nothing in it could fail: another process marks it as failed."""

    @dg.job(name="judge_contest")
    def job() -> None: ...

    watched.look()
    run = watched.instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    watched.instance.report_run_failed(run, "it and the server that had started it are gone; run it again")
    watched.look()
    (told,) = watched.hook.got[0]["runs"]
    assert (told["run_id"], told["step"]) == (run.run_id, None)
    assert told["words"] == "it and the server that had started it are gone; run it again"


def test_a_blocking_check_that_fails_is_told_in_its_own_words(watched: Watched) -> None:
    @dg.asset(check_specs=[dg.AssetCheckSpec("labels", asset="judge_requests", blocking=True)])
    def judge_requests() -> Iterator[object]:
        yield dg.MaterializeResult(
            check_results=[
                dg.AssetCheckResult(passed=False, check_name="labels", description="a label is in it; mend it")
            ]
        )

    watched.look()
    dg.materialize([judge_requests], instance=watched.instance, raise_on_error=False)
    watched.look()
    (told,) = watched.hook.got[0]["runs"]
    assert told["words"] == "check labels of judge_requests: a label is in it; mend it"
