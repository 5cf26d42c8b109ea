from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.preference.drafts import PairDraft, majority
from judge_pipeline.preference.pairs import PairsRead, read_pairs
from judge_pipeline.preference.set_aside import said_of
from judge_pipeline.settings import PreferenceSettings


def lines(*rows: dict[str, Any]) -> bytes:
    return ("\n".join(json.dumps(row) for row in rows) + "\n").encode()


def read(data: bytes, path: str = "pairs.jsonl", seed: int = 7, **source: Any) -> PairsRead:
    return read_pairs([(path, data)], PreferenceSettings.model_validate({"seed": seed, "source": source}))


def counts(found: PairsRead) -> dict[tuple[str, str], int]:
    return {(row["effect"], row["reason"]): row["n"] for row in found.selection.to_dict("records")}


def row(n: int, **more: Any) -> dict[str, Any]:
    return {"instruction": f"do {n}", "response_a": f"a{n}", "response_b": f"b{n}", "w": "A", **more}


def test_columns_by_their_names_by_mapping_and_by_path() -> None:
    plain = read(lines(row(1, category="edit", votes={"ann": "B", "bob": "tie"}, split="validation")))
    pair = plain.pairs.iloc[0]
    assert (pair["category"], pair["split"], json.loads(pair["votes"])) == ("edit", "val", {"ann": "B", "bob": "tie"})
    mapped = read(
        lines({"q": "do 1", "x": {"left": "a1", "right": "b1"}, "better": "left"}),
        columns={"instruction": "q", "response_a": "x.left", "response_b": "x.right", "w": "better"},
        choice_words={"left": "A", "right": "B"},
    )
    assert mapped.quarantine.empty
    assert mapped.pairs.loc[0, ["instruction", "response_a", "w"]].tolist() == ["do 1", "a1", "A"]
    assert mapped.pairs.loc[0, "pair_id"] == pair["pair_id"], "the id is that of the content"


def test_csv_json_lines_and_parquet_give_the_same_pairs(tmp_path: Path) -> None:
    rows = [row(n, w="B" if n % 2 else "tie") for n in range(5)]
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "p.parquet")
    forms = {
        "p.csv": frame.to_csv(index=False).encode(),
        "p.jsonl": lines(*rows),
        "p.json": json.dumps(rows).encode(),
        "p.parquet": (tmp_path / "p.parquet").read_bytes(),
    }
    columns = ["pair_id", "instruction", "response_a", "response_b", "w"]
    tables = [read(data, path).pairs[columns] for path, data in forms.items()]
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other)


@pytest.mark.parametrize(
    ("wrong", "field", "reason"),
    [
        ({"w": ""}, "w", "states no choice"),
        ({"w": "1"}, "w", "is no choice that is known"),
        ({"response_b": None}, "response_b", "holds no response"),
        ({"response_b": " "}, "response_b", "is blank"),
        ({"response_a": ["x"]}, "response_a", "is no text"),
        ({"split": "holdout"}, "split", "is no split"),
        ({"prior_turns": "hello"}, "prior_turns", "is no list and no object"),
        ({"prior_turns": [{"content": "x"}]}, "prior_turns", "has a turn without a role"),
        ({"votes": [1]}, "votes", "is no object"),
        ({"pair_id": "x\ny"}, "pair_id", "is no name"),
    ],
)
def test_a_wrong_row_is_set_aside_with_place_value_and_remedy(wrong: dict[str, Any], field: str, reason: str) -> None:
    found = read(lines(row(1), row(2) | wrong, row(3)))
    assert len(found.pairs) == 2
    aside = found.quarantine.iloc[0]
    assert (aside["place"], aside["field"]) == ("row 2 (line 2)", field)
    assert reason in aside["reason"] and aside["remedy"]
    assert counts(found)[("set_aside", "no pair can be made of it")] == 1


def test_a_mapping_to_a_column_that_is_not_there_names_those_that_are_once_a_file() -> None:
    for data, path in ((lines(row(1), row(2)), "x.jsonl"), (b"response_a,response_b,w\n1,2,A\n3,4,B\n", "x.csv")):
        found = read(data, path, columns={"w": "winner"})
        [aside] = found.quarantine.to_dict("records")
        assert aside["field"] == "winner" and pd.isna(aside["place"]) and found.pairs.empty
        assert "response_a, response_b, w" in aside["remedy"]
        assert counts(found) == {("set_aside", "its file lacks a column"): 2}


def test_a_table_without_what_a_pair_needs_is_one_fault_of_the_file() -> None:
    table = b"task,left,right,better\nadd,1,2,left\nsay,3,4,right\n"
    [aside] = read(table, "v.csv").quarantine.to_dict("records")
    assert said_of(aside) == (
        "v.csv: response_a, response_b, w are no columns of this file (the file has task, left, right, better; name "
        "what is meant in source.columns of preference.yaml)"
    )
    responses = {"response_a": "left", "response_b": "right"}
    assert read(table, "v.csv", columns=responses).quarantine["field"].tolist() == ["w"]
    assert read(table, "v.csv", columns=responses, annotators=["ann"]).quarantine["field"].tolist() == ["ann"]
    both = read_pairs([("v.csv", table), ("ok.jsonl", lines(row(1)))], PreferenceSettings())
    assert both.quarantine["source_file"].tolist() == ["v.csv"] and len(both.pairs) == 1


def test_a_row_alone_that_lacks_a_column_is_set_aside_alone() -> None:
    found = read(lines(row(1), {"response_a": "x", "response_b": "y"}, row(3)))
    [aside] = found.quarantine.to_dict("records")
    assert (
        said_of(aside).startswith("pairs.jsonl, row 2 (line 2): w is missing in this row (") and len(found.pairs) == 2
    )
    voted = read(lines({"response_a": "x", "response_b": "y", "votes": {"ann": "B"}}))
    assert voted.pairs["w"].tolist() == ["B"], "votes are enough"


def test_words_for_a_choice_mean_the_same_in_any_case() -> None:
    words = {"Links": "A", "rechts ": "B", "Straße": "both_bad"}
    said = ("LINKS", " links", "Rechts", "STRASSE", "Model_B", "TIE")
    found = read(lines(*(row(n, w=w) for n, w in enumerate(said))), choice_words=words)
    assert found.quarantine.empty
    assert found.pairs["w"].tolist() == ["A", "A", "B", "tie", "B", "tie"]
    assert found.pairs["both_bad"].tolist() == [False, False, False, True, False, False]
    apart = read(
        lines(row(1, w="l"), row(2, w="L"), row(3, w="ſ")), choice_words={"l": "A", "L": "B", "s": "A", "S": "B"}
    )
    assert apart.pairs["w"].tolist() == ["A", "B"], "words that differ in case alone are taken as written"
    assert "no choice that is known" in apart.quarantine.loc[0, "reason"]


def test_a_value_that_is_no_choice_is_shown_with_every_word_that_is_one() -> None:
    found = read(lines(row(1), row(2, w="Lefty\x1b[31m" + "y" * 90)), choice_words={"left": "A"})
    said = said_of(found.quarantine.to_dict("records")[0])
    assert said.startswith("pairs.jsonl, row 2 (line 2): w 'Lefty\\x1b[31myyy") and "y" * 60 not in said
    assert "is no choice that is known (left, A, B, tie, both_bad, " in said
    for word in ("model_a", "response_b", "draw", "both bad", "[[c]]"):
        assert f"{word}," in said or f"{word})" in said


def test_numbers_are_no_choice_unless_they_are_named() -> None:
    found = read(lines(row(1, w=1), row(2, w="2")), choice_words={"1": "A", "2": "B"})
    assert found.pairs["w"].tolist() == ["A", "B"]


def test_annotators_columns_make_a_majority() -> None:
    data = lines(
        row(1, w=None, x="A", y="A", z="B"), row(2, w=None, x="A", y="B", z="tie"), row(3, w=None, x="B", y=None, z="")
    )
    found = read(data, annotators=["x", "y", "z"])
    assert found.pairs["w"].tolist() == ["A", "B"]
    assert counts(found)[("left_out", "no choice has a majority of the votes")] == 1
    assert read(data, annotators=["x", "y", "z"], no_majority="tie").pairs["w"].tolist() == ["A", "tie", "B"]


def test_both_bad_is_a_tie_that_is_marked_or_left_out() -> None:
    data = lines(row(1, w="both_bad"), row(2, w="tie"), row(3))
    found = read(data)
    assert found.pairs[["w", "both_bad"]].to_numpy().tolist() == [["tie", True], ["tie", False], ["A", False]]
    assert read(data, both_bad="leave_out").pairs["w"].tolist() == ["tie", "A"]
    assert read(data, ties="leave_out").pairs["w"].tolist() == ["tie", "A"], "both bad is not called a tie there"


def test_the_same_pair_twice_is_one_and_with_another_choice_a_contradiction() -> None:
    found = read(lines(row(1), row(1), row(1, w="B"), row(2)))
    assert found.pairs["w"].tolist() == ["A", "A"]
    assert counts(found)[("left_out", "the same pair with the same choice stands before")] == 1
    aside = found.quarantine.iloc[0]
    assert "row 1 (line 1)" in aside["reason"] and "choice A, not B" in aside["reason"]
    same_id = read(lines(row(1, pair_id="x"), row(2, pair_id="x")))
    assert "with another content" in same_id.quarantine.loc[0, "reason"]


def test_identical_responses_are_kept_unless_told_otherwise() -> None:
    data = lines(row(1, response_a="x\n", response_b=" x"), row(2))
    assert len(read(data).pairs) == 2
    assert counts(read(data, identical="leave_out"))[("left_out", "both responses are the same")] == 1


def test_a_file_that_cannot_be_read_does_not_stop_the_others() -> None:
    settings = PreferenceSettings()
    found = read_pairs([("a.json", b"{oops"), ("b.jsonl", lines(row(1)))], settings)
    assert len(found.pairs) == 1
    assert found.quarantine["source_file"].tolist() == ["a.json"]
    assert read(b"response_a,response_b,w\n", "x.csv").quarantine["reason"].str.contains("no rows").all()


def test_swapping_exchanges_all_that_belongs_to_a_response_and_is_seeded() -> None:
    rows = [
        row(n, model_a="m1", model_b="m2", votes={"x": "A", "y": "tie"}, aspects={"style": "A", "size": "big"},
            evidence_a={"output": "1"})
        for n in range(40)
    ]  # fmt: skip
    plain, swapped = read(lines(*rows)).pairs, read(lines(*rows), swap="seeded").pairs
    assert plain["pair_id"].tolist() == swapped["pair_id"].tolist()
    turned = swapped["swapped"].to_numpy(dtype=bool)
    assert 8 < turned.sum() < 32
    assert swapped["swapped"].tolist() == read(lines(*rows), swap="seeded").pairs["swapped"].tolist()
    assert swapped["swapped"].tolist() != read(lines(*rows), swap="seeded", seed=8).pairs["swapped"].tolist()
    for before, after, is_turned in zip(plain.to_dict("records"), swapped.to_dict("records"), turned, strict=True):
        if not is_turned:
            assert before == after
            continue
        assert (after["response_a"], after["model_a"], after["w"]) == (before["response_b"], "m2", "B")
        assert json.loads(after["votes"]) == {"x": "B", "y": "tie"}
        assert json.loads(after["aspects"]) == {"style": "B", "size": "big"}
        assert after["evidence_a"] is None and json.loads(after["evidence_b"]) == {"output": "1"}


ANY_ROW = st.fixed_dictionaries(
    {
        "instruction": st.sampled_from(["i", "j"]),
        "response_a": st.sampled_from(["x", "y", "", None]),
        "response_b": st.sampled_from(["x", "z", 3]),
        "w": st.sampled_from(["A", "B", "tie", "both_bad", "what", None]),
    }
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(ANY_ROW, max_size=12),
    st.sampled_from(["keep", "leave_out"]),
    st.sampled_from(["keep", "leave_out"]),
    st.sampled_from(["none", "seeded"]),
)
def test_every_record_is_accounted_for_once(rows: list[dict[str, Any]], ties: str, identical: str, swap: str) -> None:
    if not rows:
        return
    found = read(lines(*rows, row(99)), ties=ties, identical=identical, swap=swap)
    assert found.selection["n"].sum() == len(rows) + 1
    by_effect = found.selection.groupby("effect")["n"].sum()
    assert by_effect.get("kept", 0) + by_effect.get("swapped", 0) == len(found.pairs)
    assert by_effect.get("swapped", 0) == found.pairs["swapped"].sum()
    assert by_effect.get("set_aside", 0) == len(found.quarantine)


def test_majority() -> None:
    assert majority({"a": "A", "b": "A", "c": "B"}) == "A"
    assert majority({"a": "both_bad", "b": "tie", "c": "B"}) == "tie"
    assert majority({"a": "A", "b": "B"}) is None
    assert majority({}) is None


def test_swapping_twice_changes_nothing() -> None:
    draft = PairDraft("a", "b", "A", votes={"x": "B"}, aspects={"s": "tie"}, model_a="m")
    before = repr(draft)
    draft.swap()
    assert repr(draft) != before
    draft.swap()
    assert repr(draft) == before


def trace_swaps(accepted: list[int]) -> dict[int, str]:
    """Row -> winner, by the steps of TRACE's public code with pandas itself."""
    frame = pd.DataFrame({"row": range(len(accepted)), "acceptedIndex": accepted})
    second = frame[frame["acceptedIndex"] == 1].sample(frac=1.0, random_state=42)
    mask = np.random.RandomState(42).rand(len(second)) < 0.5
    return dict(zip(second["row"], np.where(mask, "A", "B"), strict=True))


def test_trace_s_selection_is_the_one_of_its_public_code() -> None:
    accepted = [int(n % 3 != 0) for n in range(90)]
    rows = [
        {
            "pairId": f"row {n}",
            "acceptedIndex": index,
            "completionItems": json.dumps([{"prefix": f"p{n}", "completion": "first"}, {"completion": f"second{n}"}]),
        }
        for n, index in enumerate(accepted)
    ]
    found = read(lines(*rows), format="copilot_arena", selection="trace")
    ours = {int(pair_id.split()[1]): w for pair_id, w in zip(found.pairs["pair_id"], found.pairs["w"], strict=True)}
    assert ours == trace_swaps(accepted)
    assert counts(found)[("left_out", "the completion shown first was accepted")] == 30


def test_copilot_arena_as_it_is_published(shared: Path) -> None:
    data = (shared / "data" / "copilot_arena" / "copilot_arena_examples_v1.csv").read_bytes()
    found = read(data, "votes.csv", format="copilot_arena")
    assert found.pairs["w"].value_counts().to_dict() == {"A": 92, "B": 20}
    assert found.quarantine[["place", "field", "reason"]].to_numpy().tolist() == [
        ["row 24 (line 2484)", "acceptedIndex", "states no choice"]
    ]
    frame = pd.read_csv(shared / "data" / "copilot_arena" / "copilot_arena_examples_v1.csv")
    frame = frame.dropna(subset="acceptedIndex")
    assert found.pairs["response_b"].tolist() == frame["completion_b"].tolist()
    assert found.pairs["prefix"].fillna("").str.strip().tolist() == frame["prefix"].fillna("").str.strip().tolist()
    as_trace = read(data, "votes.csv", format="copilot_arena", selection="trace")
    assert counts(as_trace) == {
        ("kept", "a pair of its own"): 9,
        ("swapped", "its responses are swapped"): 11,
        ("left_out", "the completion shown first was accepted"): 92,
        ("set_aside", "no pair can be made of it"): 1,
    }


def test_auto_j_as_it_is_published(shared: Path) -> None:
    data = (shared / "data" / "auto_j" / "code_pairs.jsonl").read_bytes()
    found = read(data, format="auto_j")
    rows = [json.loads(line) for line in data.decode().splitlines()]
    assert found.pairs["w"].tolist() == [["A", "B", "tie"][r["label"]] for r in rows]
    assert (
        found.pairs["category"].value_counts().to_dict()
        == pd.Series([r["scenario"] for r in rows]).value_counts().to_dict()
    )
    assert found.pairs["notes"].notna().sum() == 1, "one response is empty, and is kept"
    assert len(read(data, format="auto_j", scenarios=["code_generation"]).pairs) == 24
