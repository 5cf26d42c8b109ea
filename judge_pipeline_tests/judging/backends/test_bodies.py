"""The body that a transport says it would send is the body that it sends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from judge_pipeline.judging.backends.litellm_backend import LitellmBackend, litellm_call
from judge_pipeline.judging.request import Message
from judge_pipeline.settings import LitellmJudge


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("openai/loopback", {}),
        (
            "openai/loopback",
            {"parameters": {"temperature": 0, "seed": 3, "extra_body": {"guided": 1}}, "max_output_tokens": 5},
        ),
        # What litellm renames (max_tokens) and leaves out (a temperature of 0) for models that it knows.
        ("openai/gpt-5-mini", {"parameters": {"reasoning_effort": "low", "temperature": 0}, "max_output_tokens": 50}),
        ("openai/gpt-4.1", {"parameters": {"temperature": 0.2, "stop": ["x"]}, "send_schema": True}),
        ("openai/o3", {"parameters": {"temperature": 0.2, "top_k": 1}, "max_output_tokens": 50}),
    ],
)
def test_litellm_s_body_is_the_body_that_it_sends(provider: Any, model: str, settings: dict[str, Any]) -> None:
    judge = LitellmJudge(backend="litellm", model=model, base_url=provider.url, **settings)
    call = litellm_call(judge, (Message("system", "be fair"), Message("user", "judge é this")))
    backend = LitellmBackend.of(judge, {})
    re_ask = (Message("assistant", "x"), Message("user", "again"))

    async def ask() -> list[dict[str, Any]]:
        await backend.open()
        await backend.ask(call, (), None)
        await backend.ask(call, re_ask, 77)
        bodies = [backend.body(call, (), None)[0], backend.body(call, re_ask, 77)[0]]
        await backend.close()
        return bodies

    assert asyncio.run(ask()) == [request.body for request in provider.requests]
