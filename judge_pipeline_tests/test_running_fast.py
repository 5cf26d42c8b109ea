"""What makes the suite quick does not let it pass over anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


def test_a_kept_engine_still_opens_a_connection_for_each_use(tmp_path: Path) -> None:
    create = running_fast._Engines(sa.create_engine)
    urls = [f"sqlite:///{tmp_path / str(number)}.db" for number in range(40)]
    first = create(urls[0], poolclass=NullPool)
    assert create(urls[0], poolclass=NullPool) is first
    assert create(urls[0], poolclass=NullPool, connect_args={"timeout": 1}) is not first
    opened = []
    sa.event.listen(first, "connect", lambda connection, record: opened.append(connection))
    for _ in range(2):
        with first.connect() as connection:
            connection.execute(sa.text("SELECT 1"))
    assert len(opened) == 2
    for url in urls[1:]:
        create(url, poolclass=NullPool)
    assert create(urls[0], poolclass=NullPool) is not first, "only the last ones are kept"


TWO_FILES = {
    "test_a.py": "import pytest\n@pytest.mark.slow\ndef test_1(): pass\ndef test_2(): pass\n",
    "test_b.py": "import pytest\npytestmark = pytest.mark.slow\ndef test_3(tmp_path): print('lies in', tmp_path)\n",
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
