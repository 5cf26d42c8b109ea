from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.similarity.edit_distance import normalized_edit_distance, normalized_edit_distances


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


_maybe_text = st.one_of(
    st.none(), st.text(st.characters(), max_size=12), st.sampled_from(["\ud800", "a\udfffb", "é", "e\u0301"])
)


@given(st.lists(st.tuples(_maybe_text, _maybe_text), max_size=8))
def test_in_bulk_it_is_the_same_to_the_last_bit_and_null_where_a_text_is_missing(
    pairs: list[tuple[str | None, str | None]],
) -> None:
    found = normalized_edit_distances([a for a, _ in pairs], [b for _, b in pairs])
    for (a, b), ned, reason in zip(pairs, found["ned"], found["reason"], strict=True):
        if a is None or b is None:
            assert math.isnan(ned)
            assert reason == ("both texts are missing" if a is b else "one of the two texts is missing")
        else:
            assert (ned, reason) == (normalized_edit_distance(a, b), None)
            assert 0 <= ned <= 1


def test_a_lone_surrogate_is_one_character() -> None:
    assert normalized_edit_distances(["a\ud800b"], ["ab"])["ned"].tolist() == [1 / 3]


def test_columns_of_tables_are_paired_by_place_not_by_index() -> None:
    first = pd.Series(["abc", float("nan")], index=[7, 3])
    second = pd.Series(["abd", "x"], index=[3, 7])
    assert normalized_edit_distances(first, second)["ned"].round(6).tolist()[0] == round(1 / 3, 6)


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 texts cannot be paired with 1"):
        normalized_edit_distances(["a", "b"], ["a"])


@pytest.mark.parametrize("n", [0, 1])
def test_few_pairs_have_the_same_columns(n: int) -> None:
    found = normalized_edit_distances(["a"] * n, ["b"] * n)
    assert (list(found), found["ned"].dtype, len(found)) == (["ned", "reason"], "float64", n)
