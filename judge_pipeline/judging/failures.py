"""How judging fails: the closed set of failure classes, and which of them can heal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FailureClass = Literal[
    "infrastructure", "rate_limit", "quota", "authentication", "configuration", "rejected", "too_long", "truncated",
    "refusal", "empty", "invalid", "no_record", "not_stored", "ceiling", "cancelled",
]  # fmt: skip

HEALING: frozenset[FailureClass] = frozenset({"infrastructure", "rate_limit", "truncated", "empty"})
"""Classes that a later try may heal by itself. ``invalid`` is asked again too, once, with the validation errors."""

STOPPING: frozenset[FailureClass] = frozenset({"quota", "authentication", "configuration", "ceiling"})
"""Classes that every further request would meet too: the judge is asked no more in this run."""

IN_WORDS: dict[FailureClass, str] = {
    "infrastructure": "the provider or the network failed (5xx, time-out, cut-off connection, no answer in the reply)",
    "rate_limit": "too many requests for the provider's limits",
    "quota": "the quota or the money at the provider is spent; run again when it is renewed",
    "authentication": "the key is missing or was refused",
    "configuration": "the provider does not know the model or a parameter",
    "rejected": "the provider refused this request as malformed",
    "too_long": "the request is longer than the model's context window",
    "truncated": "the answer was cut off at the token limit",
    "refusal": "the model or its filter declined to answer",
    "empty": "the answer was empty",
    "invalid": "the answer is not a valid judgment, also after one re-ask with the errors",
    "no_record": "the file of recorded outputs has no row for the attempt",
    "not_stored": "no answer is stored, and nothing may be asked (JUDGE_PIPELINE_ASK=never)",
    "ceiling": "the next call would pass a ceiling that judges.yaml sets",
    "cancelled": "the run, or its batch at the provider, was cancelled before an answer came",
}
"""What each class means, for reports and documentation."""


class JudgingError(RuntimeError):
    """Judging cannot start or go on for any attempt. The message names the judge or file and the remedy."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one attempt has no judgment.

    Attributes:
        failure_class: the class, one of ``FailureClass``.
        text: what happened, in words, without any secret.
    """

    failure_class: FailureClass
    text: str


class CallFailedError(Exception):
    """One try at a provider failed.

    Attributes:
        failure: class and text.
        retry_after_seconds: how long the provider asked to wait, where it said so.
    """

    def __init__(self, failure: Failure, retry_after_seconds: float | None = None) -> None:
        super().__init__(failure.text)
        self.failure = failure
        self.retry_after_seconds = retry_after_seconds
