from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.cocreation.judged_attempts import JudgedAttempts, PredictionError, check_predictions
from judge_pipeline.tables import PREDICTIONS

from .paper_items import predictions


def small() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "attempt_id": ["b", "a", "b", "a", "c"],
            "judge": ["y", "y", "x", "x", "x"],
            "p_ac": [0.2, 0.1, None, 0.3, 0.4],
            "y": [1, 0, 1, 0, None],
            "split": ["test", "test", "test", "test", "val"],
            "participant": ["u", "u", "u", "u", "v"],
            "problem_id": ["p", "p", "p", "p", "p"],
        }
    )


def test_lays_attempts_beside_judges() -> None:
    judged = JudgedAttempts.of(small())
    test, val = judged.splits["test"], judged.splits["val"]
    assert judged.judges == ("x", "y")
    np.testing.assert_array_equal(test.p, [[0.3, 0.1], [np.nan, 0.2]])
    assert test.y.tolist() == [0, 1]
    assert test.usable(0).tolist() == [True, False]
    assert test.cluster.tolist() == [0, 0]
    assert (val.n_clusters, val.cluster.tolist()) == (0, [-1])
    assert judged.cluster_note is None


def test_the_order_of_rows_does_not_matter() -> None:
    frame = predictions()
    straight = JudgedAttempts.of(frame)
    shuffled = JudgedAttempts.of(frame.sample(frac=1, random_state=3))
    for split in ("val", "test"):
        for name in ("y", "p", "cluster"):
            one, other = getattr(straight.splits[split], name), getattr(shuffled.splits[split], name)
            np.testing.assert_array_equal(one, other)


def test_without_participant_every_attempt_is_its_own_cluster_and_that_is_said() -> None:
    judged = JudgedAttempts.of(predictions().drop(columns=["participant", "problem_id"]))
    assert judged.splits["test"].n_clusters == 36
    assert "participant and problem are not known:" in (judged.cluster_note or "")


def test_a_trajectory_known_for_some_attempts_only() -> None:
    frame = small()
    frame.loc[frame["attempt_id"] == "b", "participant"] = None
    judged = JudgedAttempts.of(frame)
    assert judged.splits["test"].cluster.tolist() in ([0, 1], [1, 0])
    assert "for 1 of 3 attempts" in (judged.cluster_note or "")


def test_an_attempt_called_like_a_trajectory_stays_apart() -> None:
    frame = small().assign(participant=lambda f: f["participant"].where(f["attempt_id"] != "b"))
    frame.loc[frame["attempt_id"] == "b", "attempt_id"] = "u"
    assert JudgedAttempts.of(frame).splits["test"].n_clusters == 2


def test_the_table_of_the_house_is_taken_as_it_is() -> None:
    assert JudgedAttempts.of(PREDICTIONS.empty()).judges == ()


@pytest.mark.parametrize(
    ("column", "row", "value", "words"),
    [
        ("p_ac", 1, 1.2, r"p_ac is outside \[0, 1\] in 1 row\(s\): row 1: 1.2.*Remedy: give probabilities"),
        ("p_ac", 1, -0.1, r"row 1: -0.1"),
        ("p_ac", 3, float("inf"), r"row 3: inf"),
        ("y", 0, 2, r"y is not 0 or 1 in 1 row\(s\): row 0: 2.*blank where the attempt is not judged yet"),
        ("y", 0, 0.5, r"row 0: 0.5"),
        ("split", 4, "Test", r"split is not one of train, val, test in 1 row\(s\): row 4: 'Test'.*lower case"),
        ("split", 4, None, r"row 4: \(blank\)"),
        ("attempt_id", 2, "", r"attempt_id is not a text"),
        ("judge", 2, None, r"judge is not a text .*row 2: \(blank\)"),
        ("judge", 2, "y", r"has more than one row by the same judge in 2 row\(s\): row 0: 'b'; row 2: 'b'"),
        ("y", 2, 0, r"attempt 'b' has y 1.* in row 0 \(judge y\) and 0.* in row 2 \(judge x\)"),
        ("y", 2, None, r"attempt 'b' has y 1.* and \(blank\) in row 2"),
        ("split", 2, "val", r"attempt 'b' has split 'test' in row 0 \(judge y\) and 'val' in row 2"),
        ("participant", 2, "w", r"attempt 'b' has participant 'u'"),
        ("problem_id", 2, "q", r"attempt 'b' has problem_id 'p'"),
    ],
)
def test_refuses_what_would_mean_nothing_and_names_it(column: str, row: int, value: object, words: str) -> None:
    frame = small().astype({"y": "Float64"})
    frame[column] = frame[column].astype(object)
    frame.loc[row, column] = value
    with pytest.raises(PredictionError, match=words):
        check_predictions(frame)


def test_refuses_truth_values_and_texts_as_probabilities() -> None:
    frame = small().astype({"p_ac": object})
    frame.loc[1, "p_ac"] = True
    with pytest.raises(PredictionError, match="truth value"):
        check_predictions(frame)
    frame.loc[1, "p_ac"] = "85%"
    with pytest.raises(PredictionError, match="p_ac does not hold numbers"):
        check_predictions(frame)


def test_names_missing_columns() -> None:
    with pytest.raises(PredictionError, match=r"split are missing; there are attempt_id, judge"):
        check_predictions(small().drop(columns="split"))


def test_shows_a_few_of_many_faults() -> None:
    frame = predictions()
    frame["p_ac"] = 85.0
    with pytest.raises(PredictionError, match=rf"in {len(frame)} row\(s\).* and {len(frame) - 5} more"):
        check_predictions(frame)
