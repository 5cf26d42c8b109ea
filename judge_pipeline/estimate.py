"""An estimate: the only form in which a figure leaves the pipeline.

Every number in a table, in JSON or in the report is a value with the count behind it, the count left out, its
interval, and, where the value is undefined or weak, the reason in words. A bare number is never printed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with what is needed to trust it.

    Attributes:
        value: the figure, or None where it is undefined (then ``reason`` says why).
        n: how many observations it rests on.
        n_left_out: how many observations were offered and not used (not judged, no label, incomplete).
        ci95: 95% interval (low, high), or None where it cannot be had.
        reason: why the value is None, or a warning about a value that is there; None where nothing is to be said.

    Raises:
        ValueError: a None value without a reason, a value that is not finite, or a negative count.
    """

    value: float | None
    n: int
    n_left_out: int = 0
    ci95: tuple[float, float] | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise ValueError("an estimate without a value needs a reason")
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"an estimate's value must be finite or None, not {self.value!r}")
        if self.n < 0 or self.n_left_out < 0:
            raise ValueError(f"counts cannot be negative: n={self.n}, n_left_out={self.n_left_out}")

    @classmethod
    def undefined(cls, reason: str, n: int = 0, n_left_out: int = 0) -> Estimate:
        """An estimate whose value does not exist, and why."""
        return cls(None, n, n_left_out, None, reason)

    def to_json(self) -> dict[str, Any]:
        """The estimate as plain JSON values; ``ci95`` is a list of two numbers or null."""
        return {
            "value": self.value,
            "n": self.n,
            "n_left_out": self.n_left_out,
            "ci95": None if self.ci95 is None else [self.ci95[0], self.ci95[1]],
            "reason": self.reason,
        }

    def to_row(self) -> dict[str, Any]:
        """The estimate as the columns that every metric table shares (``tables.ESTIMATE_COLUMNS``)."""
        low, high = self.ci95 if self.ci95 is not None else (None, None)
        return {
            "value": self.value,
            "n": self.n,
            "n_left_out": self.n_left_out,
            "ci95_low": low,
            "ci95_high": high,
            "reason": self.reason,
        }
