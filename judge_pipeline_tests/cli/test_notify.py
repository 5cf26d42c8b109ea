from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from judge_pipeline.cli.main import cli
from judge_pipeline_tests.orchestration.automation.loopback_receivers import webhook

VARIABLES = ("JUDGE_PIPELINE_WEBHOOK_URL", "JUDGE_PIPELINE_SMTP_URL", "JUDGE_PIPELINE_SECRETS_FILE")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    config = tmp_path / "assets_config"
    config.mkdir()
    (config / "judges.yaml").write_text("judges: {text: {backend: baseline}}\n")
    (config / "automation.yaml").write_text("notify: {email_to: [team@example.org]}\n")
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(tmp_path))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def notify(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["notify", *arguments], standalone_mode=False)


def test_where_nobody_is_told_it_names_the_variables() -> None:
    shown = notify()
    assert shown.exit_code == 0
    assert "neither JUDGE_PIPELINE_WEBHOOK_URL nor JUDGE_PIPELINE_SMTP_URL is set" in shown.output
    assert notify("--test").return_value == 1, "whoever tries it wants to know"


def test_a_test_message_goes_over_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with webhook() as hook:
        monkeypatch.setenv("JUDGE_PIPELINE_WEBHOOK_URL", hook.url)
        assert "Told by: webhook." in notify().output
        assert hook.got == [], "only --test sends"
        sent = notify("--test")
        assert (sent.return_value, sent.output) == (0, "webhook: sent\n")
        assert hook.got[0]["event"] == "test"
        monkeypatch.setenv("JUDGE_PIPELINE_SMTP_URL", "smtp://watch:a-hidden-password@127.0.0.1:1")
        failed = notify("--test")
    assert failed.return_value == 1
    assert "webhook: sent" in failed.output
    assert "e-mail: not sent: the mail server cannot be used" in failed.output
    assert "a-hidden-password" not in failed.output
