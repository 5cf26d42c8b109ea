"""The direct path: the same body as litellm's, the same rows, and nothing of a key anywhere else."""

from __future__ import annotations

import dataclasses
import json
import zlib
from typing import Any

import pytest
from pydantic import ValidationError

from judge_pipeline.judging.backends.pooled_http import LARGEST_REPLY_BYTES
from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, judge_requests
from judge_pipeline.settings import LitellmJudge

KEY = "topsecret-9f8e7d6c5b4a/+="


@pytest.fixture
def judge(checkpoint: Checkpoint, context: JudgingContext) -> Any:
    def run(settings: Any, requests: Any, **environment: str) -> Any:
        changed = dataclasses.replace(context, environment=environment)
        return judge_requests("loopback", settings, requests, checkpoint=checkpoint, context=changed)

    return run


@pytest.fixture
def transport() -> str:
    return "direct"


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"send_schema": True},
        {"send_schema": False, "max_output_tokens": 50},
        {"send_schema": True, "parameters": {"temperature": 0, "top_p": 0.5, "seed": 7, "max_completion_tokens": 9}},
        {"send_schema": False, "parameters": {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}}},
        {"send_schema": False, "parameters": {"extra_body": {"min_p": 0.1}, "stop": ["x"]}},
        {"send_schema": False, "base_url_ends": "/"},
    ],
)
def test_both_transports_send_the_same_body_first_and_when_asking_again_under_one_hash(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, changes: dict[str, Any]
) -> None:
    changes = dict(changes)
    changes["base_url"] = provider.url + changes.pop("base_url_ends", "")
    bodies, rows = [], []
    for transport in ("litellm", "direct"):
        wrong = json.dumps({"p_ac": "85%", "rationale": "né \U0001f600"})
        provider.script(faults.chat(wrong), faults.chat(wrong))
        asked = len(provider.requests)
        settings = loopback_judge(transport=transport, repair_max_output_tokens=99, **changes)
        result = judge(settings, make_requests(1))
        bodies.append([request.body for request in provider.requests[asked:]])
        rows.append(result.failures)
    assert len(bodies[0]) == 2
    assert bodies[0] == bodies[1]
    assert rows[0].equals(rows[1])
    provider.script(faults.valid())
    judge(loopback_judge(transport="litellm", **changes), make_requests(1))
    asked = len(provider.requests)
    judge(loopback_judge(transport="direct", **changes), make_requests(1))
    assert len(provider.requests) == asked  # the transport is no part of the request


@pytest.mark.slow
def test_the_rows_of_both_transports_tell_the_same(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    price = {"input_usd_per_million_tokens": 1.0, "output_usd_per_million_tokens": 10.0}
    rows = []
    for seed, transport in enumerate(("litellm", "direct")):
        parameters = {"seed": seed}  # another request
        result = judge(loopback_judge(transport=transport, price=price, parameters=parameters), make_requests(1))
        (row,) = checkpoint.calls("loopback", result.outputs["request_hash"][0])
        assert json.loads(row["sent"]).pop("parameters") == parameters
        differing = ("call_id", "request_hash", "run_id", "started_at", "latency_ms", "sent")
        rows.append({key: value for key, value in row.items() if key not in differing})
    assert rows[0] == rows[1]
    assert rows[0]["cost_usd"] == pytest.approx(300e-6)


def test_an_undecided_schema_is_not_sent_and_is_another_request_than_litellm_s(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    for transport in ("litellm", "direct"):  # litellm knows that this model takes a schema; the direct path does not
        judge(loopback_judge(transport=transport, model="openai/gpt-4.1"), make_requests(1))
    first, second = (request.body for request in provider.requests)
    assert "response_format" in first
    assert "response_format" not in second


def test_a_redirect_is_not_followed_with_the_key(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.script(faults.Behaviour(307, headers={"Location": provider.url + "/chat/completions?elsewhere"}))
    result = judge(loopback_judge(api_key_env="K"), make_requests(3), K=KEY)
    assert len(provider.requests) == 1
    assert list(result.failures["class"]) == ["configuration"] * 3
    assert "set base_url to where it is" in result.failures["text"][0]


@pytest.mark.parametrize("packed", [False, True])
def test_an_endless_reply_is_given_up(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, packed: bool
) -> None:
    body = b" " * (LARGEST_REPLY_BYTES + 100_000) + faults.valid().body
    headers = {"Content-Encoding": "deflate"} if packed else {}
    provider.script(faults.Behaviour(body=zlib.compress(body) if packed else body, headers=headers))
    result = judge(loopback_judge(limits={"max_tries": 1}), make_requests(1))
    assert result.failures["text"][0] == f"the reply is longer than {LARGEST_REPLY_BYTES} bytes"


def test_an_error_under_status_200_is_an_error(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    body = json.dumps({"error": {"message": "upstream is overloaded", "code": 429}}).encode()
    provider.script(faults.Behaviour(body=body))
    result = judge(loopback_judge(limits={"max_tries": 1}), make_requests(1))
    assert list(result.failures["class"]) == ["rate_limit"]
    assert "upstream is overloaded" in result.failures["text"][0]


def test_the_key_goes_to_its_server_and_no_other_key_goes_anywhere(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another-" + KEY)
    judge(loopback_judge(), make_requests(1))
    judge(loopback_judge(api_key_env="K", parameters={"seed": 1}), make_requests(1), K=KEY)
    assert "Authorization" not in provider.requests[0].headers
    assert provider.requests[1].headers["Authorization"] == f"Bearer {KEY}"
    assert "another-" not in str([request.headers for request in provider.requests])


def test_connections_are_kept(judge: Any, provider: Any, loopback_judge: Any, make_requests: Any) -> None:
    judge(loopback_judge(limits={"max_in_flight": 3}), make_requests(60))
    assert len(provider.peers) <= 3


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": "openai/x"}, "needs base_url"),
        ({"model": "anthropic/x", "base_url": "http://127.0.0.1:1/v1"}, "write model as openai/NAME"),
        ({"model": "openai/", "base_url": "http://127.0.0.1:1/v1"}, "write model as openai/NAME"),
    ],
)
def test_the_direct_transport_is_refused_where_it_cannot_work(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        LitellmJudge(backend="litellm", transport="direct", **settings)
