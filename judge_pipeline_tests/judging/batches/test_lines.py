from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.batches.lines import input_line, read_lines
from judge_pipeline.settings import Price

PRICE = Price(input_usd_per_million_tokens=10.0, output_usd_per_million_tokens=100.0)
WANTED = ("a", "b", "c")


def completion(custom_id: str, text: str = "{}", **changes: Any) -> dict[str, Any]:
    body = {
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20},
    }
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "x", "custom_id": custom_id, "response": response, "error": None} | changes


def refused(custom_id: str, status: int, message: str) -> dict[str, Any]:
    return completion(custom_id, response={"status_code": status, "body": {"error": {"message": message}}})


def jsonl(*lines: Any) -> bytes:
    return b"\n".join(json.dumps(line).encode() for line in lines)


def test_a_completion_is_read_as_a_reply() -> None:
    reply = read_lines([jsonl(completion("a", "hello"))], WANTED, PRICE).results["a"].reply
    assert reply is not None
    assert (reply.text, reply.finish_reason, reply.model, reply.provider_request_id) == ("hello", "stop", "m", "r")
    assert (reply.tokens_in, reply.tokens_out, reply.cost_usd) == (100, 20, (100 * 10 + 20 * 100) / 1e6)


def test_errors_have_the_class_that_the_same_status_has_elsewhere() -> None:
    lines = [
        refused("a", 429, "slow down"), refused("b", 400, "maximum context length is 8192"),
        completion("c", response=None, error={"code": "batch_expired", "message": "not executed"}),
    ]  # fmt: skip
    results = read_lines([jsonl(*lines)], WANTED, PRICE).results
    classes = {hash_: result.failure and result.failure.failure_class for hash_, result in results.items()}
    assert classes == {"a": "rate_limit", "b": "too_long", "c": "infrastructure"}
    expired = results["c"].reply
    assert expired is not None and expired.cost_usd == 0.0  # it was never run


def test_a_status_200_that_holds_no_completion_is_a_failure() -> None:
    lines = [
        completion("a", response={"status_code": 200, "body": "not an object"}),
        completion("b", response={"status_code": 200, "body": {"choices": []}}),
        completion("c", response=None, error=None),
    ]
    results = read_lines([jsonl(*lines)], WANTED, PRICE).results
    assert {result.failure.failure_class for result in results.values() if result.failure} == {"infrastructure"}
    assert len(results) == 3


def test_the_same_completion_twice_counts_once_and_an_error_beside_it_not_at_all() -> None:
    read = read_lines([jsonl(refused("a", 500, "x"), completion("a", "1"), completion("a", "1"))], WANTED, PRICE)
    assert read.n_doubled == 2
    assert read.results["a"].failure is None and read.results["a"].reply is not None
    differ = read_lines([jsonl(completion("a", "1"), completion("a", "2"))], WANTED, PRICE)
    assert "two different completions" in str(differ.results["a"].failure)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
lines = st.fixed_dictionaries(
    {"custom_id": st.sampled_from([*WANTED, "stranger"]) | values},
    optional={
        "response": values
        | st.fixed_dictionaries({"status_code": st.sampled_from([200, 500, "x", None]), "body": values}),
        "error": values,
    },
)


@given(st.lists(st.one_of(lines.map(lambda line: json.dumps(line).encode()), st.binary(max_size=30)), max_size=8))
def test_whatever_the_files_hold_every_line_is_counted_once(written: list[bytes]) -> None:
    written = [line.replace(b"\n", b"") for line in written]
    read = read_lines([b"\n".join(written)], WANTED, PRICE)
    n_lines = sum(bool(line.strip()) for line in written)
    assert n_lines == len(read.results) + read.n_doubled + read.n_unknown + read.n_unreadable
    assert read.results.keys() <= set(WANTED)
    assert all(result.reply is not None or result.failure is not None for result in read.results.values())


def test_an_input_line_is_one_line_whatever_the_text() -> None:
    line = input_line("h", "/v1/chat/completions", {"messages": [{"content": "a\nb\u2028\ud800"}]})
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert json.loads(line)["custom_id"] == "h"
