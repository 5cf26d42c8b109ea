from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.judged_pairs import PairError

Answer = tuple[str, str | None, str | None]
CHOICE = st.sampled_from(["A", "B", "tie", None])
ANSWERS = st.lists(st.tuples(st.sampled_from(["A", "B", "tie"]), CHOICE, CHOICE), min_size=1, max_size=20)


def decisions(answers: list[Answer], judge: str = "j", **columns: Any) -> pd.DataFrame:
    rows = [
        {"pair_id": f"p{i}", "judge": judge, "label": w, "decision_ab": ab, "decision_ba": ba}
        for i, (w, ab, ba) in enumerate(answers)
    ]
    return pd.DataFrame(rows, index=[f"row {i + 1}" for i in range(len(rows))], dtype=object).assign(**columns)


def figures(table: pd.DataFrame, of: str = "judge", name: str = "j") -> dict[str, dict[str, Any]]:
    rows = table[(table["of"] == of) & (table["name"] == name) & table["category"].isna()]
    return {row["figure"]: row for row in rows.to_dict("records")}


def by_hand(rule: str, answers: list[Answer]) -> tuple[int, int]:
    """Right and counted pairs, pair by pair in plain words."""

    def points(w: str, decision: str | None) -> int:
        return 0 if decision in (None, "tie") else 1 if decision == w else -1

    right: dict[str, Callable[[str, str | None, str | None], bool]] = {
        "trace": lambda w, ab, ba: ab == ba == w,
        "exact": lambda w, ab, ba: ab == ba == w,
        "judgebench": lambda w, ab, ba: points(w, ab) + points(w, ba) > 0,
        "pandalm": lambda w, ab, ba: (ab or "tie") == w,
        "bigcodereward": lambda w, ab, ba: ab == w,
    }
    kept = [a for a in answers if a[0] != "tie" or rule not in ("trace", "judgebench")]
    kept = [a for a in kept if a[1] is not None or rule != "bigcodereward"]
    return sum(right[rule](*a) for a in kept), len(kept)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["trace", "exact", "judgebench", "pandalm", "bigcodereward"])
@settings(max_examples=30, deadline=None)
@given(answers=ANSWERS)
def test_acc_under_every_rule_is_what_a_loop_counts(rule: str, answers: list[Answer]) -> None:
    acc = figures(preference_accuracy(decisions(answers), rule=rule, n_resamples=5))["acc"]
    right, n = by_hand(rule, answers)
    assert (acc["n"], acc["n_left_out"]) == (n, len(answers) - n)
    if n:
        assert acc["value"] == pytest.approx(right / n)
    else:
        assert pd.isna(acc["value"]) and "no pair counts" in acc["reason"]


@settings(max_examples=50, deadline=None)
@given(answers=ANSWERS)
def test_shares_of_two_orders_are_what_a_loop_counts(answers: list[Answer]) -> None:
    found = figures(preference_accuracy(decisions(answers), n_resamples=5))
    kept = [(ab, ba) for w, ab, ba in answers if w != "tie"]
    every = [(ab, ba) for _, ab, ba in answers]  # where it stood is nothing of what people chose
    shares = {
        "consistent_share": ([ab is not None and ab == ba for ab, ba in kept]),
        "choice_share": ([ab in ("A", "B") and ab == ba for ab, ba in kept]),
        "valid_share": ([ab is not None and ba is not None for ab, ba in kept]),
        "first_slot_share": (
            [ab == "A" for ab, _ in every if ab in ("A", "B")] + [ba == "B" for _, ba in every if ba in ("A", "B")]
        ),
    }
    for name, of in shares.items():
        if of:
            assert found[name]["value"] == pytest.approx(sum(of) / len(of)), name
            assert found[name]["n"] == len(of)
        else:
            assert pd.isna(found[name]["value"]) and found[name]["reason"]
    acc, acc_pc, share = (found[name]["value"] for name in ("acc", "acc_pc", "choice_share"))
    if pd.notna(acc_pc):
        assert acc <= acc_pc + 1e-12
        assert acc == pytest.approx(acc_pc * share)
        assert found["gap"]["value"] == pytest.approx(acc_pc - acc)


def test_a_cell_of_table_2() -> None:
    # GPT-5, code completion: 271 right of 432 valid choices and of 500 pairs.
    answers: list[Answer] = [("A", "A", "A")] * 271 + [("A", "B", "B")] * 161 + [("B", "A", "B")] * 60
    answers += [("B", None, None)] * 4 + [("B", "tie", "tie")] * 4 + [("tie", "A", "A")] * 3
    found = figures(preference_accuracy(decisions(answers)))
    assert found["acc"]["value"] == 271 / 500 and found["acc_pc"]["value"] == 271 / 432
    assert (round(100 * found["acc"]["value"], 2), round(100 * found["acc_pc"]["value"], 2)) == (54.20, 62.73)
    assert (found["acc"]["n"], found["acc_pc"]["n"], found["acc"]["n_left_out"]) == (500, 432, 3)
    assert "3 pairs that people call a tie are left out" in found["acc"]["reason"]
    assert found["acc"]["ci95_low"] < 0.542 < found["acc"]["ci95_high"]
    assert found["first_slot_share"]["value"] == (432 + 120 + 3) / (2 * 495)
    assert (found["first_slot_share"]["n"], found["first_slot_share"]["n_left_out"]) == (990, 2 * 503 - 990)
    assert found["first_slot_share"]["p_value"] < 0.01


def test_one_pair_is_not_called_pairs() -> None:
    found = figures(preference_accuracy(decisions([("A", "A", "A"), ("tie", "A", "A")]), n_resamples=20))
    assert "1 pair that people call a tie is left out" in found["acc"]["reason"]


def test_one_order_leaves_what_needs_two_undefined() -> None:
    table = preference_accuracy(decisions([("A", "A", None), ("B", "A", None)]).drop(columns="decision_ba"))
    found = figures(table)
    assert found["acc"]["value"] == 0.5 and "one order only" in found["acc"]["reason"]
    for name in ("acc_pc", "gap", "choice_share", "consistent_share", "valid_share", "first_slot_share"):
        assert pd.isna(found[name]["value"]) and "decision_ba" in found[name]["reason"], name


def test_no_valid_choice_has_no_acc_pc() -> None:
    found = figures(preference_accuracy(decisions([("A", "A", "B"), ("B", None, None)])))
    assert found["acc"]["value"] == 0.0
    assert pd.isna(found["acc_pc"]["value"]) and found["acc_pc"]["reason"].startswith("no choice is valid")


def test_floors_need_no_judgment() -> None:
    answers: list[Answer] = [("A", "A", "A"), ("A", "B", "B"), ("B", "A", "A"), ("A", "A", "A")]
    lengths = {"length_a": [1, 5, 1, 7], "length_b": [3, 2, 2, 7]}
    table = preference_accuracy(decisions(answers, **lengths))
    floors = table[table["of"] == "floor"].set_index("name")["value"].to_dict()
    assert floors == {
        "always A": 0.75, "always B": 0.25, "always the first shown": 0.0, "the longer response": 0.5,
        "the most frequent label": 0.75,
    }  # fmt: skip
    found = figures(table)
    # The longer ones are B, A, B: the judge takes A, B, A; people take A, A, B.
    assert found["longer_share"]["value"] == 0.0 and found["longer_share"]["n"] == 6
    assert found["length_bias"]["value"] == pytest.approx(-2 / 3)


def test_judges_are_compared_on_the_pairs_of_both_and_corrected() -> None:
    answers: list[Answer] = [("A", "A", "A")] * 40 + [("A", "B", "B")] * 20
    worse: list[Answer] = [("A", "B", "B")] * 60
    like: list[Answer] = [("A", "A", "A")] * 30
    table = preference_accuracy(
        pd.concat([decisions(answers), decisions(worse, "worse"), decisions(like, "some")]), n_resamples=500
    )
    rows = table[(table["of"] == "difference") & (table["figure"] == "acc")]
    found = {(row["name"], row["other"]): row for row in rows.to_dict("records")}
    assert {pair: row["value"] for pair, row in found.items()} == {
        ("j", "worse"): pytest.approx(2 / 3), ("j", "some"): 0.0, ("worse", "some"): -1.0,
    }  # fmt: skip
    assert [found[pair]["n"] for pair in found] == [60, 30, 30]
    assert found["j", "worse"]["p_value"] < found["j", "worse"]["p_holm"] < 0.05
    assert "30 pairs of other judges have no row of this one" in figures(table, name="some")["acc"]["reason"]


def test_clusters_widen_the_interval() -> None:
    answers: list[Answer] = ([("A", "A", "A")] * 10 + [("A", "B", "B")] * 10) * 10
    alone = figures(preference_accuracy(decisions(answers)))["acc"]
    together = figures(preference_accuracy(decisions(answers, cluster=[str(i // 10) for i in range(200)])))["acc"]
    assert alone["value"] == together["value"] == 0.5
    assert together["ci95_high"] - together["ci95_low"] > 2 * (alone["ci95_high"] - alone["ci95_low"])


def test_the_order_of_rows_changes_nothing_but_the_order_of_judges() -> None:
    answers: list[Answer] = [("A", "A", "A"), ("A", "A", "B"), ("B", "A", "A"), ("B", "B", "B")] * 5
    columns = {"category": list("xyzx") * 5, "cluster": [str(i // 3) for i in range(20)], "votes": ['{"b": "A"}'] * 20}
    both = pd.concat([decisions(answers, **columns), decisions(answers[::-1], "k", **columns).assign(label=None)])
    both["label"] = both["pair_id"].map({f"p{i}": w for i, (w, _, _) in enumerate(answers)})
    expected = preference_accuracy(both, n_resamples=50)
    for seed in range(3):
        mixed = both.groupby("judge", sort=False, group_keys=False).sample(frac=1, random_state=seed)
        pd.testing.assert_frame_equal(preference_accuracy(mixed, n_resamples=50), expected)


def test_categories_and_families() -> None:
    answers: list[Answer] = [("A", "A", "A"), ("A", "A", "B"), ("B", "A", "A"), ("B", "B", "B")]
    one = decisions(answers, category=["x", "x", "y", None], family="small")
    other = decisions([(w, w, w) for w, _, _ in answers], "k", category=["x", "x", "y", None], family="small")
    table = preference_accuracy(pd.concat([one, other]), n_resamples=100)
    rows = table[(table["name"] == "j") & (table["figure"] == "acc") & table["category"].notna()]
    assert rows.set_index("category")["value"].to_dict() == {"x": 0.5, "y": 0.0}
    family = figures(table, "family", "small")
    assert family["acc"]["value"] == pytest.approx((0.5 + 1.0) / 2)
    assert family["acc_pc"]["value"] == pytest.approx((2 / 3 + 1.0) / 2)
    assert "mean of 2 judges" in family["acc"]["reason"]


def test_the_human_rows_of_table_2() -> None:
    # 30 of 60 pairs have three annotators: 25 majorities are the user's choice; the best judge is right on 36 of 60.
    votes = [json.dumps({"a": w, "b": w, "c": "B"}) for w in ["A"] * 25 + ["B"] * 5] + [None] * 30
    best: list[Answer] = [("A", "A", "A")] * 36 + [("A", "B", "B")] * 24
    table = preference_accuracy(
        pd.concat([decisions(best[::-1], "low", votes=votes), decisions(best, votes=votes).assign(decision_ab="A")])
    )
    rows = table[table["of"] == "people"].set_index("figure")
    assert rows["value"].to_dict() == {
        "majority_user_agreement": pytest.approx(25 / 30),
        "improvement_over_best": pytest.approx(25 / 30 - 36 / 60),
        "improvement_on_same_pairs": pytest.approx(25 / 30 - 6 / 30),
    }
    assert rows["n"].tolist() == [30, 30, 30] and rows["other"].tolist()[1:] == ["low", "low"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": ["A", None]}, "row 2: label is blank"),
        ({"label": ["A", "C"]}, "row 2: label is 'C', which is none of A, B, tie"),
        ({"decision_ba": ["A", "yes"]}, "row 2: decision_ba is 'yes'"),
        ({"pair_id": ["p", "p"]}, "row 2: judge 'j' has pair 'p' a second time .first: row 1"),
        ({"pair_id": ["p", "p"], "judge": ["j", "k"]}, "row 2: label of pair 'p' is 'B', and at row 1"),
        ({"votes": ["{}", "[1]"]}, "row 2: votes is '\\[1\\]', which is not a JSON object"),
        ({"family": ["f", "g"]}, "row 2: judge 'j' has a second family, 'g'"),
    ],
)  # fmt: skip
def test_what_cannot_be_right_is_named(change: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(PairError, match=message):
        preference_accuracy(decisions([("A", "A", "A"), ("B", "A", "B")]).assign(**change))


def test_rows_of_a_frame_without_places_are_numbered() -> None:
    frame = decisions([("A", "A", "A"), ("B", "A", "?")]).reset_index(drop=True)
    with pytest.raises(PairError, match=r"^row 2: decision_ba is '\?'"):
        preference_accuracy(frame)


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(PairError, match=r"'loose'.*trace, exact"):
        preference_accuracy(decisions([("A", "A", "A")]), rule="loose")
