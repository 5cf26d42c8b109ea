from __future__ import annotations

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.orchestration.trajectory_pages import chosen_trajectories

names = st.text(min_size=1, max_size=4)
keys = st.lists(st.tuples(names, names), unique=True, max_size=30)


def table(of: list[tuple[str, str]]) -> pd.DataFrame:
    return pd.DataFrame(of, columns=["participant", "problem_id"])


@given(keys, st.integers(0, 2**32), st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_draw_depends_on_seed_and_names_only(of: list[tuple[str, str]], seed: int, limit: int, random) -> None:  # type: ignore[no-untyped-def]
    chosen = chosen_trajectories(table(of), seed, limit)
    assert len(chosen) == min(limit, len(of))
    assert chosen == [key for key in of if key in set(chosen)], "in the order of the table"
    mixed = random.sample(of, len(of))
    assert set(chosen_trajectories(table(mixed), seed, limit)) == set(chosen)
    gone = [key for key in of if key in set(chosen) or random.random() < 0.5]
    assert set(chosen_trajectories(table(gone), seed, limit)) == set(chosen), "whoever leaves makes nobody else leave"


def test_another_seed_draws_others() -> None:
    of = [(f"E{i}", "A") for i in range(100)]
    assert chosen_trajectories(table(of), 1, 10) != chosen_trajectories(table(of), 2, 10)
