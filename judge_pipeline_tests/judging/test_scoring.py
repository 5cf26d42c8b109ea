"""How token probabilities become an answer."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.judging.scoring import rubric_score, share_of, share_of_yes


def test_the_share_of_yes_adds_up_spellings_and_ignores_the_rest() -> None:
    top = [(token, math.log(p)) for token, p in [("No", 0.3), (" yes", 0.15), ("Yes", 0.25), ("The", 0.2), ("Y", 0.1)]]
    assert share_of_yes(top) == pytest.approx(0.4 / 0.7)
    assert share_of_yes([("Yes", -1.0)]) == 1.0
    assert share_of_yes([("The", -1.0), ("nobody", -1.0)]) is None


@given(st.floats(0, 1))
def test_rubric_scores_are_five_equal_bins(share: float) -> None:
    score = rubric_score(share)
    assert 1 <= score <= 5
    assert score == 5 or share < score / 5 + 1e-9
    assert share >= (score - 1) / 5 - 1e-9


def test_rubric_scores_at_the_edges() -> None:
    assert [rubric_score(x) for x in (0.0, 0.19, 0.2, 0.59, 0.6, 0.99, 1.0)] == [1, 1, 2, 3, 4, 5, 5]


def test_a_share_is_of_the_two_words_alone() -> None:
    top = [("A", math.log(0.2)), (" a", math.log(0.1)), ("B", math.log(0.1)), ("tie", math.log(0.6))]
    assert share_of(top, "a", "b") == pytest.approx(0.75)
    assert share_of(top, "b", "a") == pytest.approx(0.25)
