"""What a folder holds as one number: bytes decide, and the reading and the sensor come to the same."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from judge_pipeline.ingest.contest import read_contest
from judge_pipeline.ingest.contest_folder import read_stamped
from judge_pipeline.orchestration.automation import content
from judge_pipeline.orchestration.automation.content import (
    Known,
    OutOfTimeError,
    beside_sha256,
    content_of,
    contest_content,
    set_content,
)
from judge_pipeline.settings import ContestSettings
from judge_pipeline_tests.mini_contest import MiniContest


@pytest.fixture
def contest(tmp_path: Path) -> MiniContest:
    mini = MiniContest(tmp_path / "home").lay(2, 2)
    mini.record("sharp", {"a": 0.5})
    (mini.folder / "contest.yaml").write_text("title: made\n", encoding="utf-8")
    return mini


def test_the_sensor_and_the_reading_come_to_the_same_number(contest: MiniContest) -> None:
    odd = contest.folder / "submissions" / "E001" / "p1"
    (odd / "unreadable.xyz").write_bytes(b"\xff\xfe\x00" * 50)
    (odd / "link").symlink_to(contest.home)
    (odd / ".hidden").write_text("x", encoding="utf-8")
    os.mkfifo(odd / "pipe")
    read = read_contest(contest.folder, contest.name, ContestSettings(), n_processes=0)
    assert contest_content(contest.folder, {}) == content_of(read.fingerprint, beside_sha256(contest.folder))


def test_bytes_decide(contest: MiniContest) -> None:
    before = contest_content(contest.folder, {})
    for file in contest.folder.rglob("*"):
        os.utime(file, (1, 1))
        file.chmod(0o755)
    (contest.folder / ".DS_Store").write_text("x", encoding="utf-8")
    (contest.folder / "problems").mkdir()
    assert contest_content(contest.folder, {}) == before
    elsewhere = contest.home / "copy"
    shutil.copytree(contest.folder, elsewhere)
    assert contest_content(elsewhere, {}) == before


@pytest.mark.parametrize(
    "path",
    ["submissions/E001/p1/09.txt", "prompts/E001/x.md", "contest.yaml", "problems/p1.md", "recorded/sharp.jsonl"],
)
def test_another_file_anywhere_is_another_content(contest: MiniContest, path: str) -> None:
    before, file = contest_content(contest.folder, {}), contest.folder / path
    file.parent.mkdir(exist_ok=True)
    was = file.read_bytes() if file.exists() else None
    file.write_text("something else\n", encoding="utf-8")
    assert contest_content(contest.folder, {}) != before
    file.unlink() if was is None else file.write_bytes(was)
    assert contest_content(contest.folder, {}) == before


def test_hashing_goes_on_where_it_left_off(contest: MiniContest, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, looks = contest_content(contest.folder, {}), 0
    known: Known = {}
    opened: list[str] = []

    def counted(file: Path, path: str) -> object:
        opened.append(path)
        time.sleep(0.002)
        return read_stamped(file, path)

    monkeypatch.setattr(content, "read_stamped", counted)
    while True:
        looks += 1
        try:
            found = contest_content(contest.folder, known, time.monotonic() + 0.004)
            break
        except OutOfTimeError:
            assert looks < 500
    assert found == whole
    assert looks > 2
    assert len(opened) == len(set(opened))


def test_a_set_counts_files_of_any_size_and_the_bytes_of_each(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_bytes(b"a" * (65 * 1024 * 1024))
    before = set_content(tmp_path)
    with votes.open("r+b") as stream:
        stream.seek(-1, os.SEEK_END)
        stream.write(b"b")
    assert set_content(tmp_path) != before


def test_a_folder_that_goes_away_in_the_middle_is_an_error(contest: MiniContest) -> None:
    shutil.rmtree(contest.folder)
    with pytest.raises(OSError):
        contest_content(contest.folder, {})


def test_a_link_to_itself_counts_nowhere_and_hinders_nothing(contest: MiniContest) -> None:
    before = contest_content(contest.folder, {})
    (contest.folder / "loop").symlink_to("loop")
    (contest.folder / "through").symlink_to("contest.yaml/x")
    assert contest_content(contest.folder, {}) == before
    (contest.folder / "submissions" / "loop").symlink_to("loop")
    settings = ContestSettings.model_validate({})
    read = read_contest(contest.folder, "mini", settings)
    assert content_of(read.fingerprint, beside_sha256(contest.folder)) == contest_content(contest.folder, {})
