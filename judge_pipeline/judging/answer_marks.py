"""What a model's text says of itself: where its thinking begins and ends, and that it declines to answer."""

from __future__ import annotations

import re

_THINKING = r"think|thinking|thought|reasoning"

THINKING_OPENS = re.compile(rf"<({_THINKING})>", re.IGNORECASE)
"""Where thinking begins."""

THINKING_CLOSES = re.compile(rf"</({_THINKING})>", re.IGNORECASE)
"""Where thinking ends."""

_REFUSAL = re.compile(
    r"\W*(i['’]?m|i am|we['’]re)?\s*(very |so |truly )?(sorry|unable to|not able to)\b"
    r"|\W*(sorry[,.]? )?(but )?i (can['’]?t|cannot|can not|won['’]?t|will not|must decline)\b"
    r"|\W*as an ai\b",
    re.IGNORECASE,
)
_REFUSAL_CHARS = 200


def declines(text: str) -> bool:
    """Whether a text that holds no answer begins as a refusal does."""
    return _REFUSAL.match(text[:_REFUSAL_CHARS]) is not None
