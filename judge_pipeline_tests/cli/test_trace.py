"""``judge-pipeline trace`` on a reported contest: short, full, as JSON, as a page, and what it says of mistakes."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.cli.main import main
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS, JUDGE_METRICS

pytestmark = pytest.mark.slow

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(reported_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command in the reported home, of which it changes nothing."""
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(reported_home))
    monkeypatch.delenv("JUDGE_PIPELINE_OUT", raising=False)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["judge-pipeline", "trace", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return command


def test_a_figure_is_told_in_short_and_in_full(run: Run, reported_home: Path) -> None:
    code, out, err = run("ROC-AUC", "--judge", "sharp", "--split", "test")
    assert (code, err) == (0, "")
    metrics = store_of(Workspace.find({}, reported_home)).read(JUDGE_METRICS, "mini").set_index(["judge", "metric"])
    row = metrics.loc[("sharp", "roc_auc")]
    assert out.startswith("roc_auc, judge sharp: mini\n") and f"value {row['value']:.6g}" in out
    assert f"the {row['n']} attempts of n are listed, and the {row['n_left_out']} left out: both add up" in out
    assert "where no call is kept, it was recorded" in out and "Way back:\n  judge_metrics from" in out
    assert len(out.splitlines()) < 70
    attempts = store_of(Workspace.find({}, reported_home)).read(ATTEMPTS, "mini")
    overview = ("attempts", "--table", "contest_overview")
    (code, short, _), (_, full, _) = run(*overview), run(*overview, "--full")
    assert code == 0 and f"and {len(attempts) - 8} more (--full)" in short and "more (--full)" not in full
    assert sum(attempt in short for attempt in attempts["attempt_id"]) == 8
    assert all(attempt in full for attempt in attempts["attempt_id"])


def test_the_json_has_one_shape_for_each_kind(run: Run) -> None:
    _, out, _ = run("auc", "--judge", "dull", "--json")
    figure: dict[str, Any] = json.loads(out)
    assert set(figure) == {
        "schema", "kind", "figure", "counts", "rests_on", "judgments", "templates", "files", "tables", "made_from",
        "versions",
    }  # fmt: skip
    assert figure["schema"] == "judge-pipeline/trace/1" and figure["counts"]["reconciles"] is True
    counted = next(part for part in figure["rests_on"]["parts"] if part["role"] == "counted")
    assert counted["n"] == len(counted["rows"]) == figure["figure"]["n"]
    attempt_id = counted["rows"][0]["attempt_id"]

    attempt = json.loads(run(attempt_id, "--json")[1])
    assert (attempt["kind"], attempt["attempt"]["contest"]) == ("attempt", "mini")
    assert figure["figure"]["id"] in {f["id"] for f in attempt["figures"] if f["role"] == "counted"}
    path = attempt["attempt"]["path"]
    file = json.loads(run(path, "--json")[1])
    assert file["kind"] == "file" and attempt_id in {subject["id"] for subject in file["subjects"]}
    assert {"attempts", "predictions", "judge_metrics", "success_at_turn"} <= set(file["tables"])
    assert figure["figure"]["id"] in {f["id"] for f in file["figures"]}
    by_hash = json.loads(run(file["file"]["sha256_now"], "--json")[1])
    assert by_hash["file"] == file["file"]


def test_the_anchor_of_the_report_and_the_id_name_the_figure(run: Run) -> None:
    figure = json.loads(run("mean_cohen", "--table", "judge_agreement", "--json")[1])["figure"]
    for name in (figure["id"], figure["anchor"], f"trace/index.html#{figure['anchor']}"):
        code, out, _ = run(name, "--json")
        assert code == 0 and json.loads(out)["figure"]["id"] == figure["id"], name


def test_what_is_not_plain_is_listed_and_what_is_not_there_is_said(run: Run, tmp_path: Path) -> None:
    code, out, err = run("auc")
    assert (code, out) == (2, "") and "fits" in err and "Name one of them" in err
    assert "judge_metrics:judge=sharp,metric=roc_auc  (mini)" in err
    code, _, err = run("auc", "--judge", "nobody")
    assert code == 2 and "is no figure, attempt, pair or file of what was read" in err and "judge_metrics" in err
    assert "which are of dull, sharp" in err and "none of them fits --judge nobody" in err
    for arguments, said in (
        (("auc", "--where", "judge"), "is not COLUMN=VALUE"),
        ((" ",), "nothing is named"),
        (("auc\x1b[31m",), "a control character"),
        (("auc", "--contest", "other"), "no contest 'other' was read; there are: mini"),
        (("auc", "--set", "other"), "no preference set 'other' was read"),
        (("../../etc/passwd",), "nothing that is stored was read from such a file"),
        (("f" * 64,), "no file that the tables name has or had these bytes"),
        (("f" * 16,), "is no figure, attempt, pair or file"),
    ):
        code, out, err = run(*arguments)
        assert code in (1, 2) and out == "" and said in err, arguments
        assert "\x1b" not in err


def test_a_file_may_be_named_by_its_path_from_where_one_stands(
    run: Run, reported_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = reported_home / "data" / "contests" / "mini"
    first = sorted(folder.glob("submissions/E001/*/*.txt"))[0]
    wanted = first.relative_to(folder).as_posix()
    monkeypatch.chdir(folder / "submissions")
    for name in (str(first), "./" + first.relative_to(folder / "submissions").as_posix()):
        code, out, _ = run(name)
        assert code == 0 and out.startswith(f"File {wanted} of mini\n"), name
    code, _, err = run(first.name)
    assert code == 2 and "is the name of" in err and wanted in err


def test_the_tables_of_a_file_are_listed_by_group_in_lines_that_fit(run: Run, reported_home: Path) -> None:
    path = next((reported_home / "data" / "contests" / "mini").glob("submissions/E001/p1/*.txt"))
    code, out, _ = run(str(path))
    told = json.loads(run(str(path), "--json")[1])
    lines = out.splitlines()
    start = lines.index(f"Tables: {len(told['tables'])}")
    listed = lines[start + 1 : lines.index("", start)]
    assert code == 0 and max(map(len, listed)) <= 100
    words = {word.strip() for line in listed for word in line.rpartition(": ")[2].split(",")} - {""}
    assert words == set(told["tables"])
    assert any(line.startswith("  judges: acceptance_rates, ") for line in listed)


def test_settings_of_a_contest_lead_to_the_tables_and_figures_that_they_decide_on(
    run: Run, copy_of_reported_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(copy_of_reported_home))
    file = copy_of_reported_home / "data" / "contests" / "mini" / "contest.yaml"
    assert "nothing that is stored was read from such a file" in run(str(file))[2]
    file.write_text("title: Mini\ncanary: {attempts: 4}\n", encoding="utf-8")
    canaries = ["judge_canaries", "judge_canary_effects"]
    found = json.loads(run("contest.yaml", "--json")[1])
    said = {"canary": {"first": canaries, "tables": canaries}, "title": {"first": [], "tables": []}}
    assert (found["settings"], found["tables"]) == (said, canaries)
    assert found["figures"] == []
    file.write_text("title: Mini\nresamples: 100\n", encoding="utf-8")
    code, out, _ = run(str(file))
    assert code == 0 and out.startswith("File contest.yaml of mini\n")
    assert "\n    title: no table; words and pages alone\n" in out
    assert re.search(r"\n    resamples: \d+ tables of figures", out)
    found = json.loads(run(str(file), "--json")[1])
    assert {figure["role"] for figure in found["figures"]} == {"made under it"}
    tables = {figure["table"] for figure in found["figures"]}
    assert {"judge_metrics", "judge_agreement"} <= tables <= set(found["tables"])
    assert not tables & {"success_at_turn", "contest_overview"}  # counted, and not resampled
    run(str(file), "--page", str(page := copy_of_reported_home / "settings.html"))
    assert "no table; words and pages alone" in page.read_text(encoding="utf-8")


def test_a_contest_whose_folder_is_gone_is_told_so(
    run: Run, copy_of_reported_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_PIPELINE_HOME", str(copy_of_reported_home))
    shutil.rmtree(copy_of_reported_home / "data" / "contests" / "mini")
    code, out, err = run("auc", "--contest", "mini")
    assert (code, out) == (1, "")
    assert "contest 'mini' was read, and its tables are kept in" in err and "but its folder is gone" in err
    for target in ("auc", "submissions/E001/p1/1.txt"):
        code, out, err = run(target)
        assert (code, out) == (2, ""), target
        assert "not looked at: contest mini: its tables are kept, but its folder is gone" in err, target


def test_the_page_is_written_and_says_where(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "pages" / "auc.html"
    code, out, err = run("auc", "--judge", "text", "--page", str(page))
    assert (code, out) == (0, "") and err == f"Page: {page}\n"
    html = page.read_text(encoding="utf-8")
    assert "<h1>roc_auc, judge text</h1>" in html and "Content-Security-Policy" in html
    shutil.rmtree(page.parent)
