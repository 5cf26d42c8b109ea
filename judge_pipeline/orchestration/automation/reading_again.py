"""When a reading that failed is tried again by itself: a few times, after growing pauses, and then no more. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

PAUSES_MINUTES = (5, 30, 180)
"""How long is waited after the first, second and third try of one content. A disk or server may be back by then."""

MOST_TRIES = 1 + len(PAUSES_MINUTES)
"""Runs that a sensor starts in a row to read one content."""

MOST_RUNS = 30
"""Runs that are looked at; where so many have failed in a row, whoever started them, it waits for a person."""

TRY_TAG = "judge_pipeline/try"
"""Tag of a run that a sensor starts to read a folder: the how manieth it is of how many."""


@dataclass(frozen=True, slots=True)
class Try:
    """A run that read a folder, or was to.

    Attributes:
        run_id: its id.
        ended: when, in seconds since 1970; None: it goes on.
        failed: whether it failed, or its process is gone.
        cancelled: whether a person has stopped it.
        content: of one that a sensor started: the content for which it did; None: somebody else started it.
    """

    run_id: str
    ended: float | None
    failed: bool
    cancelled: bool = False
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """A further try.

    Attributes:
        at: from when on, in seconds since 1970.
        n_before: tries of sensors before it, ``MOST_TRIES`` at the most.
        after: id of the first run of those that failed in a row: what makes one row differ from another.
    """

    at: float
    n_before: int
    after: str


def next_try(content: str, tries: Sequence[Try], made_by: Try | None, *, changed: bool = False) -> Again | None:
    """The further try of a reading; None: it waits for the night, a person or a change.

    Args:
        content: of the folder.
        tries: runs of the job that reads it, newest first, ``MOST_RUNS`` at the most.
        made_by: the run that made half of what a reading of this content makes; None: nothing was made.
        changed: whether settings or program are others than when that half was made; then there is no pause, and what
            was tried often enough is tried once more.
    """
    row = list(takewhile(lambda one: one.failed and one.content in (None, content), tries))
    if len(row) >= MOST_RUNS:
        return None
    if not row and tries and tries[0].failed:  # of another content; this one was tried before that
        return Again(0.0, 0, tries[0].run_id)
    if not row and made_by is not None and made_by.content is None and not made_by.cancelled:
        row = [made_by]  # somebody made a part of the assets by hand, and left it at that
    if not row or row[0].ended is None:
        return None
    n_before = min(MOST_TRIES, sum(one.content == content for one in row))
    if changed:
        return Again(0.0, n_before, row[-1].run_id)
    if n_before == MOST_TRIES:
        return None
    return Again(row[0].ended + 60.0 * PAUSES_MINUTES[max(n_before, 1) - 1], n_before, row[-1].run_id)


def try_tag(n_before: int) -> str:
    """The value of the tag of a try, ``2 of 4``."""
    return f"{min(n_before + 1, MOST_TRIES)} of {MOST_TRIES}"


def what_follows(tag: str | None) -> str | None:
    """What is to be said of a try that failed: whether and when there is another; None: it is none of a sensor's."""
    number = (tag or "").partition(" ")[0]
    if not number.isdecimal() or int(number) < 1:
        return None
    if int(number) >= MOST_TRIES:
        return (
            f"no, this was the last of {MOST_TRIES} tries; it waits for the schedule retry_failed_runs, for you or "
            "for a change of the folder"
        )
    return f"yes, by itself, {PAUSES_MINUTES[int(number) - 1]} minutes later (this was try {tag})"
