"""The arithmetic of a shared window: it halves, widens, is divided fairly, and is never passed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.pacing.window import (
    FORGOTTEN_AFTER_SECONDS,
    LONGEST_CLOSED_SECONDS,
    SECONDS_A_TURN,
    News,
    Share,
    Window,
    granted,
    target_of,
    window_after,
)

NEWS = News(holds=4, wanted=16, maximum=16)


def test_a_rate_limit_halves_the_window_and_replies_widen_it_again() -> None:
    window = Window(renewed_at=100.0)
    assert window.capacity(16) == 16
    window = window_after(window, News(4, 16, 16, limited=99.0), 16, 100.0)
    assert (window.calls, window.capacity(16), window.narrowed_at) == (8.0, 8, 100.0)
    window = window_after(window, News(4, 16, 16, replies=1), 16, 101.0)
    assert window.calls == pytest.approx(8.0 + 1.0 / 8.0, abs=0.01)
    steps = window.calls or 0.0
    for _ in range(50):
        steps += 1.0 / steps
    window = window_after(window, News(4, 16, 16, replies=50), 16, 102.0)
    assert window.calls == pytest.approx(steps, rel=0.01)
    window = window_after(window, News(4, 16, 16, replies=10_000), 16, 103.0)
    assert window.calls is None  # as wide as it may be


def test_calls_that_were_under_way_when_it_was_halved_do_not_halve_it_again() -> None:
    window = window_after(Window(renewed_at=100.0), News(4, 16, 16, limited=99.0), 16, 100.0)
    assert window_after(window, News(4, 16, 16, limited=99.9), 16, 100.5).calls == 8.0
    assert window_after(window, News(4, 16, 16, limited=100.1), 16, 100.5).calls == 4.0


def test_it_never_gets_narrower_than_one_call() -> None:
    window = Window(renewed_at=0.0)
    for now in range(1, 20):
        window = window_after(window, News(1, 9, 9, limited=float(now)), 9, now + 0.5)
    assert (window.calls, window.capacity(9)) == (1.0, 1)


def test_what_it_learnt_is_forgotten_when_nobody_asks_but_a_closing_time_is_not() -> None:
    narrow = Window(2.0, 50.0, 900.0, 100.0)
    later = window_after(narrow, NEWS, 16, 100.0 + FORGOTTEN_AFTER_SECONDS + 1)
    assert (later.calls, later.closed_until) == (None, 900.0)
    assert window_after(narrow, NEWS, 16, 100.0 + FORGOTTEN_AFTER_SECONDS - 1).calls == 2.0


def test_times_from_before_a_clock_was_set_back_hold_nobody_up() -> None:
    day = 86_400.0
    ahead = Window(1.0, 100.0 + day, 100.0 + day, 100.0 + day)
    window = window_after(ahead, NEWS, 16, 100.0)
    assert (window.calls, window.closed_until, window.renewed_at) == (None, 0.0, 100.0)
    assert window_after(ahead, News(4, 16, 16, limited=99.5), 16, 100.0).calls is None  # of no use: which came first?
    assert window_after(window, News(4, 16, 16, limited=100.5), 16, 101.0).calls == 8.0
    longest = Window(None, 0.0, 100.0 + LONGEST_CLOSED_SECONDS, 100.0)
    assert window_after(longest, NEWS, 16, 100.0).closed_until == longest.closed_until


def test_a_closing_time_is_only_put_off() -> None:
    window = window_after(Window(closed_until=50.0, renewed_at=1.0), News(1, 1, 1, closed_until=40.0), 1, 2.0)
    assert window.closed_until == 50.0
    assert window_after(window, News(1, 1, 1, closed_until=60.0), 1, 3.0).closed_until == 60.0


def test_alone_a_process_has_all_and_two_halve_it() -> None:
    one, two = Share("a", 8, 8, 8), Share("b", 0, 8, 8)
    assert target_of("a", [one], 8, 0.0) == 8
    assert [target_of(p, [one, two], 8, 0.0) for p in "ab"] == [4, 4]


def test_nobody_is_given_more_than_it_wants_while_others_want_more() -> None:
    shares = [Share("a", 0, 1, 20), Share("b", 0, 20, 20), Share("c", 0, 3, 20), Share("d", 0, 20, 20)]
    assert {s.process: target_of(s.process, shares, 20, 0.0) for s in shares} == {"a": 1, "b": 8, "c": 3, "d": 8}


def test_what_does_not_divide_goes_round_so_that_nobody_starves() -> None:
    shares = [Share(name, 0, 8, 8) for name in "abc"]
    turns = [[target_of(name, shares, 1, turn * SECONDS_A_TURN) for name in "abc"] for turn in range(3)]
    assert [sum(turn) for turn in turns] == [1, 1, 1]
    assert [sum(turn[i] for turn in turns) for i in range(3)] == [1, 1, 1]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 40)), min_size=1, max_size=6),
    st.integers(1, 30),
    st.floats(0, 1e6),
)
def test_targets_fit_into_the_window_and_waste_nothing(
    shares: list[tuple[int, int]], capacity: int, now: float
) -> None:
    of = [Share(str(i), calls, wanted, 40) for i, (calls, wanted) in enumerate(shares)]
    targets = [target_of(share.process, of, capacity, now) for share in of]
    assert sum(targets) <= capacity
    if len(of) > 1:
        assert all(target <= share.wanted for target, share in zip(targets, of, strict=True))
        assert sum(targets) == min(capacity, sum(share.wanted for share in of))


@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(2, 5))
def test_whoever_renews_when_calls_under_way_never_pass_the_window(seed: int, capacity: int, n: int) -> None:
    """A model of processes that start and end calls at will between their renewals, and die and come back."""
    rng = random.Random(seed)
    allowed, under_way, stored = [0] * n, [0] * n, [0] * n
    for step in range(200):
        i = rng.randrange(n)
        action = rng.random()
        if action < 0.4:
            under_way[i] = max(under_way[i], rng.randint(0, allowed[i]))
        elif action < 0.7:
            under_way[i] = rng.randint(0, under_way[i])
        else:
            holds = max(allowed[i], under_way[i])
            shares = [Share(str(j), stored[j], rng.randint(0, 20), 20) for j in range(n) if j != i]
            own = Share(str(i), holds, rng.randint(0, 20), 20)
            kept, allowed[i] = granted(str(i), [*shares, own], capacity, step * 0.3)
            stored[i] = kept.calls
        assert sum(under_way) <= capacity
        assert sum(stored) <= capacity
        assert all(u <= s for u, s in zip(under_way, stored, strict=True))
