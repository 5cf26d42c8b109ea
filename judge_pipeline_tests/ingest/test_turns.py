"""The order of turns: by instant, else by what there is, and said so."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.ingest.turns import TurnRow, lists_newest_first, natural_key, order_trajectory

_START = datetime(2026, 3, 1, tzinfo=UTC)


def _at(minute: int) -> datetime:
    return _START + timedelta(minutes=minute)


def test_by_instant_with_ties_by_id_then_file_name() -> None:
    rows = [
        TurnRow(_at(5), "9", "c.md", None), TurnRow(_at(5), "10", "b.md", None), TurnRow(_at(1), "99", "d.md", None),
        TurnRow(_at(9), None, "try10.md", None), TurnRow(_at(9), None, "try2.md", None),
    ]  # fmt: skip
    assert order_trajectory(rows) == [(i, "instant") for i in (2, 0, 1, 4, 3)]


def test_without_instants_a_list_is_read_from_its_oldest_row() -> None:
    rows = [TurnRow(None, None, "list.html", row) for row in (1, 2, 3)]
    assert order_trajectory(rows) == [(i, "list_position") for i in (2, 1, 0)]
    rows = [TurnRow(None, None, "list.html", row, newest_first=False) for row in (1, 2, 3)]
    assert order_trajectory(rows) == [(i, "list_position") for i in (0, 1, 2)]


def test_without_instants_ids_go_before_places() -> None:
    rows = [TurnRow(None, number, "list.html", row) for row, number in enumerate(("9", "100", "20"), start=1)]
    assert order_trajectory(rows) == [(i, "submission_id") for i in (0, 2, 1)]


def test_without_anything_file_names_with_numbers_by_value() -> None:
    rows = [TurnRow(None, None, path, None) for path in ("E1/A/try10.md", "E1/A/try9.md", "E1/A/try1.md")]
    assert order_trajectory(rows) == [(i, "file_name") for i in (2, 1, 0)]


def test_known_instants_are_never_contradicted() -> None:
    rows = [
        TurnRow(_at(9), None, "1.md", None), TurnRow(None, None, "2.md", None), TurnRow(_at(3), None, "3.md", None),
        TurnRow(_at(6), None, "4.md", None),
    ]  # fmt: skip
    assert order_trajectory(rows) == [(2, "instant"), (1, "file_name"), (3, "instant"), (0, "instant")]


_rows = st.lists(
    st.builds(
        TurnRow,
        st.one_of(st.none(), st.integers(0, 5).map(_at)),
        st.one_of(st.none(), st.integers(0, 12).map(str), st.sampled_from(["x", "y1"])),
        st.sampled_from(["a.md", "a2.md", "a10.md", "list.html"]),
        st.one_of(st.none(), st.integers(1, 9)),
        st.booleans(),
    ),
    max_size=9,
    unique_by=lambda row: (row.path, row.row, row.submission_id, row.instant),
)


@settings(deadline=None)
@given(_rows, st.randoms(use_true_random=False))
def test_every_row_has_one_turn_and_instants_rise(rows: list[TurnRow], shuffler: random.Random) -> None:
    turns = order_trajectory(rows)
    assert sorted(i for i, _ in turns) == list(range(len(rows)))
    instants = [rows[i].instant for i, _ in turns if rows[i].instant is not None]
    assert instants == sorted(instants)
    assert all((source == "instant") == (rows[i].instant is not None) for i, source in turns)


def test_a_list_tells_its_own_direction() -> None:
    down = [(1, _at(9), "3"), (2, _at(5), "2"), (3, _at(1), "1")]
    up = [(1, _at(1), "1"), (2, _at(5), "2"), (3, _at(9), "3")]
    assert lists_newest_first(down)
    assert not lists_newest_first(up)
    assert not lists_newest_first([(row, None, number) for row, _, number in up])
    assert lists_newest_first([(row, None, number) for row, _, number in down])
    assert lists_newest_first([(1, None, None), (2, None, None)])
    assert lists_newest_first([])


def test_natural_order() -> None:
    names = ["try10", "try9", "Try1", "a²", "try9b"]
    assert sorted(names, key=natural_key) == ["a²", "Try1", "try9", "try9b", "try10"]
