from __future__ import annotations

import pandas as pd
import pytest

from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.judged_pairs import PairError
from judge_pipeline.preference.pair_decisions import pair_decisions
from judge_pipeline.tables.preference import PREFERENCE_PAIRS, PREFERENCE_SPLITS


def a_set() -> tuple[pd.DataFrame, pd.DataFrame]:
    blank = dict.fromkeys(PREFERENCE_PAIRS.column_names)
    rows = [
        {
            **blank,
            "pair_id": f"p{i}",
            "instruction": f"do {i // 2}",
            "response_a": "x" * (i + 1),
            "response_b": "yy",
            "w": w,
            "both_bad": False,
            "category": "kind",
            "votes": '{"ann": "A"}' if i == 0 else None,
            "swapped": False,
            "origin": "table",
            "source_file": "f.csv",
            "place": f"row {i + 1}",
        }
        for i, w in enumerate(["A", "B", "tie", "A"])
    ]
    splits = [
        {"pair_id": f"p{i}", "split": "val", "instruction_group": f"g{i // 2}", "assigned_by": "seed"} for i in range(4)
    ]
    return PREFERENCE_PAIRS.conform(rows), PREFERENCE_SPLITS.conform(splits)


VERDICTS = pd.DataFrame(
    [
        ("p3", "j", "AB", "first"), ("p3", "j", "BA", "second"), ("p0", "j", "AB", "second"),
        ("p0", "j", "BA", "first"),
        ("p1", "k", "AB", None), ("p1", "k", "BA", "first"), ("p2", "k", "AB", "tie"), ("p2", "k", "BA", "tie"),
    ],
    columns=["pair_id", "judge", "presentation_order", "slot"],
)  # fmt: skip


def test_verdicts_stand_beside_what_the_set_says_of_their_pair() -> None:
    pairs, splits = a_set()
    found = pair_decisions(pairs, VERDICTS, splits, {"j": "large"})
    assert found.astype(object).where(found.notna(), None).to_dict("records") == [
        {"pair_id": "p3", "judge": "j", "decision_ab": "A", "decision_ba": "A", "label": "A", "category": "kind",
         "votes": None, "length_a": 4.0, "length_b": 2.0, "cluster": "g1", "family": "large"},
        {"pair_id": "p0", "judge": "j", "decision_ab": "B", "decision_ba": "B", "label": "A", "category": "kind",
         "votes": '{"ann": "A"}', "length_a": 1.0, "length_b": 2.0, "cluster": "g0", "family": "large"},
        {"pair_id": "p1", "judge": "k", "decision_ab": None, "decision_ba": "B", "label": "B", "category": "kind",
         "votes": None, "length_a": 2.0, "length_b": 2.0, "cluster": "g0", "family": None},
        {"pair_id": "p2", "judge": "k", "decision_ab": "tie", "decision_ba": "tie", "label": "tie", "category": "kind",
         "votes": None, "length_a": 3.0, "length_b": 2.0, "cluster": "g1", "family": None},
    ]  # fmt: skip
    table = preference_accuracy(found, n_resamples=20)
    acc = table[(table["of"] == "judge") & (table["figure"] == "acc") & table["category"].isna()]
    assert acc.set_index("name")["value"].to_dict() == {"j": 0.5, "k": 0.0}


def test_a_set_without_groups_draws_each_pair_alone() -> None:
    pairs, _ = a_set()
    assert pair_decisions(pairs, VERDICTS)["cluster"].isna().all()


def test_a_verdict_on_another_sets_pair_and_one_given_twice_are_refused() -> None:
    pairs, splits = a_set()
    with pytest.raises(PairError, match="pair 'p0', which is not in the set"):
        pair_decisions(pairs[1:], VERDICTS, splits)
    with pytest.raises(PairError, match="two verdicts"):
        pair_decisions(pairs, pd.concat([VERDICTS, VERDICTS]), splits)
