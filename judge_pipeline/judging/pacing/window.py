"""How many calls a provider may have under way, and how processes share them: the arithmetic alone.

A window narrows to half on a rate limit and widens by 1 / window with each reply (additive increase, multiplicative
decrease). Each process holds a share of it: calls that it may start without asking anybody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge_pipeline.judging.pacing.limits import LONGEST_RETRY_AFTER_SECONDS

FORGOTTEN_AFTER_SECONDS = 60.0
"""A narrowed window that nobody has used for so long says nothing of the provider's present mood."""

LONGEST_CLOSED_SECONDS = LONGEST_RETRY_AFTER_SECONDS + 60.0
"""No provider is closed for longer, but for what clocks differ by: a longer Retry-After is a spent quota, and a time
further ahead was told by a clock that was wrong."""

SECONDS_A_TURN = 2.0
"""How long one process holds a call that does not divide evenly; then it is the next one's."""


@dataclass(frozen=True, slots=True)
class Window:
    """Calls that a provider may have under way. Times are seconds since 1970 on the store's clock.

    Attributes:
        calls: how many; None where no rate limit has narrowed it, so that the judges' own maximum holds.
        narrowed_at: when it was last halved.
        closed_until: before this the provider asked not to be asked (Retry-After).
        renewed_at: when a process last used it.
    """

    calls: float | None = None
    narrowed_at: float = 0.0
    closed_until: float = 0.0
    renewed_at: float = 0.0

    def capacity(self, maximum: int) -> int:
        """Whole calls under way at most, 1 or more."""
        return maximum if self.calls is None else max(1, min(maximum, int(self.calls)))


@dataclass(frozen=True, slots=True)
class News:
    """What a process has to say of itself when it renews its share.

    Attributes:
        holds: calls that it may have under way now, or has, whichever is more.
        wanted: calls that it could make use of.
        maximum: calls under way that its judges may have.
        replies: replies since it last said so.
        limited: when the latest of its calls started that met a rate limit since then; None where none did.
        closed_until: as the provider told it; 0 where it did not.
    """

    holds: int
    wanted: int
    maximum: int
    replies: int = 0
    limited: float | None = None
    closed_until: float = 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """A process's part of a window.

    Attributes:
        process: whose it is.
        calls: calls that it may have under way.
        wanted: calls that it could make use of.
        maximum: calls under way that its judges may have.
    """

    process: str
    calls: int
    wanted: int
    maximum: int


def window_after(window: Window, news: News, maximum: int, now: float) -> Window:
    """The window once a process has told its news.

    A rate limit of a call that was under way when the window was last halved says nothing new, and does not halve it
    again. A window that has reached the maximum is open. Times that lie further ahead than they can, since a clock was
    set back, say nothing.

    Args:
        window: as it was.
        news: the process's.
        maximum: the most calls that the judges of any live process may have under way.
        now: the time.
    """
    forgotten = abs(now - window.renewed_at) > FORGOTTEN_AFTER_SECONDS
    calls = None if forgotten else window.calls
    narrowed_at = min(window.narrowed_at, now)
    if news.limited is not None and news.limited > narrowed_at:
        calls, narrowed_at = max(1.0, min(calls or maximum, maximum) / 2.0), now
    elif calls is not None and news.replies:
        calls = math.sqrt(calls * calls + 2.0 * news.replies)  # so many steps of 1 / calls
    if calls is not None and calls >= maximum:
        calls = None
    return Window(calls, narrowed_at, max(closing(window.closed_until, now), news.closed_until), now)


def closing(closed_until: float, now: float) -> float:
    """Until when a provider is closed; 0 where the time lies further ahead than it can."""
    return closed_until if closed_until - now <= LONGEST_CLOSED_SECONDS else 0.0


def target_of(process: str, shares: Sequence[Share], capacity: int, now: float) -> int:
    """The calls that a process should hold, of all live ones in ``shares``, its own among them.

    Alone it may have all. Otherwise nobody gets more than it wants while others want more than they have; what does
    not divide evenly goes round.
    """
    others = [share for share in shares if share.process != process]
    if not others:
        return capacity
    left, hungry = capacity, sorted(shares, key=lambda share: (share.wanted, share.process))
    of: dict[str, int] = {}
    while hungry and hungry[0].wanted * len(hungry) <= left:
        share = hungry.pop(0)
        of[share.process] = share.wanted
        left -= share.wanted
    if hungry:
        even, rest = divmod(left, len(hungry))
        by_name = sorted(share.process for share in hungry)
        first = int(now / SECONDS_A_TURN) % len(by_name)
        for place, name in enumerate(by_name[first:] + by_name[:first]):
            of[name] = even + (place < rest)
    return of[process]


def granted(process: str, shares: Sequence[Share], capacity: int, now: float) -> tuple[Share, int]:
    """The process's share as it is to be kept, and how many calls it may have under way from now on.

    Nobody is given what another still holds. Where a process is to have less, it is told so at once, but holds what it
    holds until it has said that it started no more: so the shares together never pass the window, whoever is when
    at it.

    Args:
        process: who asks.
        shares: of all live processes, its own with what it holds now.
        capacity: of the window.
        now: the time.
    """
    own = next(share for share in shares if share.process == process)
    free = capacity - sum(share.calls for share in shares if share.process != process)
    allowed = max(0, min(target_of(process, shares, capacity, now), free))
    return replace(own, calls=max(own.calls, allowed)), allowed
