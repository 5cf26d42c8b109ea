"""The engine and a real HTTP server, through litellm and directly: faults, resumption, kills, money."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests
from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.judging.progress import Progress
from judge_pipeline.judging.verification import in_scope, verify
from judge_pipeline.settings import BaselineJudge, LitellmJudge, RecordedJudge
from judge_pipeline.tables import JUDGE_OUTPUTS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["litellm", "direct", "direct postgresql"])
def way(request: pytest.FixtureRequest) -> str:
    """All of this holds over both transports and both stores."""
    return str(request.param)


@pytest.fixture
def transport(way: str) -> str:
    """The transport of the way."""
    return way.split(maxsplit=1)[0]


@pytest.fixture
def store_kind(way: str) -> str:
    """The store of the way."""
    return "postgresql" if way.endswith("postgresql") else "sqlite"


@pytest.fixture
def judge(checkpoint: Checkpoint, context: JudgingContext) -> Any:
    """judge_requests with the test's checkpoint and context."""

    def run(settings: Any, requests: pd.DataFrame, name: str = "loopback", **changes: Any) -> JudgingResult:
        return judge_requests(
            name, settings, requests, checkpoint=checkpoint, context=dataclasses.replace(context, **changes)
        )

    return run


def test_every_attempt_gets_its_own_answer_once(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.behave = lambda request, n: faults.valid(p_ac=faults.answer_of(request.text))
    requests = make_requests(20)
    result = judge(loopback_judge(), requests)
    assert verify(result.outputs, requests) == []
    assert list(result.outputs["attempt_id"]) == list(requests["attempt_id"])
    assert result.outputs["p_ac"].nunique() == 20
    assert len(provider.requests) == 20
    for request in provider.requests:
        row = next(i for i in range(20) if f"return {i};" in request.text)
        assert result.outputs["p_ac"][row] == pytest.approx(faults.answer_of(request.text))
    pd.testing.assert_frame_equal(JUDGE_OUTPUTS.conform(result.outputs), result.outputs)
    first = result.outputs.iloc[0]
    assert (first["model"], first["n_tries"], first["tokens_in"], first["tokens_out"]) == (
        "loopback-2026-01-01",
        1,
        100,
        20,
    )
    assert first["latency_ms"] > 0
    assert (result.n_in_scope, result.n_from_checkpoint, result.n_asked, result.n_calls) == (20, 0, 20, 20)


def test_a_second_run_asks_nothing_and_says_the_same(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    first = judge(loopback_judge(), make_requests(10))
    second = judge(loopback_judge(), make_requests(10))
    assert len(provider.requests) == 10
    pd.testing.assert_frame_equal(first.outputs, second.outputs)
    assert (second.n_from_checkpoint, second.n_asked) == (10, 0)
    assert (second.n_calls, second.tokens_in, second.seconds) == (first.n_calls, first.tokens_in, first.seconds)


def test_only_what_is_new_or_changed_is_asked(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    judge(loopback_judge(), make_requests(6))
    judge(loopback_judge(), make_requests(9))
    assert len(provider.requests) == 9
    judge(loopback_judge(limits={"max_tries": 9}, repair_max_output_tokens=99), make_requests(9))
    assert len(provider.requests) == 9  # how often and how long does not change what is asked
    judge(loopback_judge(parameters={"temperature": 0}), make_requests(9))
    assert len(provider.requests) == 18
    judge(loopback_judge(), make_requests(9), name="another")
    assert len(provider.requests) == 27


def test_a_changed_prompt_is_never_served_an_old_answer(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, context: JudgingContext, tmp_path: Path
) -> None:
    judge(loopback_judge(), make_requests(2))
    text = (context.prompts_dir / "cocreation_judge.md.j2").read_text(encoding="utf-8")
    (tmp_path / "cocreation_judge.md.j2").write_text(text.replace("Assess the attempt.", "Judge the attempt."))
    result = judge(loopback_judge(), make_requests(2), prompts_dir=tmp_path)
    assert (len(provider.requests), result.n_asked) == (4, 2)


def test_scope_limits_what_is_asked(judge: Any, provider: Any, loopback_judge: Any, make_requests: Any) -> None:
    settings = loopback_judge(scope={"splits": ["test"]})
    result = judge(settings, make_requests(9))
    assert len(provider.requests) == result.n_in_scope == len(result.outputs) == 3
    assert verify(result.outputs, in_scope(make_requests(9), settings.scope)) == []


def test_equal_requests_are_asked_once_and_cost_once(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}
    result = judge(loopback_judge(price=price), make_requests(5, same=True))
    assert len(provider.requests) == 1
    assert len(result.outputs) == 5
    assert result.outputs["request_hash"].nunique() == 1
    assert list(result.outputs["n_tries"]) == [1, 0, 0, 0, 0]
    assert result.outputs["cost_usd"].sum() == result.cost_usd == pytest.approx(100e-6 + 200e-6)


def test_nothing_to_judge_is_a_success(judge: Any, provider: Any, loopback_judge: Any, make_requests: Any) -> None:
    result = judge(loopback_judge(), make_requests(0))
    assert (len(result.outputs), len(result.failures), result.n_calls) == (0, 0, 0)
    assert not provider.requests


@pytest.mark.parametrize(
    ("behaviour", "calls", "failure_class"),
    [
        ("429", 3, "rate_limit"),
        ("429-retry-after", 3, "rate_limit"),
        ("500", 3, "infrastructure"),
        ("503", 3, "infrastructure"),
        ("reset", 3, "infrastructure"),
        ("html", 3, "infrastructure"),
        ("no-choices", 3, "infrastructure"),
        ("truncated", 3, "truncated"),
        ("empty", 3, "empty"),
        ("hostile", 2, "invalid"),
        ("refusal", 1, "refusal"),
        ("malformed", 1, None),
        ("two-choices", 1, None),
        ("no-usage", 1, None),
    ],
)
def test_each_fault_has_its_class_and_its_number_of_tries(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    behaviour: str, calls: int, failure_class: str | None,
) -> None:  # fmt: skip
    provider.script(faults.kinds[behaviour]())
    result = judge(loopback_judge(limits={"max_tries": 3}), make_requests(1))
    assert len(provider.requests) == result.n_calls == calls
    assert list(result.failures["class"]) == ([failure_class] if failure_class else [])
    assert len(result.outputs) == (failure_class is None)
    if failure_class:
        assert result.failures["n_tries"][0] == calls
        assert result.failures["text"][0]
    if behaviour == "malformed":
        assert result.outputs["repair"][0] == "punctuation of the JSON repaired (json-repair)"
    if behaviour == "no-usage":
        assert result.outputs["tokens_in"].isna().all()
        assert result.cost_usd is None


@pytest.mark.parametrize(
    "fault", ["429", "429-retry-after", "500", "503", "reset", "html", "no-choices", "truncated", "empty"]
)
def test_what_can_heal_heals(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, fault: str
) -> None:
    provider.script(faults.kinds[fault](), faults.valid())
    result = judge(loopback_judge(), make_requests(1))
    assert (len(result.outputs), len(provider.requests)) == (1, 2)
    assert result.outputs["n_tries"][0] == 2


def test_choices_that_differ_are_not_chosen_from(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    body = json.loads(faults.valid().body)
    body["choices"].append(json.loads(faults.valid(p_ac=0.9).body)["choices"][0] | {"index": 1})
    provider.script(faults.Behaviour(body=json.dumps(body).encode()))
    result = judge(loopback_judge(limits={"max_tries": 1}), make_requests(1))
    assert list(result.failures["class"]) == ["infrastructure"]
    assert "2 different choices" in result.failures["text"][0]


def _bodies() -> list[bytes]:
    """Replies with status 200 that no provider should send."""

    def reply(**changes: Any) -> bytes:
        text = '{"p_ac": 0.25, "s_algo": 3, "s_robust": 2, "rationale": "x"}'
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        whole = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }
        return json.dumps(whole | changes).encode()

    def message(content: Any) -> bytes:
        return reply(
            choices=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}]
        )

    return [
        b"", b"null", b"[]", b"7", b'""', b"{}", b'{"choices":null}', b"\xff\xfe{", b"[" * 100_000,
        reply(choices={}), reply(choices=[None]), reply(choices=[{}]), reply(choices=[{"message": None}]),
        message(123), message(["a"]), message({"a": 1}), message(True), message("\ud800"),
        reply(usage="lots"), reply(usage={"prompt_tokens": "x"}), reply(usage={"prompt_tokens": 100}),
        reply(usage={"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": 0}),
        reply(usage={"prompt_tokens": 10**30, "completion_tokens": 1, "total_tokens": 1}),
        reply(model=None, id=None), reply(error={"message": "boom", "code": 500}),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_no_reply_however_strange_does_more_than_fail_its_own_attempt(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    n_answered = 0
    for number, body in enumerate(_bodies()):
        provider.script(faults.Behaviour(body=body))
        result = judge(loopback_judge(limits={"max_tries": 1}), make_requests(1), name=f"strange-{number}")
        assert len(result.outputs) + len(result.failures) == 1, body
        assert set(result.failures["class"]) <= {"infrastructure", "invalid", "empty"}, body
        assert result.outputs["tokens_in"].isna().all() or result.outputs["tokens_in"][0] in (10, 100), body
        n_answered += len(result.outputs)
    assert n_answered >= 4  # those in which only the usage or a name is strange


def test_retry_after_is_honoured_by_all_calls(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.script(faults.error(429, "slow down", Retry_After="0.4"), faults.valid())
    result = judge(loopback_judge(), make_requests(6))
    assert len(result.outputs) == 6
    first, *later = sorted(request.at for request in provider.requests)
    assert min(later) - first >= 0.4, "twenty times what it would wait by itself"


def test_a_spent_quota_stops_cleanly_and_is_resumed_later(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    spent = faults.error(429, "You exceeded your current quota, please check your plan.", "insufficient_quota")
    provider.behave = lambda request, n: faults.valid() if n < 8 else spent
    first = judge(loopback_judge(), make_requests(30))
    assert len(first.outputs) == 8
    assert Counter(first.failures["class"]) == {"quota": 22}
    assert len(provider.requests) <= 8 + 4
    asked = len(provider.requests)
    provider.script(faults.valid())
    second = judge(loopback_judge(), make_requests(30))
    assert verify(second.outputs, make_requests(30)) == []
    assert len(provider.requests) - asked == 22


@pytest.mark.parametrize(
    ("status", "message", "failure_class"),
    [(401, "Incorrect API key provided", "authentication"), (404, "The model does not exist", "configuration")],
)
def test_a_refused_key_and_an_unknown_model_cost_one_call(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, status: int, message: str,
    failure_class: str,
) -> None:  # fmt: skip
    provider.script(faults.error(status, message))
    result = judge(loopback_judge(limits={"max_in_flight": 8}), make_requests(25))
    assert len(provider.requests) == 1
    assert Counter(result.failures["class"]) == {failure_class: 25}
    assert result.n_asked == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_hang_and_a_slow_drip_are_given_up_after_the_timeout(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, kind: str
) -> None:
    body = faults.valid().body
    slow = faults.Behaviour(body=body, delay=30) if kind == "hang" else faults.Behaviour(body=body, drip=0.05)
    provider.script(slow, faults.valid())
    started = time.monotonic()
    result = judge(loopback_judge(limits={"timeout_seconds": 0.7}), make_requests(1))
    assert len(result.outputs) == 1
    assert time.monotonic() - started < 10
    assert result.outputs["n_tries"][0] == 2


def test_too_long_a_request_fails_alone(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    too_long = faults.error(400, "This model's maximum context length is 10 tokens", "context_length_exceeded")
    provider.behave = lambda request, n: too_long if "return 3;" in request.text else faults.valid()
    result = judge(loopback_judge(), make_requests(6))
    assert list(result.failures["attempt_id"]) == [f"{3:016x}"]
    assert list(result.failures["class"]) == ["too_long"]
    assert len(provider.requests) == 6


def test_the_re_ask_carries_the_errors_and_the_larger_limit(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.script(faults.chat('{"p_ac": "85%"}'), faults.valid())
    result = judge(loopback_judge(max_output_tokens=50, repair_max_output_tokens=100), make_requests(1))
    first, second = (request.body for request in provider.requests)
    assert (first["max_tokens"], second["max_tokens"]) == (50, 100)
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert second["messages"][-2] == {"role": "assistant", "content": '{"p_ac": "85%"}'}
    assert "p_ac: Input should be a valid number (it was '85%')" in second["messages"][-1]["content"]
    assert result.outputs["repair"][0].startswith("asked again")
    assert (result.outputs["n_tries"][0], result.outputs["tokens_out"][0]) == (2, 40)


def test_failed_tries_are_paid_for_and_kept(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}
    provider.script(faults.kinds["truncated"](), faults.kinds["500"](), faults.valid())
    result = judge(loopback_judge(price=price), make_requests(1))
    assert result.cost_usd == result.outputs["cost_usd"][0] == pytest.approx(2 * 300e-6)
    rows = checkpoint.calls("loopback", result.outputs["request_hash"][0])
    assert [row["error_class"] for row in rows] == ["truncated", "infrastructure", None]
    assert [row["finish_reason"] for row in rows] == ["length", None, "stop"]
    assert rows[0]["raw_text"] == '{"p_ac":0.9'
    assert rows[2]["provider_request_id"] == "req-loopback"
    assert {row["attempt_id"] for row in rows} == {f"{0:016x}"}


def test_the_exact_prompt_can_be_shown_later(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    result = judge(loopback_judge(), make_requests(1))
    stored = checkpoint.request(result.outputs["request_hash"][0])
    assert stored is not None
    assert stored.template == "cocreation_judge.md.j2"
    assert json.loads(stored.components)["messages"] == provider.requests[0].body["messages"]


def test_an_interrupted_run_keeps_what_was_answered(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    provider.behave = lambda request, n: faults.Behaviour(body=faults.valid().body, delay=0.03)

    def stop_after_five(progress: Progress) -> None:
        assert (progress.total, progress.failed) == (40, 0)
        if progress.done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge(loopback_judge(), make_requests(40), progress=stop_after_five)
    asked = len(provider.requests)
    assert asked < 40
    provider.script(faults.valid())
    result = judge(loopback_judge(), make_requests(40))
    assert result.n_from_checkpoint >= 5
    assert verify(result.outputs, make_requests(40)) == []
    assert len(provider.requests) - asked == 40 - result.n_from_checkpoint
    assert asked - result.n_from_checkpoint <= 4


SCRIPT = """
import sys, json
from pathlib import Path
import pandas as pd
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.settings import BaselineJudge, LitellmJudge, RecordedJudge
settings, requests, url, prompts = sys.argv[1:]
result = judge_requests(
    "loopback", LitellmJudge(**json.loads(settings)), pd.read_parquet(requests),
    checkpoint=Checkpoint(url), context=JudgingContext({}, Path("."), Path(prompts)),
)
print(len(result.outputs), len(result.failures), "litellm" in sys.modules)
"""


def in_a_process(settings: LitellmJudge, requests: Path, checkpoint: Checkpoint, context: JudgingContext) -> Any:
    arguments = [settings.model_dump_json(), str(requests), checkpoint.url, str(context.prompts_dir)]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_after_kill_9_no_stored_answer_is_asked_again_and_a_finished_run_loads_no_litellm(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    context: JudgingContext, tmp_path: Path,
) -> None:  # fmt: skip
    n, in_flight, kills = 90, 6, 1
    settings = loopback_judge(limits={"max_in_flight": in_flight})
    path = tmp_path / "requests.parquet"
    make_requests(n).to_parquet(path)
    provider.behave = lambda request, i: faults.Behaviour(body=faults.valid().body, delay=0.05)
    stored: set[str] = set()
    for kill in range(kills):
        process = in_a_process(settings, path, checkpoint, context)
        while len(provider.requests) < (kill + 1) * 30:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.2)
        seen = len(provider.requests)
        answered = {i for i in range(n) if _answered(checkpoint, settings, make_requests(n), context, i)}
        assert len(answered) >= len(stored)
        stored = {f"return {i};" for i in answered}
        later = [r for r in provider.requests[seen:] if any(mark in r.text for mark in stored)]
        assert not later
    seen = len(provider.requests)
    result = judge(settings, make_requests(n))
    assert verify(result.outputs, make_requests(n)) == []
    assert not [r for r in provider.requests[seen:] if any(mark in r.text for mark in stored)]
    assert len(provider.requests) <= n + kills * in_flight
    out, err = in_a_process(settings, path, checkpoint, context).communicate(timeout=60)
    assert out.split() == [str(n), "0", "False"], err


def _answered(
    checkpoint: Checkpoint, settings: LitellmJudge, requests: pd.DataFrame, context: JudgingContext, i: int
) -> bool:
    from judge_pipeline.judging.prepared import prepare

    prepared = prepare("loopback", settings, requests.iloc[[i]], context.prompts_dir)
    return bool(checkpoint.answered("loopback", prepared.slots))


@pytest.mark.slow
def test_in_a_storm_of_faults_every_attempt_is_judged_or_failed_with_its_class(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    n = 250
    provider.fault(seed=7, share=0.3)
    settings = loopback_judge(limits={"max_in_flight": 16, "max_tries": 3})
    result = judge(settings, make_requests(n))
    judged, failed = set(result.outputs["attempt_id"]), set(result.failures["attempt_id"])
    assert not judged & failed
    assert judged | failed == set(make_requests(n)["attempt_id"])
    assert set(result.failures["class"]) <= {"rate_limit", "infrastructure", "truncated", "empty", "refusal", "invalid"}
    assert len(provider.requests) == result.n_calls
    assert result.outputs["repair"].notna().any()
    assert provider.most_at_once <= 16
    provider.fault(seed=8, share=0.0)
    again = judge(settings, make_requests(n))
    assert verify(again.outputs, make_requests(n)) == []
    assert again.n_from_checkpoint == len(judged)
    assert len(provider.requests) == result.n_calls + len(failed) == again.n_calls


@pytest.mark.parametrize("key", ["abcdefghijk\n", "\tabcdefghijk", "abcdefgh ijk", "abcdefgh\u2013ijk", " "])
def test_a_key_that_no_header_can_carry_is_named_before_anything_is_asked(
    provider: Any, checkpoint: Checkpoint, context: JudgingContext, loopback_judge: Any, make_requests: Any, key: str
) -> None:
    settings = loopback_judge(api_key_env="LOOPBACK_KEY")
    changed = dataclasses.replace(context, environment={"LOOPBACK_KEY": key})
    result = judge_requests("j", settings, make_requests(3), checkpoint=checkpoint, context=changed)
    assert (len(provider.requests), list(result.failures["class"])) == (0, ["authentication"] * 3)
    text = result.failures["text"][0]
    assert text.startswith("LOOPBACK_KEY, the key of judge j, holds a blank") and "abcdefgh" not in text


@pytest.mark.parametrize("backend", ["litellm", "baseline", "recorded"])
def test_an_attempt_that_is_given_twice_is_named_and_nothing_is_asked(
    provider: Any,
    loopback_judge: Any,
    make_requests: Any,
    checkpoint: Checkpoint,
    context: JudgingContext,
    backend: str,
) -> None:
    table = make_requests(4)
    doubled = pd.concat([table, table.iloc[[1, 3]], table.iloc[[1]]], ignore_index=True)
    settings: Any = {
        "litellm": loopback_judge,
        "baseline": lambda: BaselineJudge(backend="baseline"),
        "recorded": lambda: RecordedJudge(backend="recorded", file="answers.csv", model="m"),
    }[backend]()
    said = f"2 attempt ids are in judge_requests more than once: {1:016x}, {3:016x}\\."
    with pytest.raises(JudgingError, match=said):
        judge_requests("j", settings, doubled, checkpoint=checkpoint, context=context)
    assert provider.requests == []
