"""Merging proposals into rubric items: in one call, or in parts first where there are too many for one.

Items that people wrote, and items of earlier rounds, are offered as they stand: a proposal may be merged into one, and
the item keeps its words. Whatever the model leaves out of these is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil

from judge_pipeline.preference.rubric_answers import MergeAnswer
from judge_pipeline.preference.rubric_items import Item, Proposal, RubricError, slug_of
from judge_pipeline.preference.rubric_questions import MERGE, Ask, merge_shown, requests


@dataclass(frozen=True, slots=True)
class _Pooled:
    """Words for which some of the proposals stand, by their places."""

    words: Proposal | Item
    of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """Attributes:
    items: the items that were kept, in their order, then the new ones.
    proposals: the proposals, each with the item that it ended in.
    n_dropped: proposals that ended in none.
    n_calls: calls that it took.
    """

    items: tuple[Item, ...]
    proposals: tuple[Proposal, ...]
    n_dropped: int
    n_calls: int


def merge(
    proposals: Sequence[Proposal], kept: Sequence[Item], *, round_: int, key: str, at_most: int, at_once: int, ask: Ask
) -> Merged:
    """Proposals merged into the items that are kept and at most ``at_most`` new ones.

    Args:
        proposals: what was proposed.
        kept: items that keep their words and are never lost.
        round_: the round of discovery, for new items and the ids of calls.
        key: the set's, what these ids begin with.
        at_most: most new items.
        at_once: most proposals in one call; more are merged in parts, each to half as many at most, and then those.
        ask: asks the engine.

    Raises:
        RubricError: a call has no valid answer.
    """
    pool = [_Pooled(proposal, (place,)) for place, proposal in enumerate(proposals)]
    level = n_calls = 0
    while len(pool) > at_once:
        level += 1
        parts = _parts(pool, at_once)
        limits = [max(1, len(part) // 2) for part in parts]
        names = [f"{key}/round-{round_}-level-{level}-part-{number}" for number in range(1, len(parts) + 1)]
        answers = _asked(dict(zip(names, zip(parts, limits, strict=True), strict=True)), (), ask)
        pool = [
            _Pooled(_new(item, "", 0), tuple(place for id_ in item.merges for place in part[_place(id_)].of))
            for part, answer in zip(parts, answers, strict=True)
            for item in answer.items
        ]
        n_calls += len(parts)
    answer = _asked({f"{key}/round-{round_}-merge": (pool, at_most)}, kept, ask)[0]
    return _applied(answer, proposals, pool, kept, round_, n_calls + 1)


def _parts(pool: Sequence[_Pooled], at_once: int) -> list[list[_Pooled]]:
    """The pool in parts of nearly one size."""
    n = ceil(len(pool) / at_once)
    ends = [len(pool) * number // n for number in range(n + 1)]
    return [list(pool[start:end]) for start, end in pairwise(ends)]


def _asked(parts: Mapping[str, tuple[Sequence[_Pooled], int]], kept: Sequence[Item], ask: Ask) -> list[MergeAnswer]:
    rows = {
        name: merge_shown(
            {f"k{place}": item for place, item in enumerate(kept, start=1)},
            {f"p{place}": pooled.words for place, pooled in enumerate(part, start=1)},
            limit,
        )
        for name, (part, limit) in parts.items()
    }
    answers = ask(MERGE, requests(rows))
    found = []
    for name in rows:
        step = name.partition("/")[2]
        if name not in answers.values:
            raise RubricError(
                f"merging proposals ({step}) has no valid answer: {answers.failures.get(name, 'no answer')}. Remedy: "
                "materialize again, or name another judge as rubric.merger"
            )
        found.append(MergeAnswer.model_validate(dict(answers.values[name])))
    return found


def _place(id_: str) -> int:
    return int(id_[1:]) - 1


def _new(item: object, slug: str, round_: int) -> Item:
    title, high, low = (getattr(item, name) for name in ("title", "high", "low"))
    return Item(slug, title, high, low, "generated", round=round_)


def _applied(
    answer: MergeAnswer, proposals: Sequence[Proposal], pool: Sequence[_Pooled], kept: Sequence[Item], round_: int,
    n_calls: int,
) -> Merged:  # fmt: skip
    items = list(kept)
    item_of: dict[int, str] = {}
    for merged in answer.items:
        places = sorted(p for id_ in merged.merges if id_.startswith("p") for p in pool[_place(id_)].of)
        titles = tuple(dict.fromkeys(proposals[place].title for place in places))
        anchor = next((_place(id_) for id_ in merged.merges if id_.startswith("k")), None)
        if anchor is None:  # one that is called as an item that is kept is that item
            anchor = next((at for at, item in enumerate(kept) if item.title.lower() == merged.title.lower()), None)
        if anchor is None:
            slug = slug_of(merged.title, {item.slug for item in items})
            items.append(replace(_new(merged, slug, round_), sources=titles))
        elif titles:
            items[anchor] = _with_sources(items[anchor], titles)
        item_of |= dict.fromkeys(places, items[-1 if anchor is None else anchor].slug)
    placed = tuple(replace(proposal, item=item_of.get(place)) for place, proposal in enumerate(proposals))
    return Merged(tuple(items), placed, len(placed) - len(item_of), n_calls)


def _with_sources(item: Item, titles: tuple[str, ...]) -> Item:
    origin = "both" if item.origin == "human" else item.origin
    return replace(item, origin=origin, sources=tuple(dict.fromkeys((*item.sources, *titles))))
