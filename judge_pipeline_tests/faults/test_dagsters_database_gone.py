"""Dagster's own PostgreSQL is away for a while: with a judge half-way and a run in the queue, or as a command begins.

``JUDGE_PIPELINE_GONE_SECONDS`` says for how long.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._grpc import server as graph_server
from dagster_postgres import utils
from dagster_postgres.utils import DagsterPostgresException

from judge_pipeline.cli import main as command_line
from judge_pipeline.definitions import build_definitions
from judge_pipeline.judging.checkpoint import opening
from judge_pipeline.orchestration.dagsters_database import Waiting, keep_looking_after_runs
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.settings.yaml_file import SettingsError
from judge_pipeline.tables import JUDGE_OUTPUTS, JUDGE_REQUESTS
from judge_pipeline_tests.faults.running_system import RunningSystem
from judge_pipeline_tests.judging.conftest import Behaviour, valid
from judge_pipeline_tests.judging.test_cancel_from_ui import wait_for
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.postgresql import PostgresqlServer, running_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ui"),
    pytest.mark.timeout(900),
    pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="processes are looked for in /proc"),
]

DEPLOYED = Path(__file__).resolve().parents[2] / "deploy" / "dagster.yaml"
SECONDS = float(os.environ.get("JUDGE_PIPELINE_GONE_SECONDS", "15"))


class Answering:
    """A provider that answers after a second, and counts how often each request came."""

    def __init__(self, provider: Any) -> None:
        self.came: Counter[str] = Counter()
        provider.behave = self.behave

    def behave(self, request: Any, n: int) -> Behaviour:
        self.came[str(request.body["messages"])] += 1
        return Behaviour(body=valid().body, delay=1.0)


@pytest.fixture(autouse=True)
def as_before_any_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in this process, of a test before, has it wait for the database from then on."""
    connects = utils.retry_pg_connection_fn
    monkeypatch.setattr(utils, "retry_pg_connection_fn", getattr(connects, "_connected", connects))


def storage_at(server: PostgresqlServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Dagster's records as deploy/dagster.yaml has them, in a new database."""
    monkeypatch.setenv("JUDGE_PIPELINE_DAGSTER_URL", server.new_database().replace("://", "+psycopg2://", 1))
    deployed: dict[str, Any] = yaml.safe_load(DEPLOYED.read_text(encoding="utf-8"))
    storage: dict[str, Any] = deployed["storage"]
    return storage


def serves(system: RunningSystem, run: str) -> bool:
    """Whether the UI can say how a run is."""
    try:
        return bool(system.status(run))
    except (OSError, AssertionError):
        return False


def test_dagsters_database_may_go_for_a_while_and_all_goes_on_by_itself(
    tmp_path: Path, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's process is killed meanwhile, and Dagster's server loses sight of it. It would end by itself, too, where
    it cannot note that it has failed; but that takes about a minute.
    """
    with running_server() as server:
        system = RunningSystem(tmp_path, provider.url, storage=storage_at(server, monkeypatch))
        answering = Answering(provider)
        requests = store_of(system.workspace).read(JUDGE_REQUESTS, "mini")
        with system.started():
            first = system.launch()
            wait_for(lambda: len(provider.requests) > 2, "the judge to be asked")
            queued, at_work = system.launch(), system.process_of(first)
            with server.gone():
                back_at = time.monotonic() + SECONDS
                wait_for(lambda: system.n_stored() == len(requests), "judging to go on")
                os.kill(at_work, signal.SIGKILL)
                assert not serves(system, first)
                time.sleep(max(0.0, back_at - time.monotonic()))
            wait_for(lambda: serves(system, queued), "the UI to serve again")
            system.reaches(first, "FAILURE")
            system.reaches(queued, "SUCCESS")
            assert system.process.poll() is None, "nothing had to be started again"
        log = (system.home / "ui.log").read_text(encoding="utf-8")
    assert set(answering.came.values()) == {1}, "nothing is asked twice"
    judged = store_of(system.workspace).read(JUDGE_OUTPUTS, "mini", "slow")
    assert sorted(judged["attempt_id"]) == sorted(requests["attempt_id"])
    assert server.password not in log


def test_a_step_that_ends_while_it_is_away_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than Dagster tries to connect, whose waits between its tries are left out."""
    monkeypatch.setattr(utils, "calculate_delay", lambda **_: 0.01)
    contest = MiniContest(tmp_path / "home").lay(1, 1)
    workspace = Workspace.find({}, contest.home)
    away = ExitStack()
    with running_server() as server, away:
        settings = yaml.safe_dump({"storage": storage_at(server, monkeypatch)})
        (contest.home / "dagster.yaml").write_text(settings, encoding="utf-8")
        resources = build_definitions(workspace).resources or {}

        @dg.asset(required_resource_keys={"workspace"})
        def ends_while_away() -> int:
            away.enter_context(server.gone())
            return 1

        tried: list[None] = []
        connected = utils.retry_pg_connection_fn

        def connect(*given: Any, **named: Any) -> Any:
            try:
                return connected(*given, **named)
            except utils.DagsterPostgresException:
                tried.append(None)
                if len(tried) == 2:
                    away.close()
                raise

        monkeypatch.setattr(utils, "retry_pg_connection_fn", connect)
        with open_instance(workspace) as instance:
            given = {"workspace": resources["workspace"]}
            run = dg.materialize([ends_while_away], instance=instance, resources=given, raise_on_error=False)
            assert run.success and len(tried) >= 2
            recorded = instance.get_run_by_id(run.run_id)
            assert recorded is not None and recorded.status == dg.DagsterRunStatus.SUCCESS


@pytest.mark.parametrize(
    ("said", "seconds", "times"),
    [("password authentication failed for user", 60.0, 1), ("Connection refused", 0.0, 1), ("starting up", 60.0, 3)],
)
def test_a_database_that_refuses_or_stays_away_is_waited_for_no_longer(
    said: str, seconds: float, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "GONE_SECONDS", seconds)
    tried: list[None] = []

    def connected(_: object) -> str:
        tried.append(None)
        if len(tried) == 3:
            return "connected"
        raise utils.DagsterPostgresException("too many retries for DB connection") from OSError(f"FATAL:  {said}")

    if times == 3:
        assert Waiting(connected)(None) == "connected"
    else:
        with pytest.raises(utils.DagsterPostgresException):
            Waiting(connected)(None)
    assert len(tried) == times


def test_the_server_of_the_graph_looks_after_its_runs_again_when_a_look_failed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A look that fails ended the thread that looks, and the server never learnt that it may end."""
    look = graph_server.DagsterApiServer._check_for_orphaned_runs
    monkeypatch.setattr(graph_server.DagsterApiServer, "_check_for_orphaned_runs", look)
    monkeypatch.setattr(graph_server, "CLEANUP_TICK", 0.01)
    keep_looking_after_runs()
    keep_looking_after_runs()
    looks: list[None] = []

    class Records:
        """Dagster's, which are away at first, and know nothing of the run then."""

        def get_run_by_id(self, _: str) -> None:
            looks.append(None)
            if len(looks) < 4:
                raise utils.DagsterPostgresException("too many retries for DB connection")

    monkeypatch.setattr(graph_server.DagsterInstance, "from_ref", lambda _: nullcontext(Records()))
    server = object.__new__(graph_server.DagsterApiServer)
    server._execution_lock, server._server_termination_event = threading.Lock(), threading.Event()
    server._shutdown_once_executions_finish_event = threading.Event()
    server._shutdown_once_executions_finish_event.set()
    ended = SimpleNamespace(is_alive=lambda: False)
    server._executions, server._termination_events, server._termination_times = {"r": (ended, None)}, {"r": None}, {}
    server._cleanup_thread()
    assert len(looks) == 4 and server._server_termination_event.is_set()
    assert caplog.text.count("cannot look after its runs now") == 1


def test_a_command_that_cannot_reach_its_records_says_so_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Dagster's own waits between its tries are left out: they are the same each time."""
    monkeypatch.setattr("dagster_postgres.utils.calculate_delay", lambda **_: 0.0)
    workspace = Workspace(tmp_path / "assets_config", tmp_path / "data", tmp_path / "var")
    with running_server() as server:
        settings = {"storage": storage_at(server, monkeypatch)}
        (tmp_path / "dagster.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        why = (
            f'Dagster\'s database cannot be reached (connection to server at "127.0.0.1", port {server.port} failed: '
            "Connection refused)"
        )
        with open_instance(workspace) as instance:
            with server.gone():
                with pytest.raises(DagsterPostgresException) as under_way:
                    instance.get_runs()
                with pytest.raises(SettingsError, match=re.escape(why)):
                    open_instance(workspace)
            said = told(under_way.value, monkeypatch, capsys)
            assert instance.get_runs() == []
    assert said.startswith(f"Error: {why}: wait until its server is back, and run the same command again.")


def told(error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command line says of an error that ends a command."""

    def fails(**_: Any) -> None:
        raise error

    capsys.readouterr()
    monkeypatch.setattr(command_line.cli, "main", fails)
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 1
    return capsys.readouterr().err
