"""Screenshots are read from the set's folder alone, kept by their bytes, and given out only unchanged."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.image_files import UnusableImage, data_url
from judge_pipeline.judging.failures import CallFailedError
from judge_pipeline.judging.request import Image
from judge_pipeline.orchestration.evidence_files import EvidenceFiles, read_below
from judge_pipeline_tests.judging.made_images import png

SECRET = png(99)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set's folder with a screenshot, beside a file that it must not lead to."""
    inside = tmp_path / "set"
    (inside / "shots").mkdir(parents=True)
    (inside / "shots" / "1.png").write_bytes(png(1))
    (inside / "notes.txt").write_text("no image")
    (tmp_path / "secret.png").write_bytes(SECRET)
    return inside


@pytest.fixture
def kept(tmp_path: Path) -> EvidenceFiles:
    return EvidenceFiles(tmp_path / "out" / "evidence" / "set")


def test_a_path_and_the_same_image_embedded_are_one_file_named_by_its_bytes(folder: Path, kept: EvidenceFiles) -> None:
    by_path, embedded = kept.keep(folder, "shots/1.png"), kept.keep(folder, data_url(png(1), "image/gif"))
    assert by_path["source"] == "shots/1.png" and embedded["source"] == "embedded"
    assert {**by_path, "source": None} == {**embedded, "source": None}
    sha256 = hashlib.sha256(png(1)).hexdigest()
    assert [path.name for path in kept.folder.iterdir()] == [f"{sha256}.png"]
    image = Image(sha256, "image/png", len(png(1)), "label")
    assert kept.read(image) == png(1)
    (kept.folder / f"{sha256}.png").write_bytes(png(2))
    with pytest.raises(CallFailedError, match="was changed; read the preference set again"):
        kept.read(image)
    kept.keep(folder, "shots/1.png")
    with pytest.raises(CallFailedError, match="is missing"):
        kept.read(Image("0" * 64, "image/png", 1, ""))


@pytest.mark.parametrize(
    "path",
    [
        "../secret.png", "shots/../../secret.png", "/etc/passwd", "..\\secret.png", "C:/secret.png", "file:///etc/passwd",
        "http://127.0.0.1:1/x.png", "shots/1.png\0.txt", "out.png", "away/secret.png", "round", "pipe", "shots", ".",
        "notes.txt", "gone.png", "a" * 5000, "a" * 900 + ".png", "shots/1.png/x", "\u202e.png",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_folder_or_to_anything_but_an_image(
    folder: Path, kept: EvidenceFiles, path: str
) -> None:
    (folder / "out.png").symlink_to(folder.parent / "secret.png")
    (folder / "away").symlink_to(folder.parent)
    (folder / "round").symlink_to(folder / "round")
    os.mkfifo(folder / "pipe")
    found = kept.keep(folder, path)
    assert set(found) == {"reason", "source"} and len(found["source"]) <= 200
    assert not kept.folder.exists()


def test_a_link_within_the_folder_is_followed(folder: Path) -> None:
    (folder / "one.png").symlink_to(folder / "shots" / "1.png")
    assert read_below(folder, "one.png") == png(1)


@given(st.text(max_size=60) | st.lists(st.sampled_from(["..", ".", "shots", "secret.png", ""])).map("/".join))
def test_no_text_reads_the_file_outside(tmp_path_factory: pytest.TempPathFactory, path: str) -> None:
    root = tmp_path_factory.getbasetemp() / "outside"
    (root / "set" / "shots").mkdir(parents=True, exist_ok=True)
    (root / "secret.png").write_bytes(SECRET)
    try:
        assert read_below(root / "set", path) != SECRET
    except UnusableImage as unusable:
        assert str(unusable)


def test_images_that_no_pair_has_are_deleted_and_nothing_else(folder: Path, kept: EvidenceFiles) -> None:
    cells = [json.dumps({"screenshot": kept.keep(folder, data_url(png(grey), "x"))}) for grey in (1, 2, 3)]
    (kept.folder / "README").write_text("mine")
    half = kept.folder / f".{'0' * 64}.png.abc"
    half.write_bytes(b"x")
    assert kept.prune(pd.DataFrame({"evidence_a": cells[:1], "evidence_b": [None]})) == 3
    assert sorted(path.name for path in kept.folder.iterdir()) == sorted(
        ["README", f"{hashlib.sha256(png(1)).hexdigest()}.png"]
    )
    assert kept.prune(None) == 1 and EvidenceFiles(folder / "none").prune(None) == 0
