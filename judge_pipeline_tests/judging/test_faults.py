"""What a provider can do to an answer, each through a real HTTP server and over both transports.

All faults that concern one attempt alone are asked for in one run, an attempt each; those that stop a run have runs of
their own.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from judge_pipeline.judging.checkpoint.store import Checkpoint
from judge_pipeline.judging.engine import JudgingContext, JudgingResult, judge_requests

VALID = {"p_ac": 0.25, "s_algo": 3, "s_robust": 2, "rationale": "misses n = 0"}
GOOD = json.dumps(VALID)
OTHER = json.dumps(VALID | {"p_ac": 0.9})
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}

Body = str | bytes


def completion(content: Any = GOOD, finish_reason: Any = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion; what is given replaces or joins the fields of its message."""
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": content} | message,
    }
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
        "usage": USAGE,
    }  # fmt: skip


def body(content: Any = GOOD, finish_reason: Any = "stop", **message: Any) -> str:
    return json.dumps(completion(content, finish_reason, **message))


def with_p_ac(value: str) -> str:
    return body(GOOD.replace("0.25", value))


def choices(*pairs: tuple[Any, Any]) -> str:
    """A completion of several choices, each a content and a finish reason."""
    whole = completion()
    whole["choices"] = [completion(*pair)["choices"][0] | {"index": index} for index, pair in enumerate(pairs)]
    return json.dumps(whole)


def twice(name: str, value: Any) -> str:
    """A completion whose message, choice or envelope gives one name a second time, with another value."""
    where = {"content": '"content": ', "finish_reason": '"finish_reason": ', "choices": '"choices": '}[name]
    return body().replace(where, f"{where}{json.dumps(value)}, {where}", 1)


ACCEPTED: dict[str, tuple[Body, str | None]] = {
    "as it should be": (body(), None),
    "no finish reason": (body(finish_reason=None), None),
    "an unknown finish reason": (body(finish_reason="banana"), None),
    "an empty refusal": (body(refusal=""), None),
    "thinking in a field of its own": (body(reasoning_content='{"p_ac": 0.9}'), None),
    "thinking before the answer": (body(f'<think>{{"p_ac":0.9}}</think>{GOOD}'), None),
    "NaN in the envelope": (body()[:-1] + ', "x": NaN}', None),
    "an error that is null": (body()[:-1] + ', "error": null}', None),
    "no usage": (json.dumps({k: v for k, v in completion().items() if k != "usage"}), None),
    "usage null": (json.dumps(completion() | {"usage": None}), None),
    "usage without answer tokens": (
        json.dumps(completion() | {"usage": {"prompt_tokens": 100, "completion_tokens": None, "total_tokens": 100}}),
        None,
    ),
    "a number for the model's name": (json.dumps(completion() | {"model": 5}), None),
    "a list for the reply's id": (json.dumps(completion() | {"id": [7]}), None),
    "a byte order mark before the body": (b"\xef\xbb\xbf" + body().encode(), None),
    "a byte order mark before the answer": (body("\ufeff" + GOOD), "text around the JSON object removed"),
    "two choices that say the same": (choices((GOOD, "stop"), (GOOD, "stop")), None),
    "much space": (body(GOOD + " " * 900_000), None),
    "a long preface": (body("x" * 900_000 + GOOD), "text around the JSON object removed"),
    "a fence": (body(f"```json\n{GOOD}\n```"), "code fence removed"),
    "a trailing comma": (body(GOOD[:-1] + ",}"), "punctuation of the JSON repaired (json-repair)"),
    "a Python dictionary": (body(str(VALID)), "punctuation of the JSON repaired (json-repair)"),
    "an escaped key": (body(GOOD.replace("p_ac", "\\u0070_ac")), None),
    "a lone surrogate": (body(GOOD.replace("misses", "\\ud800")), "characters that are no text replaced"),
    "NUL": (body(GOOD.replace("misses", "\\u0000")), "characters that are no text replaced"),
}
"""Replies that hold one valid answer, and what their row says of its repair."""

FAILED: dict[str, dict[str, Body]] = {
    "infrastructure": {
        "nothing": "", "an empty object": "{}", "null": "null", "a page": "<html>Service Unavailable</html>",
        "the answer without an envelope": GOOD, "two bodies": body() * 2, "something after the body": body() + "x",
        "a cut body": body()[:-30], "a stream": f"data: {body()}\n\ndata: [DONE]\n\n",
        "Latin-1": body().replace("misses", "mi\xdfes").encode("latin-1"),
        "gzip without saying so": gzip.compress(body().encode()), "a deep envelope": '{"a":' * 100_000,
        "content in parts": body([{"type": "text", "text": GOOD}]),
        "content in parts that differ": body([{"type": "text", "text": GOOD}, {"type": "text", "text": OTHER}]),
        "content that is an object": body(VALID), "a delta": body().replace('"message"', '"delta"'),
        "two choices that differ": choices((GOOD, "stop"), (OTHER, "stop")),
        "two choices that end otherwise": choices((GOOD, "stop"), (GOOD, "length")),
        "a choice that is null": choices((None, "stop"), (GOOD, "stop")),
        "an error beside the choices": json.dumps(completion() | {"error": {"message": "upstream", "code": 502}}),
        "an error without a code": json.dumps({"error": {"message": "boom"}}),
        "an error that is a string": json.dumps({"error": "overloaded"}),
        "a detail": json.dumps({"detail": "Not found"}),
        "broken off": body(finish_reason="error"), "aborted": body(finish_reason="abort"),
    },
    "rate_limit": {
        "an error with a code in words": json.dumps({"error": {"message": "x", "code": "rate_limit_exceeded"}}),
    },
    "truncated": {
        "length": body(finish_reason="length"), "MAX_TOKENS": body(finish_reason="MAX_TOKENS"),
        "model_length": body(finish_reason="model_length"),
        "all spent on thinking": body(None, "length", reasoning_content="hm"),
        "half a number": body('{"p_ac": 0.2'), "the last brace missing": body(GOOD[:-1]),
        "the last quote missing": body(GOOD[:-2]), "thinking never closed": body("<think>" + GOOD),
        "braces without end": body("{" * 900_000),
    },
    "empty": {
        "null": body(None), "no characters": body(""), "thinking alone": body(None, reasoning_content=GOOD),
        "a call of a tool": body(
            None, "tool_calls",
            tool_calls=[{"id": "x", "type": "function", "function": {"name": "f", "arguments": GOOD}}],
        ),
    },
    "refusal": {
        "marked": body(None, refusal="no"), "marked beside an answer": body(refusal="no"),
        "marked in an odd form": body(refusal={"reason": 1}), "filtered": body(None, "content_filter"),
        "filtered beside an answer": body(finish_reason="content_filter"), "SAFETY": body(finish_reason="SAFETY"),
        "in words": body("I’m sorry, but I can’t help with that."),
    },
    "invalid": {
        **{f"p_ac {value}": with_p_ac(value) for value in (
            '"0.25"', '"85%"', "85", "1.2", "1.0000001", "-0.25", "NaN", "1e400", "-1e400", "true", "null", "[0.25]",
            '{"value": 0.25}', "25%", "0,25", ".25", "+0.25", "1/4", "0x1", "0_1", "０.２５", "0.2-0.3", "~0.25", "",
            "1" * 5000, "high",
        )},
        "a key twice": body(GOOD.replace('"p_ac": 0.25', '"p_ac": 0.25, "p_ac": 0.9')),
        "a key twice, once escaped": body(GOOD.replace('"p_ac": 0.25', '"p_ac": 0.25, "p\\u005fac": 0.9')),
        "a key twice and a trailing comma": body(GOOD.replace('"p_ac": 0.25', '"p_ac": 0.25, "p_ac": 0.9')[:-1] + ",}"),
        "comments": body(GOOD.replace("0.25,", "0.25, // or 0.9\n")), "nested": body(json.dumps({"judgment": VALID})),
        "in a list": body(json.dumps([VALID])), "a string of JSON": body(json.dumps(GOOD)),
        "two answers": body(GOOD + OTHER), "two equal answers": body(GOOD + GOOD),
        "another number after it": body(GOOD + "\nOn reflection, p_ac should be 0.9."),
        "the schema": body('{"type":"object","properties":{"p_ac":{"type":"number"}}}'),
        "the schema and an answer": body('{"type":"object","properties":{"p_ac":{}}}\n' + GOOD),
        "a look-alike key": body(GOOD.replace("p_ac", "p_\u0430c")), "a further field": body(GOOD[:-1] + ',"x":1}'),
        "YAML": body("p_ac: 0.25\ns_algo: 3\ns_robust: 2\nrationale: x"),
        "a rationale of megabytes": body(json.dumps(VALID | {"rationale": "x" * 900_000})),
        "too many characters": body("x" * 1_000_001 + GOOD), "many objects": body('{"p_ac":1}' * 90_000),
        "deep nesting": body(GOOD.replace("0.25", "[" * 900 + "]" * 900)),
        "deeper nesting, broken": body(GOOD.replace("0.25", "[" * 10_000 + "]" * 10_000)[:-1] + ",}"),
        "line breaks without end": body("```\n" + "\n" * 500_000 + "x"),
        "spaces without end": body("!" + " " * 500_000 + "x"),
    },
}  # fmt: skip
"""Replies that hold none, by the class that their attempt fails with."""


odd_types = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")


@pytest.fixture(params=["litellm", "direct"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def judge(checkpoint: Checkpoint, context: JudgingContext) -> Callable[..., JudgingResult]:
    def run(settings: Any, requests: Any, **changes: Any) -> JudgingResult:
        changed = dataclasses.replace(context, **changes)
        return judge_requests("loopback", settings, requests, checkpoint=checkpoint, context=changed)

    return run


def _ask_each(
    bodies: list[Body], judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, **limits: Any
) -> JudgingResult:
    """The n-th attempt is answered with the n-th body."""

    def behave(request: Any, n: int) -> Any:
        found = re.search(r"return (\d+);", request.text)
        assert found is not None
        text = bodies[int(found[1])]
        return faults.Behaviour(body=text if isinstance(text, bytes) else text.encode())

    provider.behave = behave
    limits = {"max_tries": 1, "max_in_flight": 64, "timeout_seconds": 60, "stop_after_failures": 1000} | limits
    result: JudgingResult = judge(loopback_judge(limits=limits), make_requests(len(bodies)))
    return result


@odd_types
def test_replies_that_hold_one_valid_answer_are_read_and_their_repair_is_told(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    bodies = [body for body, _ in ACCEPTED.values()]
    result = _ask_each(bodies, judge, provider, faults, loopback_judge, make_requests)
    assert not len(result.failures), result.failures["text"][0]
    outputs = result.outputs.astype("object").where(result.outputs.notna(), None)
    for name, (_, repair), row in zip(ACCEPTED, ACCEPTED.values(), outputs.to_dict("records"), strict=True):
        assert (row["p_ac"], row["s_algo"], row["s_robust"]) == (0.25, 3, 2), name
        assert row["repair"] == repair, name
        tokens = (None, None) if "usage" in name else (100, 20)
        assert (row["tokens_in"], row["tokens_out"]) == tokens, name


@pytest.mark.slow
@odd_types
def test_replies_that_hold_none_fail_with_their_class_and_a_reason_and_delay_nobody(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    cases = [(failure_class, name) for failure_class, bodies in FAILED.items() for name in bodies]
    bodies = [FAILED[failure_class][name] for failure_class, name in cases]
    started = time.monotonic()
    result = _ask_each(bodies, judge, provider, faults, loopback_judge, make_requests)
    assert time.monotonic() - started < 60
    assert not len(result.outputs), [cases[int(attempt_id, 16)] for attempt_id in result.outputs["attempt_id"]]
    told = {int(row["attempt_id"], 16): row for row in result.failures.to_dict("records")}
    for number, (failure_class, name) in enumerate(cases):
        assert (told[number]["class"], name) == (failure_class, name), told[number]["text"]
        assert told[number]["text"]
        assert told[number]["n_tries"] == 1


def test_an_answer_after_each_of_them_is_accepted_and_says_that_it_was_asked_again(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    provider.script(faults.Behaviour(body=FAILED["invalid"]["a key twice"].encode()), faults.valid())  # type: ignore[union-attr]
    result = judge(loopback_judge(), make_requests(1))
    assert result.outputs["repair"][0].startswith("asked again (the answer is not valid JSON (a key stands twice")


def test_a_truncated_answer_is_asked_for_with_the_larger_limit_and_one_that_spends_that_too_is_truncated(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, checkpoint: Checkpoint
) -> None:
    spent = completion(None, "length", reasoning_content="hm") | {
        "usage": USAGE | {"completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 50}}
    }
    settings = loopback_judge(max_output_tokens=50, repair_max_output_tokens=400, limits={"max_tries": 2})
    provider.script(faults.Behaviour(body=json.dumps(spent).encode()))
    failed = judge(settings, make_requests(1))
    assert [request.body["max_tokens"] for request in provider.requests] == [50, 400]
    assert (list(failed.failures["class"]), list(failed.failures["n_tries"])) == (["truncated"], [2])
    (hash_,) = checkpoint.hashes_of("loopback", failed.failures["attempt_id"][0])
    calls = checkpoint.calls("loopback", hash_)
    assert [(call["tokens_out"], call["tokens_reasoning"]) for call in calls] == [(50, 50), (50, 50)]
    provider.script(faults.valid())
    answered = judge(settings, make_requests(1))
    assert (list(answered.outputs["p_ac"]), provider.requests[-1].body["max_tokens"]) == ([0.25], 50)
    again = loopback_judge(max_output_tokens=50, repair_max_output_tokens=400, parameters={"seed": 1})
    before = len(provider.requests)
    provider.behave = lambda request, n: (
        faults.Behaviour(body=json.dumps(spent).encode()) if request.body["max_tokens"] == 50 else faults.valid()
    )
    assert list(judge(again, make_requests(1)).outputs["n_tries"]) == [2]
    assert [request.body["max_tokens"] for request in provider.requests[before:]] == [50, 400]


@pytest.mark.parametrize("name", ["content", "finish_reason", "choices"])
@pytest.mark.parametrize("transport", ["direct"])
def test_a_name_that_the_reply_gives_twice_is_not_chosen_from_on_the_direct_path(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, name: str
) -> None:
    other = {"content": OTHER, "finish_reason": "length", "choices": completion(OTHER)["choices"]}[name]
    text = twice(name, other)
    assert json.loads(text) == completion()  # what reading it by chance would make of it
    result = _ask_each([text], judge, provider, faults, loopback_judge, make_requests)
    assert list(result.failures["class"]) == ["infrastructure"]
    assert result.failures["text"][0] == f"the provider's reply gives {name!r} twice, with different values"


STATUSES: list[tuple[int, str, dict[str, str], str, int]] = [
    (302, "moved", {}, "infrastructure", 2),
    (304, "", {}, "infrastructure", 2),
    (400, "bad", {}, "rejected", 1),
    (400, "context_length_exceeded", {}, "too_long", 1),
    (400, "the response was filtered: content_filter", {}, "refusal", 1),
    (402, "pay", {}, "quota", 1),
    (403, "forbidden", {}, "authentication", 1),
    (405, "method", {}, "configuration", 1),
    (408, "time", {}, "infrastructure", 2),
    (409, "conflict", {}, "infrastructure", 2),
    (410, "this model is retired", {}, "configuration", 1),
    (413, "large", {}, "too_long", 1),
    (418, "tea", {}, "rejected", 1),
    (422, "unprocessable", {}, "rejected", 1),
    (425, "early", {}, "infrastructure", 2),
    (429, "slow", {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "rate_limit", 2),
    (429, "slow", {"Retry-After": "-10"}, "rate_limit", 2),
    (429, "slow", {"Retry-After": "inf"}, "rate_limit", 2),
    (429, "slow", {"Retry-After": "Wed, 99 Foo 2026 99:99:99 GMT"}, "rate_limit", 2),
    (429, "slow", {"Retry-After": "604800"}, "quota", 1),
    (429, "slow", {"Retry-After": "99999999999999999"}, "quota", 1),
    (429, "slow", {"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, "quota", 1),
    (500, "slow", {"Retry-After": "604800"}, "infrastructure", 1),
    (503, "daily maintenance", {}, "infrastructure", 2),
    (529, "overloaded", {}, "infrastructure", 2),
]


@pytest.mark.parametrize(("status", "message", "headers", "failure_class", "n_tries"), STATUSES)
@pytest.mark.parametrize("as_page", [False, True])
def test_each_status_has_its_class_whatever_its_body_is(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, status: int, message: str,
    headers: dict[str, str], failure_class: str, n_tries: int, as_page: bool,
) -> None:  # fmt: skip
    if as_page and failure_class in ("refusal", "too_long") and status == 400:
        pytest.skip("litellm does not tell what a page says")
    page = faults.Behaviour(status, f"<html>{message}</html>".encode(), "text/html", headers)
    provider.script(page if as_page else dataclasses.replace(faults.error(status, message), headers=headers))
    result = judge(loopback_judge(limits={"max_tries": 2}), make_requests(1))
    assert (list(result.failures["class"]), len(provider.requests)) == ([failure_class], n_tries)


@pytest.mark.parametrize(
    ("code", "failure_class"),
    [(401, "authentication"), ("invalid_api_key", "authentication"), ("insufficient_quota", "quota"),
     ("model_not_found", "configuration"), (404, "configuration")],
)  # fmt: skip
def test_an_error_under_status_200_stops_the_run_where_its_code_says_so(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, code: Any, failure_class: str
) -> None:
    provider.script(faults.Behaviour(body=json.dumps({"error": {"message": "no", "code": code}}).encode()))
    result = judge(loopback_judge(), make_requests(5))
    assert (set(result.failures["class"]), len(provider.requests)) == ({failure_class}, 1)


@pytest.mark.slow
@pytest.mark.parametrize("status", [200, 201, 206])
@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "image/png"])
def test_a_whole_answer_is_read_under_any_status_of_success_and_any_content_type(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any, status: int, content_type: str
) -> None:
    provider.script(faults.Behaviour(status, body().encode(), content_type))
    assert list(judge(loopback_judge(), make_requests(1)).outputs["p_ac"]) == [0.25]


def test_a_packed_reply_is_unpacked_and_a_broken_one_is_a_fault(
    judge: Any, provider: Any, faults: Any, loopback_judge: Any, make_requests: Any
) -> None:
    packed, headers = gzip.compress(body().encode()), {"Content-Encoding": "gzip"}
    provider.script(faults.Behaviour(body=packed[:60], headers=headers), faults.Behaviour(body=packed, headers=headers))
    result = judge(loopback_judge(), make_requests(1))
    assert list(result.outputs["n_tries"]) == [2]
