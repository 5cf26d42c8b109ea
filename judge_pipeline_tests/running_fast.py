"""What makes the suite quick without changing what it tests: folders in memory, and fewer things done twice.

A commit to SQLite takes 2.6 ms on a disk and 0.01 ms in memory; a Dagster run of the small contest takes a third less
processor time once files are opened and statements compiled once.
"""

from __future__ import annotations

import fcntl
import gc
import getpass
import importlib
import os
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_MEMORY = Path("/dev/shm")
_LEAST_FREE_BYTES = 2_000_000_000
_PREFIX = "judge-pipeline-tests"
_SQLITE_STORAGES = (
    "dagster._core.storage.event_log.sqlite.sqlite_event_log",
    "dagster._core.storage.runs.sqlite.sqlite_run_storage",
    "dagster._core.storage.schedules.sqlite.sqlite_schedule_storage",
)


def keep_bytecode() -> None:
    """Have Python keep what it compiled in ``__pycache__``, also where the environment says that it shall not.

    Else every worker rewrites the assertions of all tests, and each of the hundreds of processes that tests start
    compiles the package: of the processor time of a run that is a good part.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def temporary_folders_in_memory(config: pytest.Config) -> None:
    """Let the run's temporary folders lie in memory, where there is enough of it and no ``--basetemp`` was given.

    Workers of pytest-xdist are given theirs. The folder goes when the run ends without a failure, else when the next
    run of the same user begins.
    """
    if hasattr(config, "workerinput") or config.option.basetemp or not _has_room():
        return
    user = getpass.getuser() if os.name == "posix" else ""
    for left in _MEMORY.glob(f"{_PREFIX}-{user}-*"):
        if not Path("/proc", left.name.rpartition("-")[2]).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = _MEMORY / f"{_PREFIX}-{user}-{os.getpid()}"
    config.option.basetemp = str(folder)
    config.stash[_FOLDER] = folder


def remove_temporary_folders(session: pytest.Session, exitstatus: int) -> None:
    """Remove what ``temporary_folders_in_memory`` made, unless a test failed and somebody may want to look."""
    folder = session.config.stash.get(_FOLDER, None)
    if folder is not None and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        shutil.rmtree(folder, ignore_errors=True)


_FOLDER = pytest.StashKey[Path]()


def _has_room() -> bool:
    try:
        free = shutil.disk_usage(_MEMORY).free
    except OSError:
        return False
    return free > _LEAST_FREE_BYTES and os.access(_MEMORY, os.W_OK | os.X_OK) and Path("/proc/self").exists()


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first worker that asks for it fills, and the others wait for: nobody may change it.

    Args:
        factory: pytest's ``tmp_path_factory``.
        name: of the folder.
        make: fills it; called again by the next who asks where it fails.
    """
    base = factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, done = common / name, common / f"{name}.done"
    with (common / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


def whole_slow_modules_first(items: list[pytest.Item]) -> None:
    """Put the modules in which every test is slow before all others, so that no worker is left with one at the end.

    The first test that needs the reported home comes before them: while one worker makes it, the other has enough
    else to do.
    """
    quick = {item.path for item in items if item.get_closest_marker("slow") is None}
    first = next((item for item in items if "reported_home" in getattr(item, "fixturenames", ())), None)
    items.sort(key=lambda item: (item is not first, item.path in quick))


def draw_no_more_than(most: int, items: list[pytest.Item]) -> None:
    """Have tests with a number of examples of their own, which no profile changes, draw this many at the most."""
    from hypothesis import settings

    for item in items:
        own = getattr(getattr(item, "obj", None), _EXAMPLES, None)
        if own is not None and own.max_examples > most:
            setattr(item.obj, _EXAMPLES, settings(own, max_examples=most))  # type: ignore[attr-defined]


_EXAMPLES = "_hypothesis_internal_use_settings"  # there is no public way: settings can be given to a test but once


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Who runs what under ``--dist loadgroup``: a group is not parted, see ``group_of``; else None, xdist's own.

    The one of pytest-xdist 3.8 puts a group's name where pytest 9.2 does not read it, and so parts all groups.
    """
    from xdist.scheduler import LoadScopeScheduling

    if config.getvalue("dist") != "loadgroup":
        return None
    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = lambda nodeid: group_of(nodeid, config.rootpath)
    return scheduling


def group_of(nodeid: str, root: Path) -> str:
    """The group of a test: that of its module's ``xdist_group``, or its module where that has fixtures of its own."""
    path = nodeid.partition("::")[0]
    return _group_of_module(root / path) or nodeid


@cache
def _group_of_module(file: Path) -> str | None:
    text = file.read_text(encoding="utf-8")
    named = _GROUP.search(text)
    return named[1] if named else str(file) if 'scope="module"' in text else None


_GROUP = re.compile(r'xdist_group\("([^"]+)"\)')


def keep_engines() -> None:
    """Have Dagster's SQLite storages keep an engine and a connection for a file, where they make both a statement.

    Of the processor time of a run a third goes into opening files, reading their schemas and compiling statements.
    """
    if "dagster" not in sys.modules:
        return
    for name in _SQLITE_STORAGES:
        module: Any = importlib.import_module(name)
        if not isinstance(module.create_engine, _Engines):
            module.create_engine = _Engines(module.create_engine)


class _Engines:
    """``create_engine``, remembering the last ones that it made, each with one connection that stays open."""

    _MOST = 32

    def __init__(self, create: Callable[..., Any]) -> None:
        self._create = create
        self._made: dict[tuple[str, str], Any] = {}

    def __call__(self, url: str, **options: Any) -> Any:
        key = (url, repr(sorted(options.items())))
        engine = self._made.pop(key, None) or self._kept(url, options)
        self._made[key] = engine
        if len(self._made) > self._MOST:
            self._made.pop(next(iter(self._made))).pool.dispose()
        return engine

    def _kept(self, url: str, options: dict[str, Any]) -> Any:
        """An engine that is not disposed of after each statement, and opens a file anew that is another by now."""
        from sqlalchemy import event, exc
        from sqlalchemy.pool import QueuePool

        engine = self._create(url, **options | {"poolclass": QueuePool, "pool_size": 1, "max_overflow": -1})
        file = url.removeprefix("sqlite:///")

        def opened(_connection: object, record: Any) -> None:
            record.info["file"] = _identity(file)

        def used(_connection: object, record: Any, _proxy: object) -> None:
            if record.info["file"] != _identity(file):
                raise exc.DisconnectionError(f"{file} is another file by now")

        event.listen(engine, "connect", opened)
        event.listen(engine, "checkout", used)
        engine.dispose = lambda close=True: None
        return engine


def _identity(file: str) -> tuple[int, int] | None:
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def spare_the_collector() -> None:
    """Have the garbage collector pass over the thousands of tests and modules, which last, and come less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
