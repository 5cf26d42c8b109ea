"""What verifying says of one table or page, and which differences are no fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judge_pipeline.orchestration.bundles.facts import BundleFacts

State = Literal["identical", "same rows", "close", "differs", "not made", "not recomputed"]
"""identical, same rows, close, differs: as ``comparing.Verdict``. not made: what should make it failed. not recomputed:
it cannot be made from what the bundle holds, and nothing is said of it."""

BAD: frozenset[State] = frozenset({"differs", "not made"})

_FOLDERS = ("data.contest folder", "data.preference folder")


@dataclass(frozen=True)
class Checked:
    """What was found of one table or page.

    Attributes:
        path: in the bundle.
        state: how it compares.
        said: why, or what differs.
        made_from: keys of what the table says that it was made from, in which it differs from the one made anew.
    """

    path: str
    state: State
    said: tuple[str, ...] = ()
    made_from: tuple[str, ...] = ()


def explained(tables: Sequence[Checked], facts: BundleFacts, *, same_code: bool) -> list[Checked]:
    """The tables, where one that says it was made from something else without a known reason differs.

    Known reasons are other sources of the package (by which the tables may have been made before it was bundled), raw
    files that were left out, and inputs that are not the same file themselves.
    """
    other = {f"data.{each.path.split('/')[2]}" for each in tables if each.state != "identical"}
    known = other | {"code", "version"} | (set() if facts.is_whole() else set(_FOLDERS))

    if not same_code:
        return list(tables)
    return [replace(each, state="differs") if set(each.made_from) - known else each for each in tables]
