from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.ingest.chat_formats.message_tree import Node, current_path

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def test_the_path_leads_to_the_current_message_and_other_branches_are_counted() -> None:
    nodes = {
        "root": Node(None, counts=False),
        "q1": Node("root", at(1)),
        "abandoned": Node("q1", at(9)),
        "a1": Node("q1", at(2)),
    }
    assert current_path(nodes, "a1") == (["root", "q1", "a1"], ("1 message(s) on other branches left out",))


def test_without_a_current_message_the_newest_leaf_is_taken_and_noted() -> None:
    nodes = {"q": Node(None, at(0)), "late": Node("q", at(5)), "early": Node("q", at(1))}
    path, notes = current_path(nodes, None)
    assert path == ["q", "late"]
    assert notes[0] == "no current message is marked: the newest branch was taken"
    assert current_path(nodes, "no such id") == (path, notes)


def test_a_leaf_without_a_time_counts_with_the_nearest_time_above_it() -> None:
    nodes = {"q": Node(None, at(0)), "x": Node("q", at(7)), "x2": Node("x", None), "y": Node("q", at(5))}
    assert current_path(nodes, None)[0] == ["q", "x", "x2"]


def test_without_any_times_the_last_leaf_of_the_file_is_taken() -> None:
    nodes = {"q": Node(None), "a": Node("q"), "b": Node("q")}
    assert current_path(nodes, None)[0] == ["q", "b"]


def test_nodes_without_links_are_taken_in_the_files_order() -> None:
    nodes = {"b": Node("gone"), "a": Node(None)}
    assert current_path(nodes, None) == (["b", "a"], ("messages are not linked: taken in the file's order",))


def test_a_single_message_needs_no_note() -> None:
    assert current_path({"a": Node(None)}, None) == (["a"], ())


def test_circles_end() -> None:
    assert current_path({"a": Node("b"), "b": Node("a")}, None)[0] == ["a", "b"]
    path, notes = current_path({"a": Node("b"), "b": Node("a"), "c": Node("b")}, "c")
    assert path == ["a", "b", "c"]
    assert "the links between messages run in a circle" in notes


names = st.integers(0, 12).map(str)


@given(
    st.dictionaries(
        names, st.builds(Node, st.one_of(st.none(), names), st.one_of(st.none(), st.integers(0, 9).map(at)))
    ),
    st.one_of(st.none(), names),
)
def test_any_links_give_a_path_without_repetition(nodes: dict[str, Node], current: str | None) -> None:
    path, _ = current_path(nodes, current)
    assert len(set(path)) == len(path)
    assert set(path) <= set(nodes)
    assert bool(path) == bool(nodes)
    if any(node.parent in nodes for node in nodes.values()) and current in nodes:
        assert path[-1] == current
        for above, below in itertools.pairwise(path):
            assert nodes[below].parent == above
