"""The sub-trees of a syntax tree, as a multiset of their shapes.

The ``codebleu`` package takes every node that has children, writes it as an s-expression (names of nodes and fields, no
text of the program), and looks each up among all of the other program's: quadratic in nodes, and each of them written
again at every level above it. Here the whole tree is written once, and the expressions within are told apart by keys.
Nothing here recurses.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from judge_pipeline.similarity.expressions import Written, keys_within, unquoted, written
from judge_pipeline.similarity.multiset import Multiset

MAX_WRITTEN_LEVELS = 1000
"""tree-sitter writes s-expressions by recursion in C, which ends the process where a tree is too deep. Deeper trees are
walked instead. The keys are the same, but for nodes that a broken program lacks and only an expression shows."""


def sub_trees(root: Any) -> Multiset:
    """The sub-trees below (and with) a node that have children; the root counts without any, too.

    Args:
        root: a tree-sitter node, the root of its tree.
    """
    n_inner, n_levels, lowest = _survey(root)
    if n_levels > MAX_WRITTEN_LEVELS:
        keys = np.array(_keys_by_walking(root), np.uint64)
    else:
        bare = list(chain.from_iterable(map(_key_of_bare, lowest)))
        keys = np.concatenate([keys_within(_expression(root)), np.array(bare, np.uint64)])
        if len(keys) != n_inner:
            # The expression of a broken program can show nodes that are not there as such.
            keys = np.array([_key_of(node) for node in _inner_nodes(root)], np.uint64)
    return Multiset.of(keys.view(np.int64))


def _survey(root: Any) -> tuple[int, int, list[Any]]:
    """How many nodes have children (the root counts as one), on how many levels, and those of which no child has any.

    Nodes are made for these alone, since making one costs more than walking past ten.
    """
    n_inner, level, n_levels, is_lowest = 1, 1, 1, False
    lowest: list[Any] = []
    cursor = root.walk()
    while True:
        if cursor.goto_first_child():
            n_inner += level > 1
            level += 1
            n_levels = max(n_levels, level)
            is_lowest = True
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return n_inner, n_levels, lowest or [root]
            level -= 1
            if is_lowest:
                lowest.append(cursor.node)
                is_lowest = False


def _inner_nodes(root: Any) -> list[Any]:
    """The root, and the nodes with children."""
    nodes, level = [root], [root]
    while level:
        level = [child for node in level for child in node.children if child.child_count]
        nodes += level
    return nodes


def _key_of_bare(node: Any) -> list[int]:
    """The key of an inner node that looks like a leaf in its parent's s-expression, or is not in it at all.

    ``pass_statement`` is a leaf there since its only child, the word ``pass``, has no name; ``not in`` is no part of it
    since it has none itself. No key for every other node.
    """
    if not node.is_named:
        return [written(_expression(node)).key]
    if node.named_child_count:
        return []
    # No node but a missing one, which is an error, could stand in it unseen.
    expression = _expression(node) if node.has_error else f"({node.type})"
    return [written(expression).key] if expression.count("(") == 1 else []


def _key_of(node: Any) -> int:
    """The key of an inner node, from its own s-expression."""
    return int((_key_of_bare(node) or keys_within(_expression(node)))[0])


def _expression(node: Any) -> str:
    expression = str(node)
    return unquoted(expression) if node.has_error or node.is_error else expression


def _keys_by_walking(root: Any) -> list[int]:
    """The keys of all inner nodes of a tree of any depth."""
    keys: list[int] = []
    open_texts = [Written(0, 0)]
    is_shown: list[bool] = []
    cursor = root.walk()
    while True:
        node = cursor.node
        before = f" {cursor.field_name}: " if cursor.field_name else " "
        if node.child_count:
            is_shown.append(node.is_named)
            if node.is_named:
                open_texts[-1] = open_texts[-1].then(written(before))
                open_texts.append(written(f"({node.type}"))
            else:
                keys += _key_of_bare(node)
            cursor.goto_first_child()
            continue
        if node.is_named or node.is_missing:
            open_texts[-1] = open_texts[-1].then(written(before + _expression(node)))
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return keys
            if is_shown.pop():
                closed = open_texts.pop().then(written(")"))
                keys.append(closed.key)
                open_texts[-1] = open_texts[-1].then(closed)
