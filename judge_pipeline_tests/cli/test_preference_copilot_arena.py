"""Copilot Arena's public examples from its own file to a report, with baselines and the embedded model."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from judge_pipeline.cli.main import main
from judge_pipeline.settings import packaged_config_dir
from judge_pipeline_tests.preference.shared_verdicts import shared_file


@pytest.mark.slow
def test_what_people_chose_and_where_it_stood_cannot_be_told_apart_and_the_report_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copilot-arena"
    folder.mkdir()
    shutil.copy(shared_file("copilot_arena/copilot_arena_examples_v1.csv"), folder)
    settings = "source: {format: copilot_arena}\nresamples: 200\nmodels: {resamples: 100}\nnatural_languages: low\n"
    (folder / "preference.yaml").write_text(settings, encoding="utf-8")
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(packaged_config_dir().parent))
    monkeypatch.setenv("JUDGE_PIPELINE_OUT", str(tmp_path / "out"))
    monkeypatch.setenv("COLUMNS", "120")
    judges = "baseline-length,baseline-edit-size,baseline-fitted,smollm2-135m"
    command = ["judge-pipeline", "preference", str(folder), "--judges", judges, "--limit", "1"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 0, out + err
    assert "112 pairs" in out and "A 92, B 20" in out and "Chosen by: people." in out
    assert "always A                  0.821" in out
    for judge in judges.split(","):
        assert f"Judging {judge}" in out
    page = (tmp_path / "out" / "reports" / "copilot-arena" / "preference_report.html").read_text(encoding="utf-8")
    assert "Labels lean to A." in page and "82.1% of 112 untied labels are A" in page
    assert "no judge that is asked in both orders can" in page
