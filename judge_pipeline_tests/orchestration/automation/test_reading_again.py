"""When a reading that failed is tried again: tables of runs, and a world of clocks that fails for ever."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.orchestration.automation.reading_again import (
    MOST_RUNS,
    MOST_TRIES,
    PAUSES_MINUTES,
    Again,
    Try,
    next_try,
    try_tag,
    what_follows,
)


def failed(run_id: str, ended: float, content: str | None = "A") -> Try:
    return Try(run_id, ended, failed=True, content=content)


WELL = Try("well", 50.0, failed=False, content="A")
GOING = Try("going", None, failed=False, content="A")
STOPPED = Try("stopped", 50.0, failed=False, cancelled=True, content="A")


def test_pauses_grow_and_end() -> None:
    """Three further tries, and nothing after them until something is another."""
    row: list[Try] = []
    for number, minutes in enumerate(PAUSES_MINUTES, 1):
        row.insert(0, failed(f"r{number}", 1_000.0 * number))
        assert next_try("A", [*row, WELL], None) == Again(1_000.0 * number + 60 * minutes, number, "r1")
    row.insert(0, failed("last", 9_000.0))
    assert next_try("A", [*row, WELL], row[0]) is None
    assert next_try("A", row, row[0], changed=True) == Again(0.0, MOST_TRIES, "r1")
    assert list(PAUSES_MINUTES) == sorted(PAUSES_MINUTES)


def test_what_ended_well_was_stopped_or_goes_on_is_not_tried_again() -> None:
    for newest in (WELL, GOING, STOPPED):
        assert next_try("A", [newest, failed("r", 10.0)], newest) is None
    assert next_try("A", [], None) is None


def test_half_of_a_reading_made_by_hand_is_completed_after_a_pause() -> None:
    by_hand = Try("by hand", 100.0, failed=False)
    assert next_try("A", [WELL], by_hand) == Again(100.0 + 60 * PAUSES_MINUTES[0], 0, "by hand")
    assert next_try("A", [WELL], Try("by hand", None, failed=False)) is None
    assert next_try("A", [WELL], Try("by hand", 100.0, failed=False, cancelled=True)) is None


def test_tries_of_people_count_not_and_those_of_another_content_begin_anew() -> None:
    row = [failed("night", 900.0, None), failed("second", 500.0), failed("hand", 300.0, None), failed("first", 100.0)]
    assert next_try("A", row, row[0]) == Again(900.0 + 60 * PAUSES_MINUTES[1], 2, "first")
    assert next_try("A", [failed("b", 500.0, "B"), *row], None) == Again(0.0, 0, "b")
    assert next_try("A", [failed(f"hand {n}", 9.0, None) for n in range(MOST_RUNS)], None) is None


@given(st.lists(st.booleans(), max_size=30), st.booleans())
def test_a_content_that_never_can_be_read_is_tried_a_bounded_number_of_times(by_hand: list[bool], newer: bool) -> None:
    """Whatever people start in between, and also where runs load another program than the sensor for ever."""
    runs, keys, now = [failed("0", 0.0)], set(), 0.0
    for look in range(200):
        now += 3_600.0
        found = next_try("A", runs[:MOST_RUNS], runs[0], changed=newer)
        if found is not None and found.at <= now and (found.n_before, found.after) not in keys:
            keys.add((found.n_before, found.after))
            runs.insert(0, failed(f"s{look}", now))
        elif look < len(by_hand) and by_hand[look]:
            runs.insert(0, failed(f"h{look}", now, None))
    assert len(keys) <= MOST_TRIES


def test_what_is_said_of_a_try() -> None:
    assert [try_tag(n) for n in range(MOST_TRIES + 1)] == ["1 of 4", "2 of 4", "3 of 4", "4 of 4", "4 of 4"]
    assert what_follows("2 of 4") == "yes, by itself, 30 minutes later (this was try 2 of 4)"
    assert str(what_follows(try_tag(3))).startswith("no, this was the last of 4 tries")
    assert [what_follows(tag) for tag in (None, "", "x of 4", "0 of 4", "²")] == [None] * 5
