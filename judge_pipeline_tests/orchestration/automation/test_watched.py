"""When a folder counts as settled: two looks that agree, far enough apart by our own clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.orchestration.automation.listing import Listing
from judge_pipeline.orchestration.automation.watched import Watched, look, read_watched, write_watched


def listing(digest: str, unfinished: str | None = None) -> Listing:
    return Listing(digest, 1, unfinished)


def test_it_settles_after_the_quiet_period_and_not_before() -> None:
    first = look(None, listing("a"), now=100.0, quiet_seconds=60.0)
    assert not first.settled
    assert not look(first, listing("a"), now=159.9, quiet_seconds=60.0).settled
    assert look(first, listing("a"), now=160.0, quiet_seconds=60.0).settled


def test_a_file_that_grows_keeps_it_unsettled_for_as_long_as_it_grows() -> None:
    seen: Watched | None = None
    for step in range(50):
        seen = look(seen, listing(f"grown-{step}"), now=30.0 * step, quiet_seconds=20.0)
        assert not seen.settled


def test_a_file_that_is_still_being_written_by_its_name_is_waited_for_longer_and_not_for_ever() -> None:
    seen = look(None, listing("a", "x.part"), now=0.0, quiet_seconds=60.0)
    assert not look(seen, listing("a", "x.part"), now=599.0, quiet_seconds=60.0).settled
    assert look(seen, listing("a", "x.part"), now=600.0, quiet_seconds=60.0).settled


def test_a_clock_that_is_set_back_begins_the_waiting_anew() -> None:
    seen = look(None, listing("a"), now=10_000.0, quiet_seconds=60.0)
    back = look(seen, listing("a"), now=500.0, quiet_seconds=60.0)
    assert not back.settled
    assert look(back, listing("a"), now=560.0, quiet_seconds=60.0).settled


def test_what_was_hashed_is_kept_with_its_listing_and_dropped_with_it() -> None:
    seen = Watched("a", 0.0, "content", settled=True)
    assert look(seen, listing("a"), now=1.0, quiet_seconds=60.0) == seen
    assert look(seen, listing("b"), now=1.0, quiet_seconds=60.0) == Watched("b", 1.0)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(-50, 50)), min_size=1, max_size=30))
def test_it_is_settled_only_where_two_looks_agree(looks: list[tuple[str, float]]) -> None:
    """Whatever the clock does: a listing seen for the first time is never taken at once."""
    seen, now = None, 1000.0
    for digest, step in looks:
        now += step
        before = seen
        seen = look(before, listing(digest), now, quiet_seconds=10.0)
        if before is None or before.listing != digest:
            assert not seen.settled


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 3}', '{"a": {"listing": "x"}}', '{"a": {"more": 1}}'])
def test_a_damaged_memo_is_no_memo(tmp_path: Path, text: str) -> None:
    file = tmp_path / "contest.json"
    file.write_text(text, encoding="utf-8")
    assert read_watched(file) == {}


def test_a_memo_is_read_as_it_was_written(tmp_path: Path) -> None:
    watched = {"a": Watched("x", 3.5, "content", True), "b": Watched("y", 4.0)}
    write_watched(tmp_path / "watch" / "contest.json", watched)
    assert read_watched(tmp_path / "watch" / "contest.json") == watched
