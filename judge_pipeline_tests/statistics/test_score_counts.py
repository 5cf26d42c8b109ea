from __future__ import annotations

import numpy as np
import pytest

from judge_pipeline.statistics.score_counts import SortedScores, count_scores


def test_counts_of_a_hand_worked_case() -> None:
    counts = count_scores([1, 0, 1, 0, 0], [0.5, 0.5, 0.9, 0.1, 0.5])
    assert counts.scores.tolist() == [0.1, 0.5, 0.9]
    assert counts.accepted.tolist() == [[0, 1, 1]]
    assert counts.rejected.tolist() == [[1, 2, 0]]
    assert counts.accepted_below.tolist() == [[0, 0, 1, 2]]
    assert counts.scores_below[0] == pytest.approx([0, 0.1, 1.6, 2.5])


def test_cluster_weights_reach_every_observation_of_the_cluster() -> None:
    scores = SortedScores([1, 0, 1], [0.2, 0.4, 0.4], cluster=[1, 0, 1])
    counts = scores.count(np.array([[3.0, 0.0], [1.0, 2.0]]))
    assert counts.accepted.tolist() == [[0, 0], [2, 2]]
    assert counts.rejected.tolist() == [[0, 3], [0, 1]]
    assert counts.n.tolist() == [3, 5]


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [
        ([0, 2], [0.1, 0.2], "0 or 1"),
        ([0, np.nan], [0.1, 0.2], "0 or 1"),
        ([0, 1], [0.1, 1.01], r"\[0, 1\]"),
        ([0, 1], [0.1, np.nan], r"\[0, 1\]"),
        ([0, 1], [0.1], "equally long"),
    ],
)
def test_refuses_what_is_no_score_or_label(y: list[float], p: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        SortedScores(y, p)


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [([], [], "no attempt"), ([1, 1], [0.1, 0.2], "all 2 attempts are accepted"), ([0], [0.5], "rejected")],
)
def test_names_the_one_class(y: list[float], p: list[float], words: str) -> None:
    reason = count_scores(y, p).one_class_reason()
    assert reason is not None
    assert words in reason


def test_no_reason_where_both_classes_are_there() -> None:
    assert count_scores([0, 1], [0.1, 0.2]).one_class_reason() is None
