from __future__ import annotations

import hashlib
import random
from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.cocreation.splits import assign_splits, share_out, split_sizes, updated_ledger
from judge_pipeline.table_schema import TableError

SHARES = {"seed": 7, "val_share": 0.1, "test_share": 0.1}


def attempts_of(groups: dict[tuple[str, str], list[int | None]]) -> pd.DataFrame:
    rows = [(u, p, y) for (u, p), labels in groups.items() for y in labels]
    return pd.DataFrame(rows, columns=["participant", "problem_id", "y"]).astype({"y": "Int64"})


def as_dict(splits: pd.DataFrame) -> dict[tuple[str, str], str]:
    return dict(zip(zip(splits["participant"], splits["problem_id"], strict=True), splits["split"], strict=True))


def contest(n: int, n_solved: int) -> dict[tuple[str, str], list[int | None]]:
    return {(f"u{i % 15}", f"p{i // 15}"): [0, 1] if i < n_solved else [0] for i in range(n)}


names = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=6
)  # pandas takes "" and "\0" for equal keys
labels = st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=4)
contests = st.dictionaries(st.tuples(names, names), labels, max_size=40)


def test_the_papers_contest_is_148_18_18_with_both_strata_in_proportion() -> None:
    splits = assign_splits(attempts_of(contest(184, 159)), **SHARES)
    assert Counter(splits["split"]) == {"train": 148, "val": 18, "test": 18}
    held = Counter(zip(splits["split"], splits["stratum"], strict=True))
    # Quotas are 18 * 159/184 = 15.55 and 18 * 25/184 = 2.45: the larger remainder takes the odd one.
    assert [held["val", "solved"], held["val", "unsolved"]] == [16, 2]
    assert [held["test", "solved"], held["test", "unsolved"]] == [16, 2]


@pytest.mark.parametrize(
    ("n", "val", "test", "expected"),
    [
        (0, 0.1, 0.1, (0, 0, 0)),
        (1, 0.1, 0.1, (1, 0, 0)),
        (2, 0.1, 0.1, (2, 0, 0)),
        (3, 0.1, 0.1, (1, 1, 1)),
        (19, 0.1, 0.1, (17, 1, 1)),
        (20, 0.1, 0.1, (16, 2, 2)),
        (100, 0.29, 0.57, (14, 29, 57)),  # binary floats make 28 and 56 of these
        (3, 0.49, 0.49, (1, 1, 1)),
    ],
)
def test_sizes(n: int, val: float, test: float, expected: tuple[int, int, int]) -> None:
    assert tuple(split_sizes(n, val, test).values()) == expected


@pytest.mark.parametrize(("val", "test"), [(0.5, 0.5), (0.0, 0.1), (0.1, -0.1), (0.9, 0.3)])
def test_shares_that_leave_nothing_are_refused(val: float, test: float) -> None:
    with pytest.raises(ValueError, match="leave a share for train"):
        split_sizes(10, val, test)


def test_the_draw_is_by_a_hash_of_seed_and_names_that_anyone_can_recompute() -> None:
    splits = as_dict(assign_splits(attempts_of({("E1", f"P{i}"): [i % 2] for i in range(10)}), **SHARES))

    def first(problems: list[str]) -> str:
        return min(problems, key=lambda p: hashlib.sha256(f'[7, "E1", "{p}"]'.encode()).digest())

    # Both strata have the same claim on val; solved comes first. Test then goes to the one with more groups left.
    assert [p for (_, p), split in splits.items() if split == "val"] == [first(["P1", "P3", "P5", "P7", "P9"])]
    assert [p for (_, p), split in splits.items() if split == "test"] == [first(["P0", "P2", "P4", "P6", "P8"])]
    assert splits["E1", "P1"] == "val"
    assert splits["E1", "P4"] == "test"


@settings(deadline=None, max_examples=60)
@given(contests, st.integers(0, 2**40), st.randoms(use_true_random=False))
def test_totals_are_exact_and_rows_in_any_order_give_the_same(
    groups: dict[tuple[str, str], list[int | None]], seed: int, rng: random.Random
) -> None:
    table = attempts_of(groups)
    splits = assign_splits(table, seed=seed, val_share=0.1, test_share=0.1)
    sizes = split_sizes(len(groups), 0.1, 0.1)
    assert {s: (splits["split"] == s).sum() for s in sizes} == sizes
    assert set(as_dict(splits)) == set(groups)
    assert splits["n_attempts"].sum() == len(table)
    order = list(range(len(table)))
    rng.shuffle(order)
    again = assign_splits(table.iloc[order], seed=seed, val_share=0.1, test_share=0.1)
    pd.testing.assert_frame_equal(splits, again)


@settings(deadline=None, max_examples=60)
@given(contests, st.integers(0, 1000))
def test_each_stratum_is_within_one_of_its_quota(groups: dict[tuple[str, str], list[int | None]], seed: int) -> None:
    splits = assign_splits(attempts_of(groups), seed=seed, val_share=0.2, test_share=0.2)
    sizes, totals = split_sizes(len(groups), 0.2, 0.2), Counter(splits["stratum"])
    held = Counter(zip(splits["split"], splits["stratum"], strict=True))
    for split in ("val", "test"):
        for stratum, n in totals.items():
            if n >= 3:  # smaller strata may be emptied by val
                assert abs(held[split, stratum] - Fraction(sizes[split] * n, len(groups))) < 1


@settings(deadline=None, max_examples=60)
@given(contests, contests, st.integers(0, 1000))
def test_with_a_ledger_nothing_moves_and_new_groups_fill_the_sizes(
    first: dict[tuple[str, str], list[int | None]], more: dict[tuple[str, str], list[int | None]], seed: int
) -> None:
    settings = {"seed": seed, "val_share": 0.1, "test_share": 0.1}
    before = assign_splits(attempts_of(first), **settings)
    ledger = updated_ledger(None, before)
    everything = first | more  # groups in both come back with other labels: their stratum changes
    after = assign_splits(attempts_of(everything), **settings, ledger=ledger)
    old, now = as_dict(before), as_dict(after)
    assert {group: now[group] for group in old} == old
    assert after["assigned_by"].eq("seed").all()
    again = assign_splits(attempts_of(everything), **settings, ledger=updated_ledger(ledger, after))
    pd.testing.assert_frame_equal(again, after)
    brought = assign_splits(attempts_of(everything), **settings, ledger=ledger.assign(assigned_by="ledger"))
    assert (brought["assigned_by"] == "ledger").sum() == len(old)
    sizes = split_sizes(len(everything), 0.1, 0.1)
    counts = Counter(after["split"])
    new_in_train = sum(now[group] == "train" for group in now if group not in old)
    for split in ("val", "test"):
        assert counts[split] == sizes[split] or (counts[split] < sizes[split] and new_in_train == 0)
    assert as_dict(updated_ledger(ledger, after)) == old | now


def test_solving_a_problem_later_moves_no_group() -> None:
    groups = contest(40, 10)
    before = assign_splits(attempts_of(groups), **SHARES)
    solved = {group: [*labels, 1] for group, labels in groups.items()}
    after = assign_splits(attempts_of(solved), **SHARES, ledger=updated_ledger(None, before))
    assert as_dict(after) == as_dict(before)
    assert set(after["stratum"]) == {"solved"}


def test_groups_that_only_the_ledger_knows_stay_in_it_and_out_of_the_table() -> None:
    ledger = updated_ledger(None, assign_splits(attempts_of(contest(30, 20)), **SHARES))
    splits = assign_splits(attempts_of({("new", "p"): [1]}), **SHARES, ledger=ledger)
    assert list(as_dict(splits)) == [("new", "p")]
    assert len(updated_ledger(ledger, splits)) == 31


def test_attempts_without_label_make_an_unlabelled_group() -> None:
    splits = assign_splits(attempts_of({("u", "a"): [None, None], ("u", "b"): [None, 0], ("u", "c"): [1]}), **SHARES)
    assert list(splits["stratum"]) == ["unlabelled", "unsolved", "solved"]


def test_names_that_run_together_are_different_groups() -> None:
    splits = assign_splits(attempts_of({("a", "bc"): [1], ("ab", "c"): [0]}), **SHARES)
    assert len(splits) == 2


def test_a_ledger_that_contradicts_itself_or_the_splits_is_refused() -> None:
    row = {"participant": "u", "problem_id": "p", "split": "val", "assigned_by": "seed"}
    with pytest.raises(TableError, match="share a key"):
        assign_splits(attempts_of({("u", "p"): [1]}), **SHARES, ledger=pd.DataFrame([row, row]))
    splits = assign_splits(attempts_of({("u", "p"): [1]}), **SHARES)
    with pytest.raises(ValueError, match=r"\(u, p\) is val in the ledger but train"):
        updated_ledger(pd.DataFrame([row]), splits)


def test_no_attempts_no_splits() -> None:
    assert assign_splits(attempts_of({}), **SHARES).empty


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.fractions(0, 9), st.integers(0, 9)), min_size=1, max_size=5), st.data())
def test_share_out_is_exact_and_respects_capacity(items: list[tuple[Fraction, int]], data: st.DataObject) -> None:
    weights = {str(i): weight for i, (weight, _) in enumerate(items)}
    capacity = {str(i): room for i, (_, room) in enumerate(items)}
    total = data.draw(st.integers(0, sum(capacity.values())))
    shares = share_out(total, weights, capacity)
    assert sum(shares.values()) == total
    assert all(0 <= shares[key] <= capacity[key] for key in weights)
    with pytest.raises(ValueError, match="cannot share out"):
        share_out(sum(capacity.values()) + 1, weights, capacity)
