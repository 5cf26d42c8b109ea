"""Contests x judges spread over two workers that share PostgreSQL, a broker and an object store; one is killed.

A small one runs in the suite; JUDGE_PIPELINE_CLUSTER=full has four judges x three contests, with their reports.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa
import yaml
from dagster._core.launcher import WorkerStatus
from dagster._daemon.monitoring.run_monitoring import monitor_started_run

from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, REPORT_CONTEST, build_definitions
from judge_pipeline.judging.checkpoint.opening import make_engine
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.orchestration.sharded_jobs import SHARDED
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import JUDGE_OUTPUTS, JUDGE_REQUESTS
from judge_pipeline_tests.cluster.cluster import CHECKOUT, Cluster, ended, wait_until, worker_of
from judge_pipeline_tests.cluster.servers import ObjectStore, running_object_store, running_redis
from judge_pipeline_tests.judging.conftest import Behaviour, Provider, Request, valid
from judge_pipeline_tests.mini_contest import MiniContest
from judge_pipeline_tests.postgresql import PostgresqlServer

FULL = os.environ.get("JUDGE_PIPELINE_CLUSTER") == "full"
CONTESTS, JUDGES = (3, 4) if FULL else (2, 2)
IN_FLIGHT = 2
SECONDS = 400.0

MAY_DIFFER = ["latency_ms"]
"""Columns that say how long something took: all that may differ between a cluster and one machine."""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster"), pytest.mark.timeout(3600 if FULL else 900)]


@pytest.fixture
def object_store() -> Iterator[ObjectStore]:
    with running_object_store() as store:
        store.make_bucket("judged")
        yield store


@pytest.fixture
def provider() -> Iterator[Provider]:
    server = Provider()
    server.behave = lambda request, n: by_text(request, 0.0)
    yield server
    server.close()


def by_text(request: Request, delay: float) -> Behaviour:
    """An answer that depends on what is asked alone."""
    drawn = int(hashlib.sha256(request.text.encode()).hexdigest()[:4], 16)
    given = valid(p_ac=round(drawn / 0xFFFF, 4), s_algo=1 + drawn % 5)
    return Behaviour(given.status, given.body, given.content_type, given.headers, delay)


def lay(home: Path, url: str, contests: int, judges: int) -> None:
    """A workspace with so many contests and so many judges of the loopback provider."""
    for n in range(1, contests + 1):
        made = MiniContest(home if n == 1 else home.parent / f"laid-{n}", f"contest-{n}")
        made.rng.seed(n)
        made.lay(3, 2)
        for file in made.folder.rglob(
            "0*.txt"
        ):  # else a contest's programs would be another's, and be asked about once
            file.write_text(file.read_text("utf-8").replace("x = 1", f"x = {n}"), "utf-8")
        if n > 1:
            shutil.copytree(made.folder, home / "data" / "contests" / made.name)
    limits = {"max_in_flight": IN_FLIGHT, "backoff_seconds": 0.01, "max_backoff_seconds": 0.02, "timeout_seconds": 60}
    of_judge = {"backend": "litellm", "base_url": url, "limits": limits}
    found = {f"judge-{n}": {**of_judge, "model": f"openai/loopback-{n}"} for n in range(1, judges + 1)}
    (home / "assets_config" / "judges.yaml").write_text(yaml.safe_dump({"judges": found}), "utf-8")
    shutil.copy(CHECKOUT / "deploy" / "dagster.yaml", home / "dagster.yaml")


def tables(workspace: Workspace) -> dict[str, Any]:
    """Every stored table: name -> its bytes, or where it has columns that may differ its other columns."""
    store, found = store_of(workspace), {}
    for file in store.folder.rglob("*.parquet"):
        parts = file.relative_to(store.folder).with_suffix("").parts
        columns = [] if parts[0] != JUDGE_OUTPUTS.name else MAY_DIFFER
        rows = store.read(JUDGE_OUTPUTS, *parts[1:]).drop(columns=columns) if columns else None
        found["/".join(parts)] = file.read_bytes() if rows is None else rows.to_csv(index=False)
    return found


def stored_rows(url: str, statement: str) -> list[Any]:
    engine = make_engine(url)
    with closing(engine.raw_connection()), engine.connect() as connection:
        return list(connection.execute(sa.text(statement)))


@pytest.fixture
def cluster(
    tmp_path: Path,
    postgresql_server: PostgresqlServer,
    object_store: ObjectStore,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Cluster]:
    lay(tmp_path / "home", provider.url, CONTESTS, JUDGES)
    with running_redis(tmp_path) as broker:
        environment = {
            **object_store.environment,
            "JUDGE_PIPELINE_STORE_URL": "s3://judged/team",
            "JUDGE_PIPELINE_CHECKPOINT_URL": postgresql_server.new_database(),
            "JUDGE_PIPELINE_DAGSTER_URL": postgresql_server.new_database().replace("://", "+psycopg2://", 1),
            "JUDGE_PIPELINE_BROKER_URL": broker,
            "JUDGE_PIPELINE_SHARD_EXECUTOR": "celery",
            "OPENAI_API_KEY": "none",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        made = Cluster(tmp_path / "home", environment, tmp_path)
        try:
            yield made
        finally:
            made.stop()


def test_two_workers_do_what_one_machine_does(cluster: Cluster, provider: Provider) -> None:
    names = [f"contest-{n}" for n in range(1, CONTESTS + 1)]
    pairs = [(name, f"judge-{n}") for name in names for n in range(1, JUDGES + 1)]
    workers = {name: cluster.start_worker(name) for name in ("first", "second")}
    with open_instance(cluster.workspace) as instance:
        read = [cluster.launch(instance, READ_CONTEST, name) for name in names]
        wait_until(lambda: ended(instance, read), SECONDS, cluster.said)
        assert failed(instance, read) == []
        n_attempts = {name: len(store_of(cluster.workspace).read(JUDGE_REQUESTS, name)) for name in names}

        provider.behave = lambda request, n: by_text(request, 1.0)
        # The first partition is given out twice: as when a run was given up while its task still lay with the broker.
        judged = {cluster.launch(instance, JUDGE_CONTEST, *pair): pair for pair in [pairs[0], *pairs]}
        wait_until(lambda: under_way(instance, judged, "second") and len(provider.requests) > 4, SECONDS, cluster.said)
        at_work = under_way(instance, judged, "second")
        assert [health(instance, run) for run in at_work] == [WorkerStatus.RUNNING] * len(at_work)
        workers["second"].kill()
        lost = [run for run in judged if run in at_work and not ended(instance, [run])]
        assert lost, "the worker was killed before it began a run, or after it had ended all"
        for run in lost:
            look_at(instance, run)
        assert [instance.get_run_by_id(run).status for run in lost] == [dg.DagsterRunStatus.FAILURE] * len(lost)

        provider.behave = lambda request, n: by_text(request, 0.0)
        again = {cluster.launch(instance, JUDGE_CONTEST, *judged[run]): judged[run] for run in lost}
        rest = [run for run in judged if run not in lost]
        wait_until(lambda: ended(instance, [*rest, *again]), SECONDS, cluster.said)
        assert failed(instance, [*rest, *again]) == []
        assert {worker_of(instance, run) for run in [*judged, *again]} == {"first", "second"}
        n_asked = len(provider.requests)

        # Every judgment once, and no more calls than were under way when the worker went.
        url = cluster.environment["JUDGE_PIPELINE_CHECKPOINT_URL"]
        rows = stored_rows(url, "SELECT judge, attempt_id FROM judgments")
        wanted = sum(n_attempts[contest] for contest, _ in pairs)
        assert len(rows) == len(set(rows)) == wanted
        assert wanted <= n_asked <= wanted + IN_FLIGHT * len(lost)
        repeated = cluster.launch(instance, JUDGE_CONTEST, *pairs[0])
        wait_until(lambda: ended(instance, [repeated]), SECONDS, cluster.said)
        assert failed(instance, [repeated]) == [] and len(provider.requests) == n_asked

        if FULL:
            reported = [cluster.launch(instance, REPORT_CONTEST, name) for name in names]
            wait_until(lambda: ended(instance, reported), SECONDS * 2, cluster.said)
            assert failed(instance, reported) == []

    assert tables(cluster.workspace) == on_one_machine(cluster, names, pairs)


@pytest.mark.skipif(not FULL, reason="JUDGE_PIPELINE_CLUSTER=full runs it")
def test_the_shards_of_a_run_go_to_workers_that_take_steps(cluster: Cluster, provider: Provider) -> None:
    judges = cluster.home / "assets_config" / "judges.yaml"
    found = yaml.safe_load(judges.read_text("utf-8"))
    found["judges"]["judge-1"]["shards"] = 2
    judges.write_text(yaml.safe_dump(found), "utf-8")
    cluster.start_worker("runs")
    cluster.start_worker("steps", "--takes", "steps")
    with open_instance(cluster.workspace) as instance:
        for job, *key in ((READ_CONTEST, "contest-1"), (SHARDED[JUDGE_CONTEST], "contest-1", "judge-1")):
            run = cluster.launch(instance, job, *key)
            wait_until(lambda run=run: ended(instance, [run]), SECONDS, cluster.said)
            assert failed(instance, [run]) == []
        n_asked = len(provider.requests)
        assert workers_of_steps(instance, run) == {"steps"}
        assert n_asked == len(store_of(cluster.workspace).read(JUDGE_REQUESTS, "contest-1"))
        table = cluster.launch(instance, JUDGE_CONTEST, "contest-1", "judge-1")
        wait_until(lambda: ended(instance, [table]), SECONDS, cluster.said)
        assert failed(instance, [table]) == [] and len(provider.requests) == n_asked


@pytest.mark.skipif(not FULL, reason="JUDGE_PIPELINE_CLUSTER=full runs it")
def test_the_daemon_starts_the_run_of_a_dead_worker_again_and_not_one_that_was_cancelled(
    cluster: Cluster, provider: Provider
) -> None:
    file = cluster.home / "dagster.yaml"
    file.write_text(file.read_text("utf-8").replace("poll_interval_seconds: 30", "poll_interval_seconds: 2"), "utf-8")
    quiet = "watch: {contests: false, preference_sets: false}\n"  # else the daemon starts runs by itself
    (cluster.home / "assets_config" / "automation.yaml").write_text(quiet, "utf-8")
    provider.behave = lambda request, n: by_text(request, 1.0)
    first = cluster.start_worker("first")
    with open_instance(cluster.workspace) as instance, cluster.daemon():
        read = cluster.submit(instance, READ_CONTEST, "contest-1")
        wait_until(lambda: ended(instance, [read]), SECONDS, cluster.said)
        assert failed(instance, [read]) == []

        lost = cluster.submit(instance, JUDGE_CONTEST, "contest-1", "judge-1")
        wait_until(lambda: under_way(instance, [lost], "first") and len(provider.requests) > 2, SECONDS, cluster.said)
        first.kill()
        cluster.start_worker("second")
        retried = dg.RunsFilter(tags={"dagster/parent_run_id": lost})
        wait_until(lambda: bool(instance.get_runs(retried)), SECONDS, cluster.said)
        again = instance.get_runs(retried)[0].run_id
        wait_until(lambda: ended(instance, [again]), SECONDS, cluster.said)
        assert failed(instance, [again]) == [] and worker_of(instance, again) == "second"
        assert len(provider.requests) <= len(store_of(cluster.workspace).read(JUDGE_REQUESTS, "contest-1")) + IN_FLIGHT

        n_asked = len(provider.requests)
        cancelled = cluster.submit(instance, JUDGE_CONTEST, "contest-1", "judge-2")
        wait_until(lambda: len(provider.requests) > n_asked + 2, SECONDS, cluster.said)
        assert instance.run_launcher.terminate(cancelled)
        time.sleep(15)
        assert instance.get_run_by_id(cancelled).status == dg.DagsterRunStatus.CANCELED
        assert instance.get_runs(dg.RunsFilter(tags={"dagster/parent_run_id": cancelled})) == []
        n_asked = len(provider.requests)
        time.sleep(3)
        assert len(provider.requests) == n_asked


def on_one_machine(cluster: Cluster, names: list[str], pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """The tables that the same workspace gives without any server but the provider's."""
    home = cluster.folder / "one"
    shutil.copytree(cluster.home, home)
    (home / "dagster.yaml").unlink()
    with pytest.MonkeyPatch.context() as patched:
        for name in cluster.environment:
            if name.startswith("JUDGE_PIPELINE_"):
                patched.delenv(name)
        workspace = Workspace.find({"JUDGE_PIPELINE_HOME": str(home)})
        definitions = build_definitions(workspace)
        with open_instance(workspace) as instance:
            for name in names:
                assert run_job(definitions, instance, READ_CONTEST, name).error is None
            for pair in pairs:
                assert run_job(definitions, instance, JUDGE_CONTEST, *pair).error is None
            for name in names if FULL else ():
                assert run_job(definitions, instance, REPORT_CONTEST, name).error is None
        return tables(workspace)


def workers_of_steps(instance: dg.DagsterInstance, run_id: str) -> set[str]:
    """The workers that took the run's steps."""
    events = [entry.dagster_event for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT)]
    told = [event.engine_event_data.metadata.get("Celery worker") for event in events if event is not None]
    return {str(worker.value).partition("@")[0] for worker in told if worker is not None}


def under_way(instance: dg.DagsterInstance, runs: Iterable[str], worker: str) -> list[str]:
    """Those of the runs that the worker is at."""
    started = [run for run in runs if instance.get_run_by_id(run).status == dg.DagsterRunStatus.STARTED]
    return [run for run in started if worker_of(instance, run) == worker]


def health(instance: dg.DagsterInstance, run_id: str) -> WorkerStatus:
    """What the launcher finds out about a run."""
    return instance.run_launcher.check_run_worker_health(instance.get_run_by_id(run_id)).status


def look_at(instance: dg.DagsterInstance, run_id: str) -> None:
    """What Dagster's daemon does every half minute."""
    record = instance.get_run_record_by_id(run_id)
    monitor_started_run(instance, None, record, logging.getLogger("test"))


def failed(instance: dg.DagsterInstance, runs: Iterable[str]) -> list[str]:
    """Those of the runs that did not succeed, with what their logs say of it."""
    found = [run for run in runs if instance.get_run_by_id(run).status != dg.DagsterRunStatus.SUCCESS]
    failures = {dg.DagsterEventType.STEP_FAILURE, dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.ENGINE_EVENT}
    return [f"{run} {[str(e.dagster_event) for e in instance.all_logs(run, of_type=failures)]}" for run in found]
