"""A contest folder with everything in it that somebody may put there: each set aside by name, the rest read."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from judge_pipeline.ingest import contest_folder
from judge_pipeline.ingest.contest import ContestRead, read_contest
from judge_pipeline.ingest.contest_folder import MAX_ARTIFACT_BYTES, contest_files, files_under, list_files
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.settings import ContestSettings

GOOD = b"Problem: p1\nSubmission ID: 1\nResult: AC\n\n```c\nint main() { return 0; }\n```\n"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A participant's folder with one good file."""
    folder = tmp_path / "contest" / "submissions" / "E001"
    folder.mkdir(parents=True)
    (folder / "good.md").write_bytes(GOOD)
    return folder


def _read(inside: Path, **options: Any) -> tuple[ContestRead, dict[str, str]]:
    read = read_contest(inside.parent.parent, "c", ContestSettings(), **options)
    assert "submissions/E001/good.md" in set(read.submission_artifacts["path"])
    names = read.quarantine["path"].str.removeprefix("submissions/E001/")
    return read, dict(zip(names, read.quarantine["reason"], strict=True))


def test_a_page_of_200_megabytes_is_set_aside_without_being_opened(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (inside / "huge.html").open("wb") as stream:
        stream.truncate(200_000_000)
    opened: list[str] = []
    really = os.open

    def seen(path: Any, *arguments: Any, **options: Any) -> int:
        opened.append(Path(path).name)
        return really(path, *arguments, **options)

    monkeypatch.setattr(contest_folder.os, "open", seen)
    _, reasons = _read(inside)
    assert reasons == {"huge.html": f"has 200000000 bytes; more than {MAX_ARTIFACT_BYTES} are not read"}
    assert opened == ["good.md"]


@pytest.mark.slow
def test_a_page_as_large_as_may_be_is_read_or_refused_in_time(inside: Path) -> None:
    row = b"<tr><td>2026-01-01</td><td>A</td></tr>\n"
    (inside / "large.html").write_bytes(b"<html><body><table>" + row * (MAX_ARTIFACT_BYTES // len(row) - 10))
    started = time.monotonic()
    _, reasons = _read(inside)
    assert "characters; more than" in reasons["large.html"]
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("name", "begin", "repeated"),
    [
        ("div.html", b"<html><body>", b"<div>"), ("b.html", b"<html><body>", b"<b>"),
        ("table.html", b"<html><body>", b"<table><tr><td>"), ("closing.html", b"<html><body>", b"</div>"),
        ("pre.html", b"<html><body>", b"<pre>"), ("code.html", b"<html><body><pre>", b"<code>"),
        ("span.html", b"<html><body><pre>int x;", b"<span>"), ("comment.html", b"<html><body>", b"<!--"),
        ("open.html", b"<html><body>", b"<div "), ("quote.html", b"<html><body><a href='", b"\"'"),
        ("list.json", b"", b"["), ("object.json", b"", b'{"a":'), ("entity.html", b"<html><pre>", b"&lt"),
        ("fence.md", b"", b"```\n"), ("quoted.md", b"", b"> "), ("label.md", b"", b"Result: "),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_million_nested_tags_and_the_like(inside: Path, name: str, begin: bytes, repeated: bytes) -> None:
    (inside / name).write_bytes(begin + repeated * 1_000_000)
    started = time.monotonic()
    _, reasons = _read(inside)
    # Most are set aside; what is read makes no submission of what is none.
    assert not reasons.get(name, "").startswith(("takes longer", "crashes", "its reader failed"))
    assert time.monotonic() - started < 60


def test_what_is_no_file_is_never_opened(inside: Path) -> None:
    os.mkfifo(inside / "pipe.html")
    (inside / "zero.html").symlink_to("/dev/zero")
    (inside / "out.html").symlink_to("../../../../outside.html")
    (inside.parent.parent.parent.parent / "outside.html").write_bytes(GOOD)
    for n_processes in (0, 1):
        _, reasons = _read(inside, n_processes=n_processes)
        assert reasons["pipe.html"] == "is no regular file"
        assert "leaves the folder" in reasons["zero.html"]
        assert reasons["out.html"] in (
            "is a symbolic link that leaves the folder",
            "is a symbolic link that leads nowhere",
        )


def test_a_pipe_put_in_a_files_place_after_the_listing_does_not_hang(inside: Path) -> None:
    (inside / "soon.html").write_bytes(GOOD)
    (found,) = [f for f in list_files(inside.parent.parent, "submissions") if f.path.endswith("soon.html")]
    assert not isinstance(found, UnreadableArtifact)
    (inside / "soon.html").unlink()
    os.mkfifo(inside / "soon.html")
    with pytest.raises(UnreadableArtifact, match="no regular file"):
        contest_folder.read_stamped(Path(found.file), found.path)


def test_a_folder_that_may_not_be_listed(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (inside / "closed").mkdir()
    really = os.scandir

    def refused(folder: Any) -> Any:
        if Path(folder).name == "closed":
            raise PermissionError(13, "Permission denied")
        return really(folder)

    monkeypatch.setattr(contest_folder.os, "scandir", refused)
    _, reasons = _read(inside)
    assert reasons == {"closed": "the folder cannot be listed (Permission denied)"}


def test_a_file_that_goes_while_other_processes_read(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge_pipeline.ingest import contest_reading

    (inside / "gone.md").write_bytes(GOOD)
    really = contest_reading.read_in_processes

    def late(*arguments: Any) -> Any:
        (inside / "gone.md").unlink()
        return really(*arguments)

    monkeypatch.setattr(contest_reading, "read_in_processes", late)
    _, reasons = _read(inside, n_processes=1)
    assert reasons == {"gone.md": "cannot be read (No such file or directory)"}


def test_names_that_are_no_utf8_and_names_full_of_signs(inside: Path) -> None:
    here = os.fsencode(inside)
    for name in (
        b"a\xff.md",
        b"a\xfe.md",
        b"line\nbreak.md",
        b"tab\t'\"`$(x);&.md",
        b"\x1b[31mred.md",
        "e\u0301.md".encode(),
    ):
        with open(os.path.join(here, name), "wb") as stream:  # noqa: PTH118, PTH123 - bytes in the name
            stream.write(GOOD.replace(b"ID: 1", f"ID: {int.from_bytes(name[:4])}".encode()))
    for n_processes in (0, 1):
        read, reasons = _read(inside, n_processes=n_processes)
        assert reasons == {}
        assert {"submissions/E001/a\\xff.md", "submissions/E001/line\nbreak.md"} <= set(
            read.submission_artifacts["path"]
        )
        assert len(read.submission_artifacts) == 7


def test_a_name_that_reads_like_another_once_it_is_escaped(inside: Path) -> None:
    (inside / "a\\xff.md").write_bytes(GOOD.replace(b"ID: 1", b"ID: 2"))
    with open(os.path.join(os.fsencode(inside), b"a\xff.md"), "wb") as stream:  # noqa: PTH118, PTH123
        stream.write(GOOD.replace(b"ID: 1", b"ID: 3"))
    read, reasons = _read(inside)
    assert reasons == {"a\\xff.md": "has a name that reads like another file's"}
    assert set(read.attempts["submission_id"]) == {"1", "2"}


def test_a_nul_in_a_name_leads_nowhere(tmp_path: Path) -> None:
    assert list(files_under(tmp_path / "a\0b")) == []
    with pytest.raises(UnreadableArtifact, match="null"):
        contest_folder.read_file(tmp_path / "a\0b", "a")


@pytest.mark.slow
def test_very_many_files_in_one_folder_are_listed_in_time(inside: Path) -> None:
    for number in range(30_000):
        (inside / f"{number}.md").touch()
    started = time.monotonic()
    listed = list(list_files(inside.parent.parent, "submissions"))
    assert len(listed) == 30_001
    assert time.monotonic() - started < 15


def test_files_are_handed_on_one_at_a_time(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (inside / f"{number}.md").write_bytes(GOOD)
    opened: list[str] = []
    really = contest_folder.read_stamped
    monkeypatch.setattr(contest_folder, "read_stamped", lambda file, path: (opened.append(path), really(file, path))[1])
    files = contest_files(inside.parent.parent, "submissions")
    next(files)
    assert len(opened) == 1
