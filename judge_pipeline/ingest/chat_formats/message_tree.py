"""The branch of a tree of messages that its owner last had on screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Node:
    """A message's place in the tree: the message that it answers, and when it was written."""

    parent: str | None
    at: datetime | None = None
    counts: bool = True
    """Whether there is a message; a root, for one, holds none."""


def current_path(nodes: Mapping[str, Node], current: str | None) -> tuple[list[str], tuple[str, ...]]:
    """The ids from the root to the current message, in order, and what is to be noted of the choice.

    Where ``current`` names no node, the newest leaf is taken (the latest time known on its way up; ties, and trees
    without times: the one that the file holds last). Nodes that are not linked at all are no tree: all of them, in the
    order of the file. Works in time linear in the number of nodes, whatever the links are.
    """
    parents = {node.parent for node in nodes.values() if node.parent in nodes}
    if not parents:
        notes = () if len(nodes) < 2 else ("messages are not linked: taken in the file's order",)
        return list(nodes), notes
    notes_list: list[str] = []
    if current is None or current not in nodes:
        leaves = [key for key in nodes if key not in parents]
        if not leaves:
            return list(nodes), ("the links between messages run in a circle: taken in the file's order",)
        current = _newest(leaves, nodes)
        notes_list.append("no current message is marked: the newest branch was taken")
    path = _way_up(current, nodes)
    on_path = set(path)
    left_out = sum(node.counts for key, node in nodes.items() if key not in on_path)
    if left_out:
        notes_list.append(f"{left_out} message(s) on other branches left out")
    if nodes[path[0]].parent in on_path:
        notes_list.append("the links between messages run in a circle")
    return path, tuple(notes_list)


def _way_up(start: str, nodes: Mapping[str, Node]) -> list[str]:
    path: list[str] = []
    seen: set[str] = set()
    key: str | None = start
    while key is not None and key in nodes and key not in seen:
        seen.add(key)
        path.append(key)
        key = nodes[key].parent
    return path[::-1]


def _newest(leaves: list[str], nodes: Mapping[str, Node]) -> str:
    known: dict[str, datetime | None] = {}
    best, best_rank = leaves[0], (False, 0.0, -1)
    for i, leaf in enumerate(leaves):
        at = _latest_known(leaf, nodes, known)
        rank = (at is not None, at.timestamp() if at is not None else 0.0, i)
        if rank > best_rank:
            best, best_rank = leaf, rank
    return best


def _latest_known(start: str, nodes: Mapping[str, Node], known: dict[str, datetime | None]) -> datetime | None:
    """The time of the node, else of the nearest node above it that has one; what was found is kept in ``known``."""
    passed: list[str] = []
    key: str | None = start
    at: datetime | None = None
    while key is not None and key in nodes and key not in known:
        known[key] = None
        passed.append(key)
        at = nodes[key].at
        if at is not None:
            break
        key = nodes[key].parent
    else:
        at = known.get(key) if key is not None else None
    known.update(dict.fromkeys(passed, at))
    return at
