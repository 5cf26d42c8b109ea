"""Runs in shards, by processes of their own: each request asked once, nothing lost, and the table is the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from judge_pipeline.cli.sharded_run import job_for_terminal
from judge_pipeline.definitions import (
    JUDGE_CONTEST,
    JUDGE_PREFERENCE_SET,
    READ_CONTEST,
    READ_PREFERENCE_SET,
    build_definitions,
)
from judge_pipeline.judging.batches.store import BatchRequest, BatchRow, BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint, StoredRequest
from judge_pipeline.judging.request import sha256
from judge_pipeline.orchestration.automation.failed_runs import failed_run
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.judging_run import AFTER_SHARDS_TAG, LIMIT_TAG
from judge_pipeline.orchestration.parquet_store import table_file
from judge_pipeline.orchestration.runs import JobOutcome, Reconstruction, run_job, run_sharded_job
from judge_pipeline.orchestration.sharded_jobs import SHARDED, after_shards_sensor
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace, packaged_config_dir
from judge_pipeline.tables import JUDGE_OUTPUTS
from judge_pipeline.tables.pair_judging import PAIR_JUDGMENTS
from judge_pipeline_tests.judging.loopback_workspace import LIMITS, LoopbackWorkspace
from judge_pipeline_tests.mini_contest import MiniContest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]
JOB = SHARDED[JUDGE_CONTEST]


class House:
    """A contest that was read, and its judges at the loopback provider."""

    def __init__(self, home: Path, url: str) -> None:
        self.contest, self._url = MiniContest(home), url
        self.workspace = Workspace.find({}, home)

    def open(self, **judge: Any) -> House:
        """Configure the judge and load the graph."""
        values = {
            "backend": "litellm", "model": "openai/loopback", "base_url": self._url, "transport": "direct",
            "limits": LIMITS,
        } | judge  # fmt: skip
        judges = {"loopback": values, "text": {"backend": "baseline"}}
        (self.workspace.config_dir / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}), encoding="utf-8")
        self.definitions = build_definitions(self.workspace)
        self.instance = open_instance(self.workspace)
        return self

    def run(self, job: str, judge: str | None = "loopback", **tags: str) -> JobOutcome:
        return run_job(self.definitions, self.instance, job, "mini", judge, tags)

    def rebuilt(self) -> Reconstruction:
        place = {name: str(getattr(self.workspace, name)) for name in ("config_dir", "data_dir", "out_dir")}
        return Reconstruction(job_for_terminal.__module__, job_for_terminal.__name__, {"job": JOB, **place})

    def in_shards(self, n: int) -> JobOutcome:
        return run_sharded_job(self.rebuilt(), self.definitions, self.instance, "mini", "loopback", n)

    def here(self, judge: str = "loopback", tags: Any = None, **ops: Any) -> dg.ExecuteInProcessResult:
        """The sharded job in this process, one step after another."""
        return self.definitions.resolve_job_def(JOB).execute_in_process(
            instance=self.instance,
            partition_key=dg.MultiPartitionKey({"contest": "mini", "judge": judge}),
            run_config={"ops": {name: {"config": config} for name, config in ops.items()}},
            raise_on_error=False,
            tags=tags,
        )

    def table_sha256(self, **same: Any) -> str:
        """Of the judge's table, columns that differ set to one value: no two runs' calls take the same time."""
        rows = store_of(self.workspace).read(JUDGE_OUTPUTS, "mini", "loopback")
        return table_file(JUDGE_OUTPUTS, rows.assign(latency_ms=0.0, **same)).sha256

    def steps(self, run_id: str) -> list[str]:
        """The steps that a run has started, in order; one that was started twice stands twice."""
        events = [entry.dagster_event for entry in self.instance.all_logs(run_id)]
        return [str(e.step_key) for e in events if e is not None and (e.is_step_start or e.is_step_restarted)]


@pytest.fixture(scope="module")
def read_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a contest that was read."""
    home = tmp_path_factory.mktemp("read") / "home"
    MiniContest(home).lay(3, 2)
    house = House(home, "http://127.0.0.1:9/v1").open()
    with house.instance:
        assert house.run(READ_CONTEST, None).error is None
    return home


@pytest.fixture
def make_house(read_home: Path, tmp_path: Path, provider: Any, faults: Any) -> Iterator[Callable[..., House]]:
    provider.behave = lambda request, n: faults.valid(p_ac=faults.answer_of(request.text))
    opened: list[House] = []

    def make(name: str = "home", **judge: Any) -> House:
        opened.append(House(shutil.copytree(read_home, tmp_path / name), provider.url).open(**judge))
        return opened[-1]

    yield make
    for house in opened:
        house.instance.dispose()


@pytest.fixture
def alone(make_house: Callable[..., House], provider: Any) -> tuple[str, int]:
    """The table's sha256 where nothing is cut, and how many requests it took."""
    house = make_house("alone")
    assert house.run(JUDGE_CONTEST).error is None
    n = len(provider.requests)
    provider.requests.clear()
    return house.table_sha256(), n


@pytest.mark.parametrize("shards", [1, 7])
def test_the_table_is_the_same_in_however_many_shards(
    make_house: Any, provider: Any, alone: tuple[str, int], shards: int
) -> None:
    house = make_house()
    result = house.here(cut_into_shards={"shards": shards})
    started = [str(event.step_key) for event in result.all_events if event.is_step_start]
    assert started[0] == "cut_into_shards" and min(shards, 2) <= len(started) - 1 <= shards
    assert len(provider.requests) == alone[1]
    assert house.run(JUDGE_CONTEST, **{AFTER_SHARDS_TAG: result.run_id}).error is None
    assert len(provider.requests) == alone[1], "making the table asks nothing"
    assert house.table_sha256() == alone[0]
    assert [str(event.step_key) for event in house.here().all_events if event.is_step_start] == ["cut_into_shards"]


def holder_of(lock: Path) -> int | None:
    """The process that holds the lock file alone, as the kernel says."""
    if not lock.exists():
        return None
    inode = str(lock.stat().st_ino)
    for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.split()
        if fields[1] == "FLOCK" and fields[3] == "WRITE" and fields[5].rpartition(":")[2] == inode:
            return int(fields[4])
    return None


def test_a_killed_shard_is_started_anew_and_loses_only_the_calls_under_way(
    make_house: Any, provider: Any, faults: Any, alone: tuple[str, int]
) -> None:
    house, killed = make_house(limits=LIMITS | {"max_in_flight": 1}), []
    locks = [house.workspace.out_dir / "locks" / "mini" / f"loopback~{number}-of-2.lock" for number in (1, 2)]

    def behave(request: Any, n: int) -> Any:
        if n == 3 and not killed:
            killed.extend(pid for lock in locks if (pid := holder_of(lock)) is not None)
            os.kill(killed[0], signal.SIGKILL)
        return faults.Behaviour(body=faults.valid(p_ac=faults.answer_of(request.text)).body, delay=0.05)

    provider.behave = behave
    outcome = house.in_shards(2)
    assert outcome.error is None
    steps = house.steps(outcome.run_id)
    assert sorted(set(steps)) == ["ask_shard[shard_1_of_2]", "ask_shard[shard_2_of_2]", "cut_into_shards"]
    assert len(steps) == 4
    assert alone[1] <= len(provider.requests) <= alone[1] + 1  # one call at most was under way
    assert house.run(JUDGE_CONTEST, **{AFTER_SHARDS_TAG: outcome.run_id}).error is None
    assert house.table_sha256() == alone[0]


def test_a_failed_shard_is_asked_again_alone(make_house: Any, provider: Any, faults: Any, alone: Any) -> None:
    house, broken = make_house(), True
    texts: list[str] = []

    def behave(request: Any, n: int) -> Any:
        texts.append(request.text)
        if broken and request.text == texts[0]:
            return faults.error(401, "no such key")
        return faults.valid(p_ac=faults.answer_of(request.text))

    provider.behave = behave
    outcome = house.in_shards(2)
    assert outcome.error is not None
    assert "answers are missing" in outcome.error and "re-execute from failure" in outcome.error
    failed = house.instance.get_run_by_id(outcome.run_id)
    assert failed is not None
    assert "authentication" in (failed_run(house.workspace, house.instance, failed).failure_classes or "")
    asked_before, broken = len(provider.requests), False
    rebuilt = house.rebuilt()
    job = dg.build_reconstructable_job(rebuilt.module, rebuilt.function, reconstructable_kwargs=dict(rebuilt.arguments))
    options = dg.ReexecutionOptions.from_failure(outcome.run_id, house.instance)
    run = house.instance.get_run_by_id(outcome.run_id)
    config = {**run.run_config, "execution": {"config": {"start_method": {"forkserver": {}}}}}
    with dg.execute_job(job, house.instance, run_config=config, tags=run.tags, reexecution_options=options) as again:
        assert again.success
        assert len(house.steps(again.run_id)) == 1
    failed = [text for text in texts[:asked_before] if text == texts[0]]
    assert len(provider.requests) == alone[1] + len(failed)
    assert house.run(JUDGE_CONTEST, **{AFTER_SHARDS_TAG: outcome.run_id}).error is None
    assert house.table_sha256(n_tries=1) == alone[0]  # the refused try is a try


def test_who_cannot_be_asked_in_shards_is_said_why(make_house: Any) -> None:
    house = make_house(batch=True)
    for judge, why in (("loopback", "asked in batches"), ("text", "computed at once")):
        result = house.here(judge)
        (failure,) = [event for event in result.all_events if event.is_step_failure]
        said = failure.step_failure_data.user_failure_data.description
        assert why in said and "Run the job judge_contest" in said


def test_a_contest_that_was_never_read_is_said(make_house: Any) -> None:
    house = make_house()
    shutil.rmtree(house.workspace.out_dir / "tables")
    (failure,) = [event for event in house.here().all_events if event.is_step_failure]
    assert "run the job read_contest" in failure.step_failure_data.user_failure_data.description


def test_once_shards_have_asked_the_sensor_makes_the_table(make_house: Any) -> None:
    house = make_house(shards=3)
    jobs = [house.definitions.resolve_job_def(name) for name in (JOB, JUDGE_CONTEST)]
    sensor = after_shards_sensor(jobs[:1], jobs[1:])
    key = dg.MultiPartitionKey({"contest": "mini", "judge": "loopback"})
    ran = {}
    for who, tags in (("UI", {LIMIT_TAG: "4"}), ("command", {"judge_pipeline/started_by": "command line"})):
        result = house.here(tags=tags)
        run = house.instance.get_run_by_id(result.run_id)
        context = dg.build_run_status_sensor_context(
            sensor_name="s", dagster_run=run, dagster_instance=house.instance, dagster_event=result.all_events[-1]
        )
        ran[who] = (result, sensor(context))
    result, request = ran["UI"]
    assert len([e for e in result.all_events if e.is_step_start]) > 2, "it was cut as judges.yaml says"
    assert (request.job_name, request.partition_key) == (JUDGE_CONTEST, key)
    assert request.tags == {AFTER_SHARDS_TAG: result.run_id, LIMIT_TAG: "4"}
    assert isinstance(ran["command"][1], dg.SkipReason)


def test_pairs_are_asked_in_shards_in_both_orders(tmp_path: Path, provider: Any, faults: Any) -> None:
    provider.behave = lambda request, n: faults.chat(json.dumps({"rationale": "is good", "choice": "A"}))
    tables = {}
    for name in ("alone", "shards"):
        home = tmp_path / name
        shutil.copytree(packaged_config_dir(), home / "assets_config")
        judge = {"backend": "litellm", "model": "openai/loopback", "base_url": provider.url, "transport": "direct"}
        judges = {"judges": {"loopback": {**judge, "systems": ["preference"], "limits": LIMITS}}}
        (home / "assets_config" / "judges.yaml").write_text(yaml.safe_dump(judges), encoding="utf-8")
        folder = home / "data" / "preference" / "mini"
        folder.mkdir(parents=True)
        texts = [
            {"pair_id": f"p{n}", "instruction": f"task {n}", "response_a": "a", "response_b": "b"} for n in range(6)
        ]
        (folder / "pairs.jsonl").write_text("".join(json.dumps({**t, "w": "A"}) + "\n" for t in texts), "utf-8")
        (folder / "preference.yaml").write_text("natural_languages: low\n", encoding="utf-8")
        workspace = Workspace.find({}, home)
        definitions = build_definitions(workspace)
        with open_instance(workspace) as instance:
            run = partial(run_job, definitions, instance, of="preference_set")
            assert run(READ_PREFERENCE_SET, "mini").error is None
            provider.requests.clear()
            tags = {}
            if name == "shards":
                result = definitions.resolve_job_def(SHARDED[JUDGE_PREFERENCE_SET]).execute_in_process(
                    instance=instance,
                    partition_key=dg.MultiPartitionKey({"preference_set": "mini", "judge": "loopback"}),
                    run_config={"ops": {"cut_into_shards": {"config": {"shards": 3}}}},
                )
                tags = {AFTER_SHARDS_TAG: result.run_id}
                assert len(provider.requests) == 12
            assert run(JUDGE_PREFERENCE_SET, "mini", "loopback", tags).error is None
        assert len(provider.requests) == 12
        rows = store_of(workspace).read(PAIR_JUDGMENTS, "mini", "loopback")
        tables[name] = table_file(PAIR_JUDGMENTS, rows.assign(latency_ms=0.0)).sha256
    assert tables["alone"] == tables["shards"]


def test_the_command_cuts_asks_once_and_makes_the_report(
    provider: Any, faults: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.behave = lambda request, n: faults.valid(p_ac=faults.answer_of(request.text))
    home = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch, 2, 2)
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}
    home.configure({"ceiling_usd": {"run": 1.0}}, transport="direct", shards=2, price=price, max_output_tokens=30)
    code, out, err = home.run()
    assert code == 0, out + err
    assert "in 2 shards, each by a process of its own" in out
    n = len(provider.requests)
    assert n == len(home.table(JUDGE_OUTPUTS, "loopback")) > 2
    code, out, err = home.run("--shards", "7")
    assert (code, len(provider.requests)) == (0, n) and "shards" not in out, "nothing is left to ask"


def test_the_command_does_not_cut_while_a_batch_of_before_is_open(
    provider: Any, faults: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job refuses such a judge, although judges.yaml says nothing of batches any more."""
    provider.behave = lambda request, n: faults.valid(p_ac=faults.answer_of(request.text))
    home = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch, 2, 2)
    home.configure(shards=2)
    stored = StoredRequest(sha256("of another contest"), "t", "0" * 64, "{}")
    asked = BatchRequest("t1", stored.request_hash, "loopback", "another", 0, 1, None, None)
    nothing = dict.fromkeys(field.name for field in fields(BatchRow))
    known = {"token": "t1", "judge": "loopback", "contest": "another", "state": "submitted", "n_requests": 1}
    known |= {"discount": 0.5, "completion_hours": 24.0, "sent": "{}", "prepared_at": "2026-01-01T00:00:00Z"}
    row = BatchRow(**{**nothing, **known, "n_collections": 0, "files_deleted": False})
    home.workspace.out_dir.mkdir(exist_ok=True)
    with closing(Checkpoint(home.workspace.checkpoint_url)) as checkpoint:
        BatchStore(checkpoint).prepare(row, [asked], [stored])
    code, out, err = home.run()
    assert code == 0, out + err
    assert "loopback is asked in batches, and so not in shards" in out
    assert len(provider.requests) == len(home.table(JUDGE_OUTPUTS, "loopback"))
