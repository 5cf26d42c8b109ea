from __future__ import annotations

from judge_pipeline.cocreation.trajectories import trajectories
from judge_pipeline.cocreation.turn_orders import attempts_by_order, with_turns_reversed
from judge_pipeline_tests.paper_counts_contest import paper_counts_contest


def test_reversed_only_where_the_check_warns() -> None:
    c = paper_counts_contest()
    assert list(attempts_by_order(c.attempts, c.trajectories)) == ["as_recorded", "reversed"]
    turned = with_turns_reversed(c.attempts)
    assert list(attempts_by_order(turned, trajectories(turned, c.splits))) == ["as_recorded"]


def test_each_trajectory_is_turned_round_and_twice_is_as_before() -> None:
    attempts = paper_counts_contest().attempts
    turned = with_turns_reversed(attempts)
    longest = attempts.groupby(["participant", "problem_id"]).size().idxmax()
    mine = (attempts["participant"] == longest[0]) & (attempts["problem_id"] == longest[1])
    assert turned.loc[mine, "turn"].tolist() == attempts.loc[mine, "turn"].tolist()[::-1]
    assert with_turns_reversed(turned).equals(attempts)
