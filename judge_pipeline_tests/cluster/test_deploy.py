"""What deploy/ holds is well formed, states no secret, listens on loopback, and names only what there is."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from judge_pipeline.cli.main import cli
from judge_pipeline.orchestration.executors import configured_executor, run_of_steps
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.links import REPORTS_URL, UI_URL
from judge_pipeline.orchestration.openlineage_sensor import URL as OPENLINEAGE_URL
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.automation import NotifySettings
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline_tests.cluster.cluster import CHECKOUT
from judge_pipeline_tests.mini_contest import MiniContest

DEPLOY = CHECKOUT / "deploy"
GUIDE = CHECKOUT / "docs" / "how-to" / "run-on-a-cluster.md"
YAML = sorted(DEPLOY.rglob("*.yaml"))
OF_CHART = {
    "global", "generatePostgresqlPasswordSecret", "dagsterWebserver", "dagsterDaemon", "runLauncher",
    "additionalInstanceConfig", "computeLogManager", "dagster-user-deployments", "postgresql", "rabbitmq", "redis",
    "flower", "ingress", "telemetry",
}  # fmt: skip
"""Keys of the official chart's values."""


def documents(file: Path) -> list[Any]:
    return list(yaml.safe_load_all(file.read_text("utf-8")))


def values(node: Any) -> Iterator[tuple[str, Any]]:
    """Every key with its value, at any depth."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield str(key), value
            yield from values(value)
    elif isinstance(node, list):
        for value in node:
            yield from values(value)


def compose() -> dict[str, Any]:
    return dict(documents(DEPLOY / "compose.yaml")[0])


@pytest.mark.parametrize("file", YAML, ids=lambda file: file.name)
def test_no_file_holds_a_secret(file: Path) -> None:
    for key, value in (pair for document in documents(file) for pair in values(document)):
        if isinstance(value, str) and re.search(r"PASSWORD$|SECRET|_KEY|_KEY_ID$|password$|_URL$", key):
            without = re.sub(r"\$\{\w+(:[?-][^}]*)?\}", "", value)
            assert not re.search(r"://[^/]*:\w+@", without), key
            assert without == "" or "://" in without, key


def test_every_variable_is_in_the_guide_or_the_example() -> None:
    told = GUIDE.read_text("utf-8") + (DEPLOY / "env.example").read_text("utf-8")
    code = "".join(file.read_text("utf-8") for file in (CHECKOUT / "judge_pipeline").rglob("*.py"))
    named = set()
    for service in compose()["services"].values():
        for name, value in (service.get("environment") or {}).items():
            named |= {name, *re.findall(r"\$\{(\w+)", str(value))}
    for name in named - {"POSTGRES_USER", "POSTGRES_DB", "MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD"}:
        assert name in told, name
        assert not name.startswith("JUDGE_PIPELINE_") or name in code or name == "JUDGE_PIPELINE_DAGSTER_URL", name
    assert all(line.endswith("=") for line in (DEPLOY / "env.example").read_text().splitlines() if "=" in line)


def test_containers_are_given_each_judge_s_key_and_who_is_told_of_failures() -> None:
    given = set(compose()["services"]["worker"]["environment"])
    judges = documents(CHECKOUT / "assets_config" / "judges.yaml")[0]
    keys = {key for name, key in values(judges) if name == "api_key_env"}
    assert len(keys) > 3 and keys <= given, keys - given
    notify = NotifySettings()
    assert {notify.webhook_env, notify.smtp_env, UI_URL, REPORTS_URL, OPENLINEAGE_URL} <= given


def test_images_are_pinned_and_ports_are_on_loopback() -> None:
    for name, service in compose()["services"].items():
        assert re.search(r":[\w.-]*\d[\w.-]*$", service["image"]), name
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), name
    assert re.search(r"^FROM python:3\.\d+\.\d+-", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)


def test_what_containers_run_and_mount_is_there() -> None:
    services, volumes = compose()["services"], set(compose()["volumes"])
    for name, service in services.items():
        for other in service.get("depends_on", {}):
            assert other in services, name
        for mount in service.get("volumes", ()):
            source = mount.partition(":")[0]
            assert source in volumes or (DEPLOY / source).exists() or source == "../data", mount
        command = service.get("command", [])
        if command[:1] == ["judge-pipeline"]:
            assert CliRunner().invoke(cli, [*command[1:2], "--help"]).exit_code == 0
    host = documents(DEPLOY / "workspace.yaml")[0]["load_from"][0]["grpc_server"]
    assert host["host"] in services and str(host["port"]) in services[host["host"]]["command"]
    copied = re.findall(r"^COPY (.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    kept = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    for source in " ".join(copied).split():
        assert (CHECKOUT / source).exists() and f"!{source}" in kept, source
    [webserver] = re.findall(r"-m (judge_pipeline[\w.]+)", (DEPLOY / "Dockerfile").read_text())
    assert importlib.import_module(webserver).main


def test_values_name_what_the_chart_knows_and_what_our_package_has() -> None:
    found = documents(DEPLOY / "kubernetes" / "values.yaml")[0]
    assert set(found) <= OF_CHART
    for launcher in (
        found["runLauncher"]["config"]["customRunLauncher"],
        documents(DEPLOY / "dagster.yaml")[0]["run_launcher"],
    ):
        assert hasattr(importlib.import_module(launcher["module"]), launcher["class"])
    webserver = found["dagsterWebserver"]
    assert webserver["service"]["port"] >= 1024, "the image's user is not root"
    assert webserver["readinessProbe"]["httpGet"]["port"] == "http", "as the chart calls the container's port"
    kinds = [document["kind"] for document in documents(DEPLOY / "kubernetes" / "workers.yaml")]
    assert kinds == ["PersistentVolumeClaim", "Deployment", "Deployment"]
    for deployment in documents(DEPLOY / "kubernetes" / "workers.yaml")[1:]:
        pod = deployment["spec"]["template"]
        assert deployment["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]
        container = pod["spec"]["containers"][0]
        assert {mount["name"] for mount in container["volumeMounts"]} == {v["name"] for v in pod["spec"]["volumes"]}
        assert CliRunner().invoke(cli, [container["args"][1], *container["args"][2:], "--help"]).exit_code == 0


@pytest.mark.slow
def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = MiniContest(tmp_path / "home").lay(1, 1).home
    (home / "dagster.yaml").write_bytes((DEPLOY / "dagster.yaml").read_bytes())
    workspace = Workspace.find({}, home)
    with pytest.raises(SettingsError, match="JUDGE_PIPELINE_DAGSTER_URL, which is not set"):
        open_instance(workspace)
    with pytest.raises(SettingsError, match="no broker is named: set JUDGE_PIPELINE_BROKER_URL"):
        configured_executor({"JUDGE_PIPELINE_EXECUTOR": "celery"})
    with pytest.raises(SettingsError, match="'nomad' is no executor; give one of in_process, multiprocess, celery"):
        configured_executor({"JUDGE_PIPELINE_EXECUTOR": "nomad"})
    given = {"JUDGE_PIPELINE_EXECUTOR": "celery", "JUDGE_PIPELINE_BROKER_URL": "redis://:hidden@host/0"}
    assert "hidden" not in str(configured_executor(given).config_schema.as_field())
    names = [configured_executor({"JUDGE_PIPELINE_EXECUTOR": name}).name for name in ("", "multiprocess")]
    assert names == ["in_process", "multiprocess"]
    run_id = "5c0f1a2b-0000-4000-8000-000000000000"
    runs = [run_of_steps(run_id, {"JUDGE_PIPELINE_EXECUTOR": name}) for name in ("", "in_process", "multiprocess")]
    assert runs == [None, None, run_id.replace("-", "")]
