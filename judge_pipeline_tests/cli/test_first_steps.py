"""What a newcomer meets: an empty workspace, a first run without keys or recorded files, the state of it all."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from judge_pipeline.cli.init import init
from judge_pipeline.cli.run import run
from judge_pipeline.cli.status import status
from judge_pipeline.settings import packaged_config_dir
from judge_pipeline_tests.mini_contest import MiniContest


@pytest.fixture
def mini(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MiniContest:
    contest = MiniContest(tmp_path / "home").lay(6, 4)
    monkeypatch.chdir(contest.home)
    for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT", "MINI_CONTEST_KEY"):
        monkeypatch.delenv(name, raising=False)
    return contest


def test_an_own_workspace_has_every_judge_but_those_of_the_sample_contest(tmp_path: Path) -> None:
    assert CliRunner().invoke(init, [str(tmp_path / "work")]).exit_code == 0
    packaged = yaml.safe_load((packaged_config_dir() / "judges.yaml").read_text(encoding="utf-8"))["judges"]
    own = yaml.safe_load((tmp_path / "work" / "assets_config" / "judges.yaml").read_text(encoding="utf-8"))["judges"]
    assert any(name.startswith("simulated") for name in packaged)
    assert own == {name: judge for name, judge in packaged.items() if not name.startswith("simulated")}


def test_the_next_steps_begin_with_a_look(tmp_path: Path) -> None:
    said = CliRunner().invoke(init, [str(tmp_path / "my work")]).output
    assert f"cd '{tmp_path / 'my work'}'" in said
    steps = [said.index(f"judge-pipeline {step}") for step in ("parse data", "run data/contests/my-contest --dry-run")]
    assert steps == sorted(steps) and steps[-1] < said.rindex("judge-pipeline run data/contests/my-contest ")


@pytest.mark.slow
def test_a_first_run_leaves_out_what_cannot_judge_and_says_why(mini: MiniContest) -> None:
    done = CliRunner().invoke(run, ["data/contests/mini"], standalone_mode=False)
    assert done.return_value == 0, done.output
    assert "Left out: sharp (the contest folder has no recorded/sharp.jsonl)" in done.output
    assert "Left out: keyed (environment variable MINI_CONTEST_KEY is not set)" in done.output
    assert "Judging text" in done.output and "Judging sharp" not in done.output
    report = (mini.home / "var" / "reports" / "mini" / "cocreation_report.html").read_text(encoding="utf-8")
    assert "3 of 4 judges without judgments" in report

    shown = CliRunner(env={"COLUMNS": "80"}).invoke(status, []).output
    assert max(map(len, shown.splitlines())) <= 80 and "…" not in shown
    lines = {line.split()[0]: line for line in shown.splitlines() if line and not line.startswith(" ")}
    assert "verified" in lines["text"] and "not judged: the contest folder" in lines["sharp"]


@pytest.mark.slow
def test_a_verdict_that_is_not_stated_is_no_word_to_be_taught(mini: MiniContest) -> None:
    (mini.folder / "submissions" / "E001" / "p1" / "zz.py").write_text("print(1)\n", encoding="utf-8")
    (mini.folder / "submissions" / "E001" / "p1" / "99.txt").write_text(
        "Problem: p1\nAuthor: E001\nResult: Wobbly\n\n```python\nprint(2)\n```\n", encoding="utf-8"
    )
    said = " ".join(CliRunner().invoke(run, ["data/contests/mini", "--dry-run"], standalone_mode=False).output.split())
    assert "'Wobbly': 1 attempt(s); add it to verdict_words" in said
    assert "1 attempt(s) whose file states no verdict" in said and "(none)" not in said
