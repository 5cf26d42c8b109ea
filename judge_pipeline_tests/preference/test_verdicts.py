from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.preference.verdicts import codes_of, decisions_of, unswapped, verdicts_of

CHOICE = st.sampled_from(["A", "B", "tie", None])


def test_what_was_picked_in_the_order_ba_is_the_other_response() -> None:
    picked = {
        (slot, order): unswapped(slot, order)
        for slot, order in itertools.product(("first", "second", "tie", None), ("AB", "BA"))
    }
    assert picked == {
        ("first", "AB"): "A", ("first", "BA"): "B", ("second", "AB"): "B", ("second", "BA"): "A",
        ("tie", "AB"): "tie", ("tie", "BA"): "tie", (None, "AB"): None, (None, "BA"): None,
    }  # fmt: skip


@pytest.mark.parametrize(("slot", "order", "named"), [("A", "AB", "'A'"), ("first", "ab", "'ab'")])
def test_another_word_is_named(slot: str, order: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        unswapped(slot, order)


@given(st.lists(st.tuples(CHOICE, CHOICE), min_size=1, max_size=8), st.booleans())
def test_there_and_back_again(choices: list[tuple[str | None, str | None]], both: bool) -> None:
    rows = [
        {"pair_id": str(i), "judge": "j", "decision_ab": ab, "decision_ba": ba} for i, (ab, ba) in enumerate(choices)
    ]
    decisions = pd.DataFrame(rows, dtype=object)
    decisions = decisions if both else decisions.drop(columns="decision_ba")
    verdicts = verdicts_of(decisions)
    assert set(verdicts["presentation_order"]) == ({"AB", "BA"} if both else {"AB"})
    pd.testing.assert_frame_equal(decisions_of(verdicts.sample(frac=1, random_state=1).sort_index()), decisions)


def test_an_order_that_was_not_asked_is_invalid_and_one_asked_twice_is_refused() -> None:
    verdicts = pd.DataFrame(
        [("p", "j", "AB", "first"), ("p", "j", "BA", "second"), ("q", "j", "AB", "second")],
        columns=["pair_id", "judge", "presentation_order", "slot"],
    )
    found = decisions_of(verdicts)
    assert found.to_dict("list") == {
        "pair_id": ["p", "q"], "judge": ["j", "j"], "decision_ab": ["A", "B"], "decision_ba": ["A", None],
    }  # fmt: skip
    with pytest.raises(ValueError, match="two verdicts on pair 'p' in order AB"):
        decisions_of(pd.concat([verdicts, verdicts[:1]]))


def test_codes() -> None:
    assert codes_of(pd.Series(["A", "B", "tie", None, float("nan")], dtype=object)).tolist() == [0, 1, 2, -1, -1]
    with pytest.raises(ValueError, match=r"row 2: decision_ab is 'a', which is none of A, B, tie"):
        codes_of(pd.Series(["A", "a"], index=["row 1", "row 2"], name="decision_ab"))
