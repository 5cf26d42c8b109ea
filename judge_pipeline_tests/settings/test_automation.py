"""automation.yaml: defaults that spend nothing, errors with file, line and remedy, who may be asked by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_pipeline.settings import Workspace
from judge_pipeline.settings.automation import AutomaticJudging, AutomationFile, RerunSettings
from judge_pipeline.settings.yaml_file import SettingsError, load


def test_the_file_that_comes_with_the_package_says_the_defaults() -> None:
    shipped = Path(__file__).resolve().parents[2] / "assets_config" / "automation.yaml"
    assert load(AutomationFile, shipped) == AutomationFile()


def test_a_workspace_without_one_has_the_packages(tmp_path: Path) -> None:
    assert Workspace(tmp_path, tmp_path, tmp_path).automation() == AutomationFile()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("watch: {quiet: 3}\n", "line 1, key watch.quiet: is not a setting"),
        ("watch:\n  interval_seconds: 0\n", "line 2, key watch.interval_seconds"),
        ("judging:\n  by_itself: some\n", "line 2, key judging.by_itself"),
        ("judging: {by_itself: [GPT 5]}\n", "'gpt-5'"),
        ("judging: {ceiling_usd: {run: -1}}\n", "key judging.ceiling_usd.run"),
        ("rerun: {failed_cron: nightly}\n", "five fields of cron"),
        ("rerun: {failed_cron: '61 2 * * *'}\n", "five fields of cron"),
        ("rerun: {failed_cron: '0 2 0 * *'}\n", "five fields of cron"),
        ("rerun: {failed_cron: '0 2 30-31 2 *'}\n", "key rerun.failed_cron: must name a day that comes"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "automation.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(AutomationFile, file)
    assert said in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("by_itself", "priced", "ceiling", "allowed"),
    [
        ("none", "free", True, False),
        ("free", "free", False, True),
        ("free", "priced", True, False),
        ("all", "priced", False, False),
        ("all", "priced", True, True),
        ("all", "unpriced", True, False),
        (("one",), "unpriced", False, True),
        (("one",), "priced", False, False),
        (("one",), "priced", True, True),
        (("two",), "free", True, False),
    ],
)
def test_nothing_is_spent_that_was_not_allowed(by_itself: object, priced: str, ceiling: bool, allowed: bool) -> None:
    judging = AutomaticJudging.model_validate({"by_itself": by_itself})
    assert judging.allows("one", priced, ceiling=ceiling) is allowed  # type: ignore[arg-type]


def test_a_judge_that_is_named_must_be_listed() -> None:
    judging = AutomaticJudging(by_itself=("one", "gone"))
    with pytest.raises(SettingsError, match=r"gone is not in judges\.yaml; it lists: one"):
        judging.check_names(["one"])
    judging.check_names(["one", "gone"])


@pytest.mark.parametrize(
    "cron", ["0 2 31 2-4 *", "0 2 31 11-1 *", "0 2 29 2 *", "0 2 31 2 1", "*/10 * * * 1-5", "0 2 30 */2 *"]
)
def test_a_cron_that_comes(cron: str) -> None:
    assert RerunSettings(failed_cron=cron).failed_cron == cron
