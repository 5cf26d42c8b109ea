from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.preference.preference_splits import assign_preference_splits, updated_preference_ledger


def pairs_of(instructions: list[str | None], splits: list[str | None] | None = None) -> pd.DataFrame:
    n = len(instructions)
    return pd.DataFrame(
        {
            "pair_id": [f"p{i}" for i in range(n)],
            "instruction": instructions,
            "prefix": [f"context {i}" for i in range(n)],
            "code_to_edit": None,
            "suffix": None,
            "prior_turns": None,
            "split": splits or [None] * n,
        }
    ).astype(object)


def split(pairs: pd.DataFrame, **keywords: object) -> pd.DataFrame:
    return assign_preference_splits(pairs, **{"seed": 1, "train_share": 0.2, **keywords})  # type: ignore[arg-type]


def test_a_fifth_is_train_where_every_instruction_is_another() -> None:
    rows = split(pairs_of([f"do {i}" for i in range(500)]))
    assert rows["split"].value_counts().to_dict() == {"val": 400, "train": 100}
    assert set(rows["assigned_by"]) == {"seed"}
    other = split(pairs_of([f"do {i}" for i in range(500)]), seed=2)
    assert (other["split"] != rows["split"]).any()


@given(
    st.lists(st.sampled_from(["a", " a ", "b", "c", "d", None]), max_size=30),
    st.integers(0, 5),
    st.sampled_from([0.0, 0.2, 0.29, 0.5, 0.9]),
)
def test_no_instruction_is_in_two_splits_and_train_is_no_larger_than_told(
    instructions: list[str | None], seed: int, share: float
) -> None:
    pairs = pairs_of(instructions)
    rows = split(pairs, seed=seed, train_share=share)
    assert rows["pair_id"].tolist() == pairs["pair_id"].tolist()
    named = {}
    for instruction, part in zip(instructions, rows["split"], strict=True):
        if instruction is not None:
            assert named.setdefault(instruction.strip(), part) == part
    n_train = int((rows["split"] == "train").sum())
    room = math.floor(share * len(pairs) + 1e-9)
    least = rows.groupby("instruction_group").size().min() if len(rows) else 0
    assert n_train <= max(room, least)
    if share and rows["instruction_group"].nunique() > 1:
        assert n_train
    shuffled = pairs.iloc[::-1]
    again = split(shuffled, seed=seed, train_share=share)
    assert dict(zip(again["pair_id"], again["split"], strict=True)) == dict(
        zip(rows["pair_id"], rows["split"], strict=True)
    )


def test_pairs_without_instruction_are_grouped_by_their_context() -> None:
    pairs = pairs_of([None, None, None])
    pairs["prefix"] = ["same", "same", "other"]
    assert split(pairs)["instruction_group"].nunique() == 2


def test_what_the_source_states_holds_and_what_the_ledger_knows_before_all() -> None:
    pairs = pairs_of(["a", "b", "c", "c"], ["test", None, "train", "val"])
    rows = split(pairs)
    assert rows.loc[0, ["split", "assigned_by"]].tolist() == ["test", "source"]
    assert set(rows["assigned_by"][2:]) == {"seed"}, "a group that states two splits is drawn"
    assert split(pairs, by_source=False)["assigned_by"].eq("seed").all()
    moved = rows.assign(split="val")
    ledger = updated_preference_ledger(None, moved)
    kept = split(pairs, ledger=ledger)
    assert set(kept["split"]) == {"val"}
    assert kept["assigned_by"].tolist() == rows["assigned_by"].tolist(), "what decided it first stays with it"
    pd.testing.assert_frame_equal(split(pairs, ledger=updated_preference_ledger(ledger, kept)), kept)


def test_no_group_moves_when_pairs_arrive() -> None:
    few = split(pairs_of([f"do {i}" for i in range(50)]))
    ledger = updated_preference_ledger(None, few)
    many = split(pairs_of([f"do {i}" for i in range(200)]), ledger=ledger)
    assert many["split"][:50].tolist() == few["split"].tolist()
    assert many["split"].value_counts()["train"] == 40
    only_new = split(pairs_of([f"do {i}" for i in range(100, 200)]), ledger=ledger)
    assert len(updated_preference_ledger(ledger, only_new)) == 150


def test_a_share_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="train_share=1"):
        split(pairs_of(["a"]), train_share=1.0)
    assert split(pairs_of([])).empty
