from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from judge_pipeline.preference.rubric_pairs import share_out, shown_pairs
from judge_pipeline.tables import PAIR_TEXTS
from judge_pipeline_tests.preference.made_rubric import made_texts


@given(lengths=st.lists(st.integers(0, 500), min_size=1, max_size=8), budget=st.integers(1, 2000))
def test_the_budget_is_kept_and_no_text_is_cut_below_an_equal_share(lengths: list[int], budget: int) -> None:
    kept = share_out(lengths, budget)
    assert all(0 <= k <= length for k, length in zip(kept, lengths, strict=True))
    if sum(lengths) <= budget:
        assert kept == lengths
        return
    cut = {k for k, length in zip(kept, lengths, strict=True) if k < length}
    assert len(cut) == 1 and max(kept) == max(cut), "all that are cut are cut to one length, the longest that is kept"
    assert budget - len(lengths) < sum(kept) <= budget
    assert min(cut) >= budget // len(lengths)


def test_what_is_cut_is_counted_and_both_responses_to_one_length() -> None:
    pair = shown_pairs(made_texts({"p": ("a" * 500, "b" * 900)}), 402)[0]
    shown = pair.shown("response_b")
    assert shown["context"] == {"instruction": "do"}
    assert shown["first"] == "b" * 200 and shown["second"] == "a" * 200
    assert shown["chars_cut"] == {"first": 700, "second": 300}
    assert pair.shown()["chars_cut"] == {"first": 300, "second": 700}


def test_what_stands_before_the_place_is_cut_at_its_beginning_and_turns_are_told_apart() -> None:
    turns = json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}])
    row = dict.fromkeys(PAIR_TEXTS.column_names) | {
        "pair_id": "p", "prior_turns": turns, "prefix": "0" * 90 + "end", "suffix": "start" + "0" * 90,
        "response_a": "", "response_b": "b",
    }  # fmt: skip
    pair = shown_pairs(PAIR_TEXTS.conform([row]), 80)[0].shown()
    assert pair["context"]["prior_turns"] == "user: hi\n\nassistant: yes"
    assert pair["context"]["prefix"].endswith("0end") and pair["context"]["suffix"].startswith("start0")
    assert len(pair["context"]["prefix"]) == len(pair["context"]["suffix"])
    assert pair["first"] == "" and list(pair["context"]) == ["prior_turns", "prefix", "suffix"]
