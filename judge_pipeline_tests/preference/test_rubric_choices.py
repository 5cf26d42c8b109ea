from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.preference.judged_pairs import PairError
from judge_pipeline.preference.rubric_choices import rubric_choices


def tables() -> dict[str, pd.DataFrame]:
    scores = [("q", "tests", 1), ("q", "brief", 0), ("p", "tests", -1), ("p", "brief", 1), ("r", "tests", 0)]
    return {
        "scores": pd.DataFrame([*scores, ("r", "brief", None)], columns=["pair_id", "item", "score"]),
        "pairs": pd.DataFrame(
            [("p", "B", "i1"), ("q", "tie", "i1"), ("r", "A", None), ("s", "A", None)],
            columns=["pair_id", "label", "cluster"],
        ),
        "choices": pd.DataFrame(
            [("q", "j", "A"), ("p", "j", None), ("p", "k", "B")], columns=["pair_id", "judge", "choice"]
        ),
    }


def test_the_tables_are_joined_by_pair_and_what_lacks_a_score_is_counted() -> None:
    data = rubric_choices(**tables())
    assert (data.pair_ids, data.items, data.judges) == (("p", "q"), ("tests", "brief"), ("j", "k"))
    assert data.scores.tolist() == [[-1, 1], [1, 0]]
    assert np.array_equal(data.chose_b, [[1, np.nan, 1], [np.nan, 0, np.nan]], equal_nan=True)
    assert data.n_unscored == 2 and data.n_clusters == 1 and data.cluster.tolist() == [0, 0]


def test_pairs_without_a_cluster_stand_alone() -> None:
    given = tables()
    given["pairs"] = given["pairs"].assign(cluster=["p", None, None, None])
    assert rubric_choices(**given).n_clusters == 2
    given["pairs"] = given["pairs"].drop(columns="cluster")
    assert rubric_choices(**given).n_clusters == 2


@pytest.mark.parametrize(
    ("table", "change", "message"),
    [
        ("scores", lambda t: t.assign(score=2), "scores: score 2 is not -1, 0 or 1"),
        ("scores", lambda t: t.assign(pair_id="z").drop_duplicates("item"), "scores: pair_id 'z' is not in"),
        ("scores", lambda t: t.drop(columns="item"), r"scores: column\(s\) item are missing"),
        ("scores", lambda t: t.head(0), "no pair has a score for every item"),
        ("pairs", lambda t: t.assign(label="C"), "pairs: label 'C' is not one of A, B, tie"),
        ("pairs", lambda t: pd.concat([t, t]), "pairs: pair_id 'p' stands twice"),
        ("choices", lambda t: t.assign(choice="both"), "choices: choice 'both' is not one of"),
    ],
)
def test_bad_input_is_refused_with_its_place(table: str, change, message: str) -> None:
    given = tables()
    given[table] = change(given[table])
    with pytest.raises(PairError, match=message):
        rubric_choices(**given)
