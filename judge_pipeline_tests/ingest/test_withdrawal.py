from __future__ import annotations

from pathlib import Path

from judge_pipeline.ingest.contest import read_contest
from judge_pipeline.ingest.withdrawal import leave_out
from judge_pipeline.settings import ContestSettings
from judge_pipeline_tests.mini_contest import MiniContest


def test_the_rest_is_as_if_the_persons_files_had_never_been_there(tmp_path: Path) -> None:
    contest = MiniContest(tmp_path / "all").lay(4, 2)
    (contest.folder / "submissions" / "E002" / "bad.html").write_bytes(b"\x00\x01\x02" * 50)
    (contest.folder / "prompts" / "E002" / "bad.json").write_text("{}", encoding="utf-8")
    read = read_contest(contest.folder, "mini", ContestSettings())
    rest, paths = leave_out(read, "mini", {"E002"}.__contains__)
    assert paths and all(path.split("/")[1] == "E002" for path in paths)

    for folder in ("submissions", "prompts"):
        for file in sorted((contest.folder / folder / "E002").rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
    without = read_contest(contest.folder, "mini", ContestSettings())
    for name in ("submission_artifacts", "attempts", "prompt_logs", "quarantine"):
        assert getattr(rest, name).equals(getattr(without, name)), name


def test_rows_of_a_table_for_all_are_left_out_by_the_id_that_they_name(tmp_path: Path) -> None:
    folder = tmp_path / "mini"
    (folder / "submissions").mkdir(parents=True)
    (folder / "submissions" / "all.csv").write_text(
        "submission_id,user_id,problem_id,language,status,date\n"
        "1,E001,p1,Python,Accepted,1700000000\n2,E002,p1,Python,Wrong Answer,1700000100\n",
        encoding="utf-8",
    )
    read = read_contest(folder, "mini", ContestSettings(time_zone="UTC"))
    assert set(read.attempts["participant"]) == {"E001", "E002"}
    rest, paths = leave_out(read, "mini", {"E002"}.__contains__)
    assert set(paths) == {"submissions/all.csv"}
    assert set(rest.attempts["participant"]) == {"E001"}
    assert set(rest.submission_artifacts["participant"]) == {"E001"}


def test_nobody_withdrew_nothing_changes(tmp_path: Path) -> None:
    contest = MiniContest(tmp_path / "all").lay(2, 1)
    read = read_contest(contest.folder, "mini", ContestSettings())
    assert leave_out(read, "mini", lambda _: False) == (read, [])
