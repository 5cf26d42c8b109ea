"""What is written whole replaces a file, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from judge_pipeline.orchestration.bundles.archive import write_archive
from judge_pipeline.orchestration.bundles.facts import BundleFacts
from judge_pipeline.orchestration.bundles.secret_search import Search
from judge_pipeline.orchestration.whole_files import write_whole

FACTS = BundleFacts("contest", "mini", "full", "9.9.9", "c0de")


def bundle(path: Path) -> None:
    write_archive(path, [], FACTS, "2026-01-01", Search({}, ()), lambda done, of: None)


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"before")
    write_whole(path, b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("kind", ["pipe", "folder"])
@pytest.mark.parametrize("write", [lambda path: write_whole(path, b"x"), bundle], ids=["whole", "bundle"])
def test_what_is_no_file_stays(tmp_path: Path, write: object, kind: str) -> None:
    path = tmp_path / "named"
    (os.mkfifo if kind == "pipe" else os.mkdir)(path)
    with pytest.raises(FileExistsError, match="is no plain file"):
        write(path)  # type: ignore[operator]
    assert path.is_fifo() or path.is_dir()
    assert list(tmp_path.iterdir()) == [path]
