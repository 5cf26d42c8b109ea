"""A judge with batches through the command line, the asset and the sensor: submitted, waited for, collected, shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as sa

from judge_pipeline.definitions import JUDGE_CONTEST, READ_CONTEST, build_definitions
from judge_pipeline.judging.batches.store import BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.orchestration.automation.batch_sensor import MOST_COLLECTIONS
from judge_pipeline.orchestration.instance import open_instance
from judge_pipeline.orchestration.judging_run import COLLECT_TAG
from judge_pipeline.orchestration.runs import run_job
from judge_pipeline.tables import JUDGE_OUTPUTS, JUDGE_REQUESTS
from judge_pipeline_tests.judging.loopback_batches import HttpFault
from judge_pipeline_tests.judging.loopback_workspace import LoopbackWorkspace

PRICE = {"input_usd_per_million_tokens": 10.0, "output_usd_per_million_tokens": 100.0}
KEY = "topsecret-9f8e7d6c5b4a/+="


@pytest.fixture
def loopback(
    provider: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> LoopbackWorkspace:
    workspace = LoopbackWorkspace(tmp_path, provider.url, capsys, monkeypatch)
    workspace.configure(batch=True, price=PRICE)
    return workspace


@pytest.fixture
def store(loopback: LoopbackWorkspace) -> BatchStore:
    return BatchStore(Checkpoint(loopback.workspace.checkpoint_url))


def n_requests(loopback: LoopbackWorkspace) -> int:
    """Requests of the contest."""
    return len(loopback.table(JUDGE_REQUESTS))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_run_submits_and_says_so_and_the_next_one_collects(
    provider: Any, loopback: LoopbackWorkspace, store: BatchStore
) -> None:
    loopback.whole_report = True
    code, out, err = loopback.run()
    n = n_requests(loopback)
    assert (code, err) == (0, "")
    assert f"{n} requests wait in 1 batch at the provider" in out
    assert "Waiting: loopback. What came back by now is in the report" in out
    assert not (loopback.workspace.out_dir / "tables" / "judge_outputs" / "mini" / "loopback.parquet").exists()
    code, out, _ = loopback("plan", "mini", "--judges", "loopback")
    assert code == 0 and f"{n} more wait in batches at the provider" in out and "50% off for a batch" in out
    code, out, _ = loopback("status")
    assert "not judged: its requests wait in a batch at the provider" in out
    assert f"loopback: {n} requests wait in a batch since" in out
    code, out, _ = loopback("status", "--json")
    assert [json.loads(line)["n_waiting"] for line in out.splitlines()] == [n, 0]
    code, out, _ = loopback("batches", "mini")
    assert code == 0 and "in_progress (batch-" in out
    attempt = loopback.table(JUDGE_REQUESTS)["attempt_id"].iloc[0]
    code, out, _ = loopback("explain", attempt, "--judge", "loopback")
    assert "State: waiting: submitted in batch batch-" in out
    provider.batches.finish()
    code, out, err = loopback.run()
    assert (code, err) == (0, "") and "Waiting" not in out
    outputs = loopback.table(JUDGE_OUTPUTS, "loopback")
    assert len(outputs) == n
    assert outputs["cost_usd"].tolist() == pytest.approx([(100 * 10.0 + 20 * 100.0) / 1e6 / 2] * n)
    code, out, _ = loopback("batches", "mini")
    assert (code, out) == (0, "No batch of mini is open.\n")
    code, out, _ = loopback("batches", "mini", "--all", "--json")
    (row,) = [json.loads(line) for line in out.splitlines()]
    assert (row["state"], row["status"], json.loads(row["counts"])["answered"]) == ("collected", "completed", n)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_batches_waits_collects_and_cancels(
    provider: Any, faults: Any, loopback: LoopbackWorkspace, store: BatchStore
) -> None:
    loopback.run()
    n = n_requests(loopback)
    code, out, _ = loopback("batches", "mini", "--collect")
    assert code == 0 and "in_progress" in out  # nothing has ended
    provider.batches.auto = True  # from now on a batch has ended when somebody asks after it
    first = provider.behave
    provider.behave = lambda request, i: faults.error(500) if i < 2 else first(request, i)
    code, out, err = loopback("batches", "mini", "--wait", "--every", "0")
    assert (code, err) == (0, "")
    assert "2 requests wait in 1 batch" in out and "collected" in out  # a further try was waited for, too
    assert len(loopback.table(JUDGE_OUTPUTS, "loopback")) == n
    provider.batches.auto = False
    loopback.configure(batch=True, price=PRICE, parameters={"seed": 1})
    loopback.run()
    code, out, _ = loopback("batches", "mini", "--cancel")
    assert code == 0 and "cancelling; what was answered is kept" in out
    chosen = provider.batches.custom_ids()[-1]
    provider.batches.finish("cancelled", lambda custom_id: custom_id == chosen)
    code, out, err = loopback("batches", "mini", "--collect")
    assert code == 1 and f"{n - 1} cancelled" in err
    code, out, err = loopback("batches", "mini", "--cancel", "--wait")
    assert code == 2


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_batch_that_the_provider_lost_is_given_up_by_cancel(
    provider: Any, loopback: LoopbackWorkspace, store: BatchStore
) -> None:
    loopback.run()
    provider.batches.batches.clear()
    code, _, err = loopback("batches", "mini")
    assert code == 1 and "configuration" in err
    assert [row.state for row in store.batches()] == ["submitted"]
    code, out, _ = loopback("batches", "mini", "--cancel")
    assert code == 0 and "it is given up, and its requests may be asked again" in out
    assert store.batches(only_open=True) == []
    code, out, _ = loopback.run()
    assert code == 0 and "wait in 1 batch" in out


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_sensor_asks_and_starts_the_run_that_collects(
    provider: Any, faults: Any, loopback: LoopbackWorkspace, store: BatchStore
) -> None:
    workspace = loopback.workspace
    definitions = build_definitions(workspace)
    sensor = definitions.resolve_sensor_def("collect_batches")
    assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
    with open_instance(workspace) as instance:

        def tick() -> dg.SensorResult | dg.SkipReason:
            result: Any = sensor(dg.build_sensor_context(instance=instance, definitions=definitions))
            return result

        assert "no batch is open" in str(tick())
        assert not (workspace.out_dir / "checkpoint.sqlite").exists()  # looking makes none
        run_job(definitions, instance, READ_CONTEST, "mini")
        submitted = run_job(definitions, instance, JUDGE_CONTEST, "mini", "loopback")
        assert submitted.error is None and "requests wait in 1 batch" in str(submitted.waiting)
        observed = instance.fetch_observations(dg.AssetKey("judge_outputs"), limit=1).records[0]
        assert observed.partition_key == "mini|loopback"
        metadata = observed.asset_observation.metadata
        assert metadata["waiting"].value == n_requests(loopback)
        assert "batch-" in str(metadata["batches"].value)
        assert instance.get_latest_materialization_event(dg.AssetKey("judge_outputs")) is None
        assert "in_progress, 0 of" in str(tick())
        provider.batches.faults["retrieve"] = [HttpFault(500)]
        assert "infrastructure" in str(tick())
        provider.batches.finish()
        (request,) = tick().run_requests  # type: ignore[union-attr]
        assert str(request.partition_key) == "mini|loopback"
        provider.batches.faults["content"] = [HttpFault(404)]
        unable = run_job(definitions, instance, JUDGE_CONTEST, "mini", "loopback", request.tags)
        assert unable.waiting is not None
        (again,) = tick().run_requests  # type: ignore[union-attr]
        assert again.run_key != request.run_key  # a run that could not collect is followed by another
        collected = run_job(definitions, instance, JUDGE_CONTEST, "mini", "loopback", again.tags)
        assert (collected.error, collected.waiting) == (None, None)
        assert instance.get_latest_materialization_event(dg.AssetKey("judge_outputs")) is not None
        assert "no batch is open" in str(tick())


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_sensor_gives_up_and_settles(provider: Any, loopback: LoopbackWorkspace, store: BatchStore) -> None:
    loopback.run()
    provider.batches.finish()
    (row,) = store.batches()
    store.note(row.token, n_collections=MOST_COLLECTIONS)
    definitions = build_definitions(loopback.workspace)
    sensor = definitions.resolve_sensor_def("collect_batches")
    with open_instance(loopback.workspace) as instance:
        context = dg.build_sensor_context(instance=instance, definitions=definitions)
        assert "runs could not collect it" in str(sensor(context))
        # One that a dead process left: asked for again when the provider's list must show it.
        store.note(row.token, n_collections=0, state="creating")
        assert "creating" in str(sensor(context))
        store.note(row.token, creating_at="2026-01-01T00:00:00Z")
        result: Any = sensor(context)
        assert [request.tags[COLLECT_TAG] for request in result.run_requests] == [row.token]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_collecting_run_asks_nothing_new(provider: Any, loopback: LoopbackWorkspace, store: BatchStore) -> None:
    loopback.run("--limit", "3")
    assert len(provider.batches.custom_ids()) == 3
    provider.batches.finish()
    code, _out, err = loopback("batches", "mini", "--collect")
    assert (code, err) == (0, "")
    assert len(loopback.table(JUDGE_OUTPUTS, "loopback")) == 3  # the pilot's
    assert len(provider.batches.custom_ids()) == 3
    template = loopback.contest.home / "assets_config" / "prompts" / "cocreation_judge.md.j2"
    loopback.configure(batch=True, price=PRICE, parameters={"seed": 5})
    loopback.run("--limit", "3")
    template.write_text(template.read_text("utf-8") + "\nBe brief.\n", "utf-8")
    provider.batches.finish()
    code, _, err = loopback("batches", "mini", "--collect")
    assert code == 1 and "no batch held what the judge would be asked today" in err
    assert len(loopback.table(JUDGE_OUTPUTS, "loopback")) == 3  # the table stands as it was


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_forgetting_takes_the_person_s_requests_out_of_an_open_batch(
    provider: Any, loopback: LoopbackWorkspace, store: BatchStore
) -> None:
    loopback.run()
    requests = loopback.table(JUDGE_REQUESTS)
    (row,) = store.batches()
    before = {request.attempt_id for request in store.requests_of(row.token)}
    code, _out, _ = loopback("forget", "mini", "E001", "--yes")
    assert code == 0
    after = {request.attempt_id for request in store.requests_of(row.token)}
    left = set(loopback.table(JUDGE_REQUESTS)["attempt_id"])
    assert after == before & left and len(before - after) > 0
    provider.batches.finish()
    loopback("batches", "mini", "--collect")
    counts = json.loads(str(store.batches()[0].counts))
    assert (counts["unknown"], counts["answered"]) == (len(before - after), len(after))
    with store.checkpoint.reading() as connection:
        kept = set(connection.execute(sa.text("SELECT attempt_id FROM judgments")).scalars())
    assert kept == after
    assert len(requests) > len(left)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_key_that_the_interface_echoes_is_kept_nowhere(
    provider: Any, faults: Any, loopback: LoopbackWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopback.whole_report = True  # the key must be nowhere in it
    monkeypatch.setenv("ECHOED_SECRET", KEY)
    loopback.configure(batch=True, price=PRICE, api_key_env="ECHOED_SECRET")
    said = f"Incorrect API key provided: {KEY}"
    printed = []
    provider.batches.faults["upload"] = [HttpFault(401, said)]
    printed.append(loopback.run())
    printed.append(loopback.run())
    provider.batches.faults["retrieve"] = [HttpFault(401, said)]
    printed.append(loopback("batches", "mini"))
    replies = [faults.valid(rationale=f"your key is {KEY}"), faults.error(400, said), faults.chat(f"no JSON but {KEY}")]
    provider.behave = lambda request, n: replies[n % 3]
    provider.batches.finish()
    printed.append(loopback("batches", "mini", "--collect"))
    provider.batches.fail({"code": "x", "message": said})
    printed.append(loopback("batches", "mini", "--collect"))
    assert provider.batches.keys == {f"Bearer {KEY}"}
    assert "[key removed]" in repr(printed)
    places = {str(file): file.read_bytes() for file in loopback.contest.home.rglob("*") if file.is_file()}
    places["printed"] = repr(printed).encode()
    forms = [KEY.encode(), KEY.replace("/", "\\/").encode()]
    assert [place for place, text in places.items() if any(form in text for form in forms)] == []
