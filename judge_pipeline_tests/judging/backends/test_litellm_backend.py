"""What litellm is really told, what it really sends, and that no key goes anywhere else."""

from __future__ import annotations

import dataclasses
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from judge_pipeline.judging.answer import Judgment, json_schema
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


def test_the_prompt_is_sent_as_rendered_with_the_parameters(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    judge(loopback_judge(parameters={"temperature": 0, "seed": 5}, max_output_tokens=77), make_requests(1))
    (request,) = provider.requests
    assert [m["role"] for m in request.body["messages"]] == ["system", "user"]
    assert (request.body["temperature"], request.body["seed"], request.body["max_tokens"]) == (0, 5, 77)
    assert "response_format" not in request.body  # litellm does not know that this model takes a schema


def test_the_schema_is_sent_where_settings_or_litellm_say_so(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    judge(loopback_judge(send_schema=True), make_requests(1))
    judge(loopback_judge(model="openai/gpt-4.1"), make_requests(1))
    judge(loopback_judge(model="openai/gpt-4.1", send_schema=False), make_requests(1))
    sent = [request.body.get("response_format") for request in provider.requests]
    assert sent[0] == sent[1]
    assert sent[0]["json_schema"] == {"name": "judgment", "strict": True, "schema": json_schema(Judgment)}
    assert sent[2] is None


def test_a_parameter_that_the_model_does_not_take_is_left_out_and_that_is_recorded(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    settings = loopback_judge(model="openai/gpt-5-mini", parameters={"temperature": 0, "seed": 5})
    result = judge(settings, make_requests(2))
    assert all("temperature" not in request.body and request.body["seed"] == 5 for request in provider.requests)
    assert result.notes == ("openai/gpt-5-mini does not take temperature=0: not sent",)
    (row,) = checkpoint.calls("loopback", result.outputs["request_hash"][0])
    assert json.loads(row["sent"]) == {"dropped": {"temperature": 0}, "parameters": {"seed": 5}, "schema": True}


def test_money_comes_from_litellms_table_or_from_the_settings(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    listed = judge(loopback_judge(model="openai/gpt-4.1"), make_requests(1))
    assert listed.cost_usd == pytest.approx(100 * 2e-6 + 20 * 8e-6)
    price = {"input_usd_per_million_tokens": 7.0, "output_usd_per_million_tokens": 70.0}
    stated = judge(loopback_judge(model="openai/gpt-4.1", price=price, parameters={"seed": 1}), make_requests(1))
    assert stated.cost_usd == pytest.approx(100 * 7e-6 + 20 * 70e-6)
    unpriced = judge(loopback_judge(), make_requests(1))
    assert unpriced.cost_usd is None
    assert unpriced.outputs["cost_usd"].isna().all()


@pytest.mark.parametrize("transport", ["litellm", "direct"])
def test_an_unpriced_server_of_ones_own_is_not_given_the_price_of_the_model_that_its_reply_names(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, transport: str
) -> None:
    provider.script(faults.Behaviour(body=json.dumps(json.loads(faults.valid().body) | {"model": "gpt-4.1"}).encode()))
    result = judge(loopback_judge(), make_requests(1))
    assert result.outputs["model"][0] == "gpt-4.1"
    assert result.cost_usd is None


def test_litellm_logs_no_call_whatever_is_hooked_into_it(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    logged: list[str] = []

    class Spy(CustomLogger):  # type: ignore[misc]
        async def async_log_success_event(self, *event: Any) -> None:
            logged.append("success")

        async def async_log_failure_event(self, *event: Any) -> None:
            logged.append("failure")

        def log_failure_event(self, *event: Any) -> None:
            logged.append("failure")

    monkeypatch.setattr(litellm, "callbacks", [Spy()])
    provider.script(faults.error(500), faults.valid())
    assert len(judge(loopback_judge(), make_requests(3)).outputs) == 3
    assert not logged


def test_a_key_is_needed_only_where_something_is_to_be_asked_and_the_variable_is_named(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    settings = loopback_judge(api_key_env="MY_PROVIDER_KEY")
    without = judge(settings, make_requests(3))
    assert list(without.failures["class"]) == ["authentication"] * 3
    assert without.failures["text"][0].startswith("set MY_PROVIDER_KEY to the provider's key")
    assert (without.n_asked, len(provider.requests)) == (0, 0)
    judge(settings, make_requests(3), MY_PROVIDER_KEY=KEY)
    assert provider.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    assert len(judge(settings, make_requests(3)).outputs) == 3


def test_no_key_of_another_provider_is_sent_to_ones_own_server(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    judge(loopback_judge(), make_requests(1))
    assert KEY not in str(provider.requests[0].headers)


def test_the_key_is_in_no_store_log_error_or_output_though_the_provider_echoes_it(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint,
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    said = f"Incorrect API key provided: {KEY}. Authorization: Bearer {KEY}"
    provider.script(
        faults.error(500, said),
        faults.chat(f"{{{KEY}"),
        faults.chat(json.dumps(faults.VALID | {"rationale": f"the key is {KEY}"})),
        faults.error(401, said),
    )
    settings = loopback_judge(api_key_env="MY_PROVIDER_KEY")
    results = [judge(settings, make_requests(n), MY_PROVIDER_KEY=KEY) for n in (1, 3)]
    assert list(results[1].failures["class"]) == ["authentication"] * 2
    assert "[key removed]" in results[1].failures["text"][0]
    assert results[0].outputs["rationale"][0] == "the key is [key removed]"
    checkpoint.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"[key removed]" in stored
    printed = capfd.readouterr()
    everywhere = [stored.decode("utf-8", "replace"), caplog.text, printed.out, printed.err, repr(settings)]
    everywhere += [repr(result) + result.failures.to_csv() + result.outputs.to_csv() for result in results]
    assert all(KEY not in text for text in everywhere)
    assert len(provider.requests) == 4


def test_an_unknown_provider_fails_at_once_without_a_call(
    judge: Any, provider: Any, loopback_judge: Any, make_requests: Any
) -> None:
    result = judge(loopback_judge(model="nosuchprovider/thing", base_url=None), make_requests(4))
    assert list(result.failures["class"]) == ["configuration"] * 4
    assert "write it as provider/model" in result.failures["text"][0]
    assert not provider.requests


def test_thinking_tokens_are_kept(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    body = json.loads(faults.valid().body)
    body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 15}
    provider.script(faults.Behaviour(body=json.dumps(body).encode()))
    result = judge(loopback_judge(), make_requests(1))
    (row,) = checkpoint.calls("loopback", result.outputs["request_hash"][0])
    assert (row["tokens_in"], row["tokens_out"], row["tokens_reasoning"]) == (100, 20, 15)


@pytest.mark.parametrize(
    "settings",
    [
        {"base_url": "http://user:password@host/v1"},
        {"base_url": "ftp://host"},
        {"base_url": "http://host/v1?key=abc"},
        {"parameters": {"api_key": "abc"}},
        {"parameters": {"extra_headers": {"Authorization": "x"}}},
        {"parameters": {"n": 3}},
    ],
)
def test_settings_have_no_place_for_secrets_or_for_what_judging_decides(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LitellmJudge(**({"backend": "litellm", "model": "openai/x"} | settings))
