"""What a provider's error means: its failure class, and how long the provider asked to wait. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from judge_pipeline.judging.failures import CallFailedError, Failure, FailureClass
from judge_pipeline.judging.pacing.limits import LONGEST_RETRY_AFTER_SECONDS

_TEXT_CHARS = 1500

_SPENT = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|credit balance|out of credits?|billing|payment required"
    r"|hard[_ ]limit|spend(ing)? limit|per[_ -]?day|daily|per[_ -]?month|monthly",
    re.IGNORECASE,
)
_EXCEEDED_QUOTA = re.compile(r"exceeded your current quota", re.IGNORECASE)
_PER_MINUTE = re.compile(r"per[_ -]?minute|requests per min|tokens per min|\b[rt]pm\b", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size)|maximum context|maximum model length|prompt is too long"
    r"|input (token count|is too long)"
    r"|too many tokens",
    re.IGNORECASE,
)
_DECLINED = re.compile(r"content[_ ](policy|filter)|safety|responsible ai|flagged", re.IGNORECASE)
_RETRY_DELAY = re.compile(r"""["']?retry_?delay["']?\s*:\s*["']?(\d+(?:\.\d+)?)s""", re.IGNORECASE)
_ORDINARY = {
    401: "authentication", 402: "quota", 403: "authentication",
    404: "configuration", 405: "configuration", 410: "configuration",
}  # fmt: skip
_PASSING = frozenset({408, 409, 421, 423, 424, 425, 449, 499})
_STATUS_OF_CODE = {
    "rate_limit": 429, "rate_limit_error": 429, "rate_limit_exceeded": 429, "rate_limited": 429,
    "too_many_requests": 429, "resource_exhausted": 429,
    "insufficient_quota": 402, "insufficient_balance": 402, "billing_error": 402,
    "invalid_api_key": 401, "authentication_error": 401, "unauthorized": 401, "unauthenticated": 401,
    "permission_denied": 403, "permission_error": 403,
    "model_not_found": 404, "not_found_error": 404,
    "context_length_exceeded": 400, "content_filter": 400, "content_policy_violation": 400,
    "invalid_request_error": 400,
}  # fmt: skip
"""What servers call an error in words, where they report it under status 200."""


def classify(
    status: int | None, text: str, headers: Mapping[str, str] | None = None, *, now: datetime | None = None
) -> CallFailedError:
    """The failure behind an HTTP status and an error text; a missing status means that no reply came.

    A 429 is a rate limit, which waiting heals, or a spent quota, which it does not: the words of the error, and a
    wait longer than ``LONGEST_RETRY_AFTER_SECONDS``, tell them apart.
    """
    text = text[:_TEXT_CHARS]
    retry_after = retry_after_seconds(headers or {}, text, now or datetime.now(UTC))
    failure_class = _class_of(status, text, retry_after)
    return CallFailedError(Failure(failure_class, text), retry_after if failure_class != "quota" else None)


def status_of_code(*codes: Any) -> int | None:
    """The HTTP status that the first telling one of an error's codes stands for; None where none does.

    Args:
        codes: an error object's ``code`` and ``type``, whatever they are: 429, "429", "rate_limit_exceeded".
    """
    for code in codes:
        status = code
        if isinstance(code, str):
            status = int(code) if re.fullmatch(r"[45]\d\d", code) else _STATUS_OF_CODE.get(code.lower())
        if isinstance(status, int) and 400 <= status < 600:
            return status
    return None


def _class_of(status: int | None, text: str, retry_after: float | None) -> FailureClass:
    if status == 429:
        return "quota" if _is_spent(text, retry_after) else "rate_limit"
    if status in _ORDINARY:
        return _ORDINARY[status]  # type: ignore[return-value]
    if status is not None and 400 <= status < 500 and status not in _PASSING:
        if _TOO_LONG.search(text) or status == 413:
            return "too_long"
        if _DECLINED.search(text):
            return "refusal"
        return "quota" if _SPENT.search(text) else "rejected"
    return "infrastructure"


def _is_spent(text: str, retry_after: float | None) -> bool:
    if retry_after is not None and retry_after > LONGEST_RETRY_AFTER_SECONDS:
        return True
    if _SPENT.search(text):
        return True
    return bool(_EXCEEDED_QUOTA.search(text)) and retry_after is None and not _PER_MINUTE.search(text)


def retry_after_seconds(headers: Mapping[str, str], text: str, now: datetime) -> float | None:
    """Seconds that the provider asked to wait: Retry-After-Ms, Retry-After (seconds or a date), or Google's retryDelay.

    None where it did not say, or said nothing that can be read.
    """
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    milliseconds = _number(lower.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    value = lower.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    if value is not None:
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            return None
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - now).total_seconds())
    delay = _RETRY_DELAY.search(text)
    return float(delay[1]) if delay else None


def _number(value: str | None) -> float | None:
    if value is None or not re.fullmatch(r"\s*\d{1,18}(\.\d*)?\s*", value):
        return None
    return float(value)
