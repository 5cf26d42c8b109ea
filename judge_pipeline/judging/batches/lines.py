"""The lines of a batch's files, in OpenAI's form: written from requests, read into replies. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge_pipeline.judging.backends.base import Reply
from judge_pipeline.judging.backends.direct_backend import reply_of
from judge_pipeline.judging.backends.pooled_http import refused
from judge_pipeline.judging.backends.provider_errors import classify
from judge_pipeline.judging.failures import CallFailedError, Failure, FailureClass
from judge_pipeline.settings import Price

NOT_RUN: Mapping[str, FailureClass] = {"batch_expired": "infrastructure", "batch_cancelled": "cancelled"}
"""Codes of lines that were never run, hence not billed -> the class of their failure."""


@dataclass(frozen=True, slots=True)
class LineResult:
    """What a batch's files say of one request: a reply, or why there is none, or (a line that was not run) both.

    Attributes:
        reply: what the provider returned; without text where nothing was run, and its cost is 0.
        failure: why there is no reply to read; None where there is one.
    """

    reply: Reply | None
    failure: Failure | None = None


@dataclass
class ReadLines:
    """What a batch's files hold.

    Attributes:
        results: request hash -> what they say of it.
        n_unreadable: lines that are no JSON object with a custom_id.
        n_unknown: lines for requests that are not (or no longer) in the batch.
        n_doubled: lines beyond the first for a request.
    """

    results: dict[str, LineResult] = field(default_factory=dict)
    n_unreadable: int = 0
    n_unknown: int = 0
    n_doubled: int = 0


def input_line(request_hash: str, url: str, body: Mapping[str, Any]) -> bytes:
    """The line that asks one request; the hash is its custom_id."""
    line = {"custom_id": request_hash, "method": "POST", "url": url, "body": body}
    return json.dumps(line).encode("ascii") + b"\n"


def read_lines(contents: Sequence[bytes], wanted: Collection[str], price: Price | None) -> ReadLines:
    """The output and error file of a batch, in whatever order their lines are.

    Where several lines are for one request, a completion counts before an error; two completions that differ are a
    failure, as two different choices of one reply are.

    Args:
        contents: the files.
        wanted: the request hashes that the batch was made of.
        price: of the model, discount taken off; None where it is unknown.
    """
    found = ReadLines()
    for line in _lines(contents):
        parsed = _parsed(line)
        if parsed is None:
            found.n_unreadable += 1
            continue
        custom_id = parsed["custom_id"]
        if custom_id not in wanted:
            found.n_unknown += 1
            continue
        result = _result(parsed, price)
        before = found.results.get(custom_id)
        found.n_doubled += before is not None
        found.results[custom_id] = result if before is None else _of_two(before, result)
    return found


def _lines(contents: Sequence[bytes]) -> Iterator[bytes]:
    for content in contents:
        yield from (line for line in content.split(b"\n") if line.strip())


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) and isinstance(parsed.get("custom_id"), str) else None


def _result(line: Mapping[str, Any], price: Price | None) -> LineResult:
    response = line.get("response")
    if not isinstance(response, dict):
        return _not_run(line.get("error"))
    status = response.get("status_code")
    body = json.dumps(response.get("body")).encode("ascii")
    request_id = response.get("request_id")
    try:
        if status != 200:
            raise refused(status if isinstance(status, int) else 0, {}, body)
        return LineResult(reply_of(body, request_id if isinstance(request_id, str) else None, price, {}))
    except CallFailedError as error:
        return LineResult(None, error.failure)


def _not_run(error: Any) -> LineResult:
    code = error.get("code") if isinstance(error, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    words = f"{message or 'the line holds neither a response nor an error'}" + (f" ({code})" if code else "")
    if isinstance(code, str) and code in NOT_RUN:
        return LineResult(Reply(None, None, cost_usd=0.0), Failure(NOT_RUN[code], words))
    return LineResult(None, classify(None, words).failure)


def _of_two(first: LineResult, second: LineResult) -> LineResult:
    if first.failure is not None or second.failure is not None:
        return second if first.failure is not None and second.failure is None else first
    assert first.reply is not None and second.reply is not None  # a result without a failure has one
    if first.reply.text == second.reply.text:
        return first
    return LineResult(
        first.reply, Failure("infrastructure", "the batch's files hold two different completions for the request")
    )
