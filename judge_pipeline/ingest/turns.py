"""The order of the attempts within a trajectory, and what it rests on.

Order decides results (facts.md, "Turn order"): a newest-first list read as oldest-first puts rejections behind the
first AC. So the order is by instant; what has none keeps its place in a list, after its submission id, or by its file's
name, and each attempt says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

OrderSource = Literal["instant", "submission_id", "list_position", "file_name"]

NaturalKey = tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """What the order of an attempt may rest on.

    Attributes:
        instant: when it was submitted, where known.
        submission_id: the contest site's id, where known.
        path: the artifact that it was read from.
        row: its row in that artifact, from 1; None where the artifact is one submission.
        newest_first: whether that artifact lists the newest submission first.
    """

    instant: datetime | None
    submission_id: str | None
    path: str
    row: int | None
    newest_first: bool = True


def order_trajectory(rows: Sequence[TurnRow]) -> list[tuple[int, OrderSource]]:
    """The order of a trajectory's attempts.

    All with an instant: by instant, ties by submission id, then by file name and place in the list. Otherwise by the
    first of these that all attempts have: a submission id that is a number, a place in one list, a file name (numbers
    in it by value). Attempts that do have an instant then change places among themselves so as not to contradict it.

    Returns:
        For each turn from 1, the index of the attempt in ``rows`` and what its place rests on.
    """
    timed = [i for i, row in enumerate(rows) if row.instant is not None]
    if len(timed) == len(rows):
        return [(i, "instant") for i in _by_instant(rows, timed)]
    source, order = _without_instants(rows)
    by_time = iter(_by_instant(rows, timed))
    return [(next(by_time), "instant") if rows[i].instant is not None else (i, source) for i in order]


def lists_newest_first(rows: Iterable[tuple[int, datetime | None, str | None]]) -> bool:
    """Whether a list shows the newest submission first, by the instants, else the numeric ids, that it holds.

    Args:
        rows: row number, instant and submission id of each submission in the list.

    Returns:
        True also where the list does not tell: contest sites list so.
    """
    ordered = sorted(rows, key=lambda row: row[0])
    instants = [instant.timestamp() for _, instant, _ in ordered if instant is not None]
    ids = [float(number) for _, _, text in ordered if (number := _number(text)) is not None]
    for values in (instants, ids):
        falls = sum(later < earlier for earlier, later in pairwise(values))
        rises = sum(later > earlier for earlier, later in pairwise(values))
        if falls != rises:
            return falls > rises
    return True


def natural_key(text: str) -> NaturalKey:
    """Sorts text with its numbers by value: ``try2`` before ``try10``; ties by the text itself."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", text)
    key = [(0, int(part), "") if part[0] in "0123456789" else (1, 0, part.casefold()) for part in parts]
    return (*key, (-1, 0, text))


def _by_instant(rows: Sequence[TurnRow], timed: Iterable[int]) -> list[int]:
    def key(i: int) -> tuple[object, ...]:
        return (rows[i].instant, _id_key(rows[i].submission_id), _file_key(rows[i]))

    return sorted(timed, key=key)


def _without_instants(rows: Sequence[TurnRow]) -> tuple[OrderSource, list[int]]:
    indices = range(len(rows))
    if all(_number(row.submission_id) is not None for row in rows):
        return "submission_id", sorted(indices, key=lambda i: (_number(rows[i].submission_id), _file_key(rows[i])))
    if len({row.path for row in rows}) == 1 and all(row.row is not None for row in rows):
        return "list_position", sorted(indices, key=lambda i: _file_key(rows[i]))
    return "file_name", sorted(indices, key=lambda i: _file_key(rows[i]))


def _file_key(row: TurnRow) -> tuple[NaturalKey, int]:
    place = row.row or 0
    return natural_key(row.path), -place if row.newest_first else place


def _id_key(submission_id: str | None) -> tuple[int, int, NaturalKey]:
    number = _number(submission_id)
    return (0, number, ()) if number is not None else (1, 0, natural_key(submission_id or ""))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,18}", text) else None
