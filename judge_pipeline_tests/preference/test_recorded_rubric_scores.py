"""Rubric scores that were collected elsewhere, read strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.preference.recorded_rubric_scores import RecordedScores, recorded_rubric_scores
from judge_pipeline.settings.preference import RubricSettings
from judge_pipeline.tables.rubric import RUBRIC_SCORES

PAIRS, ITEMS = ["p1", "p2"], ["short", "clear"]


def read(content: str, name: str = "s.csv", **given: Any) -> RecordedScores:
    return recorded_rubric_scores(name, content.encode(), PAIRS, ITEMS, given.get("two_orders", "must_agree"))


def scores(found: RecordedScores) -> dict[tuple[str, str], Any]:
    rows = found.rows.astype(object).where(found.rows.notna(), None)
    return {(row["pair_id"], row["item"]): row["score"] for row in rows.to_dict("records")}


def test_two_orders_become_one_score_by_the_set_s_rule() -> None:
    text = "pair_id,item,score_ab,score_ba\np1,short,1,1\np1,clear,-1,0\np2,short,1,-1\np2,clear,0,0\n"
    found = read(text)
    assert scores(found) == {
        ("p1", "short"): 1, ("p1", "clear"): 0, ("p2", "short"): 0, ("p2", "clear"): 0,
    }  # fmt: skip
    assert found.notes == () and found.rows["reason"].isna().all()
    assert found.rows["scorer"].unique().tolist() == ["s.csv"]
    assert scores(read(text, two_orders="forward_unless_tie"))[("p1", "clear")] == -1
    assert found.rows[["score_ab", "score_ba"]].values.tolist() == [[1, 1], [-1, 0], [1, -1], [0, 0]]


def test_one_score_for_both_orders_is_told_from_two() -> None:
    rows = [{"pair_id": p, "item": i, "score": s} for p, i, s in (("p1", "short", -1), ("p1", "clear", 1.0))]
    found = read("".join(json.dumps(row) + "\n" for row in rows), "s.jsonl")
    assert scores(found)[("p1", "short")] == -1 and scores(found)[("p1", "clear")] == 1
    assert found.rows[["score_ab", "score_ba"]].isna().all(axis=None)
    reasons = found.rows.set_index(["pair_id", "item"])["reason"]
    assert reasons["p2", "short"] == "s.jsonl has no row for this pair and item"


@pytest.mark.parametrize("value", ["", "2", "A", "0.5", "true", "-"])
def test_what_is_no_score_is_none_and_says_where(value: str) -> None:
    found = read(f"pair_id,item,score\np1,short,{value}\np2,clear,+1\n")
    row = found.rows.set_index(["pair_id", "item"]).loc[("p1", "short")]
    assert scores(found)[("p1", "short")] is None
    assert row["reason"].startswith("s.csv, row 1") and "write -1" in row["reason"]
    assert scores(found)[("p2", "clear")] == 1


def test_a_pair_and_item_with_two_rows_has_no_score_and_strangers_are_named() -> None:
    found = read("pair_id,item,score\np1,short,1\np1,short,1\np9,short,1\np1,long,0\n")
    assert scores(found)[("p1", "short")] is None
    assert "are all for this pair and item" in found.rows["reason"][0]
    assert found.notes == (
        "s.csv has rows of 1 pair(s) that are not here: 'p9'",
        "s.csv has rows of 1 rubric item(s) that are not here: 'long'",
    )


@pytest.mark.parametrize(
    "header",
    ["pair_id,score", "item,score", "pair_id,item", "pair_id,item,score_ab", "pair_id,item,score,score_ab,score_ba"],
)
def test_a_file_without_its_columns_is_refused_with_what_it_needs(header: str) -> None:
    with pytest.raises(JudgingError, match=r"s\.csv: needs pair_id, item, and either score_ab and score_ba or score"):
        read(f"{header}\n{','.join('1' for _ in header.split(','))}\n")


@given(st.binary(max_size=200))
def test_anything_else_is_refused_or_gives_a_row_for_each_pair_and_item(content: bytes) -> None:
    try:
        found = recorded_rubric_scores("s.csv", b"pair_id,item,score\n" + content, PAIRS, ITEMS, "must_agree")
    except JudgingError as error:
        assert "s.csv" in str(error)
        return
    assert len(RUBRIC_SCORES.conform(found.rows)) == 4
    assert (found.rows["score"].isna() == found.rows["reason"].notna()).all()


def test_scores_come_from_a_judge_or_from_a_file_of_the_set_s_folder() -> None:
    with pytest.raises(ValidationError, match="take the other away"):
        RubricSettings(scorer="x", recorded_scores="s.csv")
    for path in ("/etc/passwd", "../s.csv"):
        with pytest.raises(ValidationError, match="inside the set's folder"):
            RubricSettings(recorded_scores=path)
