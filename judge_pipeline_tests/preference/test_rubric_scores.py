from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.preference.pair_question import pair_key
from judge_pipeline.preference.rubric_pairs import shown_pairs
from judge_pipeline.preference.rubric_questions import SCORES, Answers
from judge_pipeline.preference.rubric_scores import combined, rubric_scores, score_requests
from judge_pipeline_tests.preference.made_rubric import Answer, Scripted, item, made_texts

TEXTS = {f"p{n}": ("x" * n, "x" * (3 - n)) for n in range(4)}
"""Response A is longer in p2 and p3, B in p0 and p1."""


def longer_first(shown: Mapping[str, Any]) -> dict[str, str]:
    """Says of every item that the longer response satisfies it."""
    first, second = len(shown["pair"]["first"]), len(shown["pair"]["second"])
    return {f"item_{n}": "first" if first > second else "second" for n in range(1, len(shown["rubric_items"]) + 1)}


def scored(answer: Answer, n_items: int = 3, items_per_call: int = 2) -> pd.DataFrame:
    asked = score_requests(
        "set", shown_pairs(made_texts(TEXTS), 1000), [item(f"i{n}") for n in range(n_items)], items_per_call
    )
    return rubric_scores(asked, Scripted(answer)(SCORES, asked.rows), scorer="judge")


def test_scores_are_in_terms_of_y_a_and_y_b_whichever_stood_first() -> None:
    table = scored(longer_first)
    assert len(table) == 12 and table["reason"].isna().all()
    assert table.set_index(["pair_id", "item"])["score"].xs("i2", level="item").to_dict() == {
        "p0": 1, "p1": 1, "p2": -1, "p3": -1,
    }  # fmt: skip
    assert (table["score_ab"] == table["score_ba"]).all()


def test_a_scorer_that_always_takes_the_first_says_nothing() -> None:
    table = scored(lambda shown: {f"item_{n + 1}": "first" for n in range(len(shown["rubric_items"]))})
    assert (table["score_ab"] == -1).all() and (table["score_ba"] == 1).all() and (table["score"] == 0).all()


def test_every_item_is_asked_about_every_pair_once_an_order_and_no_more_than_so_many_a_call() -> None:
    pairs = shown_pairs(made_texts(TEXTS), 1000)
    asked = score_requests("set", pairs, [item(f"i{n}") for n in range(5)], 2)
    assert len(asked.rows) == 4 * 2 * 3 and asked.rows["request_id"].is_unique
    seen = Counter((pair, order, i.slug) for pair, order, group in asked.asked.values() for i in group)
    assert seen == Counter(itertools.product(TEXTS, ("AB", "BA"), [f"i{n}" for n in range(5)]))
    assert max(len(group) for _, _, group in asked.asked.values()) == 2


def test_items_of_a_later_round_leave_the_earlier_questions_as_they_were() -> None:
    pairs = shown_pairs(made_texts(TEXTS), 1000)
    early = [item("h"), item("g1", "generated", 1), item("g2", "generated", 1)]
    before = score_requests("set", pairs, early, 2).rows["shown"].tolist()
    after = score_requests("set", pairs, [*early, item("late", "generated", 2)], 2).rows["shown"].tolist()
    assert set(before) <= set(after) and len(after) == len(before) + 8


def test_an_invalid_answer_is_no_score_and_says_of_which_order() -> None:
    table = scored(lambda shown: None if shown["pair"]["first"] == "xxx" else longer_first(shown))
    gone = table[table["score"].isna()]
    assert sorted(set(gone["pair_id"])) == ["p0", "p3"] and len(gone) == 6
    assert set(gone.loc[gone["pair_id"] == "p0", "reason"]) == {"BA: invalid: scripted"}
    assert set(gone.loc[gone["pair_id"] == "p3", "reason"]) == {"AB: invalid: scripted"}
    assert gone.loc[gone["pair_id"] == "p0", "score_ab"].tolist() == [1, 1, 1]


def test_a_row_that_was_neither_answered_nor_failed_is_no_score() -> None:
    asked = score_requests("set", shown_pairs(made_texts({"p": ("a", "b")}), 100), [item("i")], 5)
    table = rubric_scores(asked, Answers({}), scorer="judge")
    assert table["score"].isna().all() and table["reason"].tolist() == ["AB: no answer; BA: no answer"]


@pytest.mark.parametrize(
    ("ab", "ba", "agree", "forward"),
    [(1, 1, 1, 1), (-1, -1, -1, -1), (0, 0, 0, 0), (1, -1, 0, 0), (-1, 1, 0, 0), (1, 0, 0, 1), (-1, 0, 0, -1),
     (0, 1, 0, 0), (0, -1, 0, 0), (None, 1, None, None), (1, None, None, None)],
)  # fmt: skip
def test_two_orders_become_one_score(ab: int | None, ba: int | None, agree: int | None, forward: int | None) -> None:
    assert combined(ab, ba, "must_agree") == agree
    assert combined(ab, ba, "forward_unless_tie") == forward


@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_swapping_the_responses_of_all_pairs_turns_every_score_round(data: st.DataObject) -> None:
    letters = st.text("ab", max_size=4)
    texts = {f"p{n}": (data.draw(letters), data.draw(letters)) for n in range(3)}

    def answer(shown: Mapping[str, Any]) -> dict[str, str]:
        """Depends on the texts alone, not on their places."""
        first, second = (shown["pair"][name].count("a") for name in ("first", "second"))
        return {"item_1": "equal" if first == second else "first" if first > second else "second"}

    def scores(of: dict[str, tuple[str, str]]) -> Any:
        asked = score_requests("set", shown_pairs(made_texts(of), 1000), [item("i")], 1)
        return rubric_scores(asked, Scripted(answer)(SCORES, asked.rows), scorer="j")["score"].tolist()

    there, back = scores(texts), scores({name: (b, a) for name, (a, b) in texts.items()})
    assert there == [-score for score in back]
    assert there == [
        0 if a.count("a") == b.count("a") else -1 if a.count("a") > b.count("a") else 1 for a, b in texts.values()
    ]


def test_ids_are_short_and_begin_with_the_pair_s_key_whatever_it_is_called() -> None:
    odd = made_texts({"p" * 500 + "\ud800": ("a", "b")})
    names = score_requests("set", shown_pairs(odd, 100), [item("i")], 1).rows["request_id"]
    assert all(len(name) <= 64 and name.startswith(pair_key("set", odd["pair_id"][0])) for name in names)
