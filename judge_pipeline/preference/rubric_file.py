"""A set's rubric as a file that a person may edit: written, read again, and what the graph goes on from.

What goes before what: ``rubric.yaml`` in the set's folder; the file that a run wrote, where a person edited it since;
what people's items and discovery give now. The file keeps a hash of the items that were written: by it an edit is
known, and an edited file is never written over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import yaml

from judge_pipeline.judging.request import canonical_json, sha256
from judge_pipeline.preference.rubric_items import Item
from judge_pipeline.settings.rubrics import RubricFile, RubricItem

Source = Literal["found", "edited", "brought"]
"""As it was found now; the written file with a person's edits; rubric.yaml in the set's folder."""

_HEAD = """\
# The rubric of preference set {name}. Edit it: change words, take items away, add your own, state themes. What comes
# after (rubric_scores and on) then goes on from your edit, and this file is not written over any more. Delete it to go
# back to what is found. What was found last stands beside it, in {name}.found.yaml.
"""
_HEAD_FOUND = """\
# What was found last as the rubric of preference set {name}. Written anew each time: edit {name}.yaml instead.
"""


@dataclass(frozen=True)
class InForce:
    """The rubric that the graph goes on from.

    Attributes:
        items: its items.
        source: where it comes from.
        removed: titles of found items that it leaves out.
        outdated: whether it is an edit of another rubric than what is found now.
    """

    items: tuple[Item, ...]
    source: Source
    removed: tuple[str, ...] = ()
    outdated: bool = False


def rubric_in_force(found: Sequence[Item], written: RubricFile | None, brought: RubricFile | None) -> InForce:
    """The rubric that the graph goes on from.

    Args:
        found: what people's items and discovery give now.
        written: the file that an earlier run wrote, as it is now; None: there is none.
        brought: rubric.yaml of the set's folder; None: there is none.
    """
    if brought is not None:
        return _edited(brought, found, "brought", outdated=False)
    if written is not None and is_edited(written):
        return _edited(
            written, found, "edited", outdated=not found or written.written_sha256 != items_sha256(as_file(found))
        )
    return InForce(tuple(found), "found")


def is_edited(file: RubricFile) -> bool:
    """Whether a person changed the items since a run wrote them."""
    return file.written_sha256 != items_sha256(file)


def items_sha256(file: RubricFile) -> str:
    """sha256 of the file's items: their slugs, words and themes, in order. Comments and layout are no part of it."""
    return sha256(canonical_json([[slug, item.model_dump(mode="json")] for slug, item in file.items.items()]))


def as_file(items: Sequence[Item]) -> RubricFile:
    """Items as the settings of a rubric's file."""
    return RubricFile(
        items={
            item.slug: RubricItem(title=item.title, high=item.high, low=item.low, theme=item.theme) for item in items
        }
    )


def file_text(name: str, items: Sequence[Item], *, for_editing: bool) -> str:
    """The text of the file that a run writes.

    Args:
        name: the set's name.
        items: the items.
        for_editing: whether it is the file for a person to edit, or what was found, to look at beside it.
    """
    file = as_file(items)
    parts = [(_HEAD if for_editing else _HEAD_FOUND).format(name=name)]
    parts.append(_dumped({"written_sha256": items_sha256(file)}))
    parts.append("\nitems:\n")
    for item in items:
        words = file.items[item.slug].model_dump(mode="json", exclude_none=True)
        indented = "".join(f"  {line}\n" for line in _dumped({item.slug: words}).splitlines())
        parts.append(f"  # {_provenance(item)}\n{indented}")
    return "".join(parts)


def _dumped(value: object) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110))


def _provenance(item: Item) -> str:
    """Where an item comes from, without a word of a model: in a comment, nothing can be escaped."""
    parts = {"generated": ["generated"], "both": ["people's, and proposed by a model, too"], "human": ["people's"]}
    words = parts.get(item.origin, [item.origin])
    if item.round is not None:
        words.append(f"round {item.round}")
    if item.sources:
        words.append(f"proposals merged: {len(item.sources)}")
    return ", ".join(words)


def _edited(file: RubricFile, found: Sequence[Item], source: Source, *, outdated: bool) -> InForce:
    before = {item.slug: item for item in found}
    items = []
    for slug, words in file.items.items():
        old = before.get(slug)
        now = Item(slug, words.title, words.high, words.low, "edited", theme=words.theme)
        if old is None:
            items.append(now)
        elif old.words == now.words:
            items.append(replace(old, theme=words.theme))
        else:
            items.append(replace(old, title=now.title, high=now.high, low=now.low, origin="edited", theme=words.theme,
                                 unedited=old.words))  # fmt: skip
    removed = tuple(item.title for item in found if item.slug not in file.items)
    return InForce(tuple(items), source, removed, outdated)
