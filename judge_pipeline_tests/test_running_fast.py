"""What makes the suite quick does not let it pass over anything."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import hypothesis.strategies
import pytest
import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from judge_pipeline_tests import running_fast


def test_what_is_made_once_is_made_again_where_that_failed(tmp_path_factory: pytest.TempPathFactory) -> None:
    name, made = f"made-{os.getpid()}", []

    def make(folder: Path) -> None:
        assert list(folder.iterdir()) == [], "nothing is left of what failed"
        (folder / "half").touch()
        made.append(folder)
        if len(made) == 1:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        running_fast.made_once(tmp_path_factory, name, make)
    folders = {running_fast.made_once(tmp_path_factory, name, make) for _ in range(3)}
    assert folders == {made[0]} and len(made) == 2


def test_a_kept_engine_opens_its_file_once_and_again_where_it_is_another(tmp_path: Path) -> None:
    create = running_fast._Engines(sa.create_engine)
    files = [tmp_path / f"{number}.db" for number in range(40)]
    urls = [f"sqlite:///{file}" for file in files]
    first = create(urls[0], poolclass=NullPool)
    assert create(urls[0], poolclass=NullPool) is first
    assert create(urls[0], poolclass=NullPool, connect_args={"timeout": 1}) is not first
    opened = []
    sa.event.listen(first, "connect", lambda connection, record: opened.append(connection))

    def names() -> list[str]:
        with first.connect() as connection:
            return sa.inspect(connection).get_table_names()

    def write(name: str) -> None:
        with closing(sqlite3.connect(files[0])) as other:
            other.execute(f"CREATE TABLE {name} (n INTEGER)")
            other.commit()

    assert names() == []
    write("one")
    first.dispose()
    assert names() == ["one"] and len(opened) == 1, "what others write is seen"
    files[0].unlink()
    write("two")
    assert names() == ["two"] and len(opened) == 2
    files[0].unlink()
    assert names() == [] and len(opened) == 3
    for url in urls[1:]:
        create(url, poolclass=NullPool)
    assert create(urls[0], poolclass=NullPool) is not first, "only the last ones are kept"


def test_dagster_s_storages_keep_their_engines() -> None:
    import dagster as dg

    running_fast.keep_engines()
    with dg.instance_for_test() as instance:
        assert instance.get_runs() == []
    kept = [sys.modules[name].create_engine for name in running_fast._SQLITE_STORAGES]
    assert all(isinstance(create, running_fast._Engines) for create in kept)
    assert any(key[0].endswith("runs.db") for create in kept for key in create._made)


def test_a_module_with_a_group_or_a_fixture_of_its_own_is_not_parted(tmp_path: Path) -> None:
    ui, scope = '"ui"', '"module"'  # not as they stand in a module, or they would group this one
    (tmp_path / "test_g.py").write_text(f"pytestmark = pytest.mark.xdist_group({ui})\n", encoding="utf-8")
    (tmp_path / "test_m.py").write_text(f"@pytest.fixture(scope={scope})\n", encoding="utf-8")
    (tmp_path / "test_n.py").write_text("def test_1(): pass\n", encoding="utf-8")
    ids = ["test_g.py::test_1", "test_m.py::test_1", "test_m.py::test_2[a::b]", "test_n.py::test_1"]
    module = str(tmp_path / "test_m.py")
    assert [running_fast.group_of(nodeid, tmp_path) for nodeid in ids] == ["ui", module, module, ids[-1]]


def test_numbers_of_examples_are_bounded_from_above_only() -> None:
    drawn = []

    @hypothesis.settings(max_examples=30, database=None)
    @hypothesis.given(hypothesis.strategies.integers())
    def many(number: int) -> None:
        drawn.append(number)

    item = SimpleNamespace(obj=many)
    for most, expected in ((50, 30), (4, 4), (9, 4)):
        drawn.clear()
        running_fast.draw_no_more_than(most, [item])  # type: ignore[list-item]
        many()
        assert len(drawn) == expected


TWO_FILES = {
    "test_a.py": "import pytest\n@pytest.mark.slow\ndef test_1(): pass\ndef test_2(): pass\n",
    "test_b.py": """
import pytest
pytestmark = pytest.mark.slow
def test_3(tmp_path): print('lies in', tmp_path)
""",
    "conftest.py": "from judge_pipeline_tests.conftest import *\n",
    "pytest.ini": "[pytest]\nmarkers = slow\ntmp_path_retention_policy = failed\n",
}


@pytest.mark.slow
def test_modules_that_are_slow_as_a_whole_come_first_and_nothing_is_left_in_memory(
    tmp_path: Path, checkout: Path
) -> None:
    for name, text in TWO_FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-vs", "-p", "no:cacheprovider", str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [done.stdout.index(name) for name in ("::test_3", "::test_1", "::test_2")] == sorted(
        done.stdout.index(name) for name in ("::test_1", "::test_2", "::test_3")
    )
    folder = Path(done.stdout.split("lies in ", 1)[1].splitlines()[0])
    assert not folder.exists()
    if running_fast._has_room():
        assert folder.is_relative_to("/dev/shm") and not folder.parent.exists()
