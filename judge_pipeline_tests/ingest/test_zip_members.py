"""ZIP archives: what is in them comes out exactly, and archives made to do harm cost bounded time and memory."""

from __future__ import annotations

import io
import stat
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest import zip_members as module
from judge_pipeline.ingest.records import UnreadableArtifact
from judge_pipeline.ingest.zip_members import ZipMember, zip_members


def pack(files: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data, method)
    return stream.getvalue()


def _read(data: bytes) -> tuple[dict[str, bytes], dict[str, str]]:
    found = list(zip_members(data, "x.zip"))
    assert all(item.remedy for item in found if isinstance(item, UnreadableArtifact))
    return (
        {item.name: item.data for item in found if isinstance(item, ZipMember)},
        {str(item.place): item.reason for item in found if isinstance(item, UnreadableArtifact)},
    )


_names = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/\\:"), min_size=1, max_size=20)


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(_names.filter(lambda name: name[0] not in "." and name != "__MACOSX"), st.binary(max_size=200)))
@example({"a b.cpp": b"", "日本.py": b"x\r\n"})
def test_what_was_packed_comes_out(files: dict[str, bytes]) -> None:
    assert _read(pack(files.items())) == (files, {})


def test_names_in_the_packers_own_encoding() -> None:
    name = "提出_チーム_A.cpp".encode("cp932")
    data = pack([("x" * len(name), b"int a;")]).replace(b"x" * len(name), name)
    assert list(_read(data)[0]) == ["提出_チーム_A.cpp"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../x.c", "leads out"), ("a/../../x.c", "leads out"), ("..\\x.c", "leads out"), ("/etc/x.c", "absolute"),
        ("C:/x.c", "absolute"), ("\\x.c", "absolute"),
    ],
)  # fmt: skip
def test_names_that_lead_elsewhere(name: str, why: str) -> None:
    files, aside = _read(pack([(name, b"a"), ("fine.c", b"b")]))
    assert files == {"fine.c": b"b"}
    (reason,) = aside.values()
    assert why in reason


def test_a_nul_in_a_name() -> None:
    data = pack([("aQb.c", b"a"), ("fine.c", b"b")]).replace(b"aQb.c", b"a\0b.c")
    files, aside = _read(data)
    assert files == {"fine.c": b"b"}
    assert list(aside.values()) == ["has a NUL in its name"]


def test_links_folders_and_what_systems_leave_behind() -> None:
    link = zipfile.ZipInfo("link.c")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    files, aside = _read(
        pack([(link, b"/etc/passwd"), ("d/", b""), ("d/a.c", b"a"), (".DS_Store", b"x"), ("__MACOSX/._a.c", b"x")])
    )
    assert files == {"d/a.c": b"a"}
    assert list(aside.values()) == ["is a symbolic link"]


def test_encrypted_files_and_other_methods() -> None:
    data = bytearray(pack([("a.c", b"secret"), ("b.c", b"open")]))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature)
        data[at + offset] |= 1
    files, aside = _read(bytes(data))
    assert files == {"b.c": b"open"}
    assert list(aside.values()) == ["is encrypted"]
    # An LZMA header may claim a dictionary of 4 GiB.
    _, aside = _read(pack([("a.c", b"x" * 99)], zipfile.ZIP_LZMA))
    assert "method 14" in next(iter(aside.values()))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.99])
def test_cut_off(share: float) -> None:
    data = pack([(f"{i}.c", bytes(range(256))) for i in range(20)])
    with pytest.raises(UnreadableArtifact, match="no whole ZIP archive"):
        list(zip_members(data[: int(len(data) * share)], "x.zip"))


def test_damage_costs_one_file() -> None:
    data = bytearray(pack([("a.c", b"int a;\n" * 99), ("b.c", b"b")]))
    data[data.index(b"a.c") + 8] ^= 0xFF
    files, aside = _read(bytes(data))
    assert files == {"b.c": b"b"}
    assert "is damaged" in next(iter(aside.values()))


def _bounded(data: bytes) -> tuple[dict[str, bytes], dict[str, str]]:
    """The reading, which took neither 20 s nor more than 64 MiB above the bytes that it gave."""
    tracemalloc.start()
    start = time.monotonic()
    files, aside = _read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.monotonic() - start < 20
    assert peak < sum(map(len, files.values())) + len(data) + 64 * 1024 * 1024
    return files, aside


@pytest.mark.slow
def test_a_bomb_of_one_file() -> None:
    files, aside = _bounded(pack([("bomb.c", bytes(200_000_000)), ("fine.c", b"b")]))
    assert files == {"fine.c": b"b"}
    assert "unpacks to more than 200 times" in next(iter(aside.values())) or "bytes" in next(iter(aside.values()))


def test_a_small_bomb_goes_by_its_ratio() -> None:
    _, aside = _read(pack([("bomb.c", bytes(2_000_000))]))
    assert "200 times" in next(iter(aside.values()))
    files, aside = _read(pack([("zeros.c", bytes(1_000_000))]))  # no larger than a generated source may be
    assert len(files["zeros.c"]) == 1_000_000
    assert aside == {}


def test_many_files_that_are_large_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 1000)
    files, aside = _read(pack([(f"{i}.c", b"x" * 300) for i in range(9)]))
    assert list(files) == ["0.c", "1.c", "2.c"]
    assert list(aside) == ["from file 4 on"]


def test_entries_that_share_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory lists one file a thousand times: what comes out counts, not what lies in the archive."""
    monkeypatch.setattr(module, "MAX_TOTAL_BYTES", 3_000_000)
    data = pack([("a.c", b"a" * 900_000)])
    at, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry, rest = data[at:end], bytearray(data[end:])
    struct.pack_into("<HHI", rest, 8, 1000, 1000, len(entry) * 1000)
    found = []
    for item in zip_members(data[:at] + entry * 1000 + bytes(rest), "x.zip"):
        found.append(item)
    assert sum(len(item.data) for item in found if isinstance(item, ZipMember)) <= 3_000_000


def test_too_many_files() -> None:
    data = pack([(str(i), b"") for i in range(module.MAX_MEMBERS + 1)], zipfile.ZIP_STORED)
    with pytest.raises(UnreadableArtifact, match="more than 20000 files"):
        list(zip_members(data, "x.zip"))


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_any_bytes_are_read_or_set_aside(data: st.DataObject) -> None:
    whole = bytearray(pack([("1_AC_t_A.c", b"int a;" * 9), ("b/2_WA_t_B.py", b"print(1)")]))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        _read(bytes(whole))
    except UnreadableArtifact as unreadable:
        assert unreadable.remedy
