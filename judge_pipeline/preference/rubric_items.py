"""Rubric items and the proposals that they come from (TRACE, section 3, step 2).

An item has a title and two poles. Its slug is made of its title. An item that people wrote, or that an earlier round
found, keeps its words whatever is merged into it: what was scored on it stays scored.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge_pipeline.settings.rubrics import RubricFile
from judge_pipeline.tables.rubric import RUBRIC, RUBRIC_PROPOSALS

_LONGEST_SLUG_CHARS = 60


class RubricError(ValueError):
    """A rubric cannot be found or scored as asked; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """An axis on which the responses of a batch differ.

    Attributes:
        round: round of discovery, from 1.
        batch: batch of the round, from 1.
        place: place in the batch's answer, from 1.
        title: the axis.
        high: what it means to be high on it.
        low: what it means to be low on it.
        pair_ids: the batch's pairs.
        request_hash: identity of the call that proposed it; None where unknown.
        item: slug of the item that it was merged into; None: none.
    """

    round: int
    batch: int
    place: int
    title: str
    high: str
    low: str
    pair_ids: tuple[str, ...]
    request_hash: str | None = None
    item: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A rubric item.

    Attributes:
        slug: its name in tables.
        title: its name for people.
        high: what it means to satisfy it.
        low: what it means not to.
        origin: one of ``tables.rubric.ITEM_ORIGINS``.
        sources: titles of the proposals that were merged into it.
        round: round that first found it; None for people's items.
        theme: theme that is stated for it.
        unedited: title, high and low before a person edited it; None where nobody did, or where it is the person's.
    """

    slug: str
    title: str
    high: str
    low: str
    origin: str
    sources: tuple[str, ...] = ()
    round: int | None = None
    theme: str | None = None
    unedited: tuple[str, str, str] | None = None

    @property
    def words(self) -> tuple[str, str, str]:
        """Title, high and low."""
        return (self.title, self.high, self.low)


def slug_of(title: str, taken: Collection[str]) -> str:
    """A slug for a title: its letters and digits, lower case, with ``-`` between words; numbered where taken."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    base = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_SLUG_CHARS].strip("-") or "item"
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def human_items(file: RubricFile | None) -> tuple[Item, ...]:
    """The items R_H of a file; none without one."""
    if file is None:
        return ()
    return tuple(
        Item(slug, item.title, item.high, item.low, "human", theme=item.theme) for slug, item in file.items.items()
    )


def rubric_table(items: Iterable[Item]) -> pd.DataFrame:
    """Items as table RUBRIC."""
    return RUBRIC.conform(
        [
            {
                "item": item.slug,
                "title": item.title,
                "high": item.high,
                "low": item.low,
                "origin": item.origin,
                "sources": json.dumps(item.sources, ensure_ascii=False) if item.sources else None,
                "round": item.round,
                "theme": item.theme,
                "unedited": None if item.unedited is None else json.dumps(_named(item.unedited), ensure_ascii=False),
            }
            for item in items
        ]
    )


def items_of(rubric: pd.DataFrame) -> tuple[Item, ...]:
    """The items of table RUBRIC."""
    return tuple(
        Item(
            row["item"],
            row["title"],
            row["high"],
            row["low"],
            row["origin"],
            tuple(json.loads(row["sources"])) if isinstance(row["sources"], str) else (),
            None if pd.isna(row["round"]) else int(row["round"]),
            row["theme"] if isinstance(row["theme"], str) else None,
            _words_in(row["unedited"]),
        )
        for row in rubric.to_dict("records")
    )


def proposals_table(proposals: Sequence[Proposal]) -> pd.DataFrame:
    """Proposals as table RUBRIC_PROPOSALS."""
    return RUBRIC_PROPOSALS.conform(
        [
            {
                **{name: getattr(p, name) for name in ("round", "batch", "place", "title", "high", "low", "item")},
                "pair_ids": json.dumps(p.pair_ids, ensure_ascii=False),
                "request_hash": p.request_hash,
            }
            for p in proposals
        ]
    )


def words_of(item: Item | Proposal) -> Mapping[str, str]:
    """What a model is shown of an item or a proposal."""
    return _named((item.title, item.high, item.low))


def _named(words: tuple[str, str, str]) -> dict[str, str]:
    return dict(zip(("title", "high", "low"), words, strict=True))


def _words_in(text: Any) -> tuple[str, str, str] | None:
    if not isinstance(text, str):
        return None
    named = json.loads(text)
    return (named["title"], named["high"], named["low"])
