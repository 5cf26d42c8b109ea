"""OpenLineage events of real runs: against the files that were made, and at a receiver on loopback."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import jsonschema
import pytest

from judge_pipeline.orchestration import openlineage_sensor as sensor
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.openlineage_events import PRODUCER, events_of_run
from judge_pipeline.orchestration.openlineage_records import run_facts, table_columns
from judge_pipeline.orchestration.stored_tables import store_of
from judge_pipeline.settings import Workspace
from judge_pipeline.tables import ALL_TABLES, ATTEMPTS
from judge_pipeline_tests.loopback import serving

pytest.importorskip("openlineage.client")
from openlineage.client.serde import Serde

pytestmark = pytest.mark.slow

FACETS = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "required": ["_producer", "_schemaURL"],
        "properties": {
            "_producer": {"type": "string", "format": "uri"},
            "_schemaURL": {"type": "string", "pattern": r"^https://openlineage\.io/spec/facets/.+\.json#/\$defs/.+"},
        },
    },
}
NAMED = {
    "type": "object",
    "required": ["namespace", "name"],
    "properties": {
        "namespace": {"type": "string"},
        "name": {"type": "string", "minLength": 1},
        "facets": FACETS,
        "outputFacets": FACETS,
    },
}
RUN_EVENT = {
    "type": "object",
    "required": ["eventTime", "producer", "schemaURL", "run", "job", "eventType"],
    "properties": {
        "eventTime": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)$"},
        "producer": {"const": PRODUCER},
        "schemaURL": {"type": "string", "pattern": r"OpenLineage\.json#/\$defs/RunEvent$"},
        "eventType": {"enum": ["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]},
        "run": {
            "type": "object",
            "required": ["runId"],
            "properties": {"runId": {"pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}, "facets": FACETS},
        },
        "job": NAMED,
        "inputs": {"type": "array", "items": NAMED},
        "outputs": {"type": "array", "items": NAMED},
    },
}
"""What the specification demands of a run event (https://openlineage.io/spec), in our own words."""


@pytest.fixture(scope="module")
def workspace(reported_home: Path) -> Workspace:
    return Workspace.find({}, reported_home)


@pytest.fixture(scope="module")
def by_job(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    """The events of each job's runs in a contest that was read, judged and reported."""
    found: dict[str, list[dict[str, Any]]] = {}
    with open_instance(workspace) as instance:
        for run in instance.get_runs():
            facts = run_facts(instance, run)
            assert facts is not None
            events = events_of_run(facts, "team", table_columns(ALL_TABLES))
            found.setdefault(run.job_name, []).extend(json.loads(Serde.to_json(event)) for event in events)
    return found


def datasets(events: list[dict[str, Any]], step: str, side: str) -> dict[str, Any]:
    """The datasets that a step read or made, by name."""
    return {
        dataset["name"]: dataset["facets"] | dataset.get("outputFacets", {})
        for event in events
        if event["job"]["name"].endswith(f".{step}")
        for dataset in event[side]
    }


def sha256_of(workspace: Workspace, *place: str) -> str:
    return hashlib.sha256((workspace.out_dir / "tables").joinpath(*place).read_bytes()).hexdigest()


def test_every_event_is_one_of_the_specification(by_job: dict[str, list[dict[str, Any]]]) -> None:
    events = [event for of_job in by_job.values() for event in of_job]
    assert len(events) > 100
    for event in events:
        jsonschema.validate(event, RUN_EVENT)
    states: dict[str, list[str]] = {}
    for event in sorted(events, key=lambda event: datetime.fromisoformat(event["eventTime"])):
        states.setdefault(event["run"]["runId"], []).append(event["eventType"])
    assert set(map(tuple, states.values())) == {("START", "COMPLETE")}


def test_versions_are_the_bytes_of_the_files(by_job: dict[str, list[dict[str, Any]]], workspace: Workspace) -> None:
    judges = {f"judge_outputs/mini/{judge}" for judge in ("sharp", "dull", "text")}
    assert judges == set(datasets(by_job["judge_contest"], "judge_outputs", "outputs"))
    assert judges <= set(datasets(by_job["report_contest"], "judge_coverage", "inputs"))
    tables = {table.name for table in ALL_TABLES}
    of_both = [d for events in by_job.values() for event in events for d in [*event["inputs"], *event["outputs"]]]
    seen = {(d["name"], d["facets"]["version"]["datasetVersion"]) for d in of_both if "version" in d["facets"]}
    made = [(name, version) for name, version in seen if name.partition("/")[0] in tables and "/" in name]
    assert len(made) > 40
    for name, version in made:
        assert version == sha256_of(workspace, *f"{name}.parquet".split("/")), name


def test_a_judge_reads_what_it_is_asked_and_no_other_judges_table(by_job: dict[str, list[dict[str, Any]]]) -> None:
    for event in by_job["judge_contest"]:
        if event["job"]["name"].endswith(".judge_outputs") and event["outputs"]:
            assert "judge_requests/mini" in {dataset["name"] for dataset in event["inputs"]}
            assert not [d["name"] for d in event["inputs"] if d["name"].startswith("judge_outputs")]


def test_rows_columns_and_the_run_above(by_job: dict[str, list[dict[str, Any]]], workspace: Workspace) -> None:
    made = datasets(by_job["read_contest"], "read_contest_folder", "outputs")["attempts/mini"]
    table = store_of(workspace).read(ATTEMPTS, "mini")
    assert made["outputStatistics"]["rowCount"] == len(table)
    assert [field["name"] for field in made["schema"]["fields"]] == list(table.columns)
    (whole,) = {e["run"]["runId"] for e in by_job["read_contest"] if e["job"]["name"] == "read_contest"}
    for event in by_job["read_contest"]:
        if event["run"]["runId"] != whole:
            assert event["run"]["facets"]["parent"]["run"]["runId"] == whole
            tags = {tag["key"]: tag["value"] for tag in event["run"]["facets"]["tags"]["tags"]}
            assert re.fullmatch("[0-9a-f]{16}(-[0-9a-f]+)?", tags["code_version"])
            assert tags["contest"] == "mini"


def test_nothing_that_people_or_models_wrote_is_in_an_event(by_job: dict[str, list[dict[str, Any]]]) -> None:
    text = json.dumps(by_job)
    for written in ("Please help me", "print(n", "E001", "Try a loop", "recorded/", '"AC"', str(Path.home())):
        assert written not in text


class Receiver:
    """What a receiver got, and what it answers."""

    def __init__(self) -> None:
        self.url, self.status = "", 200
        self.got: list[dict[str, Any]] = []
        self.headers: list[tuple[str, str | None]] = []

    def states(self, run_id: str) -> list[str]:
        return [event["eventType"] for event in self.got if event["run"]["runId"] == run_id]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    state = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.headers.append((self.path, self.headers["Authorization"]))
            if state.status == 200:
                state.got.append(json.loads(body))
            self.send_response(state.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    with serving(server):
        yield state


class Looked:
    """An ephemeral instance, runs that end in it, and looks for them."""

    def __init__(self, instance: dg.DagsterInstance, url: str) -> None:
        self.instance, self.cursor = instance, None
        self.environment = {"OPENLINEAGE_URL": url, "OPENLINEAGE_API_KEY": "hidden-key", "OPENLINEAGE_NAMESPACE": "t"}

    def run(self, problem: str | None = None) -> str:
        @dg.asset
        def attempts() -> dg.MaterializeResult[Any]:
            if problem is not None:
                raise dg.Failure(problem, metadata={"failure_classes": "2 authentication"}, allow_retries=False)
            return dg.MaterializeResult(metadata={"dagster/row_count": 3})

        return dg.materialize([attempts], instance=self.instance, raise_on_error=False).run_id

    def look(self) -> str:
        look = sensor.look_for_ended_runs(self.instance, self.cursor, self.environment)
        self.cursor = look.cursor
        return look.words


@pytest.fixture
def looked(receiver: Receiver) -> Iterator[Looked]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Looked(instance, receiver.url)


def test_runs_that_end_are_sent_once_with_the_key(looked: Looked, receiver: Receiver) -> None:
    looked.run()
    looked.look()
    run, failed = looked.run(), looked.run("the words of a provider")
    assert looked.look() == "sent 2 runs"
    assert looked.look() == "no further run is sent"
    assert (receiver.states(run), receiver.states(failed)) == (["START", "COMPLETE"], ["START", "FAIL"])
    assert len(receiver.got) == 8, "each with its step"
    assert set(receiver.headers) == {("/api/v1/lineage", "Bearer hidden-key")}
    assert "words of a provider" not in json.dumps(receiver.got)
    problems = {e["run"]["facets"]["errorMessage"]["message"] for e in receiver.got if e["eventType"] == "FAIL"}
    assert problems == {"2 authentication", "attempts: 2 authentication"}


def test_nothing_is_lost_while_the_receiver_is_down(looked: Looked, receiver: Receiver) -> None:
    looked.look()
    runs = [looked.run(), looked.run("no"), looked.run()]
    receiver.status = 503
    assert "the receiver answered 503); tried again" in looked.look()
    looked.look()
    assert len(receiver.headers) == 2, "one try a look"
    receiver.status = 200
    assert looked.look() == "sent 3 runs"
    assert [receiver.states(run) for run in runs] == [["START", "COMPLETE"], ["START", "FAIL"], ["START", "COMPLETE"]]


def test_a_receiver_that_is_not_there_is_told(looked: Looked) -> None:
    looked.look()
    looked.run()
    looked.environment["OPENLINEAGE_URL"] = "http://127.0.0.1:1"
    words = looked.look()
    assert "ConnectionError" in words
    assert "hidden-key" not in words


def test_what_the_receiver_does_not_take_holds_up_no_other(looked: Looked, receiver: Receiver) -> None:
    looked.look()
    looked.run()
    receiver.status = 422
    assert "is not taken (the receiver answered 422), and is left out" in looked.look()
    receiver.status = 200
    run = looked.run()
    looked.look()
    assert receiver.states(run) == ["START", "COMPLETE"]


@pytest.mark.parametrize("off", [{"OPENLINEAGE_URL": ""}, {"OPENLINEAGE_DISABLED": "true"}])
def test_nothing_is_sent_where_it_is_off(looked: Looked, receiver: Receiver, off: dict[str, str]) -> None:
    on = dict(looked.environment)
    looked.environment |= off
    looked.look()
    looked.run()
    assert looked.look().startswith("nothing is sent")
    looked.environment = on
    looked.look()
    assert receiver.got == []


def test_a_cursor_ahead_of_records_that_were_restored_loses_no_later_run(looked: Looked) -> None:
    looked.look()
    looked.cursor = json.dumps(dict.fromkeys(json.loads(str(looked.cursor)), 10**20))
    looked.look()
    looked.run()
    assert looked.look() == "sent 1 runs"


def test_sent_again_a_run_has_the_same_events(looked: Looked, receiver: Receiver) -> None:
    """So that a cursor that was turned back does no harm."""
    looked.look()
    early = looked.cursor
    looked.run()
    looked.look()
    looked.cursor = early
    looked.look()
    assert len(receiver.got) == 8
    assert receiver.got[:4] == receiver.got[4:]
