"""When a provider may next be asked: its queue of turns, a row in the store that all take theirs from."""

from __future__ import annotations

import logging
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from judge_pipeline.judging.checkpoint.tables import PROVIDER_TURNS

LONGEST_QUEUE_TURNS = 1000
_LONGEST_QUEUE_SECONDS = 60.0
_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
_LOGGER = logging.getLogger(__name__)


def take_turn(connection: sa.Connection, provider: str, now: float, seconds: float, longest_queue: int) -> float:
    """Take the provider's next turn; a queue that is too long to be one is dropped, and that is logged.

    Args:
        connection: in the transaction that takes it.
        provider: whose turn it is.
        now: seconds since 1970, on the store's clock; no turn lies before it.
        seconds: until the turn after this one.
        longest_queue: turns that may be waited for at once; a queue of less than a minute is never too long.

    Returns:
        When the turn is, on the store's clock.
    """
    turns, longest = PROVIDER_TURNS.c, max(_LONGEST_QUEUE_SECONDS, longest_queue * seconds)
    free_at = connection.execute(sa.select(turns.free_at).where(turns.provider == provider)).scalar()
    start = sa.case((turns.free_at.between(now, now + longest), turns.free_at), else_=now)
    insert = _INSERTS[connection.dialect.name](PROVIDER_TURNS).values(provider=provider, free_at=now + seconds)
    taken = insert.on_conflict_do_update(index_elements=["provider"], set_={"free_at": start + seconds})
    after: float = connection.execute(taken.returning(turns.free_at)).scalar_one()
    if free_at is not None and free_at > now + longest:
        _LOGGER.warning(
            "the next turn at provider %s stood %.0f s ahead; calls under way make a queue of %.0f s at most, so it is "
            "from before a clock was set back. The queue is dropped, and turns begin now",
            provider, free_at - now, longest,
        )  # fmt: skip
    return after - seconds


def moved_turns(provider: str, seconds: float) -> sa.Update:
    """The statement that moves the provider's next turn by so many seconds, later or earlier."""
    turns = PROVIDER_TURNS
    return sa.update(turns).where(turns.c.provider == provider).values(free_at=turns.c.free_at + seconds)
