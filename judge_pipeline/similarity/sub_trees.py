"""The sub-trees of a syntax tree, as a multiset of their shapes.

The ``codebleu`` package takes every node that has children, writes it as an s-expression (names of nodes and fields, no
text of the program), and looks each up among all of the other program's: quadratic in nodes, and each of them written
again at every level above it. Here the whole tree is written once, and a sub-tree's key is the hash of its name and its
children's keys. Equal keys are equal s-expressions. Nothing here recurses.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import numpy as np

from judge_pipeline.similarity.multiset import Multiset

MAX_WRITTEN_LEVELS = 1000
"""tree-sitter writes s-expressions by recursion in C, which ends the process where a tree is too deep; deeper trees are
walked instead."""

_PART = re.compile(
    r"""(?P<field>\w+:[ ])?\("""
    r"""(?P<name>MISSING[ ](?:".+?"(?=\))|\w+)|UNEXPECTED[ ](?:'\\?.'|[-\w]+)|[^\s()]+)"""
    r"""(?P<leaf>\))?|\)"""
)


def sub_trees(root: Any) -> Multiset:
    """The sub-trees below (and with) a node that have children; the root counts without any, too.

    Args:
        root: a tree-sitter node, the root of its tree.
    """
    levels = _inner_nodes(root)
    if len(levels) > MAX_WRITTEN_LEVELS:
        keys = _keys_by_walking(root)
    else:
        inner = list(chain.from_iterable(levels))
        keys = _keys_of_expression(str(root)) + [key for node in inner if (key := _key_of_bare(node)) is not None]
        if len(keys) != len(inner):
            # Broken programs can hold nodes that only an s-expression shows.
            keys = [_key_of(node) for node in inner]
    return Multiset.of(np.array(keys, np.int64))


def _inner_nodes(root: Any) -> list[list[Any]]:
    """The root, and the nodes with children, by level."""
    levels, level = [], [root]
    while level:
        levels.append(level)
        level = [child for node in level for child in node.children if child.child_count]
    return levels


def _key_of_bare(node: Any) -> int | None:
    """The key of an inner node that looks like a leaf in its parent's s-expression, or is not in it at all.

    ``pass_statement`` is a leaf there since its only child, the word ``pass``, has no name; ``not in`` is no part of it
    since it has none itself. None for every other node.
    """
    if not node.is_named:
        return hash((f"({node.type}",))
    if node.named_child_count:
        return None
    leaf = _PART.fullmatch(str(node))
    return hash((leaf["name"],)) if leaf else None


def _key_of(node: Any) -> int:
    """The key of one inner node, from its own s-expression."""
    bare = _key_of_bare(node)
    return _keys_of_expression(str(node))[-1] if bare is None else bare


def _keys_of_expression(expression: str) -> list[int]:
    """Keys of the expressions that hold others, children before their parents."""
    keys: list[int] = []
    open_parts: list[list[str | int]] = [[]]
    for part in _PART.finditer(expression):
        field, name, leaf = part.groups()
        if leaf:
            open_parts[-1].append((field or "") + name)
        elif name:
            open_parts[-1].append(field or "")
            open_parts.append([name])
        else:
            keys.append(hash(tuple(open_parts.pop())))
            open_parts[-1].append(keys[-1])
    return keys


def _keys_by_walking(root: Any) -> list[int]:
    """The keys of all inner nodes of a tree of any depth: those of its s-expression, without writing it."""
    keys: list[int] = []
    open_parts: list[list[str | int]] = [[]]
    is_shown: list[bool] = []
    cursor = root.walk()
    while True:
        node = cursor.node
        field = f"{cursor.field_name}: " if cursor.field_name else ""
        if node.child_count:
            is_shown.append(node.is_named)
            if node.is_named:
                open_parts[-1].append(field)
                open_parts.append([node.type])
            else:
                keys.append(hash((f"({node.type}",)))
            cursor.goto_first_child()
            continue
        if node.is_named or node.is_missing:
            open_parts[-1].append(field + (str(node)[1:-1] if node.has_error else node.type))
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return keys
            if is_shown.pop():
                keys.append(_close(open_parts))


def _close(open_parts: list[list[str | int]]) -> int:
    """Ends the innermost open node and makes it a part of the one around it; its key."""
    parts = open_parts.pop()
    key = hash(tuple(parts))
    if len(parts) == 1:
        # Without a named child it looks like a leaf.
        open_parts[-1][-1] = f"{open_parts[-1][-1]}{parts[0]}"
    else:
        open_parts[-1].append(key)
    return key
