"""The command line as a person uses it: what it prints, what it leaves, and its exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from judge_pipeline.cli.main import main
from judge_pipeline.cocreation import making_requests
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ATTEMPTS
from judge_pipeline_tests.mini_contest import MiniContest


class Shell:
    """Runs commands in a folder and keeps what they printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.capsys, self.monkeypatch, self.folder = capsys, monkeypatch, folder
        monkeypatch.chdir(folder)
        monkeypatch.setenv("COLUMNS", "200")
        for name in ("JUDGE_PIPELINE_HOME", "JUDGE_PIPELINE_OUT", "MINI_CONTEST_KEY"):
            monkeypatch.delenv(name, raising=False)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self.monkeypatch.setattr(sys, "argv", ["judge-pipeline", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = self.capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    return Shell(capsys, monkeypatch, tmp_path)


@pytest.fixture
def mini(tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> MiniContest:
    contest = MiniContest(tmp_path / "home").lay(4, 3)
    monkeypatch.chdir(contest.home)
    return contest


@pytest.fixture
def reported(copy_of_reported_home: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> MiniContest:
    """A contest that was judged by sharp, dull and text, and reported."""
    monkeypatch.chdir(copy_of_reported_home)
    return MiniContest(copy_of_reported_home)


def record(mini: MiniContest, *judges: str) -> None:
    attempts = store_of(Workspace.find({}, mini.home)).read(ATTEMPTS, mini.name)
    for judge in judges:
        mini.record(judge, {row.attempt_id: 0.2 + 0.6 * row.y for row in attempts.itertuples()})


@pytest.mark.parametrize(
    "command", ["", "run", "plan", "explain", "demo", "ui", "init", "status", "report", "parse", "evaluate"]
)
def test_help_names_exit_codes_or_says_what_happens(shell: Shell, command: str) -> None:
    code, out, _ = shell(*filter(None, [command, "--help"]))
    assert code == 0
    assert out.startswith("Usage: judge-pipeline")
    assert len(out.splitlines()) > 5


@pytest.mark.slow
def test_a_contest_goes_from_files_to_a_report(shell: Shell, mini: MiniContest) -> None:
    (mini.folder / "submissions" / "E001" / "p1" / "zz.txt").symlink_to("/nonexistent/elsewhere.txt")
    code, out, _ = shell("run", "data/contests/mini", "--dry-run")
    assert code == 0
    planned, _, left_out = out.partition("Left out: ")
    assert "To be asked" in planned and "text" in planned and "keyed" not in planned
    assert "sharp (the contest folder has no" in left_out and "keyed (environment variable" in left_out
    assert not (mini.home / "var" / "tables" / "judge_outputs").exists(), "a dry run judges nothing"
    record(mini, "sharp", "dull")
    code, out, _ = shell("run", "data/contests/mini")
    assert code == 0, out
    report = mini.home / "var" / "reports" / "mini" / "cocreation_report.html"
    assert f"Report: {report}" in out and report.is_file()
    assert "ROC-AUC" in out and "Solved by turn 1" in out
    assert "nothing_set_aside" in out and "zz.txt" in out, "a file that cannot be read is set aside by name"
    code, out, _ = shell("status", "--json")
    rows = {row["judge"]: row for row in map(json.loads, out.splitlines())}
    assert code == 0
    assert (rows["sharp"]["status"], rows["keyed"]["status"]) == ("verified", "not judged")


@pytest.mark.slow
def test_judges_that_fail_are_named_and_the_rest_is_reported_all_in_the_folder_that_out_names(
    shell: Shell, mini: MiniContest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has no recorded answers and fails, one has no prompt template and cannot even be planned."""
    monkeypatch.setenv("MINI_CONTEST_KEY", "k")
    (mini.home / "assets_config" / "prompts" / "cocreation_judge.md.j2").unlink()
    folder = tmp_path / "out"
    command = ("run", "data/contests/mini", "--out", str(folder), "--judges", "keyed,sharp,text")
    code, out, err = shell(*command)
    assert code == 1
    assert "judge sharp" in err and "recorded/sharp.jsonl" in err
    assert "judge keyed" in err and "no such prompt template" in err
    assert "Failed: keyed, sharp" in out and "Report:" in out
    assert (folder / "reports" / "mini" / "cocreation_report.html").is_file()
    code, _, err = shell(*command, "--dry-run")
    assert code == 1
    assert "no such prompt template" in err
    assert not (mini.home / "var").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("run", "data/contests/mini", "--judges", "nobody"), 2, "nobody: not in judges.yaml, which lists sharp, dull"),
        (("run", "data/contests/mini", "--judges", ","), 2, "no judge"),
        (("run", "data/contests/mini", "--judges", "keyed"), 1, "set the environment variable MINI_CONTEST_KEY"),
        (("run", "nowhere"), 2, "does not exist"),
        (("run", "assets_config"), 1, "has no submissions/ folder"),
        (("report", "nowhere"), 2, "no contest 'nowhere'; there are: mini"),
        (("fly",), 2, "No such command"),
        (("run",), 2, "Missing argument"),
    ],
)
def test_wrong_commands_and_data_say_what_is_wrong(
    shell: Shell, mini: MiniContest, arguments: tuple[str, ...], code: int, words: str
) -> None:
    got, _, err = shell(*arguments)
    assert got == code, err
    assert words in " ".join(err.split()).replace("│ ", "")


def test_a_contest_folder_that_cannot_be_a_partition_key(shell: Shell, mini: MiniContest) -> None:
    wrong = mini.home / "Spring 2026"
    (wrong / "submissions").mkdir(parents=True)
    code, _, err = shell("run", str(wrong))
    assert code == 2
    assert "cannot be a partition key" in err and "'spring-2026'" in err


@pytest.mark.slow
def test_an_empty_contest_and_a_broken_judges_yaml(shell: Shell, mini: MiniContest) -> None:
    (mini.home / "empty" / "submissions").mkdir(parents=True)
    code, _, err = shell("run", "empty")
    assert code == 1
    assert "no submission could be read" in err
    (mini.home / "assets_config" / "judges.yaml").write_text("judges:\n  a: {backend: fax}\n", encoding="utf-8")
    code, _, err = shell("run", "data/contests/mini")
    assert code == 1
    assert "judges.yaml, line 2, key judges.a" in err


@pytest.mark.slow
def test_init_lays_a_workspace_that_works(shell: Shell, tmp_path: Path) -> None:
    code, out, _ = shell("init", "work")
    assert code == 0
    config = tmp_path / "work" / "assets_config"
    said = [line for line in out.splitlines() if line.startswith("wrote ")]
    prompts = sorted((config / "prompts").iterdir())
    assert f"wrote {len(prompts)} files into work/assets_config/prompts" in said and "wrote work/.gitignore" in said
    assert len(said) < 10
    _, out, _ = shell("init", "--verbose", "again")
    assert {f"wrote again/assets_config/prompts/{file.name}" for file in prompts} <= set(out.splitlines())
    for name in ("judges", "contests", "preference", "criteria"):
        schema = json.loads((config / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
        text = (config / f"{name}.yaml").read_text(encoding="utf-8")
        jsonschema.validate(yaml.safe_load(text), schema)
        assert f"schemas/{name}.schema.json" in text, "editors find the schema by the first line"
        assert text.count("#") > 5
    contest = tmp_path / "work" / "data" / "contests" / "my-contest"
    assert (contest / "submissions").is_dir() and (contest / "prompts").is_dir()
    assert {"/data/", "/var/"} <= set((tmp_path / "work" / ".gitignore").read_text(encoding="utf-8").split("\n"))
    assert Workspace.find({}, contest).contest(contest).title == "My contest"
    edited = config / "judges.yaml"
    edited.write_text("judges: {a: {backend: baseline}}\n", encoding="utf-8")
    shell("init", "work")
    assert edited.read_text(encoding="utf-8").startswith("judges: {a"), "what is there is left as it is"


def test_a_schema_refuses_what_the_settings_refuse(shell: Shell, tmp_path: Path) -> None:
    shell("init", "work")
    schema = json.loads((tmp_path / "work/assets_config/schemas/judges.schema.json").read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"judges": {"a": {"backend": "litellm", "modle": "x"}}}, schema)


def test_status_without_any_contest_says_how_to_begin(shell: Shell) -> None:
    code, out, _ = shell("status")
    assert code == 0 and "judge-pipeline demo" in out


@pytest.mark.slow
def test_what_cannot_be_written_or_read_is_told_without_a_traceback(
    shell: Shell, reported: MiniContest, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    code, _, err = shell("run", "data/contests/mini", "--out", str(tmp_path / "file" / "out"))
    assert code == 1
    assert err.startswith(f"Error: {tmp_path / 'file'}") and "Not a directory" in err
    coverage = reported.home / "var" / "tables" / "judge_coverage" / "mini.parquet"
    coverage.write_bytes(b"half")
    code, _, err = shell("status")
    assert code == 1
    assert err.startswith(f"Error: {coverage} cannot be read") and "materialize" in err
    for database in (reported.home / "var" / "dagster").rglob("*.db"):
        database.write_bytes(b"not a database")
    code, _, err = shell("run", "data/contests/mini", "--judges", "text")
    assert code == 1
    assert err.startswith("Error: Dagster's records of runs in") and "move that folder away" in err


@pytest.mark.parametrize("name", ["assets_config/judges.yaml", "data/contests/mini/contest.yaml"])
def test_configuration_that_cannot_be_read_is_not_replaced_by_another(
    shell: Shell, mini: MiniContest, name: str
) -> None:
    file = mini.home / name
    file.unlink(missing_ok=True)
    file.symlink_to(mini.home / "unmounted" / file.name)
    code, _, err = shell("run", "data/contests/mini", "--dry-run")
    assert code == 1
    assert file.name in err and "no such file" in err


@pytest.mark.slow
def test_report_tells_of_a_judge_that_is_stale(shell: Shell, reported: MiniContest) -> None:
    (reported.folder / "recorded" / "sharp.jsonl").unlink()
    code, out, err = shell("report", "mini")
    assert (code, out.strip()) == (0, str(reported.home / "var" / "reports" / "mini" / "cocreation_report.html"))
    assert "none_stale: mini: sharp: what it answers cannot be told any more" in err and "sharp.jsonl" in err
    assert "text" not in err and "dull" not in err


@pytest.mark.slow
def test_a_check_that_stops_the_run_says_what_it_found(
    shell: Shell, mini: MiniContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = making_requests.judge_requests
    monkeypatch.setattr(
        making_requests, "judge_requests", lambda *tables, **settings: build(*tables, **settings).iloc[1:]
    )
    code, out, err = shell("run", "data/contests/mini", "--judges", "text")
    assert code == 1
    assert "judge_requests: joins_complete" in err
    assert "joins_complete: mini: attempt" in out and "has no request" in out
    assert not (mini.home / "var" / "tables" / "judge_outputs").exists(), "no judge is asked"


@pytest.mark.slow
def test_notes_beside_the_folders_of_a_contest_are_not_read(tmp_path: Path, shell: Shell) -> None:
    shell("init", "work")
    contest = tmp_path / "work" / "data" / "contests" / "my-contest"
    code, out, err = shell("parse", str(contest), "--json")
    assert (code, out) == (1, ""), "its README.txt is no chat log"
    assert "no files in" in err
