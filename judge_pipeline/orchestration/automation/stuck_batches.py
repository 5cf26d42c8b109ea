"""Which open batches have not moved for too long, and what is said of them. Pure: what was seen before is handed over.

Providers answer a batch within a day, or let it expire. One that does neither waits for ever, and with it its requests:
that is for a person to look at.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from judge_pipeline.orchestration.automation.failure_messages import Message, one_line

if TYPE_CHECKING:
    from judge_pipeline.judging.batches.store import BatchRow

_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Watch:
    """What is remembered of an open batch.

    Attributes:
        at: how far it was: state, status, and what was done.
        since: when it came so far, in seconds since 1970.
        told: way (``log``, or a channel to people) -> how many times the longest time had passed when that was told.
    """

    at: str
    since: float
    told: Mapping[str, int] = field(default_factory=dict)

    def told_by(self, way: str, n_periods: int) -> Watch:
        """The same, once a way has been told."""
        return replace(self, told={**self.told, way: n_periods})


@dataclass(frozen=True, slots=True)
class Stuck:
    """A batch that has not moved for too long.

    Attributes:
        row: the batch.
        hours: for how long.
        n_periods: how many times the longest time fits into that, 1 or more.
    """

    row: BatchRow
    hours: float
    n_periods: int


def read_watches(cursor: str | None) -> dict[str, Watch]:
    """What a cursor remembers, by the batches' tokens; nothing where it is none of ours."""
    try:
        return {token: Watch(**watch) for token, watch in json.loads(cursor or "{}").items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def written(watches: Mapping[str, Watch]) -> str:
    """The cursor that remembers them."""
    return json.dumps({token: asdict(watch) for token, watch in sorted(watches.items())}, separators=(",", ":"))


def watched(before: Mapping[str, Watch], rows: Iterable[BatchRow], now: float) -> dict[str, Watch]:
    """What is to be remembered after a look. A batch that is new, and one that has moved, begin anew.

    Args:
        before: what was remembered; where it is lost, a batch of which nothing is done counts from its last step.
        rows: the open batches, as the look has found them.
        now: in seconds since 1970; where the clock was set back, the time begins anew.
    """
    found = {}
    for row in rows:
        at = f"{row.state} {row.status} {row.n_completed or 0} {row.n_failed or 0} {row.n_collections}"
        known = before.get(row.token)
        if known is None or known.at != at:
            known = Watch(at, now if known is not None or row.n_completed else _last_step(row))
        found[row.token] = known if known.since <= now else Watch(at, now)
    return found


def stuck(rows: Iterable[BatchRow], watches: Mapping[str, Watch], hours: float, now: float) -> list[Stuck]:
    """The batches that have not moved for so many hours, in their order."""
    passed = [(row, (now - watches[row.token].since) / 3600.0) for row in rows]
    return [Stuck(row, since, int(since // hours)) for row, since in passed if since >= hours]


def stuck_message(batches: Sequence[Stuck], *, with_words: bool = True) -> Message:
    """What people are told of batches that do not move.

    Args:
        batches: them, one or more.
        with_words: whether to say what the last look at the provider brought.
    """
    subject = f"judge_pipeline: {len(batches)} batch{'es' if len(batches) > 1 else ''} at a provider not moving"
    lines = [in_words(one, with_words=with_words) for one in batches[:_MOST_NAMED]]
    further = [f"and {len(batches) - _MOST_NAMED} more"] if len(batches) > _MOST_NAMED else []
    return Message(subject, "\n".join([subject, *lines, *further]), (), event="batches_stuck")


def in_words(one: Stuck, *, with_words: bool = True) -> str:
    """A line on a batch, with the command to look."""
    row = one.row
    error = f" ({one_line(row.error, 200)})" if row.error and with_words else ""
    command = shlex.join(["judge-pipeline", "batches", row.contest, "--judges", row.judge])
    return (
        f"contest {row.contest}, judge {row.judge}: {row.status or row.state}, {row.n_completed or 0} of "
        f"{row.n_requests} done, nothing new for {one.hours:.0f} hours{error}. Look: {command}"
    )


def _last_step(row: BatchRow) -> float:
    return datetime.fromisoformat(row.submitted_at or row.creating_at or row.prepared_at).timestamp()
