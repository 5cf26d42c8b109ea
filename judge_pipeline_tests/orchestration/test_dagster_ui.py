from __future__ import annotations

import logging
from pathlib import Path

import dagster as dg
import pytest
from dagster._cli import dev

from judge_pipeline.orchestration.dagster_ui import run_dagster_ui
from judge_pipeline.orchestration.instance import dagster_environment, open_instance
from judge_pipeline.settings import Workspace

ADVICE = "Found a dagster instance configuration value (dagster.yaml) in the current folder, but your DAGSTER_HOME ..."


def test_a_workspace_without_its_own_file_has_no_dialog_over_the_graph_and_sends_nothing(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")
    with open_instance(workspace) as instance:
        assert not instance.nux_enabled and not instance.telemetry_enabled
        assert instance.run_monitoring_enabled
        assert instance.get_concurrency_config().run_queue_config.max_concurrent_runs == 4


@pytest.mark.slow
def test_a_run_prints_what_people_look_for_and_keeps_the_rest_in_its_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    @dg.op
    def say(context) -> None:  # type: ignore[no-untyped-def]
        context.log.info("for people")
        context.log.warning("for all people")

    @dg.job
    def talk() -> None:
        say()

    workspace = Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")
    with open_instance(workspace) as instance:
        run = talk.execute_in_process(instance=instance)
        kept = {str(entry.dagster_event_type) for entry in instance.all_logs(run.run_id) if entry.is_dagster_event}
    printed = capfd.readouterr().err
    assert "for people" in printed and "for all people" in printed and "DEBUG" not in printed
    assert {"DagsterEventType.STEP_START", "DagsterEventType.STEP_SUCCESS"} <= kept


def test_the_ui_is_started_where_the_workspace_is_and_its_misleading_advice_is_kept_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started: list[list[str]] = []

    def main(arguments: list[str], standalone_mode: bool) -> None:
        started.append(arguments)
        logging.getLogger("dagster").warning(ADVICE)
        logging.getLogger("dagster").warning("something else")

    monkeypatch.setattr("dagster._cli.dev.dev_command.main", main)
    workspace = Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")
    with monkeypatch.context() as environment:
        for name in ("DAGSTER_HOME", "JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT"):
            environment.setenv(name, "")
        run_dagster_ui(workspace, "127.0.0.1", 3210)
    (tmp_path / "workspace.yaml").write_text("load_from: []\n", encoding="utf-8")
    with monkeypatch.context() as environment:
        for name in ("DAGSTER_HOME", "JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT"):
            environment.setenv(name, "")
        run_dagster_ui(workspace, "127.0.0.1", 3210)
    where = ["--host", "127.0.0.1", "--port", "3210"]
    assert started == [
        ["--module-name", "judge_pipeline.definitions", *where],
        ["--workspace", str(tmp_path / "workspace.yaml"), *where],
    ]
    assert {record.getMessage() for record in caplog.records} == {"something else"}


def test_the_webserver_is_started_behind_its_guard_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    guarded = ["python", "-m", "judge_pipeline.orchestration.guarded_dagster_webserver", "--port", "3210"]
    wanted = [["python", "-m", "dagster_webserver", "--port", "3210"], ["python", "-m", "dagster_webserver.cli"]]

    def main(*_: object, **__: object) -> None:
        dev.open_ipc_subprocess(wanted.pop(0), pass_fds=[])

    monkeypatch.setattr(dev, "open_ipc_subprocess", lambda command, **_: started.append(command))
    monkeypatch.setattr(dev.dev_command, "main", main)
    for name in dagster_environment(workspace := Workspace(tmp_path / "assets_config", tmp_path, tmp_path / "var")):
        monkeypatch.setenv(name, "")
    run_dagster_ui(workspace, "127.0.0.1", 3210)
    assert started == [guarded]
    with pytest.raises(RuntimeError, match="another version"):
        run_dagster_ui(workspace, "127.0.0.1", 3210)
    dev.open_ipc_subprocess(["dagster"])
    assert started == [guarded, ["dagster"]], "what is unknown was not started, and Dagster is as it was afterwards"
