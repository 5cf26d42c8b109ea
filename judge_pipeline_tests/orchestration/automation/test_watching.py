"""The sensor over real folders, a real Dagster instance and the real jobs."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._core.utils import make_new_run_id

from judge_pipeline.ingest import contest_folder
from judge_pipeline.orchestration.automation import content, reading_again
from judge_pipeline.orchestration.automation.failed_runs import failed_run
from judge_pipeline.orchestration.automation.failure_messages import messages
from judge_pipeline.orchestration.automation.living import process_tag
from judge_pipeline.orchestration.contest_folders import note_contest
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS
from judge_pipeline_tests.judging.conftest import Provider
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.orchestration.automation.made_daemon import TAGS_OF_DAGSTER, MadeDaemon

pytestmark = [pytest.mark.slow, TAGS_OF_DAGSTER]

FREE = {"price": {"input_usd_per_million_tokens": 0, "output_usd_per_million_tokens": 0}}


def automation(mini: MiniContest, **sections: object) -> None:
    """Write automation.yaml; folders settle at once unless said otherwise."""
    values = {"watch": {"quiet_seconds": 0}} | sections
    (mini.home / "assets_config" / "automation.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")


@pytest.fixture
def mini(tmp_path: Path) -> MiniContest:
    made = MiniContest(tmp_path / "home").lay(3, 2)
    automation(made)
    return made


@pytest.fixture
def daemon(mini: MiniContest) -> Iterator[MadeDaemon]:
    workspace = Workspace.find({}, mini.home)
    with open_instance(workspace) as instance:
        yield MadeDaemon(workspace, instance)


def test_a_new_folder_becomes_a_partition_and_goes_all_the_way(daemon: MadeDaemon, mini: MiniContest) -> None:
    assert daemon.until_quiet(daemon.without_reports) == [
        "read_contest mini",
        "judge_contest mini|text",
        "report_contest mini",
        "compare_contests",
    ]
    assert daemon.instance.get_dynamic_partitions("contest") == ["mini"]
    folder_events = daemon.instance.fetch_observations(dg.AssetKey("contest_folder"), limit=5).records
    seen = [event.asset_observation.description for event in folder_events if event.asset_observation]
    assert seen == ["settled"]
    assert daemon.until_quiet() == []
    assert {run.tags["judge_pipeline/started_by"] for run in daemon.instance.get_runs()} == {"watch_contests"}


def attempts(daemon: MadeDaemon, contest: str = "mini") -> int:
    return len(store_of(daemon.workspace).read(ATTEMPTS, contest))


def test_only_new_attempts_are_judged_and_a_touch_judges_none(tmp_path: Path, provider: Provider) -> None:
    """Counted where the judge's calls arrive."""
    mini = MiniContest(tmp_path / "home").lay(2, 2)
    judge = {"backend": "litellm", "model": "openai/loopback", "base_url": provider.url, "transport": "direct", **FREE}
    (mini.home / "assets_config" / "judges.yaml").write_text(yaml.safe_dump({"judges": {"local": judge}}), "utf-8")
    automation(mini)
    workspace = Workspace.find({}, mini.home)
    with open_instance(workspace) as instance:
        daemon = MadeDaemon(workspace, instance)

        daemon.until_quiet(daemon.without_reports)
        before = attempts(daemon)
        assert len(provider.requests) == before
        for turn in (7, 8, 9):
            mini.attempt("E001", "p1", turn, "WA")
        assert daemon.until_quiet(daemon.without_reports) == [
            "read_contest mini",
            "judge_contest mini|local",
            "report_contest mini",
            "compare_contests",
        ]
        assert attempts(daemon) == before + 3
        assert len(provider.requests) == before + 3
        for file in mini.folder.rglob("*.txt"):
            os.utime(file)
        assert daemon.until_quiet(daemon.without_reports) == []
        (mini.folder / "contest.yaml").write_text("title: Another title\n", encoding="utf-8")
        assert daemon.until_quiet(daemon.without_reports) == [
            "read_contest mini",
            "report_contest mini",
            "compare_contests",
        ]
        assert len(provider.requests) == before + 3


def test_content_that_comes_back_is_read_again(daemon: MadeDaemon, mini: MiniContest) -> None:
    file = mini.folder / "submissions" / "E001" / "p1" / "01.txt"
    first = file.read_bytes()
    assert daemon.readings() == ["mini"]
    file.write_bytes(first.replace(b"Result: ", b"Result:  "))
    assert daemon.readings() == ["mini"]
    file.write_bytes(first)
    assert daemon.readings() == ["mini"]
    assert daemon.readings() == []


def test_a_memo_and_a_cursor_of_last_week_start_nothing_again(daemon: MadeDaemon, mini: MiniContest) -> None:
    memo = daemon.workspace.out_dir / "watch" / "contest.json"
    daemon.tick(daemon.only_read, start=False)
    old, cursor = memo.read_bytes(), daemon.cursor
    daemon.readings()
    mini.attempt("E001", "p1", 7, "WA")
    assert daemon.readings() == ["mini"]
    for restore in (lambda: memo.write_bytes(old), memo.unlink, lambda: memo.write_text("{")):
        restore()
        daemon.cursor = cursor
        assert daemon.readings() == []
    mini.attempt("E001", "p1", 8, "WA")
    memo.write_bytes(old)
    daemon.restart()
    assert daemon.readings() == ["mini"]


def test_two_looks_at_once_ask_for_one_run(daemon: MadeDaemon) -> None:
    other = MadeDaemon(daemon.workspace, daemon.instance)
    mine, theirs = daemon.look(), other.look()
    assert [r.run_key for r in mine.run_requests or []] == [r.run_key for r in theirs.run_requests or []]
    assert len(mine.run_requests or []) == 1
    assert daemon.readings() == ["mini"]
    assert other.readings() == []


def test_a_daemon_that_dies_between_look_and_start_loses_nothing(daemon: MadeDaemon, mini: MiniContest) -> None:
    """The memo says that the folder was seen; that it was not read is seen from what is materialized."""
    asked = daemon.tick(start=False)
    assert [request.job_name for request in asked] == ["read_contest"]
    daemon.restart()
    assert daemon.readings() == ["mini"]
    mini.attempt("E001", "p1", 7, "WA")
    daemon.tick(start=False)
    assert MadeDaemon(daemon.workspace, daemon.instance, cursor="what was never a cursor").readings() == ["mini"]


def test_an_upload_in_pieces_is_read_once_when_it_is_whole(daemon: MadeDaemon, mini: MiniContest) -> None:
    automation(mini, watch={"quiet_seconds": 0.4})
    daemon.restart()
    folder = mini.home / "data" / "contests" / "late"
    whole = sorted((mini.folder / "submissions").rglob("*.txt"))
    assert daemon.tick(daemon.only_read) == []
    time.sleep(0.5)
    assert [request.partition_key for request in daemon.tick(daemon.only_read)] == ["mini"]
    for source in whole:
        target = folder / source.relative_to(mini.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = source.read_bytes()
        for end in (len(data) // 3, 2 * len(data) // 3, len(data)):
            target.with_name(f".{target.name}.x7Zq2A").write_bytes(data[:end])
            assert not [request for request in daemon.tick(daemon.only_read) if request.partition_key == "late"]
        target.with_name(f".{target.name}.x7Zq2A").rename(target)
    assert daemon.tick(daemon.only_read) == []
    time.sleep(0.5)
    assert daemon.readings() == ["late"]
    assert attempts(daemon, "late") == len(whole)


def test_a_name_of_an_upload_is_waited_for_and_said(daemon: MadeDaemon, mini: MiniContest) -> None:
    automation(mini, watch={"quiet_seconds": 1.0})
    daemon.restart()
    part = mini.folder / "submissions" / "E001" / "more.zip.part"
    part.write_bytes(b"PK half")
    daemon.look()
    time.sleep(1.1)
    found = daemon.look()
    assert not found.run_requests
    assert "mini: submissions/E001/more.zip.part is still being written" in str(found.skip_reason)
    part.unlink()
    daemon.look()
    time.sleep(1.1)
    assert daemon.readings() == ["mini"]


def test_folders_that_are_nothing_yet_or_nobodys_are_no_error(daemon: MadeDaemon, mini: MiniContest) -> None:
    root = mini.home / "data" / "contests"
    (root / "empty" / "submissions").mkdir(parents=True)
    (root / "empty" / "README.txt").write_text("put files here", encoding="utf-8")
    (root / "My Contest").mkdir()
    (root / ".snapshot").mkdir()
    (root / "notes.txt").write_text("x", encoding="utf-8")
    assert daemon.readings() == ["mini"]
    said = str(daemon.look().skip_reason)
    assert "'My Contest' cannot be a partition key: rename the folder" in said
    assert "snapshot" not in said
    assert daemon.instance.get_dynamic_partitions("contest") == ["mini"]


def test_a_folder_that_is_gone_is_no_error_and_its_tables_stay(daemon: MadeDaemon, mini: MiniContest) -> None:
    elsewhere = mini.home.parent / "elsewhere" / "noted"
    shutil.copytree(mini.folder, elsewhere)
    note_contest(daemon.workspace, elsewhere)
    assert daemon.readings() == ["mini", "noted"]
    shutil.rmtree(elsewhere)
    shutil.rmtree(mini.folder.parent)
    assert daemon.until_quiet(daemon.only_read) == []
    assert attempts(daemon) > 0


def test_a_reading_that_fails_is_told_once_and_read_again_when_it_is_mended(
    daemon: MadeDaemon, mini: MiniContest
) -> None:
    settings = mini.folder / "contest.yaml"
    settings.write_text("time_zone: Mars/Base\n", encoding="utf-8")
    assert daemon.readings() == ["mini"]
    assert daemon.readings() == []
    failed = daemon.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    assert len(failed) == 1
    assert "has failed, and is tried again by itself: read_contest mini from " in str(daemon.look().skip_reason)
    settings.unlink()
    assert daemon.readings() == ["mini"]
    assert attempts(daemon) > 0


def test_what_the_command_line_has_read_is_not_read_again(daemon: MadeDaemon, mini: MiniContest) -> None:
    daemon.instance.add_dynamic_partitions("contest", ["mini"])
    assert run_job(daemon.definitions, daemon.instance, "read_contest", "mini").error is None
    assert [request.job_name for request in daemon.tick(start=False)] == ["judge_contest"]


def test_a_run_of_a_command_is_waited_for_as_long_as_its_process_lives(daemon: MadeDaemon) -> None:
    living = {"judge_pipeline/started_by": "command line", **process_tag()}
    dead = {**living, "judge_pipeline/process": living["judge_pipeline/process"].rpartition(":")[0] + ":1"}
    for tags, n_asked in ((living, 0), (dead, 1)):
        request = dg.RunRequest(run_key=f"by hand {n_asked}", job_name="read_contest", partition_key="mini", tags=tags)
        daemon.pretend(request, dg.DagsterRunStatus.STARTED)
        assert len(daemon.look().run_requests or []) == n_asked
        [run] = daemon.instance.get_runs(dg.RunsFilter(tags={"dagster/run_key": f"by hand {n_asked}"}))
        daemon.instance.delete_run(run.run_id)


def test_a_new_prompt_is_left_or_asked_again_as_the_setting_says(daemon: MadeDaemon, mini: MiniContest) -> None:
    daemon.until_quiet(daemon.without_reports)
    judges = mini.home / "assets_config" / "judges.yaml"
    before = judges.read_text(encoding="utf-8")
    judges.write_text(before.replace("{backend: baseline}", "{backend: baseline, folds: 3}"), encoding="utf-8")
    daemon.restart()
    assert daemon.until_quiet(daemon.without_reports) == []
    automation(mini, rerun={"stale": True})
    daemon.restart()
    assert "judge_contest mini|text" in daemon.until_quiet(daemon.without_reports)
    assert daemon.until_quiet(daemon.without_reports) == []


ASKED_BY_ITSELF: list[tuple[dict[str, object], list[str]]] = [
    ({}, ["free", "text"]),
    ({"by_itself": "none"}, []),
    ({"by_itself": "all"}, ["free", "text"]),
    ({"by_itself": "all", "ceiling_usd": {"run": 0.5}}, ["free", "listed", "priced", "text"]),
    ({"by_itself": ["text", "unpriced"]}, ["text", "unpriced"]),
    ({"by_itself": ["priced"]}, []),
    ({"by_itself": ["priced"], "ceiling_usd": {"run": 2}}, ["priced"]),
    ({"by_itself": ["priced"], "ceiling_usd": {"run": 2, "day": 1}}, []),
]


def test_money_decides_who_is_asked_by_itself(daemon: MadeDaemon, mini: MiniContest) -> None:
    asked = {"backend": "litellm", "base_url": "http://127.0.0.1:9/v1"}
    some = {"price": {"input_usd_per_million_tokens": 1, "output_usd_per_million_tokens": 1}}
    judges = {
        "free": {**asked, "model": "openai/a", **FREE},
        "priced": {**asked, "model": "openai/a", **some},
        "listed": {**asked, "model": "openai/gpt-4o-2024-08-06"},
        "unpriced": {**asked, "model": "openai/what-nobody-lists"},
        "off": {**asked, "model": "openai/a", **FREE, "enabled": False},
        "keyless": {**asked, "model": "openai/a", **FREE, "api_key_env": "MINI_CONTEST_KEY"},
        "text": {"backend": "baseline"},
    }
    (mini.home / "assets_config" / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), "utf-8")
    daemon.restart()
    daemon.tick()
    for judging, named in ASKED_BY_ITSELF:
        automation(mini, judging=judging)
        found = [request for request in daemon.tick(start=False) if request.job_name == "judge_contest"]
        of_judge = {str(request.partition_key).partition("|")[2]: request for request in found}
        assert list(of_judge) == named, judging
        limited = {name for name, request in of_judge.items() if "judge_pipeline/ceiling_usd" in request.tags}
        assert limited == {"priced", "listed"} & set(named), judging


def test_a_judge_that_is_new_in_judges_yaml_waits_for_the_code_and_stops_nobody(
    daemon: MadeDaemon, mini: MiniContest
) -> None:
    daemon.until_quiet(daemon.without_reports)
    judges = mini.home / "assets_config" / "judges.yaml"
    judges.write_text(judges.read_text("utf-8") + "  later: {backend: baseline, folds: 3}\n", encoding="utf-8")
    mini.attempt("E001", "p1", 7, "WA")
    assert daemon.until_quiet(daemon.without_reports)[:2] == ["read_contest mini", "judge_contest mini|text"]
    assert "later is new in judges.yaml: reload the code location" in str(daemon.look().skip_reason)
    daemon.restart()
    assert daemon.until_quiet(daemon.without_reports)[0] == "judge_contest mini|later"


def test_a_reading_that_failed_for_the_defaults_is_made_once_they_are_mended(
    daemon: MadeDaemon, mini: MiniContest
) -> None:
    defaults = mini.home / "assets_config" / "contests.yaml"
    good = defaults.read_bytes()
    defaults.write_text("seed: [\n", encoding="utf-8")
    assert daemon.readings() == ["mini"]
    assert daemon.readings() == []
    defaults.write_bytes(good)
    assert daemon.readings() == ["mini"]
    defaults.write_bytes(good + b"# nothing else\n")
    assert daemon.readings() == [], "what was read stays, unless the settings say otherwise"


@pytest.mark.parametrize("while_hashing", [True, False])
def test_a_file_that_a_disk_did_not_give_is_read_once_it_does(
    daemon: MadeDaemon, mini: MiniContest, monkeypatch: pytest.MonkeyPatch, while_hashing: bool
) -> None:
    file, real, fails = mini.folder / "submissions" / "E001" / "p1" / "01.txt", os.open, while_hashing

    def gives(path: Any, *rest: Any, **named: Any) -> int:
        if fails and os.fspath(path) == os.fspath(file):
            raise OSError(errno.EIO, "Input/output error")
        return real(path, *rest, **named)

    def read(request: dg.RunRequest) -> bool | None:
        nonlocal fails
        if request.job_name != "read_contest":
            return daemon.pretend(request)
        fails = True
        made = daemon.run(request)
        fails = while_hashing
        return made

    monkeypatch.setattr(os, "open", gives)
    daemon.tick(read)
    n = attempts(daemon)
    fails = False
    assert daemon.readings() == ["mini"]
    assert attempts(daemon) == n + 1
    assert daemon.readings() == []


def test_one_that_reads_other_bytes_than_the_sensor_for_ever_is_not_asked_for_ever(
    daemon: MadeDaemon, mini: MiniContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = contest_folder.read_stamped
    monkeypatch.setattr(content, "read_stamped", lambda file, path: (b"other " + real(file, path)[0], None))
    assert daemon.readings() == ["mini", "mini"]


def test_a_link_to_itself_keeps_no_contest_from_being_read(daemon: MadeDaemon, mini: MiniContest) -> None:
    (mini.folder / "submissions" / "E001" / "loop").symlink_to("loop")
    (mini.folder / "loop").symlink_to("loop")
    assert daemon.readings() == ["mini"]
    assert attempts(daemon) > 0


def test_what_has_failed_halfway_is_tried_again_a_few_times_and_said_at_each_look(
    daemon: MadeDaemon, mini: MiniContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks why a folder is not followed must not read that none has changed."""
    daemon.until_quiet(daemon.without_reports)
    assert "folders looked at: 1; none has changed" in str(daemon.look().skip_reason)
    ledger = daemon.workspace.out_dir / "ledgers" / "mini" / "splits_ledger.csv"
    good = ledger.read_bytes()
    ledger.write_bytes(b"neither\n")
    mini.attempt("E001", "p1", 9, "WA")
    assert daemon.readings() == ["mini"], "the next try comes after a pause"
    assert "has failed, and is tried again by itself: read_contest mini from " in str(daemon.look().skip_reason)
    with monkeypatch.context() as patched:
        patched.setattr(reading_again, "PAUSES_MINUTES", (0, 0, 0))
        assert daemon.readings() == ["mini"] * 3
        assert daemon.readings() == []
        tried = daemon.instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
        assert [run.tags["judge_pipeline/try"] for run in tried] == ["4 of 4", "3 of 4", "2 of 4", "1 of 4"]
        assert "has failed, and waits for a retry or a change: read_contest mini" in str(daemon.look().skip_reason)
        last = failed_run(daemon.workspace, daemon.instance, tried[0])
        assert "no, this was the last of 4 tries; it waits" in messages([last], 1)[0].text
    first = failed_run(daemon.workspace, daemon.instance, tried[-1])
    assert "Tried again: yes, by itself, 5 minutes later (this was try 1 of 4)" in messages([first], 1)[0].text
    ledger.write_bytes(good)
    assert run_job(daemon.definitions, daemon.instance, "read_contest", "mini").error is None

    def judges_fail(request: dg.RunRequest) -> bool | None:
        is_judging = request.job_name == "judge_contest"
        return daemon.pretend(request, dg.DagsterRunStatus.FAILURE) if is_judging else daemon.without_reports(request)

    assert daemon.until_quiet(judges_fail)[0] == "judge_contest mini|text"
    assert "has failed, and waits for a retry or a change: judge_contest mini text" in str(daemon.look().skip_reason)


def test_a_reading_that_died_halfway_with_its_command_is_made_whole(
    daemon: MadeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run is never marked as ended."""
    monkeypatch.setattr(reading_again, "PAUSES_MINUTES", (0, 0, 0))
    assert daemon.readings() == ["mini"]
    tags = {"judge_pipeline/started_by": "command line", **process_tag(), "dagster/partition": "mini"}
    tags["judge_pipeline/process"] = tags["judge_pipeline/process"].rpartition(":")[0] + ":1"
    run = dg.DagsterRun(
        job_name="read_contest", run_id=make_new_run_id(), tags=tags, status=dg.DagsterRunStatus.STARTED
    )
    daemon.instance.add_run(run)
    [read] = daemon.instance.fetch_materializations(dg.AssetKey("attempts"), limit=1).records
    assert read.asset_materialization is not None
    half = dg.AssetMaterialization("attempts", partition="mini", metadata=read.asset_materialization.metadata)
    daemon.instance.report_runless_asset_event(half)
    assert daemon.readings() == ["mini"]
    assert daemon.readings() == []
