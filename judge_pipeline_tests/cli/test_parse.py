"""`judge-pipeline parse`: an object a line, what is set aside on stderr, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from judge_pipeline.cli.main import cli

_FIELDS = [
    "path", "row", "reader", "problem_id", "participant", "verdict", "verdict_raw", "language", "submitted_at",
    "timestamp_raw", "submission_id", "source_sha256", "source_lines", "source_path", "notes",
]  # fmt: skip
_MESSAGE_FIELDS = ["path", "conversation", "order", "role", "text_sha256", "at", "notes"]

_SUBMISSION = "問題: A\n結果: 不正解\n提出日時: 2026-03-01 12:00\n\n```cpp\nint x;\n```\n"
_CHAT = "User: write it\n\nAssistant: here it is\n"


def _parse(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["parse", *map(str, arguments)])


def _rows(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def contest(tmp_path: Path) -> Path:
    folder = tmp_path / "contest"
    for name, text in {
        "submissions/E001/A/1.md": _SUBMISSION, "prompts/E001/chat.txt": _CHAT, "problems/A.md": "# A\n\nAdd.\n",
        "contest.yaml": "time_zone: Asia/Tokyo\n", "submissions/E001/A/empty.html": "",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_contest_folder(contest: Path) -> None:
    result = _parse(contest, "--json")
    *messages, submission = _rows(result)
    assert list(submission) == _FIELDS
    assert submission["path"] == "submissions/E001/A/1.md"
    assert (submission["row"], submission["participant"], submission["problem_id"]) == (None, "E001", "A")
    assert (submission["verdict"], submission["submitted_at"]) == ("WA", "2026-03-01T03:00:00Z")
    assert any("Asia/Tokyo" in note for note in submission["notes"])
    assert [list(message) for message in messages] == [_MESSAGE_FIELDS] * 2
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[0]["path"] == "prompts/E001/chat.txt"
    assert "set aside: submissions/E001/A/empty.html: is empty; save it again" in result.stderr
    assert "2 file(s) read, 1 set aside" in result.stderr
    assert result.exit_code == 0


def test_a_folder_that_holds_more_than_a_contest(contest: Path) -> None:
    (contest / "more").mkdir()
    (contest / "more/b.txt").write_text(_CHAT, encoding="utf-8")
    paths = [row["path"] for row in _rows(_parse(contest, "--json"))]
    assert sorted(set(paths)) == ["more/b.txt", "prompts/E001/chat.txt", "submissions/E001/A/1.md"]


def test_one_kind_only(contest: Path) -> None:
    assert [list(row) for row in _rows(_parse(contest, "--json", "--kind", "submissions"))] == [_FIELDS]
    assert [list(row) for row in _rows(_parse(contest, "--json", "--kind", "prompts"))] == [_MESSAGE_FIELDS] * 2


def test_a_file_is_called_by_its_name_and_lies_in_its_folder(contest: Path) -> None:
    (row,) = _rows(_parse(contest / "submissions/E001/A/1.md", "--json"))
    assert (row["path"], row["participant"]) == ("1.md", "E001")
    (row,) = _rows(_parse(contest / "submissions", "--kind", "submissions", "--json"))
    assert (row["path"], row["participant"]) == ("E001/A/1.md", "E001")


def test_a_time_without_a_zone_is_null_unless_one_is_given(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text(_SUBMISSION, encoding="utf-8")
    (row,) = _rows(_parse(file, "--json"))
    assert (row["submitted_at"], row["timestamp_raw"]) == (None, "2026-03-01 12:00")
    (row,) = _rows(_parse(file, "--json", "--time-zone", "America/New_York"))
    assert row["submitted_at"] == "2026-03-01T17:00:00Z"


def test_kinds_are_guessed_by_content_where_no_folder_tells(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(_SUBMISSION, encoding="utf-8")
    (tmp_path / "b.txt").write_text(_CHAT, encoding="utf-8")
    (tmp_path / "c.json").write_text('{"x": 1}', encoding="utf-8")
    result = _parse(tmp_path, "--json")
    assert [("verdict" in row, "role" in row) for row in _rows(result)] == [(True, False), (False, True), (False, True)]
    assert "no submission" in result.stderr
    assert "no chat log" in result.stderr
    assert result.exit_code == 0


def test_nothing_read_is_a_failure_of_the_data(tmp_path: Path) -> None:
    result = _parse(tmp_path)
    assert result.exit_code == 1
    assert "no files" in result.stderr
    (tmp_path / "x.html").write_bytes(b"")
    result = _parse(tmp_path, "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "set aside: x.html" in result.stderr


@pytest.mark.parametrize(
    "arguments", [["/no/such/file"], [], [".", "--kind", "poems"], [".", "--time-zone", "Mars/Olympus"]]
)
def test_wrong_commands(arguments: list[str]) -> None:
    assert _parse(*arguments).exit_code == 2


def test_tables_for_people_hold_no_escape_sequences(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("Problem: A\x1b[31m [bold]B\nResult: AC\n```\nx\n```\n", encoding="utf-8")
    result = _parse(tmp_path)
    assert result.exit_code == 0
    assert "\x1b[31m" not in result.stdout
    assert "[bold]B" in result.stdout
    assert "AC" in result.stdout


@pytest.mark.slow
def test_the_real_folders_are_read(shared: Path) -> None:
    for folder in ("submissions", "prompt_logs", "event_feeds"):
        result = _parse(shared / "cases" / folder, "--json")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        for row in _rows(result):
            assert list(row) in (_FIELDS, _MESSAGE_FIELDS)
