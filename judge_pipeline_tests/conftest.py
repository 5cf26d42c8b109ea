"""What all tests share: where the handed-over files lie, if they are there at all."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from judge_pipeline_tests import running_fast
from judge_pipeline_tests.postgresql import PostgresqlServer, running_server

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"

# How long an example took says how busy the machine is: on one that was, a deadline failed a test and shrank it for
# minutes. What is too slow in itself meets the time limit of its test.
settings.register_profile("judge_pipeline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A change lands or not for what it holds, not for what was drawn that day; by hand, each run draws anew.
settings.register_profile("ci", settings.get_profile("judge_pipeline"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "judge_pipeline")
# What is run again and again while one writes draws fewer: pytest --hypothesis-profile quick.
settings.register_profile("quick", settings.default, max_examples=20)

# A shell that starts a run in the background has it ignore Ctrl-C, and tests that interrupt themselves would wait.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

CHECKOUT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Before pytest decides where its temporary folders lie, and before it imports a test."""
    running_fast.keep_bytecode()
    running_fast.temporary_folders_in_memory(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a PostgreSQL server is slow; the order of the suite, which within a module stays that of the file."""
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and "postgresql" in item.callspec.id:
            item.add_marker(pytest.mark.slow)
    if settings.get_current_profile_name() == "quick":
        running_fast.draw_no_more_than(settings.default.max_examples, items)
    running_fast.whole_slow_modules_first(items)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests that belong together run in one worker."""
    return running_fast.scheduler(config, log)


def pytest_collection_finish() -> None:
    """When everything that tests import at their top is there."""
    running_fast.keep_engines()
    running_fast.spare_the_collector()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """After pytest has tidied its own."""
    running_fast.remove_temporary_folders(session, exitstatus)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return CHECKOUT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of handed-over real files; tests that need it are skipped where it is not there."""
    folder = CHECKOUT.parent / "shared"
    if not (folder / "cases").is_dir():
        pytest.skip("../shared, the folder of real files, is not here: a user's checkout has none")
    return folder


@pytest.fixture(scope="session")
def reported_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a small contest that was read, judged by three judges and reported: never changed, see below.

    Making it takes half a minute; one worker does, for all.
    """
    from judge_pipeline_tests.mini_contest import MiniContest
    from judge_pipeline_tests.test_pipeline import House

    def make(folder: Path) -> None:
        house = House(MiniContest(folder / "home").lay())
        with house.instance:
            outcome = house.through("sharp", "dull", "text")
        assert outcome.error is None, outcome.error

    return running_fast.made_once(tmp_path_factory, "reported", make) / "home"


@pytest.fixture
def copy_of_reported_home(reported_home: Path, tmp_path: Path) -> Path:
    """The same as a copy of one's own, to be changed at will."""
    return shutil.copytree(reported_home, tmp_path / "home")


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgresqlServer]:
    """A real PostgreSQL server; tests that need it are skipped where its programs are not there."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def emptied_store_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """Makes the URL of an empty store again and again, for property tests; one database is emptied each time."""
    if request.param == "sqlite":
        return lambda: f"sqlite:///{tmp_path_factory.mktemp('store') / 'c.sqlite'}"
    server = request.getfixturevalue("postgresql_server")
    url = server.new_database()
    names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"

    def emptied() -> str:
        database = url.rpartition("/")[2]
        for (name,) in server.execute(database, names):
            server.execute(database, f"TRUNCATE {name}")
        return url

    return emptied
