"""``judge-pipeline preference`` as a person uses it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from judge_pipeline.cli.main import main
from judge_pipeline.samples.making.make_sample_pairs import SET


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(SET, tmp_path / "sample-pairs"))


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["judge-pipeline", "preference", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


@pytest.mark.slow
def test_a_set_is_read_and_shown_with_who_chose(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run(capsys, monkeypatch, "sample-pairs")
    assert (code, err) == (0, "")
    assert "42 pairs" in out and "no person chose" in out and "A 18, B 22, tie 2" in out
    with (folder / "pairs.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"response_a": "x", "response_b": "y", "w": "\\u001b[31mred"}\n')
    code, out, err = run(capsys, monkeypatch, "sample-pairs", "--json")
    found = json.loads(out)
    assert (code, found["set"], found["splits"]) == (0, "sample-pairs", {"train": 6, "val": 36})
    assert {row["effect"]: row["n"] for row in found["rows"]} == {"kept": 42, "set_aside": 1}
    assert found["profile"][0] == {
        "figure": "pairs", "statistic": "count", "level": None, "value": 42.0, "n": 42, "n_left_out": 0,
        "ci95_low": None, "ci95_high": None, "reason": None,
    }  # fmt: skip
    assert "row 43 (line 43): w is no choice that is known" in err and "\x1b" not in err


@pytest.mark.slow
def test_what_is_wrong_is_said_with_the_place_and_the_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = folder / "preference.yaml"
    settings.write_text("source: {format: copilot}\n", encoding="utf-8")
    code, out, err = run(capsys, monkeypatch, "sample-pairs")
    assert (code, out) == (1, "")
    assert "preference.yaml, line 1, key source: Input tag 'copilot'" in err and "'copilot_arena'" in err
    settings.write_text("source: {format: pandalm}\n", encoding="utf-8")
    code, out, err = run(capsys, monkeypatch, "sample-pairs")
    assert code == 1 and "no pair could be read" in err and "annotator1 is missing" in err
    assert run(capsys, monkeypatch, "nowhere")[0] == 2
