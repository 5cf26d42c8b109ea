from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from judge_pipeline.orchestration.links import (
    ADDRESSES,
    REPORTS_URL,
    UI_URL,
    note_addresses,
    page_link,
    reports_url,
    ui_url,
)
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.automation import AutomationFile
from judge_pipeline.settings.yaml_file import SettingsError


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv(REPORTS_URL, raising=False)
    monkeypatch.delenv(UI_URL, raising=False)
    return Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")


def configured(workspace: Workspace, text: str) -> None:
    workspace.config_dir.mkdir(exist_ok=True)
    (workspace.config_dir / "automation.yaml").write_text(text, encoding="utf-8")


def test_pages_are_where_the_command_serves_them_unless_somebody_says_otherwise(workspace: Workspace) -> None:
    assert (ui_url(workspace, {}), reports_url(workspace, {})) == ("http://127.0.0.1:3000", "http://127.0.0.1:3001")
    configured(workspace, "links: {ui_url: https://judges.example.org/, reports_url: https://judges.example.org/r/}\n")
    assert ui_url(workspace, {}) == "https://judges.example.org"
    assert reports_url(workspace, {}) == "https://judges.example.org/r"
    assert reports_url(workspace, {REPORTS_URL: "http://127.0.0.1:4001/"}) == "http://127.0.0.1:4001"


def test_a_run_of_a_terminal_links_to_where_the_ui_was_started_last(workspace: Workspace) -> None:
    note_addresses(workspace, ui_url="http://127.0.0.1:4000", reports_url="http://127.0.0.1:4001")
    note_addresses(workspace, ui_url="http://127.0.0.1:5000")
    assert (ui_url(workspace, {}), reports_url(workspace, {})) == ("http://127.0.0.1:5000", "http://127.0.0.1:4001")
    assert reports_url(workspace, {REPORTS_URL: "http://here"}) == "http://here"
    configured(workspace, "links: {reports_url: https://judges.example.org/r/}\n")
    assert reports_url(workspace, {}) == "https://judges.example.org/r"
    configured(workspace, "")
    for damaged in ("{", "[1]", '{"reports_url": 7}', '{"reports_url": "javascript:x"}'):
        (workspace.out_dir / ADDRESSES).write_text(damaged, encoding="utf-8")
        assert reports_url(workspace, {}) == "http://127.0.0.1:3001"


def test_a_page_has_a_link_and_any_other_file_its_path(workspace: Workspace) -> None:
    page = workspace.out_dir / "reports" / "spring-26" / "figures" / "a b?#.html"
    assert page_link(workspace, page) == dg.MetadataValue.url(
        "http://127.0.0.1:3001/spring-26/figures/a%20b%3F%23.html"
    )
    other = workspace.out_dir / "tables" / "attempts.parquet"
    assert page_link(workspace, other) == dg.MetadataValue.path(str(other))


@pytest.mark.parametrize(
    "address",
    ["judges.example.org", "javascript:alert(1)", "file:///etc", "http://u:p@h/", "https://h/?q=1", "http://"],
)
def test_an_address_that_is_none_is_refused_with_its_place(workspace: Workspace, address: str) -> None:
    configured(workspace, f"links: {{reports_url: '{address}'}}\n")
    with pytest.raises(SettingsError, match=r"automation\.yaml.*reports_url"):
        reports_url(workspace, {})


@pytest.mark.parametrize("owner", ["judge-research", "team:", "team:a b", "a@b", "@x.org"])
def test_an_owner_that_the_ui_would_not_take_is_refused(owner: str) -> None:
    with pytest.raises(ValueError, match="owners"):
        AutomationFile.model_validate({"links": {"owners": [owner]}})
