"""A stranger's archive: what is refused, what is told, and that nothing leaves the folder."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.orchestration.bundles import unpacking
from judge_pipeline.orchestration.bundles.unpacking import RefusedArchiveError, open_archive, unpack


def zipped(path: Path, files: dict[str, bytes], **attributes: int) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = attributes.get("mode", 0o100644) << 16
            archive.writestr(entry, data)
    return path


def unpacked(path: Path, folder: Path, sha256_of: dict[str, str] | None = None) -> list[str]:
    folder.mkdir(exist_ok=True)
    with open_archive(path) as archive:
        return unpack(archive, folder, sha256_of or {}, lambda done, of: None)


def test_what_was_packed_is_unpacked_and_held_against_the_manifest(tmp_path: Path) -> None:
    files = {"a.txt": b"one", "deep/er/b.txt": b"two" * 10_000}
    path = zipped(tmp_path / "x.zip", files)
    right = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    assert unpacked(path, tmp_path / "out", right) == []
    assert {name: (tmp_path / "out" / name).read_bytes() for name in files} == files
    wrong = unpacked(path, tmp_path / "again", right | {"a.txt": "0" * 64})
    assert wrong == ["a.txt is changed: its sha256 is not that of the manifest"]


@pytest.mark.parametrize(
    "name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "C:/out.txt", "..\\out.txt", "a\x00.txt", "folder/"]
)
def test_a_path_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    data = zipped(tmp_path / "x.zip", {"n" * len(name): b"x"}).read_bytes()
    (tmp_path / "x.zip").write_bytes(data.replace(b"n" * len(name), name.encode()))
    with pytest.raises(RefusedArchiveError, match="was not unpacked"):
        open_archive(tmp_path / "x.zip")


@pytest.mark.parametrize("mode", [0o120777, 0o040755, 0o010644, 0o020644])
def test_a_link_a_folder_a_pipe_and_a_device_are_refused(tmp_path: Path, mode: int) -> None:
    path = zipped(tmp_path / "x.zip", {"link": b"/etc/passwd"}, mode=mode)
    with pytest.raises(RefusedArchiveError, match="is no plain file"):
        open_archive(path)


def test_a_file_that_is_there_twice_or_is_a_folder_too_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a", b"2")
    with pytest.raises(RefusedArchiveError, match="in it twice"):
        open_archive(tmp_path / "x.zip")
    with pytest.raises(RefusedArchiveError, match="a folder of other files"):
        open_archive(zipped(tmp_path / "y.zip", {"a": b"", "a/b": b""}))


def test_a_bomb_is_refused_before_anything_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "SMALL_BYTES", 1000)
    with pytest.raises(RefusedArchiveError, match="more than 200 times its own size"):
        open_archive(zipped(tmp_path / "x.zip", {"zeros": bytes(10_000_000)}))


def test_a_file_that_is_larger_than_it_says_is_told_and_cut_off(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"zeros": bytes(100_000)})
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<L", 100_000), struct.pack("<L", 10)))
    problems = unpacked(path, tmp_path / "out")
    assert len(problems) == 1
    assert problems[0].startswith("zeros: ")
    assert (tmp_path / "out" / "zeros").stat().st_size <= 10


def test_files_that_overlap_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1" * 500, "b": b"2" * 500})
    data = bytearray(path.read_bytes())
    second = data.rindex(b"PK\x01\x02")  # the directory's entry of b: let it begin inside a
    struct.pack_into("<L", data, second + 42, 4)
    path.write_bytes(bytes(data))
    with pytest.raises(RefusedArchiveError, match="overlaps"):
        open_archive(path)


def test_encrypted_and_oddly_packed_files_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1"})
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, data.rindex(b"PK\x01\x02") + 8, 1)
    path.write_bytes(bytes(data))
    with pytest.raises(RefusedArchiveError, match="is encrypted"):
        open_archive(path)
    with zipfile.ZipFile(tmp_path / "y.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", b"1")
    with pytest.raises(RefusedArchiveError, match="packed by a method"):
        open_archive(tmp_path / "y.zip")


def test_a_full_disk_is_told_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "x.zip", {"a": b"1" * 500})
    monkeypatch.setattr(unpacking.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 10}))
    with pytest.raises(RefusedArchiveError, match="set TMPDIR"):
        unpacked(path, tmp_path / "out")


@given(st.data())
def test_a_byte_changed_anywhere_is_told_or_refused_or_changes_nothing(data: st.DataObject) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = {"a.txt": b"some text", "b/c.bin": bytes(range(200))}
        whole = zipped(folder / "x.zip", files).read_bytes()
        place = data.draw(st.integers(0, len(whole) - 1))
        bits = data.draw(st.integers(1, 255))
        changed = bytearray(whole)
        changed[place] ^= bits
        (folder / "x.zip").write_bytes(bytes(changed))
        right = {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}
        try:
            with open_archive(folder / "x.zip") as archive:
                names = {entry.filename for entry in archive.infolist()}
                (folder / "out").mkdir()
                problems = unpack(archive, folder / "out", right, lambda done, of: None)
        except RefusedArchiveError:
            return
        if not problems and names == set(files):
            assert {name: (folder / "out" / name).read_bytes() for name in files} == files
        assert all(file.is_relative_to(folder / "out") for file in (folder / "out").rglob("*"))


@given(st.binary(max_size=300))
def test_what_is_no_archive_is_refused(junk: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(junk)
        file.flush()
        try:
            with open_archive(Path(file.name)) as archive:
                assert archive.infolist() == []
        except RefusedArchiveError as refused:
            assert file.name in str(refused)
