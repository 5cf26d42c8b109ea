"""Which table is made from which: the way from a table of figures back to the files that were brought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Graph = Mapping[str, Iterable[str]]
"""Table or other asset -> what it is made from."""


def ways_back(graph: Graph, table: str) -> dict[str, tuple[str, ...]]:
    """Every table on the way back from one, each with what it is made from; the one itself first, then breadth first.

    Args:
        graph: of all assets.
        table: where to begin.

    Returns:
        What is made from nothing has an empty tuple. A table that the graph does not know is alone.
    """
    found: dict[str, tuple[str, ...]] = {}
    waiting = [table]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = tuple(sorted(graph.get(name, ())))
            waiting += found[name]
    return found


def made_from(graph: Graph, tables: Iterable[str]) -> list[str]:
    """All that is made, in however many steps, from any of the tables; sorted, without these."""
    roots = set(tables)
    found = set(roots)
    grew = True
    while grew:
        further = {name for name, inputs in graph.items() if name not in found and found & set(inputs)}
        found |= further
        grew = bool(further)
    return sorted(found - roots)
