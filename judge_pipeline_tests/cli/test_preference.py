"""``judge-pipeline preference`` and ``demo --preference`` as a person uses them, with judges that need no model."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge_pipeline.cli import preference_run
from judge_pipeline.cli.judged_run import demo_judges
from judge_pipeline.cli.main import main
from judge_pipeline.cli.preference_run import sample_set
from judge_pipeline.samples.making.make_sample_pairs import SET
from judge_pipeline.settings import packaged_config_dir
from judge_pipeline.settings.judges import JudgesFile
from judge_pipeline.settings.yaml_file import load

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample set with few resamples, in a folder to work in."""
    monkeypatch.delenv("JUDGE_PIPELINE_HOME", raising=False)
    monkeypatch.setenv("JUDGE_PIPELINE_OUT", str(tmp_path / "out"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    copied = Path(shutil.copytree(SET, tmp_path / "sample-pairs"))
    settings = yaml.safe_load((copied / "preference.yaml").read_text(encoding="utf-8"))
    settings |= {"resamples": 200, "models": {"resamples": 100}}
    (copied / "preference.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    return copied


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["judge-pipeline", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return command


def longer_wins() -> list[str]:
    """Acc_PC and Acc of choosing the longer response, counted from the set's file."""
    pairs = map(json.loads, (SET / "pairs.jsonl").read_text(encoding="utf-8").splitlines())
    untied = [(len(p["response_a"]) - len(p["response_b"]), p["w"]) for p in pairs if p["w"] in ("A", "B")]
    right = sum(more != 0 and (more > 0) == (w == "A") for more, w in untied)
    return [f"{right / sum(more != 0 for more, _ in untied):.3f}", f"{right / len(untied):.3f}"]


@pytest.mark.slow
def test_the_sample_set_goes_from_its_files_to_a_report_that_says_that_nobody_chose(folder: Path, run: Run) -> None:
    judges = "baseline-length,simulated-pairs-sharp,simulated-pairs-first,simulated-pairs-wordy"
    code, out, err = run("preference", "sample-pairs", "--judges", judges)
    assert (code, err) == (0, "")
    order = ["Reading", "To be asked", "Judging baseline-length", "Rubric", "Measuring", "How judges choose", "Floors"]
    assert sorted(order, key=out.index) == order
    assert out.count("no person chose") == 2, "where the set is named, and beside the figures"
    values = [line.split() for line in out.splitlines() if line.strip().startswith(("baseline-length ", "sharp "))]
    assert ["baseline-length", *longer_wins(), "1.000", "0.500"] in values
    assert "3 of 5 rubric items are weighed otherwise" in out and "Explains what it does +" in out

    pages = list((folder.parent / "out" / "reports").rglob("*.html"))
    assert len(pages) >= 3 and str(next(p for p in pages if p.name == "preference_report.html")) in out
    start = folder.parent / "out" / "reports" / "index.html"
    assert f"All reports: {start}" in out
    assert "sample-pairs/preference_report.html" in start.read_text(encoding="utf-8")
    for page in pages:
        assert "no person chose" in page.read_text(encoding="utf-8").lower(), page


@pytest.mark.slow
def test_a_set_is_only_read_and_shown_with_who_chose(folder: Path, run: Run) -> None:
    code, out, err = run("preference", "sample-pairs", "--read-only")
    assert (code, err) == (0, "")
    assert "120 pairs" in out and "no person chose" in out and "A 59, B 56, tie 5" in out
    assert "Profile" in out and "Judging" not in out
    with (folder / "pairs.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"response_a": "x", "response_b": "y", "w": "\\u001b[31mred"}\n')
    code, out, err = run("preference", "sample-pairs", "--read-only", "--json")
    found = json.loads(out)
    assert (code, found["set"], found["splits"]) == (0, "sample-pairs", {"train": 24, "val": 96})
    assert {row["effect"]: row["n"] for row in found["rows"]} == {"kept": 120, "set_aside": 1}
    assert found["profile"][0] == {
        "figure": "pairs", "statistic": "count", "level": None, "value": 120.0, "n": 120, "n_left_out": 0,
        "ci95_low": None, "ci95_high": None, "reason": None,
    }  # fmt: skip
    assert "row 121 (line 121): w '\\x1b[31mred' is no choice that is known" in err and "\x1b" not in err


@pytest.mark.slow
def test_what_is_wrong_is_said_with_the_place_and_the_remedy(folder: Path, run: Run) -> None:
    settings = folder / "preference.yaml"
    settings.write_text("source: {format: copilot}\n", encoding="utf-8")
    code, out, err = run("preference", "sample-pairs")
    assert (code, out) == (1, "")
    assert "preference.yaml, line 1, key source: Input tag 'copilot'" in err and "'copilot_arena'" in err
    settings.write_text("source: {format: pandalm}\n", encoding="utf-8")
    for options in ([], ["--read-only"]):
        code, out, err = run("preference", "sample-pairs", *options)
        assert code == 1 and "no pair could be read" in err and "annotator1 is missing" in err
    assert run("preference", "nowhere")[0] == 2
    (folder.parent / "My Set").mkdir()
    assert run("preference", "My Set")[0] == 2


@pytest.mark.slow
def test_scores_that_cannot_be_read_leave_the_figures_of_judges(folder: Path, run: Run) -> None:
    (folder / "recorded" / "rubric_scores.csv").write_text("pair,item\n1,2\n", encoding="utf-8")
    code, out, err = run("preference", "sample-pairs", "--judges", "baseline-length")
    assert code == 1 and "Error: rubric" in err
    assert "recorded/rubric_scores.csv: needs pair_id, item, and either" in err
    assert "How judges choose" in out and longer_wins()[1] in out and "Report: " in out


@pytest.mark.slow
def test_the_demo_asks_judges_without_a_key_and_the_embedded_one_about_a_few(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []

    def instead(workspace: Any, folder: Path, wanted: Any, console: Any) -> Any:
        asked.append((folder, wanted))
        return preference_run.PreferenceOutcome(0)

    monkeypatch.setattr(preference_run, "run_preference_set", instead)
    monkeypatch.chdir(tmp_path)
    assert run("demo", "--preference", "--out", str(tmp_path / "out"))[0] == 0
    ((folder, wanted),) = asked
    assert folder == sample_set() == SET
    listed = load(JudgesFile, packaged_config_dir() / "judges.yaml")
    assert wanted.judges == demo_judges(listed, SET, "preference")
    assert {listed.get(name).backend for name in wanted.judges} == {"embedded", "baseline", "recorded"}
    assert len([name for name in wanted.judges if name.startswith("simulated-pairs-")]) == 4
    assert {name: wanted.limit_of(name) for name in wanted.judges if wanted.limit_of(name)} == {"smollm2-135m": 12}
