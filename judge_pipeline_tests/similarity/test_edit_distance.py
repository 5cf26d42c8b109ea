from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.similarity.edit_distance import normalized_edit_distance


def by_hand(first: str, second: str) -> int:
    """Levenshtein's distance by its recurrence, row by row."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        last, row = row, [i]
        for j, b in enumerate(second, 1):
            row.append(min(row[-1] + 1, last[j] + 1, last[j - 1] + (a != b)))
    return row[-1]


@given(st.text(max_size=12), st.text(max_size=12))
def test_it_is_levenshteins_distance_over_the_longer_length(first: str, second: str) -> None:
    assert normalized_edit_distance(first, second) == by_hand(first, second) / max(1, len(first), len(second))


@pytest.mark.parametrize(
    ("first", "second", "ned"), [("", "", 0), ("abc", "", 1), ("kitten", "sitting", 3 / 7), ("問題", "問", 0.5)]
)
def test_known_distances(first: str, second: str, ned: float) -> None:
    assert normalized_edit_distance(first, second) == ned
