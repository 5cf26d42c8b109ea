"""Looks at many folders on disks that are slow, go away, or change while they are read."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from judge_pipeline.definitions import CHAINS
from judge_pipeline.orchestration.automation import folder_watch
from judge_pipeline.orchestration.automation.content import contest_content
from judge_pipeline.orchestration.automation.folder_watch import FolderWatch, Looked
from judge_pipeline.orchestration.automation.listing import Listing, list_folder
from judge_pipeline.settings import Workspace

CONTESTS, _ = CHAINS
NAMES = [f"c{number}" for number in range(8)]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in NAMES:
        folder = tmp_path / "data" / "contests" / name / "submissions" / "E001"
        folder.mkdir(parents=True)
        (folder / "1.txt").write_text("Result: AC\n", encoding="utf-8")
    return Workspace(tmp_path, tmp_path / "data", tmp_path / "var")


class Clock:
    """Our time, moved by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def look_until(watch: FolderWatch, names: list[str], most: int = 40) -> list[Looked]:
    """Look until the contents of all are known."""
    looks = [watch.look()]
    while set(looks[-1].contents) < set(names):
        assert len(looks) < most
        looks.append(watch.look(looks[-1].next_name))
    return looks


@pytest.mark.slow
def test_on_a_slow_disk_every_folder_has_its_turn(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []

    def slowly(folder: Path) -> Listing:
        listed.append(folder.name)
        time.sleep(0.15)
        return list_folder(folder)

    monkeypatch.setattr(folder_watch, "list_folder", slowly)
    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0)
    began = time.monotonic()
    looks = look_until(watch, NAMES)
    assert len(looks) > 1
    assert (time.monotonic() - began) / len(looks) < 2.0
    before = len(listed)
    again: set[str] = set()
    after = looks[-1].next_name
    while again < set(NAMES):  # settled ones are looked at in turn, too
        after = watch.look(after).next_name
        again = set(listed[before:])
        assert len(listed) - before < 40


def test_what_is_not_settled_goes_first(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=60.0, clock=clock)
    watch.look()
    clock.now += 60
    assert set(watch.look().contents) == set(NAMES)
    (workspace.data_dir / "contests" / "c6" / "contest.yaml").write_text("title: new\n", encoding="utf-8")
    assert "c6" not in watch.look().contents
    monkeypatch.setattr(folder_watch, "LISTING_SECONDS", 0.0)
    clock.now += 60
    looked = watch.look(after="c1")
    assert "c6" in looked.contents
    assert looked.next_name == "c2", "a folder that changes all the time keeps no other from its turn"


def test_a_disk_that_does_not_answer_for_a_while_loses_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0)
    before = look_until(watch, NAMES)[-1].contents

    def broken(folder: Path) -> Listing:
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as patched:
        patched.setattr(folder_watch, "list_folder", broken)
        looked = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0).look()
        assert "c0: cannot be listed (Stale file handle)" in looked.waiting
        assert looked.contents == before, "as they were when the disk answered"
    hashed: list[str] = []

    def counted(folder: Path, *rest: object) -> str:
        hashed.append(folder.name)
        return contest_content(folder, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(folder_watch, "contest_content", counted)
    assert look_until(watch, NAMES)[-1].contents == before
    assert hashed == []


def test_a_file_that_a_disk_does_not_give_is_tried_at_each_look(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, real = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0), os.open
    opened: list[str] = []

    def broken(file: Path, *rest: int, **named: int) -> int:
        if Path(file).name == "1.txt":
            opened.append(Path(file).parts[-4])
        if "c0" in Path(file).parts:
            raise OSError(errno.EIO, "Input/output error")
        return real(file, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", broken)
        looked = look_until(watch, NAMES)[-1]
        words = "c0: submissions/E001/1.txt cannot be read now; it is read again once it can be"
        assert looked.waiting == [words]
        assert (watch.look().waiting, sorted(opened)) == ([words], sorted([*NAMES, "c0"]))
    again = watch.look()
    assert again.waiting == []
    assert {name for name in NAMES if again.contents[name] != looked.contents[name]} == {"c0"}


def test_a_file_that_takes_long_to_fail_keeps_no_other_waiting(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real = workspace.data_dir / "contests" / "c0" / "submissions" / "E001", os.open
    (folder / "2.txt").write_text("Result: AC\n", encoding="utf-8")
    clock = Clock()

    def broken(file: Path, *rest: int, **named: int) -> int:
        if Path(file) == folder / "1.txt":
            clock.now += folder_watch.HASHING_SECONDS + 1
            raise OSError(errno.EIO, "Input/output error")
        return real(file, *rest, **named)

    monkeypatch.setattr(os, "open", broken)
    monkeypatch.setattr(time, "monotonic", clock)
    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0)
    looks = look_until(watch, NAMES, most=4)
    (workspace.data_dir / "contests" / "c7" / "submissions" / "E001" / "1.txt").write_text("WA\n", encoding="utf-8")
    before = looks[-1].contents
    after = look_until(watch, NAMES, most=4)[-1].contents
    assert {name for name in NAMES if after[name] != before[name]} == {"c7"}
    shutil.rmtree(folder)
    assert watch.look().waiting == watch.look().waiting == ["c0: nothing in it yet that could be read"]


def test_what_changes_while_it_is_hashed_is_not_taken(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    file = workspace.data_dir / "contests" / "c0" / "submissions" / "E001" / "1.txt"

    def meanwhile(folder: Path, *rest: object) -> str:
        found = contest_content(folder, *rest)  # type: ignore[arg-type]
        if folder.name == "c0":
            file.write_text("Result: AC\nand more\n", encoding="utf-8")
        return found

    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0)
    with monkeypatch.context() as patched:
        patched.setattr(folder_watch, "contest_content", meanwhile)
        looked = watch.look()
    assert "c0" not in looked.contents
    assert "c0: changed while it was hashed" in looked.waiting
    watch.look()
    assert "c0" in watch.look().contents


def test_hashing_that_takes_longer_than_a_look_goes_on_with_the_next(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = workspace.data_dir / "contests" / "c0" / "submissions" / "E001"
    for number in range(200):
        (folder / f"more-{number}.txt").write_text("x" * number, encoding="utf-8")
    monkeypatch.setattr(folder_watch, "HASHING_SECONDS", 0.01)
    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0)
    looks = look_until(watch, NAMES, most=2000)
    assert any("files hashed so far" in words for looked in looks for words in looked.waiting)


def test_a_link_onto_a_disk_that_is_gone_keeps_no_other_folder_from_its_turn(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_dir = Path.is_dir

    def broken(place: Path) -> bool:
        if place.name in ("c0", "Shared Disk"):
            raise OSError(107, "Transport endpoint is not connected")
        return is_dir(place)

    def not_there(folder: Path) -> Listing:
        if folder.name == "c0":
            raise OSError(107, "Transport endpoint is not connected")
        return list_folder(folder)

    (workspace.data_dir / "contests" / "Shared Disk").mkdir()
    monkeypatch.setattr(Path, "is_dir", broken)
    monkeypatch.setattr(folder_watch, "list_folder", not_there)
    looked = look_until(FolderWatch(workspace, CONTESTS, quiet_seconds=0.0), NAMES[1:])[-1]
    assert "c0: cannot be listed (Transport endpoint is not connected)" in looked.waiting
    assert any("'Shared Disk' cannot be a partition key" in words for words in looked.waiting)


def test_a_set_that_is_removed_while_it_is_looked_through_hinders_no_other(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = workspace.config_dir
    (config / "judges.yaml").write_text("judges: {text: {backend: baseline}}\n", encoding="utf-8")
    for name in ("gone", "there"):
        (workspace.data_dir / "preference" / name).mkdir(parents=True)
        (workspace.data_dir / "preference" / name / "votes.csv").write_text("a\n", encoding="utf-8")
    rglob = Path.rglob

    def removed(folder: Path, pattern: str) -> object:
        if folder.name == "gone":
            shutil.rmtree(folder, ignore_errors=True)
            raise FileNotFoundError(2, "No such file or directory")
        return rglob(folder, pattern)

    monkeypatch.setattr(Path, "rglob", removed)
    watch = FolderWatch(workspace, CHAINS[1], quiet_seconds=0.0)
    assert set(look_until(watch, ["there"])[-1].contents) == {"there"}


def test_a_memo_that_cannot_be_written_keeps_no_folder_unsettled(workspace: Workspace) -> None:
    """Its folder is another user's, or the disk is full: then this process remembers."""
    clock = Clock()
    workspace.out_dir.mkdir()
    in_the_way = workspace.out_dir / "watch"
    in_the_way.write_text("", encoding="utf-8")
    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=60.0, clock=clock)
    watch.look()
    clock.now += 60
    assert set(watch.look().contents) == set(NAMES)
    in_the_way.unlink()
    watch.look()
    clock.now += 1
    assert set(FolderWatch(workspace, CONTESTS, quiet_seconds=60.0, clock=clock).look().contents) == set(NAMES)


def test_a_folder_with_nothing_to_be_read_is_named_at_each_look(workspace: Workspace) -> None:
    (workspace.data_dir / "contests" / "c0" / "submissions" / "E001" / "1.txt").unlink()
    watch = FolderWatch(workspace, CONTESTS, quiet_seconds=0.0)
    look_until(watch, NAMES[1:])
    for _ in range(2):
        assert watch.look().waiting == ["c0: nothing in it yet that could be read"]
