"""How much of a contest or preference set may go out in an audit bundle."""

from __future__ import annotations

from typing import Literal, get_args

Level = Literal["redacted", "full"]

LEVELS: tuple[Level, ...] = get_args(Level)

BUNDLE_WORDS = (
    "How much an audit bundle holds. redacted: no raw files, people under pseudonyms, texts as judges were sent them; "
    "full: everything, with names, except who has withdrawn"
)
"""What the setting ``bundle`` means."""
