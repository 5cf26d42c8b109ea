"""What one look of a sensor over runs came to: where the next one begins, and what the tick says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """What a look for runs that ended or failed came to.

    Attributes:
        cursor: from where the next one looks.
        words: what was done, for the tick's page.
    """

    cursor: str
    words: str
