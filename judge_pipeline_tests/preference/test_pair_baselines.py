"""Baselines of pairs: rules by hand, the fitted one against scikit-learn, and what it must not see or depend on."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.preference.choice_rows import choices_table
from judge_pipeline.preference.pair_baselines import baseline_choices, baseline_hashes
from judge_pipeline.preference.response_features import response_features
from judge_pipeline.settings import BaselineJudge
from judge_pipeline.tables.preference import PAIR_TEXTS

MIRRORED = {"A": "B", "B": "A", "tie": "tie"}


def text_row(pair_id: str, response_a: str, response_b: str, **further: Any) -> dict[str, Any]:
    return dict.fromkeys(PAIR_TEXTS.column_names) | {
        "pair_id": pair_id, "response_a": response_a, "response_b": response_b, **further
    }  # fmt: skip


def made(n: int = 60, seed: int = 2, noise: float = 0.2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs, a third of them in train, two of an instruction; most people choose the response with less comments."""
    rng = random.Random(seed)
    rows, labels = [], []
    for i in range(n):
        codes = [
            "\n".join(
                f"x{j} = {rng.randrange(9)}" + "  # set it" * (rng.random() < 0.5) for j in range(rng.randint(1, 6))
            )
            for _ in "ab"
        ]
        edited = {"code_to_edit": "x0 = 1\nx1 = 2"} if i % 2 else {}
        rows.append(text_row(f"p{i:03}", *codes, language="Python", **edited))
        a, b = (code.count("#") / code.count("=") for code in codes)
        better = "tie" if a == b else "A" if a < b else "B"
        w = MIRRORED[better] if rng.random() < noise else better
        split = "train" if i // 2 % 3 == 0 else "val"
        labels.append({"pair_id": f"p{i:03}", "split": split, "w": w, "instruction_group": f"g{i // 2:03}"})
    return PAIR_TEXTS.conform(rows), pd.DataFrame(labels)


def swapped(texts: pd.DataFrame) -> pd.DataFrame:
    names = {
        "response_a": "response_b",
        "response_b": "response_a",
        "evidence_a": "evidence_b",
        "evidence_b": "evidence_a",
    }
    return texts.rename(columns=names)[texts.columns]


def choose(
    texts: pd.DataFrame,
    training: pd.DataFrame | None = None,
    scope: pd.DataFrame | None = None,
    seed: int = 1,
    **of: Any,
) -> pd.DataFrame:
    judge = BaselineJudge(backend="baseline", **of)
    rows = baseline_choices(judge, texts, texts if scope is None else scope, training, seed)
    return choices_table("baseline", rows)


def in_order(table: pd.DataFrame, order: str) -> pd.DataFrame:
    return table[table["presentation_order"] == order].set_index("pair_id")


RULES = [
    ("longer", text_row("p", "ab", "é"), "A", "characters: 2 of the first, 1 of the second"),
    ("longer", text_row("p", "ab", "cd"), "tie", "characters: 2 of the first, 2 of the second"),
    ("longer", text_row("p", "", "\n"), "B", "characters: 0 of the first, 1 of the second"),
    ("smaller_edit", text_row("p", "a\nb\n", "a"), "B", "inserted lines: 2 of the first, 1 of the second"),
    ("smaller_edit", text_row("p", "a\nb", "c\nd\n"), "tie", "inserted lines: 2 of the first, 2 of the second"),
    ("smaller_edit", text_row("p", "Long words\nof a chat:\n```\na\n```", "b\nc"), "A", "inserted lines: 1 of the"),
    ("smaller_edit", text_row("p", "a\nX\nc", "a\nb\nc\nd\ne", code_to_edit="a\nb\nc"), "A", "changed lines: 1 of the"),
    ("smaller_edit", text_row("p", "", "a\nb\nc\nd", code_to_edit="a\nb\nc"), "B", "changed lines: 3 of the first, 1"),
]


@pytest.mark.parametrize(("rule", "row", "decision", "said"), RULES)
def test_rules_by_hand(rule: str, row: dict[str, Any], decision: str, said: str) -> None:
    table = choose(PAIR_TEXTS.conform([row]), pair_rule=rule)
    assert list(table["presentation_order"]) == ["AB", "BA"] and list(table["decision"]) == [decision] * 2
    slots = {"A": ["first", "second"], "B": ["second", "first"], "tie": ["tie", "tie"]}
    assert list(table["slot"]) == slots[decision]
    assert said in table["rationale"][0] and table["p_first"].isna().all() and set(table["n_tries"]) == {0}
    assert table["request_hash"].is_unique and table["failure"].isna().all()


def test_the_numbers_of_the_rationale_are_in_the_order_that_is_shown() -> None:
    table = choose(PAIR_TEXTS.conform([text_row("p", "abc", "d")]), pair_rule="longer")
    assert list(table["rationale"]) == [
        "the longer wins; characters: 3 of the first, 1 of the second",
        "the longer wins; characters: 1 of the first, 3 of the second",
    ]


def test_the_fitted_one_is_scikit_learns_model_of_differences() -> None:
    texts, training = made(200, noise=0.1)
    found = in_order(choose(texts, training), "AB")
    rows = texts.set_index("pair_id")
    difference = pd.DataFrame(
        {p: np.subtract(response_features(row, "a"), response_features(row, "b")) for p, row in rows.iterrows()}
    ).T
    labels = training.set_index("pair_id")
    untied = labels[(labels["split"] == "train") & (labels["w"] != "tie")]
    x = difference.loc[untied.index]
    scale = np.sqrt((x**2).mean()).replace(0, 1)
    # The pairs as they are, each once: no mirroring here.
    model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit((x / scale).to_numpy(), (untied["w"] == "A").to_numpy())
    val = labels.index[labels["split"] == "val"]
    expected = model.predict_proba((difference.loc[val] / scale).to_numpy())[:, 1]
    np.testing.assert_allclose(found.loc[val, "p_first"], expected, atol=2e-6)
    told = np.where(np.abs(expected - 0.5) < 1e-6, "tie", np.where(expected > 0.5, "A", "B"))
    assert list(found.loc[val, "decision"]) == list(told)
    right = labels.loc[val, "w"] == found.loc[val, "decision"]
    assert right[labels.loc[val, "w"] != "tie"].mean() > 0.8  # there is something to learn, and it is learnt
    assert found.loc[val, "rationale"].str.startswith(f"logistic model, fitted on {len(untied)} pairs of train;").all()
    train = labels.index[labels["split"] == "train"]
    assert found.loc[train, "rationale"].str.contains(r"out of fold [1-5] of 5; probability: 0\.\d").any()


def test_both_orders_say_the_same() -> None:
    table = choose(*made(40))
    ab, ba = in_order(table, "AB"), in_order(table, "BA")
    assert list(ab["decision"]) == list(ba["decision"])
    np.testing.assert_array_equal(ab["p_first"].round(6), (1 - ba["p_first"]).round(6))
    first = (table["slot"] == "first") == (table["p_first"] > 0.5)
    assert first.all() and ((table["slot"] == "tie") == (table["p_first"] == 0.5)).all()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["longer", "smaller_edit", "fitted"])
@given(seed=st.integers(0, 1000))
@settings(max_examples=5, deadline=None)
def test_swapped_responses_mirror_every_choice(rule: str, seed: int) -> None:
    """Those of the pair alone, and those of any pairs that are fitted on, with their labels."""
    texts, training = made(30, seed=seed)
    first = choose(texts, training, pair_rule=rule)
    mirrored = choose(texts, training, scope=swapped(texts), pair_rule=rule)
    assert list(mirrored["decision"]) == [MIRRORED[decision] for decision in first["decision"]]
    np.testing.assert_array_equal(in_order(mirrored, "AB")["p_first"], in_order(first, "BA")["p_first"])
    turned = pd.Series(np.random.default_rng(seed).random(len(texts)) < 0.5)
    others = texts.where(~turned, swapped(texts))
    labels = training.assign(w=training["w"].where(~turned, training["w"].map(MIRRORED)))
    again = choose(others, labels, scope=texts, pair_rule=rule)
    beside = [name for name in first.columns if name != "request_hash"]
    pd.testing.assert_frame_equal(again[beside], first[beside])


def test_labels_of_val_change_no_byte() -> None:
    texts, training = made()
    first = choose(texts, training)
    outside = training["split"] != "train"
    for w in (training["w"].map(MIRRORED), "tie", "A", None):
        changed = training.assign(w=training["w"].mask(outside, w))
        pd.testing.assert_frame_equal(choose(texts, changed), first)
    inside = training.assign(w=training["w"].mask(~outside, training["w"].map(MIRRORED)))
    assert not choose(texts, inside)["p_first"].equals(first["p_first"])


def test_on_train_it_does_not_know_the_labels_of_the_instruction() -> None:
    """Within an instruction the same response always wins, by a coin: who has seen its labels knows it."""
    rng = random.Random(3)
    rows, labels = [], []
    for i in range(240):
        group, turn = divmod(i, 4)
        signs = random.Random(group)
        longer, commented = signs.choice("AB"), signs.choice("AB")
        a = "x = 1\n" * (group + 3 if longer == "A" else 2) + "# c\n" * (commented == "A") * (group % 7)
        b = "x = 1\n" * (group + 3 if longer == "B" else 2) + "# c\n" * (commented == "B") * (group % 7)
        rows.append(text_row(f"p{i:03}", a + " " * turn, b + " " * turn, language="Python"))
        labels.append(
            {"pair_id": f"p{i:03}", "split": "train", "w": signs.choice("AB"), "instruction_group": f"{group}"}
        )
    texts, training = PAIR_TEXTS.conform(rows), pd.DataFrame(labels)
    right = (in_order(choose(texts, training), "AB")["decision"].to_numpy() == training["w"].to_numpy()).mean()
    assert abs(right - 0.5) < 0.15
    # A group is predicted as if its pairs were not there, whatever their labels are.
    group = training["instruction_group"] == training["instruction_group"][rng.randrange(240)]
    other = training.assign(w=training["w"].mask(group, training["w"].map(MIRRORED)))
    own = group.repeat(2).to_numpy()
    pd.testing.assert_series_equal(choose(texts, other)["p_first"][own], choose(texts, training)["p_first"][own])
    assert not choose(texts, other)["p_first"][~own].equals(choose(texts, training)["p_first"][~own])


def test_a_pair_of_val_with_an_instruction_of_train_is_out_of_fold_too() -> None:
    texts, training = made()
    assert set(training["w"][:2]) <= {"A", "B"}
    leaking = training.assign(split=training["split"].mask(training["pair_id"] == "p001", "val"))
    words = in_order(choose(texts, leaking), "AB")["rationale"]
    assert "out of fold" in words["p001"] and "out of fold" not in words["p002"]


def test_a_scope_is_chosen_on_as_the_whole_is_in_its_order() -> None:
    texts, training = made()
    whole = choose(texts, training).set_index(["pair_id", "presentation_order"])
    scope = texts.sample(frac=0.3, random_state=2)
    part = choose(texts, training, scope=scope)
    assert list(part["pair_id"]) == [pair_id for pair_id in scope["pair_id"] for _ in range(2)]
    part = part.set_index(["pair_id", "presentation_order"])
    pd.testing.assert_frame_equal(part, whole.loc[part.index])
    mixed = choose(texts.sample(frac=1, random_state=4), training.sample(frac=1, random_state=5), scope=texts)
    pd.testing.assert_frame_equal(mixed.set_index(["pair_id", "presentation_order"]), whole)


def test_the_seed_moves_only_the_folds() -> None:
    texts, training = made()
    first, same, other = (in_order(choose(texts, training, seed=seed), "AB")["p_first"] for seed in (1, 1, 2))
    train = training.set_index("pair_id")["split"] == "train"
    pd.testing.assert_series_equal(first, same)
    pd.testing.assert_series_equal(first[~train], other[~train])
    assert not first[train].equals(other[train])


@pytest.mark.parametrize("rule", ["longer", "smaller_edit", "fitted"])
def test_hashes_are_told_without_a_fit_and_cover_what_can_change_a_choice(rule: str) -> None:
    texts, training = made(30)
    judge = BaselineJudge(backend="baseline", pair_rule=rule)
    first = baseline_hashes(judge, texts, texts, training, 1)
    rows = baseline_choices(judge, texts, texts, training, 1)
    assert first == {(row["pair_id"], row["presentation_order"]): row["request_hash"] for row in rows}

    def changed(
        judge: BaselineJudge = judge, texts: pd.DataFrame = texts, labels: pd.DataFrame = training, seed: int = 1
    ) -> set[str]:
        found = baseline_hashes(judge, texts, texts, labels, seed)
        return {pair_id for pair_id, order in found if found[pair_id, order] != first[pair_id, order]}

    everything, fitted = set(texts["pair_id"]), rule == "fitted"
    p002 = texts["pair_id"] == "p002"  # of val
    assert changed(texts=texts.assign(response_b=texts["response_b"].mask(p002, "other"))) == {"p002"}
    assert changed(texts=texts.assign(instruction="other", model_a="m")) == set()
    edited = changed(texts=texts.assign(code_to_edit=texts["code_to_edit"].mask(p002, "x")))
    assert edited == (set() if rule == "longer" else {"p002"})
    p000 = texts["pair_id"] == "p000"  # of train
    assert training["w"][0] != "tie"
    assert changed(texts=texts.assign(response_b=texts["response_b"].mask(p000, "other"))) == (
        everything if fitted else {"p000"}
    )
    assert changed(labels=training.assign(w=training["w"].mask(p000, "tie"))) == (everything if fitted else set())
    assert changed(labels=training.assign(w=training["w"].mask(p002, "tie"))) == set()
    assert changed(seed=2) == changed(judge.model_copy(update={"folds": 3})) == (everything if fitted else set())
    moved = training["instruction_group"].mask(p002, "g000")
    assert changed(labels=training.assign(instruction_group=moved)) == ({"p002"} if fitted else set())


def test_hashes_need_no_pairs_to_learn_from() -> None:
    texts, training = made(10)
    ties = training.assign(w="tie")
    assert len(baseline_hashes(BaselineJudge(backend="baseline"), texts, texts, ties, 1)) == 20


def test_labels_that_are_all_a_are_learnt_from() -> None:
    """The model has no intercept: whose name is A is nothing to it."""
    texts, training = made()
    wins = training["w"] == "B"
    oriented = texts.where(~wins, swapped(texts))
    all_a = training.assign(w=training["w"].mask(wins, "A"))
    beside = ["p_first", "slot", "decision"]
    pd.testing.assert_frame_equal(choose(oriented, all_a, scope=texts)[beside], choose(texts, training)[beside])


def test_nothing_to_learn_from_is_refused_with_what_there_is() -> None:
    texts, training = made(30)
    train = training["split"] == "train"
    with pytest.raises(JudgingError, match=r"there are 0, 0 of them ties\. Give train a larger share"):
        choose(texts, training.assign(split="val"))
    n = int(train.sum())
    with pytest.raises(JudgingError, match=rf"there are {n}, {n} of them ties\. Give train"):
        choose(texts, training.assign(w="tie"))
    alike = texts.assign(response_a="x = 1", response_b="y = 2")
    with pytest.raises(JudgingError, match="in all of the others both responses have the same features"):
        choose(alike, training)
    with pytest.raises(JudgingError, match="was given none"):
        choose(texts, None)
    with pytest.raises(JudgingError, match="preference_splits lacks pairs to judge, such as 'p029'"):
        choose(texts, training[training["pair_id"] != "p029"])
    with pytest.raises(JudgingError, match="pair_texts lacks pairs of split train, such as 'p000'"):
        choose(texts[1:], training, scope=texts)


def test_one_instruction_in_train_can_tell_val_but_not_itself() -> None:
    texts, training = made(30)
    one = training.assign(split=training["split"].where(training["instruction_group"] == "g000", "val"))
    with pytest.raises(JudgingError, match=r"cannot predict train out of fold: .* \(0 untied pairs are left\)"):
        choose(texts, one)
    assert len(choose(texts, one, scope=texts[2:])) == 56
    assert choose(texts, one, scope=texts[:0]).empty
