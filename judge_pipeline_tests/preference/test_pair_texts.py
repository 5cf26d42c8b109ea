from __future__ import annotations

import json

import pandas as pd
import pytest

from judge_pipeline.preference.pair_texts import pair_texts
from judge_pipeline.preference.pairs import read_pairs
from judge_pipeline.settings import PreferenceSettings
from judge_pipeline.settings.redaction import PairRedaction

MAIL = "ann.lee@mail.example.org"
TOKEN = "[redacted:email]"


@pytest.fixture
def pairs() -> pd.DataFrame:
    row = {
        "pair_id": "p", "instruction": f"mail {MAIL}", "prefix": f"# {MAIL}\nx", "suffix": "y",
        "code_to_edit": f"'{MAIL}'",
        "response_a": f"{MAIL} {MAIL}", "response_b": "no data", "w": "A", "votes": {"bob": "A"}, "aspects": {"s": "B"},
        "prior_turns": [{"role": "user", "content": f"I am {MAIL}"}], "model_a": "m",
        "evidence_a": {"output": f"sent to {MAIL}", "screenshot": "shots/1.png"}, "category": "edit",
    }  # fmt: skip
    data = (json.dumps(row) + "\n" + json.dumps({"response_a": "a", "response_b": "b", "w": "B"}) + "\n").encode()
    return read_pairs([("x.jsonl", data)], PreferenceSettings()).pairs


def test_personal_data_are_replaced_in_every_text_and_counted(pairs: pd.DataFrame) -> None:
    texts, counts = pair_texts(pairs, PairRedaction())
    first = texts.to_dict("records")[0]
    assert MAIL not in json.dumps(texts.to_dict("records"))
    assert first["response_a"] == f"{TOKEN} {TOKEN}" and first["response_b"] == "no data"
    assert json.loads(first["prior_turns"]) == [{"role": "user", "content": f"I am {TOKEN}"}]
    assert json.loads(first["evidence_a"]) == {"output": f"sent to {TOKEN}", "screenshot": {"not_shown": "unusable"}}
    mails = counts[counts["kind"] == "email"].set_index("place")
    assert mails.loc["response_a", ["n_replaced", "n_texts", "n_searched"]].tolist() == [2, 1, 2]
    assert mails["n_replaced"].sum() == 7
    assert counts.loc[counts["kind"] == "participant", "reason"].notna().all()


def test_no_label_no_vote_and_no_model_is_in_them(pairs: pd.DataFrame) -> None:
    texts, _ = pair_texts(pairs, PairRedaction())
    other, _ = pair_texts(pairs.assign(w="tie", votes=None, aspects=None, model_a="z", swapped=True), PairRedaction())
    pd.testing.assert_frame_equal(texts, other)
    assert not {"w", "both_bad", "votes", "aspects", "model_a", "model_b", "split", "swapped"} & set(texts.columns)
    assert texts["pair_id"].tolist() == pairs["pair_id"].tolist()


def test_what_is_off_is_said_with_its_reason(pairs: pd.DataFrame) -> None:
    texts, counts = pair_texts(pairs, PairRedaction(enabled=False, off_reason="public data"))
    pd.testing.assert_series_equal(texts["response_a"], pairs["response_a"])
    assert set(counts.loc[counts["kind"] != "participant", "reason"]) == {"not replaced: public data"}
    assert counts[["n_replaced", "n_searched"]].to_numpy().sum() == 0
    empty, none = pair_texts(pairs.iloc[:0], PairRedaction())
    assert empty.empty and none["n_replaced"].sum() == 0
