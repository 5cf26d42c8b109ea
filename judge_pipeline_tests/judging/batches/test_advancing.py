"""Batches against the loopback server: submitted once, collected once, whatever the provider does in between."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from judge_pipeline.judging.batches.store import BatchStore
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.plan import plan
from judge_pipeline.settings import Ceilings
from judge_pipeline_tests.judging.loopback_batches import HttpFault, Lines, jsonl

PRICE = {"input_usd_per_million_tokens": 10.0, "output_usd_per_million_tokens": 100.0}
FULL_USD = (100 * 10.0 + 20 * 100.0) / 1e6
"""Price of one reply of the loopback server, without a discount."""


@pytest.fixture(params=["sqlite", "postgresql"])
def store_kind(request: pytest.FixtureRequest) -> str:
    """All of this holds over both."""
    return str(request.param)


@pytest.fixture
def judge(loopback_judge: Any) -> Callable[..., Any]:
    def make(**changes: Any) -> Any:
        return loopback_judge(**({"batch": True, "price": PRICE} | changes))

    return make


class Runs:
    """Runs of one judge over one table of requests."""

    def __init__(self, checkpoint: Checkpoint, context: JudgingContext, requests: Any) -> None:
        self.checkpoint, self.context, self.requests = checkpoint, replace(context, contest="c"), requests
        self.store = BatchStore(checkpoint)

    def __call__(self, settings: Any, **changes: Any) -> JudgingResult:
        context = replace(self.context, **changes)
        return judge_requests("j", settings, self.requests, checkpoint=self.checkpoint, context=context)

    def calls(self, *columns: str) -> list[tuple[Any, ...]]:
        """Rows of ``calls``, in order."""
        with self.checkpoint.reading() as connection:
            return [tuple(r) for r in connection.execute(sa.text(f"SELECT {', '.join(columns)} FROM calls ORDER BY 1"))]


@pytest.fixture
def runs(checkpoint: Checkpoint, context: JudgingContext, make_requests: Any) -> Runs:
    return Runs(checkpoint, context, make_requests(6))


def test_submit_then_collect_at_half_price(provider: Any, judge: Any, runs: Runs) -> None:
    first = runs(judge())
    assert (first.n_submitted, first.n_waiting, len(first.outputs), len(first.failures)) == (6, 6, 0, 0)
    assert [row.state for row in first.waiting] == ["submitted"]
    assert first.plan is not None and first.plan.cost_usd == pytest.approx(plan_cost(runs, judge) / 2)
    assert provider.requests == []  # nothing is asked call by call
    waiting = runs(judge())
    assert (waiting.n_submitted, waiting.n_waiting) == (0, 6)
    assert provider.batches.calls.count("create") == 1
    provider.batches.finish()
    done = runs(judge())
    assert (len(done.outputs), len(done.failures), done.n_waiting, done.waiting) == (6, 0, 0, ())
    assert done.cost_usd == pytest.approx(6 * FULL_USD / 2)
    assert (done.tokens_in, done.tokens_out, done.n_calls) == (600, 120, 6)
    row = done.outputs.iloc[0]
    assert (row["p_ac"], row["n_tries"], row["repair"]) == (0.25, 1, None)
    assert row["latency_ms"] is None or row["latency_ms"] != row["latency_ms"]  # a line of a batch is not timed
    assert runs.calls("latency_ms") == [(None,)] * 6
    assert provider.batches.files == {}  # deleted at the provider, all three kinds
    before = list(provider.batches.calls)
    again = runs(judge())
    assert len(again.outputs) == 6
    assert provider.batches.calls == before  # a complete run asks nobody anything


def plan_cost(runs: Runs, judge: Any) -> float:
    """What the plan says that the same requests cost one by one, before any was asked."""
    empty = Checkpoint("sqlite://")
    cost = plan("j", judge(batch=None), runs.requests, empty, runs.context.prompts_dir).cost_usd
    assert cost is not None
    return cost


@pytest.mark.slow
def test_the_rows_are_those_of_a_judge_that_is_asked_call_by_call(
    provider: Any, faults: Any, judge: Any, runs: Runs, tmp_path: Any
) -> None:
    provider.behave = lambda request, n: faults.valid(p_ac=faults.answer_of(request.text))
    runs(judge())
    provider.batches.finish()
    batched = runs(judge()).outputs
    other = Runs(Checkpoint(f"sqlite:///{tmp_path / 'other.sqlite'}"), runs.context, runs.requests)
    one_by_one = other(judge(batch=None)).outputs
    same = [c for c in batched.columns if c not in ("latency_ms", "cost_usd")]
    assert batched[same].equals(one_by_one[same])
    assert (batched["cost_usd"] * 2).tolist() == pytest.approx(one_by_one["cost_usd"].tolist())


@pytest.mark.parametrize("transport", ["litellm", "direct"])
def test_a_line_s_body_is_the_body_of_the_call(
    provider: Any, judge: Any, runs: Runs, tmp_path: Any, transport: str
) -> None:
    settings = {
        "transport": transport,
        "parameters": {"temperature": 0, "seed": 3},
        "max_output_tokens": 50,
        "send_schema": True,
    }
    runs(judge(**settings))
    lines = [json.loads(line) for line in provider.batches.uploaded[0].content.splitlines()]
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    other = Runs(Checkpoint(f"sqlite:///{tmp_path / 'other.sqlite'}"), runs.context, runs.requests)
    other(judge(batch=None, **settings))
    asked = {json.dumps(request.body, sort_keys=True) for request in provider.requests}
    assert {json.dumps(line["body"], sort_keys=True) for line in lines} == asked
    assert len(asked) == 6


@pytest.mark.slow
def test_files_keep_to_their_limits(provider: Any, judge: Any, runs: Runs) -> None:
    result = runs(judge(batch={"max_requests": 4}))
    assert [len(batch.lines) for batch in provider.batches.batches.values()] == [4, 2]
    assert len(result.waiting) == 2
    provider.batches.finish()
    assert len(runs(judge()).outputs) == 6


def test_lines_out_of_order_unknown_doubled_unreadable_and_missing(provider: Any, judge: Any, runs: Runs) -> None:
    def mangle(out: Lines, err: Lines) -> tuple[bytes, bytes]:
        stranger = {**out[0], "custom_id": "f" * 64}
        lines = [*reversed(out[1:]), stranger, out[2]]  # the first is missing, another stands twice
        return jsonl(lines) + b'{"custom_id": 7}\n{"half\n[]\n\n', jsonl(err)

    provider.batches.mangle = mangle
    runs(judge())
    provider.batches.finish()
    done = runs(judge(limits={"max_tries": 1}))
    assert len(done.outputs) == 5
    assert done.failures[["class", "n_tries"]].to_numpy().tolist() == [["infrastructure", 1]]
    (row,) = runs.store.batches()
    counts = {"answered": 5, "failed": 1, "missing": 1, "unknown": 1, "doubled": 1, "unreadable": 3, "late": 0}
    assert json.loads(str(row.counts)) == counts
    assert "1 missing, 1 unknown, 1 doubled, 3 unreadable" in done.notes[0]
    assert done.n_calls == 6


def test_two_different_completions_for_one_request_are_none(provider: Any, faults: Any, judge: Any, runs: Runs) -> None:
    def mangle(out: Lines, err: Lines) -> tuple[bytes, bytes]:
        twin = json.loads(json.dumps(out[0]))
        twin["response"]["body"]["choices"][0]["message"]["content"] = "{}"
        failed = {**out[1], "response": {"status_code": 500, "body": {}}}
        return jsonl([*out, twin, failed]), b""

    provider.batches.mangle = mangle
    runs(judge())
    provider.batches.finish()
    done = runs(judge(limits={"max_tries": 1}))
    assert len(done.outputs) == 5  # an error beside a completion takes nothing away
    assert "two different completions" in done.failures.iloc[0]["text"]
    assert done.cost_usd == pytest.approx(6 * FULL_USD / 2)  # what was billed counts


@pytest.mark.slow
def test_what_failed_is_asked_again_in_a_further_batch_as_the_ladder_says(
    provider: Any, faults: Any, judge: Any, runs: Runs
) -> None:
    answers = [
        faults.chat('{"p_ac": 2, "s_algo": 3, "s_robust": 2, "rationale": "x"}'), faults.error(500), faults.error(429),
        faults.chat('{"p_ac":0.9', "length"), faults.chat(None, refusal="no"), faults.valid(),
    ]  # fmt: skip
    provider.script(*answers)
    settings = judge(max_output_tokens=20, repair_max_output_tokens=99)
    runs(settings)
    provider.batches.finish()
    second = runs(settings)
    assert (len(second.outputs), second.n_waiting, second.n_submitted) == (1, 4, 4)
    assert second.failures["class"].tolist() == ["refusal"]
    (batch,) = [b for b in provider.batches.batches.values() if b.status == "in_progress"]
    limits = sorted(line["body"]["max_tokens"] for line in batch.lines)
    assert limits == [20, 20, 99, 99]  # the re-ask and the truncated one have the larger limit
    (re_ask,) = [line["body"]["messages"] for line in batch.lines if len(line["body"]["messages"]) == 4]
    assert re_ask[2]["content"].startswith('{"p_ac": 2') and "less than or equal to 1" in re_ask[3]["content"]
    provider.batches.finish()
    third = runs(settings, only_collect=True)
    assert (len(third.outputs), third.n_waiting) == (5, 0)
    assert third.failures["class"].tolist() == ["refusal"]  # a run that collects does not ask for it anew
    repaired = third.outputs["repair"].dropna().tolist()
    assert len(repaired) == 1 and repaired[0].startswith("asked again (p_ac:")
    assert sorted(third.outputs["n_tries"]) == [1, 2, 2, 2, 2]
    numbers = [row[1] for row in runs.calls("call_id", "try_number")]
    assert numbers == [1] * 6 + [2] * 4
    fresh = runs(settings)
    assert fresh.n_submitted == 1  # a run that a person starts does


@pytest.mark.slow
def test_further_tries_end_after_max_tries(provider: Any, faults: Any, judge: Any, runs: Runs) -> None:
    provider.behave = lambda request, n: faults.error(500)
    for _ in range(3):
        assert runs(judge(limits={"max_tries": 3})).n_waiting == 6
        provider.batches.finish()
    done = runs(judge(limits={"max_tries": 3}))
    assert (done.n_waiting, len(done.failures)) == (0, 6)
    assert set(done.failures["n_tries"]) == {3}


@pytest.mark.slow
def test_further_tries_can_be_asked_directly(provider: Any, faults: Any, judge: Any, runs: Runs) -> None:
    provider.behave = lambda request, n: faults.chat('{"p_ac": "a lot"}') if n < 6 else faults.valid()
    settings = judge(batch={"re_ask": "directly"})
    runs(settings)
    provider.batches.finish()
    done = runs(settings)
    assert (len(done.outputs), done.n_waiting) == (6, 0)
    assert provider.batches.calls.count("create") == 1
    assert all(len(request.body["messages"]) == 4 for request in provider.requests[6:])
    assert done.cost_usd == pytest.approx(6 * FULL_USD / 2 + 6 * FULL_USD)
    assert set(done.outputs["n_tries"]) == {2}


@pytest.mark.slow
def test_an_expired_batch_keeps_what_was_answered_and_the_rest_goes_into_another(
    provider: Any, judge: Any, runs: Runs
) -> None:
    runs(judge())
    chosen = provider.batches.custom_ids()[:2]
    provider.batches.finish("expired", lambda custom_id: custom_id in chosen)
    second = runs(judge())
    assert (len(second.outputs), second.n_waiting, second.n_submitted) == (2, 4, 4)
    assert second.cost_usd == pytest.approx(2 * FULL_USD / 2)  # what expired was not billed
    assert [r[1:] for r in runs.calls("call_id", "error_class", "cost_usd") if r[1]] == [("infrastructure", 0.0)] * 4
    provider.batches.finish()
    assert len(runs(judge()).outputs) == 6


@pytest.mark.slow
def test_a_cancelled_batch_keeps_what_was_answered_and_asks_nothing_by_itself(
    provider: Any, judge: Any, runs: Runs
) -> None:
    runs(judge())
    chosen = provider.batches.custom_ids()[:2]
    provider.batches.finish("cancelled", lambda custom_id: custom_id in chosen)
    done = runs(judge())
    assert (len(done.outputs), done.n_waiting) == (2, 0)
    assert set(done.failures["class"]) == {"cancelled"}
    assert provider.batches.calls.count("create") == 1


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        ("token_limit_exceeded", "Enqueued token limit reached for gpt-x", "quota"),
        ("invalid_json_line", "This line is not parseable as valid JSON", "rejected"),
        ("billing_hard_limit_reached", "Billing hard limit has been reached", "quota"),
    ],
)
def test_a_batch_that_fails_as_a_whole(
    provider: Any, judge: Any, runs: Runs, code: str, message: str, expected: str
) -> None:
    runs(judge())
    provider.batches.fail({"code": code, "message": message, "line": None, "param": None})
    done = runs(judge())
    assert (done.n_waiting, set(done.failures["class"])) == (0, {expected})
    assert message in done.failures.iloc[0]["text"]
    assert done.cost_usd == 0.0
    assert message in str(runs.store.batches()[0].error)


@pytest.mark.slow
def test_an_answer_that_came_meanwhile_is_not_replaced(provider: Any, faults: Any, judge: Any, runs: Runs) -> None:
    runs(judge())
    with runs.checkpoint.writing() as connection:  # as an earlier version, which knew no batches, would leave it
        connection.execute(sa.text("CREATE TABLE kept AS SELECT * FROM batch_requests"))
        connection.execute(sa.text("DELETE FROM batch_requests"))
    provider.script(faults.valid(p_ac=0.75))
    assert len(runs(judge(batch=None)).outputs) == 6
    with runs.checkpoint.writing() as connection:
        connection.execute(sa.text("INSERT INTO batch_requests SELECT * FROM kept"))
    provider.script(faults.valid(p_ac=0.1))
    provider.batches.finish()
    done = runs(judge())
    assert set(done.outputs["p_ac"]) == {0.75}
    assert done.n_calls == 12  # both are paid for
    assert json.loads(str(runs.store.batches()[0].counts))["late"] == 6


@pytest.mark.slow
def test_a_judge_whose_batches_are_taken_away_waits_for_the_open_one_and_asks_the_rest_at_once(
    provider: Any, judge: Any, runs: Runs, make_requests: Any
) -> None:
    runs(judge())
    more = Runs(runs.checkpoint, runs.context, make_requests(8))
    result = more(judge(batch=None))
    assert (result.n_waiting, len(result.outputs), len(provider.requests)) == (6, 2, 2)
    provider.batches.finish()
    assert len(more(judge(batch=None)).outputs) == 8
    assert len(provider.requests) == 8


def test_a_batch_at_another_base_url_is_left_alone(provider: Any, judge: Any, runs: Runs) -> None:
    runs(judge())
    before = list(provider.batches.calls)
    elsewhere = provider.url.replace("127.0.0.1", "localhost")
    with_note = runs(judge(base_url=elsewhere))
    assert "another base_url" in with_note.notes[0]
    assert with_note.n_submitted == 6  # another server is another request
    assert provider.batches.calls == [*before, "upload", "create"]


# Errors of the interface itself.


@pytest.mark.slow
def test_errors_while_polling_leave_the_batch_as_it_was(provider: Any, judge: Any, runs: Runs) -> None:
    runs(judge())
    provider.batches.finish()
    provider.batches.faults["retrieve"] = [HttpFault(401, "Incorrect API key provided")]
    refused = runs(judge())
    assert (refused.n_waiting, len(refused.failures)) == (6, 0)
    assert "authentication" in refused.notes[0]
    provider.batches.faults["content"] = [HttpFault(404)]
    gone = runs(judge())
    assert gone.n_waiting == 6
    assert "configuration" in gone.notes[0]
    provider.batches.faults["retrieve"] = [HttpFault(500), HttpFault(429, headers={"Retry-After": "0.01"})]
    provider.batches.faults["content"] = [HttpFault(reset=True)]
    provider.batches.faults["delete"] = [HttpFault(500)]
    assert len(runs(judge()).outputs) == 6
    assert len(runs.store.with_files_left("j")) == 1


@pytest.mark.slow
def test_files_that_could_not_be_deleted_are_deleted_by_the_next_run_that_asks(
    provider: Any, judge: Any, runs: Runs, make_requests: Any
) -> None:
    runs(judge())
    provider.batches.finish()
    provider.batches.faults["delete"] = [HttpFault(500)]
    runs(judge())
    assert len(provider.batches.files) == 2
    Runs(runs.checkpoint, runs.context, make_requests(7))(judge())
    assert [file.name for file in provider.batches.files.values()] == [runs.store.batches()[1].file_name]


@pytest.mark.parametrize("operation", ["upload", "create"])
def test_a_refused_submission_is_a_failure_and_nothing_waits(
    provider: Any, judge: Any, runs: Runs, operation: str
) -> None:
    provider.batches.faults[operation] = [HttpFault(401, "Incorrect API key provided")]
    result = runs(judge(batch={"max_requests": 4}))
    assert (result.n_waiting, set(result.failures["class"]), len(result.failures)) == (0, {"authentication"}, 6)
    assert set(result.failures["n_tries"]) == {0}
    assert provider.batches.calls.count(operation) == 1  # the second file is not tried
    assert runs(judge()).n_waiting == 6


@pytest.mark.parametrize("operation", ["upload", "create"])
def test_a_refused_submission_that_another_machine_has_given_up_already_is_a_failure_too(
    provider: Any, judge: Any, runs: Runs, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    provider.batches.faults[operation] = [HttpFault(401, "Incorrect API key provided")]
    drop = BatchStore.drop

    def by_two(store: BatchStore, *batch: Any) -> None:
        for _ in range(2):
            drop(store, *batch)

    monkeypatch.setattr(BatchStore, "drop", by_two)
    result = runs(judge())
    assert (result.n_waiting, set(result.failures["class"]), len(result.failures)) == (0, {"authentication"}, 6)


@pytest.mark.slow
def test_a_batch_whose_creation_was_not_confirmed_is_found_in_the_list(provider: Any, judge: Any, runs: Runs) -> None:
    provider.batches.faults["create"] = [HttpFault(500, after=True)]
    result = runs(judge())
    assert (result.n_waiting, len(provider.batches.batches)) == (6, 1)
    assert [row.state for row in result.waiting] == ["submitted"]
    provider.batches.finish()
    assert len(runs(judge()).outputs) == 6


@pytest.mark.slow
def test_a_batch_of_which_it_is_not_known_whether_it_was_started_is_not_started_again_at_once(
    provider: Any, judge: Any, runs: Runs
) -> None:
    provider.batches.faults["create"] = [HttpFault(reset=True)]
    provider.batches.faults["list"] = [HttpFault(500)] * 5
    unknown = runs(judge())
    assert (unknown.n_waiting, [row.state for row in unknown.waiting]) == (6, ["creating"])
    assert runs(judge()).n_waiting == 6
    assert provider.batches.calls.count("create") == 1
    runs.store.note(unknown.waiting[0].token, creating_at="2026-01-01T00:00:00Z")  # long enough ago to be listed
    free = runs(judge())
    assert (free.n_submitted, provider.batches.calls.count("create")) == (6, 2)
    assert len(provider.batches.files) == 1  # the first input file is deleted


@pytest.mark.slow
def test_a_page_of_the_list_is_not_the_whole_list(provider: Any, judge: Any, runs: Runs, make_requests: Any) -> None:
    provider.batches.page = 2
    provider.batches.faults["create"] = [HttpFault(500, after=True)]
    provider.batches.faults["list"] = [HttpFault(500)]
    runs(judge())
    for i in range(5):
        Runs(runs.checkpoint, runs.context, make_requests(1))(judge(parameters={"seed": i}))
    assert [row.state for row in runs(judge()).waiting] == ["submitted"]
    assert len(provider.batches.batches) == 6


# Money.


def test_ceilings_hold_before_a_batch_is_submitted(provider: Any, judge: Any, runs: Runs) -> None:
    whole = runs_cost(judge, runs)
    result = runs(judge(max_output_tokens=20), ceilings=Ceilings(contest=whole * 0.55))
    assert 0 < result.n_submitted < 6
    assert set(result.failures["class"]) == {"ceiling"}
    assert len(result.failures) == 6 - result.n_submitted
    (row,) = runs.store.batches()
    assert 0 < float(row.set_aside_usd or 0) <= whole * 0.55
    assert runs(judge(max_output_tokens=20), ceilings=Ceilings(contest=whole * 0.55)).n_submitted == 0
    # The same ceiling keeps a judge that is asked call by call from what is set aside for the batch.
    other = judge_requests(
        "other", judge(batch=None, max_output_tokens=20), runs.requests, checkpoint=runs.checkpoint,
        context=replace(runs.context, ceilings=Ceilings(contest=float(row.set_aside_usd or 0) * 1.01)),
    )  # fmt: skip
    assert set(other.failures["class"]) == {"ceiling"}
    assert provider.requests == []


def runs_cost(judge: Any, runs: Runs) -> float:
    """What all six requests are set aside for."""
    planned = plan("j", judge(), runs.requests, Checkpoint("sqlite://"), runs.context.prompts_dir)
    return (planned.tokens_in * 10.0 + 6 * 20 * 100.0) / 1e6 / 2


@pytest.mark.slow
def test_a_run_s_ceiling_counts_what_the_run_submits(provider: Any, judge: Any, runs: Runs) -> None:
    whole = runs_cost(judge, runs)
    spending = replace(runs.context).spending
    runs(judge(max_output_tokens=20), ceilings=Ceilings(run=whole * 1.01), spending=spending)
    assert spending.usd == pytest.approx(whole)
    provider.batches.faults["create"] = [HttpFault(401)]
    other = replace(runs.context).spending
    before = other.usd
    runs(judge(max_output_tokens=20, parameters={"seed": 1}), ceilings=Ceilings(run=9.0), spending=other)
    assert other.usd == pytest.approx(before)  # what was refused is given back


def test_the_plan_says_what_waits(provider: Any, judge: Any, runs: Runs) -> None:
    runs(judge())
    planned = plan("j", judge(), runs.requests, runs.checkpoint, runs.context.prompts_dir)
    assert (planned.n_to_ask, planned.n_waiting, planned.cost_usd) == (0, 6, 0.0)
