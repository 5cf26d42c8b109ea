"""Listings of watched folders: what makes one another, and which names say that a file is still being written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from judge_pipeline.orchestration.automation.listing import list_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "submissions" / "E001").mkdir(parents=True)
    (tmp_path / "submissions" / "E001" / "1.txt").write_text("Result: AC\n", encoding="utf-8")
    (tmp_path / "contest.yaml").write_text("title: made\n", encoding="utf-8")
    return tmp_path


def test_two_looks_at_the_same_folder_are_equal(folder: Path) -> None:
    assert list_folder(folder) == list_folder(folder)
    assert list_folder(folder).n_files == 2


def test_every_change_shows(folder: Path) -> None:
    seen = [list_folder(folder).digest]
    file = folder / "submissions" / "E001" / "1.txt"

    def add() -> None:
        (folder / "submissions" / "E001" / "2.txt").write_text("x", encoding="utf-8")

    def grow() -> None:
        file.write_text("Result: AC\nmore\n", encoding="utf-8")

    def same_size_and_time() -> None:  # as rsync --times leaves it; the time of change of the entry is another
        before = file.stat()
        file.write_text("Result: WA\nmore\n", encoding="utf-8")
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def rename() -> None:
        file.rename(file.with_name("3.txt"))

    def make_folder() -> None:
        (folder / "prompts").mkdir()

    def hide() -> None:
        (folder / ".1.txt.a8Gh2K").write_text("part", encoding="utf-8")

    for change in (add, grow, same_size_and_time, rename, make_folder, hide):
        change()
        seen.append(list_folder(folder).digest)
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    "name",
    [
        "a.html.part",
        "a.zip.filepart",
        "b.crdownload",
        ".a.html.Xy12Zq",
        "a.html~",
        "~$a.xlsx",
        "A.PARTIAL",
        "x.tmp",
    ],
)
def test_a_name_that_programs_give_to_what_they_still_write(folder: Path, name: str) -> None:
    (folder / "submissions" / name).write_text("half", encoding="utf-8")
    assert list_folder(folder).unfinished == f"submissions/{name}"


@pytest.mark.parametrize("name", ["part.html", "a.partly", "tmp", "a~b.txt", ".hidden", "..a.txt", "template.tmpl"])
def test_a_name_that_only_looks_like_one(folder: Path, name: str) -> None:
    (folder / "submissions" / name).write_text("whole", encoding="utf-8")
    assert list_folder(folder).unfinished is None


def test_links_are_listed_and_never_followed_into_folders(folder: Path) -> None:
    (folder / "loop").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "gone")
    before = list_folder(folder)
    assert before.n_files == 4
    assert list_folder(folder) == before


def test_a_folder_that_is_gone_is_an_error_and_no_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        list_folder(tmp_path / "gone")


def test_a_link_to_itself_is_listed_as_one_that_leads_nowhere(folder: Path) -> None:
    (folder / "submissions" / "loop").symlink_to("loop")
    (folder / "submissions" / "through").symlink_to("a.html/x")
    (folder / "submissions" / "long").symlink_to("x" * 300)
    assert list_folder(folder) == list_folder(folder)
