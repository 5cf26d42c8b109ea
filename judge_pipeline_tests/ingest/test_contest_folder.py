"""The contest folder on disk: a fixed order, nothing from outside it, everything unread set aside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from judge_pipeline.ingest import contest_folder
from judge_pipeline.ingest.contest_folder import contest_files, files_under, fingerprint, participant_and_problem_of
from judge_pipeline.ingest.records import UnreadableArtifact


def _lay(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def test_files_come_sorted_with_their_bytes(tmp_path: Path) -> None:
    _lay(
        tmp_path,
        {
            "submissions/E002/A/1.html": b"2", "submissions/E001/B/x.md": b"1b", "submissions/E001/A/x.md": b"1a",
            "submissions/all.json": b"[]", "prompts/E001/chat.txt": b"p", "problems/A.md": b"no", "contest.yaml": b"no",
            "submissions/.DS_Store": b"no", "submissions/E001/Thumbs.db": b"no", "submissions/.git/x": b"no",
        },
    )  # fmt: skip
    assert list(contest_files(tmp_path, "submissions")) == [
        ("submissions/E001/A/x.md", b"1a"), ("submissions/E001/B/x.md", b"1b"), ("submissions/E002/A/1.html", b"2"),
        ("submissions/all.json", b"[]"),
    ]  # fmt: skip
    assert list(contest_files(tmp_path, "prompts")) == [("prompts/E001/chat.txt", b"p")]
    assert list(files_under(tmp_path / "prompts")) == [("E001/chat.txt", b"p")]


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert list(contest_files(tmp_path, "submissions")) == []


def _reasons(folder: Path) -> dict[str, str]:
    found = dict(contest_files(folder, "submissions"))
    return {path: data.reason for path, data in found.items() if isinstance(data, UnreadableArtifact)}


def test_links_that_leave_the_folder_are_set_aside(tmp_path: Path) -> None:
    _lay(tmp_path, {"contest/submissions/E001/a.txt": b"a", "secret.txt": b"secret", "contest/prompts/p.txt": b"p"})
    inside = tmp_path / "contest/submissions/E001"
    (inside / "out.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "up").symlink_to(tmp_path)
    (inside / "prompts.txt").symlink_to("../../prompts/p.txt")
    (inside / "nowhere.txt").symlink_to("gone.txt")
    (inside / "loop").symlink_to("loop")
    (inside / "again").symlink_to(".")
    (inside / "fine.txt").symlink_to("a.txt")
    reasons = _reasons(tmp_path / "contest")
    assert "leaves the folder" in reasons.pop("submissions/E001/out.txt")
    assert "leaves the folder" in reasons.pop("submissions/E001/up")
    assert "leaves the folder" in reasons.pop("submissions/E001/prompts.txt")
    assert "leads nowhere" in reasons.pop("submissions/E001/nowhere.txt")
    assert "leads nowhere" in reasons.pop("submissions/E001/loop")
    assert "link to a folder" in reasons.pop("submissions/E001/again")
    assert reasons == {}
    read = dict(contest_files(tmp_path / "contest", "submissions"))
    assert read["submissions/E001/fine.txt"] == b"a"
    assert not any(data == b"secret" for data in read.values())


def test_a_linked_submissions_folder_is_read_only_from_within(tmp_path: Path) -> None:
    _lay(tmp_path, {"elsewhere/E001/a.txt": b"a", "contest/here/E001/a.txt": b"a"})
    (tmp_path / "contest/submissions").symlink_to(tmp_path / "elsewhere")
    assert _reasons(tmp_path / "contest") == {"submissions": "is a symbolic link that leaves the folder"}
    (tmp_path / "contest/submissions").unlink()
    (tmp_path / "contest/submissions").symlink_to("here")
    assert list(contest_files(tmp_path / "contest", "submissions")) == [("submissions/E001/a.txt", b"a")]


def test_large_files_and_odd_ones_are_set_aside_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contest_folder, "MAX_ARTIFACT_BYTES", 10)
    _lay(tmp_path, {"submissions/big.html": b"x" * 11, "submissions/fits.html": b"x" * 10})
    os.mkfifo(tmp_path / "submissions/pipe")
    assert "11 bytes" in _reasons(tmp_path)["submissions/big.html"]
    assert "no regular file" in _reasons(tmp_path)["submissions/pipe"]
    assert "submissions/fits.html" not in _reasons(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    _lay(tmp_path, {"submissions/closed.txt": b"x"})
    (tmp_path / "submissions/closed.txt").chmod(0)
    assert "cannot be read" in _reasons(tmp_path)["submissions/closed.txt"]


def test_a_file_that_goes_away_while_the_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _lay(tmp_path, {"submissions/a.txt": b"x"})

    def gone(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "open", gone)
    assert "No such file" in _reasons(tmp_path)["submissions/a.txt"]


def test_folders_nested_too_deep_are_set_aside(tmp_path: Path) -> None:
    _lay(tmp_path, {"submissions/" + "d/" * 40 + "x.txt": b"x"})
    assert any("nested deeper" in reason for reason in _reasons(tmp_path).values())


def test_names_that_no_table_can_hold_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "submissions").mkdir()
    folder = os.fsencode(tmp_path / "submissions")
    for name in (b"a\xff.txt", b"a\xfe.txt"):
        with open(os.path.join(folder, name), "wb") as stream:  # noqa: PTH118, PTH123 - bytes in the name
            stream.write(b"x")
    paths = [path for path, _ in contest_files(tmp_path, "submissions")]
    assert paths == ["submissions/a\\xfe.txt", "submissions/a\\xff.txt"]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("submissions/E001/A/x.html", ("E001", "A")), ("submissions/E001/x.html", ("E001", None)),
        ("submissions/x.json", (None, None)), ("x.html", (None, None)), ("a/b/x.html", (None, None)),
        ("prompts/E001/chat/x.md", ("E001", "chat")), ("/home/u/submissions/c/submissions/E1/A/b/x", ("E1", "A")),
    ],
)  # fmt: skip
def test_who_and_what_by_folder(path: str, wanted: tuple[str | None, str | None]) -> None:
    assert participant_and_problem_of(path) == wanted


def test_the_fingerprint_follows_paths_and_contents_alone() -> None:
    files = [("a", b"1"), ("b", b"2")]
    assert fingerprint(files) == fingerprint(files[::-1])
    aside = UnreadableArtifact("b", None, "is a link", "mend it")
    others = [[("a", b"1")], [("a", b"2"), ("b", b"1")], [("a", b"1"), ("c", b"2")], [("a", b"1"), ("b", aside)], []]
    assert len({fingerprint(files), *map(fingerprint, others)}) == 6
