"""When a judge is asked no more in this run, although each attempt failed for itself: the fault is not the attempts'.

Two rules, of which either stops the asking (``limits.stop_after_failures`` is N):

- nothing was answered in this run yet, and the last N attempts failed in one class;
- the last N attempts, and at least as many as calls may be in flight, used up their tries on a provider that failed,
  refused for its rate limits or sent nothing.

Attempts count in the order in which they end. An answer starts the count anew. The attempts that are left are failures
of that class after no try; the next run asks for them.
"""

from __future__ import annotations

from judge_pipeline.judging.failures import Failure, FailureClass
from judge_pipeline.settings import Limits

_OF_THE_PROVIDER: frozenset[FailureClass] = frozenset({"infrastructure", "rate_limit", "empty"})


class Circuit:
    """Counts the attempts of one asking that failed in a row."""

    def __init__(self, limits: Limits) -> None:
        self._n = limits.stop_after_failures
        self._n_in_flight = max(limits.stop_after_failures, limits.max_in_flight)
        self._has_answers = False
        self._class: FailureClass | None = None
        self._of_class = 0
        self._of_provider = 0

    def answered(self) -> None:
        """An attempt was answered."""
        self._has_answers = True
        self._class, self._of_class, self._of_provider = None, 0, 0

    def failed(self, failure: Failure) -> Failure | None:
        """An attempt that was asked has failed; why nothing more is to be asked, once that is so."""
        failure_class = failure.failure_class
        self._of_class = self._of_class + 1 if failure_class == self._class else 1
        self._of_provider = self._of_provider + 1 if failure_class in _OF_THE_PROVIDER else 0
        self._class = failure_class
        if failure_class in _OF_THE_PROVIDER and self._of_provider >= self._n_in_flight:
            words = f"the provider seems to be down: the last {self._of_provider} attempts that were asked failed"
        elif not self._has_answers and self._of_class >= self._n:
            words = f"the first {self._of_class} attempts all failed in the same way, and none was answered"
        else:
            return None
        return Failure(
            failure_class,
            f"asking stopped: {words} (limits.stop_after_failures: {self._n}). The last: {failure.text}",
        )
