"""How far an asking is, as figures and in the words that the terminal and a run's log show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judge_pipeline.judging.failures import FailureClass

_SECONDS_BEFORE_A_RATE = 1.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an asking is.

    Attributes:
        done: tasks answered.
        failed: tasks failed.
        total: all tasks.
        cost_usd: money of this asking so far, as far as it is priced.
        seconds: since it began.
        failures: class -> tasks failed with it.
        tried_again: class -> tries that failed with it and were, or will be, followed by another.
    """

    done: int
    failed: int
    total: int
    cost_usd: float
    seconds: float = 0.0
    failures: Mapping[FailureClass, int] = field(default_factory=dict)
    tried_again: Mapping[FailureClass, int] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether every task has ended."""
        return self.done + self.failed >= self.total

    def in_words(self) -> str:
        """``40 of 100, 4.0/s, 15 s left, 0.0123 USD, 2 failed (1 refusal, 1 truncated), tried again: 3 rate_limit``."""
        finished = self.done + self.failed
        parts = [f"{finished} of {self.total}"]
        if finished and self.seconds > _SECONDS_BEFORE_A_RATE:
            rate = finished / self.seconds
            parts += [f"{rate:.1f}/s", f"{_duration((self.total - finished) / rate)} left"]
        if self.cost_usd:
            parts.append(f"{self.cost_usd:.4f} USD")
        if self.failed:
            parts.append(
                f"{self.failed} failed ({_counts(self.failures)})" if self.failures else f"{self.failed} failed"
            )
        if self.tried_again:
            parts.append(f"tried again: {_counts(self.tried_again)}")
        return ", ".join(parts)


def _counts(of: Mapping[FailureClass, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(of.items(), key=lambda item: (-item[1], item[0])))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
