"""What providers' errors mean. The texts are in the manner of real ones."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from judge_pipeline.judging.backends.provider_errors import classify, retry_after_seconds, status_of_code

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "text", "headers", "failure_class"),
    [
        (429, "Rate limit reached for requests per min (RPM)", {}, "rate_limit"),
        (429, "slow down", {"Retry-After": "3"}, "rate_limit"),
        (429, "slow down", {"retry-after": "86400"}, "quota"),
        (429, "You exceeded your current quota, please check your plan (insufficient_quota)", {}, "quota"),
        (429, "You exceeded your current quota. GenerateRequestsPerMinutePerProject retryDelay: 34s", {}, "rate_limit"),
        (429, "You exceeded your current quota. GenerateRequestsPerDayPerProject", {}, "quota"),
        (402, "Insufficient Balance", {}, "quota"),
        (400, "Your credit balance is too low to access the API", {}, "quota"),
        (401, "Incorrect API key", {}, "authentication"),
        (403, "no access to this project", {}, "authentication"),
        (404, "The model does not exist", {}, "configuration"),
        (400, "This model's maximum context length is 8192 tokens", {}, "too_long"),
        (400, "prompt is too long: 250000 tokens > 200000 maximum", {}, "too_long"),
        (400, "The decoder prompt (length 9000) is longer than the maximum model length of 8192.", {}, "too_long"),
        (413, "payload", {}, "too_long"),
        (400, "Output blocked by content filtering policy: content_filter", {}, "refusal"),
        (400, "Unrecognized request argument", {}, "rejected"),
        (422, "Unprocessable", {}, "rejected"),
        (500, "oops", {}, "infrastructure"),
        (502, "", {}, "infrastructure"),
        (529, "Overloaded", {}, "infrastructure"),
        (408, "timeout", {}, "infrastructure"),
        (405, "method not allowed", {}, "configuration"),
        (410, "gone", {}, "configuration"),
        (418, "tea", {}, "rejected"),
        (409, "conflict", {}, "infrastructure"),
        (304, "", {}, "infrastructure"),
        (429, "slow down", {"retry-after": "99999999999999999"}, "quota"),
        (None, "Connection refused", {}, "infrastructure"),
    ],
)
def test_each_error_has_its_class(status: int | None, text: str, headers: dict[str, str], failure_class: str) -> None:
    assert classify(status, text, headers, now=NOW).failure.failure_class == failure_class


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({"Retry-After": "7"}, "", 7.0),
        ({"retry-after": "0.5"}, "", 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}, "", 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, "", 0.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "-5"}, "", None),
        ({"retry-after": "nan"}, "", None),
        ({}, '"retryDelay": "34.5s"', 34.5),
        ({}, "", None),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], text: str, seconds: float | None) -> None:
    assert retry_after_seconds(headers, text, NOW) == seconds


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        ((429,), 429), (("429",), 429), (("rate_limit_exceeded",), 429), ((None, "rate_limit_error"), 429),
        (("insufficient_quota",), 402), (("Invalid_API_Key",), 401), (("model_not_found",), 404),
        (("whatever", 500), 500),
        ((), None), ((None,), None), ((True,), None), ((7,), None), (("007",), None), (([429],), None), (("x",), None),
    ],
)  # fmt: skip
def test_codes_of_errors_stand_for_a_status(codes: tuple[object, ...], status: int | None) -> None:
    assert status_of_code(*codes) == status


def test_long_error_texts_are_cut() -> None:
    assert len(classify(500, "x" * 100_000).failure.text) < 2000
