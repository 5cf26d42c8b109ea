from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.choice_agreement import MOST_ANNOTATORS, majority_of


def made(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = []
    for i in range(n):
        label = str(rng.choice(["A", "B", "tie"]))
        for judge in ("one", "two", "three"):
            answer = [label if rng.random() < 0.3 else str(rng.choice(["A", "B", "tie"])) for _ in "ab"]
            rows.append((f"p{i}", judge, label, answer[0], answer[1] if rng.random() < 0.9 else None))
    return pd.DataFrame(rows, columns=["pair_id", "judge", "label", "decision_ab", "decision_ba"])


def test_cohen_is_that_of_scikit_learn_on_the_pairs_where_both_chose() -> None:
    from sklearn.metrics import cohen_kappa_score

    decisions = made()
    table = preference_accuracy(decisions, n_resamples=200)
    chosen = decisions.assign(
        choice=decisions["decision_ab"].where(decisions["decision_ab"] == decisions["decision_ba"])
    ).pivot(index="pair_id", columns="judge", values="choice")
    rows = table[(table["of"] == "agreement") & (table["figure"] == "cohen")].to_dict("records")
    assert {(row["name"], row["other"]) for row in rows} == {("one", "two"), ("one", "three"), ("two", "three")}
    for row in rows:
        both = chosen[[row["name"], row["other"]]].dropna()
        assert row["value"] == pytest.approx(cohen_kappa_score(both[row["name"]], both[row["other"]]))
        assert (row["n"], row["n_left_out"]) == (len(both), len(chosen) - len(both))
        assert row["ci95_low"] < row["value"] < row["ci95_high"]


def test_alpha_of_two_judges_with_all_choices_is_as_its_definition_counts() -> None:
    first, second = "AABBtAAB", "ABBBtAtB"
    words = {"A": "A", "B": "B", "t": "tie"}
    rows = [(f"p{i}", j, "A", words[c], words[c]) for j, s in (("x", first), ("y", second)) for i, c in enumerate(s)]
    table = preference_accuracy(
        pd.DataFrame(rows, columns=["pair_id", "judge", "label", "decision_ab", "decision_ba"]), n_resamples=50
    )
    values = first + second
    observed = sum(a != b for a, b in zip(first, second, strict=True)) / len(first)
    expected = sum(a != b for i, a in enumerate(values) for k, b in enumerate(values) if i != k)
    alpha = 1 - observed / (expected / (len(values) * (len(values) - 1)))
    assert table[table["figure"] == "krippendorff"]["value"].iloc[0] == pytest.approx(alpha)


def test_judges_of_one_answer_have_no_kappa() -> None:
    rows = [(f"p{i}", j, "A", "A", "A") for j in ("x", "y") for i in range(3)]
    columns = ["pair_id", "judge", "label", "decision_ab", "decision_ba"]
    table = preference_accuracy(pd.DataFrame(rows, columns=columns), n_resamples=20)
    rows_of = table[table["of"].isin(["agreement", "panel"])].set_index("figure")
    assert rows_of.loc["raw_agreement", "value"] == 1.0
    for name in ("cohen", "krippendorff"):
        assert pd.isna(rows_of.loc[name, "value"]) and "0/0" in rows_of.loc[name, "reason"]


def test_a_majority_has_more_votes_than_every_other() -> None:
    votes = np.array([[0, 0, 1], [0, 1, 2], [1, -1, -1], [-1, -1, -1], [2, 2, 0], [0, 1, -1]])
    assert majority_of(votes).tolist() == [0, -1, 1, -1, 2, -1]


def test_of_thousands_of_annotators_those_with_most_votes_are_compared() -> None:
    rows = [
        {
            "pair_id": f"p{i:03}",
            "judge": "j",
            "label": "A",
            "decision_ab": "A",
            "decision_ba": "A",
            "votes": json.dumps({"ann": "A", f"user {i:03}": "B"}),
        }
        for i in range(400)
    ]
    table = preference_accuracy(pd.DataFrame(rows), n_resamples=20)
    compared = set(table.loc[table["of"] == "agreement", ["name", "other"]].to_numpy().ravel())
    assert len(compared) == MOST_ANNOTATORS + 1 and {"j", "annotator ann"} < compared
    people = table[table["of"] == "people"].iloc[0]
    assert f"the {MOST_ANNOTATORS} of 401 annotators with most votes" in people["reason"]
