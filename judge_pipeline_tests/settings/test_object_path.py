"""A place in an object store behaves as a path does; one that does not answer is an error, never an empty folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.orchestration.tombstones import Tombstones
from judge_pipeline.orchestration.whole_files import is_there, remove_folder, write_new, write_whole
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.object_path import StoreError
from judge_pipeline.settings.workspace import STORE_URL, store_path
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import ATTEMPTS
from judge_pipeline_tests.cluster.servers import ObjectStore, running_object_store

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("object store")]


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectStore]:
    with running_object_store() as store:
        store.make_bucket("judged")
        yield store


@pytest.fixture
def s3(server: ObjectStore, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return store_path(f"s3://judged/{request.node.name}")


@pytest.fixture(params=["folder", "memory", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "folder":
        return tmp_path / "store"
    return request.getfixturevalue("s3") if request.param == "s3" else store_path(f"memory://{tmp_path.name}/store")


def test_it_does_what_a_folder_does(root: Path) -> None:
    one, other = root / "tables" / "a" / "one.parquet", root / "tables" / "a" / "x" / "j@c.parquet"
    assert not one.is_file() and not one.exists() and not root.is_dir() and not is_there(one)
    assert list(root.glob("*")) == list(root.rglob("*.parquet")) == []
    with pytest.raises(FileNotFoundError):
        one.read_bytes()
    with pytest.raises(FileNotFoundError):
        list(root.iterdir())
    write_whole(one, b"first")
    write_whole(one, b"second")
    write_whole(other, b"")
    assert (one.read_bytes(), other.read_bytes(), one.stat().st_size) == (b"second", b"", 6)
    assert one.is_file() and not one.is_dir() and root.is_dir() and not root.is_file() and is_there(one)
    assert [p.relative_to(root).parts for p in sorted(root.rglob("*.parquet"))] == [
        ("tables", "a", "one.parquet"), ("tables", "a", "x", "j@c.parquet"),
    ]  # fmt: skip
    assert [p.name for p in sorted((root / "tables" / "a").glob("*.parquet"))] == ["one.parquet"]
    assert sorted(p.name for p in (root / "tables" / "a").iterdir()) == ["one.parquet", "x"]
    assert list(root.rglob(".*")) == []
    assert one.is_relative_to(root) and one.relative_to(root).as_posix() == "tables/a/one.parquet"
    one.replace(one.with_suffix(".moved"))
    assert [p.name for p in sorted((root / "tables" / "a").glob("one*"))] == ["one.moved"]
    one.unlink(missing_ok=True)
    with pytest.raises(FileNotFoundError):
        one.unlink()
    remove_folder(root / "tables")
    remove_folder(root / "tables")
    assert list(root.rglob("*.parquet")) == []


def test_of_many_who_make_a_key_at_once_one_does(root: Path) -> None:
    place = root / "tombstones" / "key"
    makers = [threading.Thread(target=write_new, args=(place, bytes([n]) * 64)) for n in range(8)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    kept = place.read_bytes()
    assert len(kept) == 64 and len(set(kept)) == 1
    write_new(place, b"other")
    assert place.read_bytes() == kept


def test_a_store_that_is_gone_is_an_error_that_names_object_and_remedy(
    s3: Path, server: ObjectStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    workspace = Workspace(tmp_path, tmp_path, tmp_path)
    monkeypatch.setenv(STORE_URL, f"{s3}/gone")
    root = workspace.store_dir
    server.stop()
    try:
        for does in (
            (root / "x").is_file, (root / "x").is_dir, (root / "x").exists, (root / "x").read_bytes,
            lambda: list(root.glob("*")), lambda: list(root.rglob("*")), lambda: write_whole(root / "x", b""),
            lambda: remove_folder(root), lambda: Tombstones(root, "mini").read(),
            lambda: store_of(workspace).read(ATTEMPTS, "mini"), lambda: store_of(workspace).parts(ATTEMPTS, "mini"),
        ):  # fmt: skip
            with pytest.raises(StoreError, match=r"s3://judged/.* cannot be .*AWS_ENDPOINT_URL.*run again"):
                does()
    finally:
        server.start()
    assert not (root / "x").is_file()


def test_a_store_that_is_gone_for_a_while_is_waited_for(s3: Path, server: ObjectStore) -> None:
    write_whole(s3 / "a", b"kept")
    server.stop()
    back = threading.Timer(3, server.start)
    back.start()
    began = time.monotonic()
    try:
        write_whole(s3 / "b", b"written")
    finally:
        back.join()
    assert time.monotonic() - began > 2
    assert ((s3 / "a").read_bytes(), (s3 / "b").read_bytes()) == (b"kept", b"written")


def test_what_another_machine_wrote_is_seen_at_once(s3: Path, server: ObjectStore) -> None:
    write_whole(s3 / "a" / "1", b"1")
    assert [p.name for p in (s3 / "a").iterdir()] == ["1"]
    server.client().put_object(Bucket="judged", Key=f"{s3.as_posix().partition('judged/')[2]}/a/2", Body=b"2")
    assert sorted(p.name for p in (s3 / "a").iterdir()) == ["1", "2"]
    assert (s3 / "a" / "2").is_file()


@pytest.mark.parametrize("url", ["s3://key:secret@host/bucket", "s3://bucket/x?secret=1", "nonsense://bucket"])
def test_a_url_that_cannot_be_used_says_so(url: str) -> None:
    with pytest.raises(SettingsError, match="store") as told:
        store_path(url)
    assert "secret" not in str(told.value).replace("AWS_SECRET", "")


def test_results_lie_where_the_variable_says_else_in_the_output_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path, tmp_path, tmp_path / "var")
    monkeypatch.delenv(STORE_URL, raising=False)
    assert workspace.store_dir == tmp_path / "var"
    monkeypatch.setenv(STORE_URL, str(tmp_path / "shared"))
    assert workspace.store_dir == tmp_path / "shared" and store_of(workspace).folder == tmp_path / "shared" / "tables"
    monkeypatch.setenv(STORE_URL, "memory://shared/team/")
    assert str(store_of(workspace).folder) == "memory://shared/team/tables"
