"""Choices that were collected elsewhere, read strictly."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.judging.failures import JudgingError
from judge_pipeline.preference.accuracy import preference_accuracy
from judge_pipeline.preference.choice_rows import choices_table, slot_of
from judge_pipeline.preference.recorded_choices import RecordedChoices, recorded_choices, recorded_hashes
from judge_pipeline.preference.verdicts import decisions_of, verdicts_of
from judge_pipeline.settings import RecordedJudge
from judge_pipeline_tests.preference import shared_verdicts

IDS = ["p1", "p2", "p3"]
BY_PAIR: list[dict[str, Any]] = [
    {"pair_id": "p1", "decision_ab": "A", "decision_ba": "B", "rationale": 'short, "plain"\nand right', "model": "m-1"},
    {"pair_id": "p2", "decision_ab": "tie", "decision_ba": "A", "rationale": None, "model": None},
    {"pair_id": "p3", "decision_ab": None, "decision_ba": "B", "rationale": None, "model": None},
]
BY_ORDER: list[dict[str, Any]] = [
    {"pair_id": "p1", "presentation_order": "AB", "slot": "first", "p_first": 0.75},
    {"pair_id": "p1", "presentation_order": "BA", "slot": "first", "p_first": 1},
    {"pair_id": "p2", "presentation_order": "AB", "slot": "tie", "p_first": None},
    {"pair_id": "p2", "presentation_order": "BA", "slot": "second", "p_first": 0.0},
    {"pair_id": "p3", "presentation_order": "AB", "slot": None, "p_first": None},
    {"pair_id": "p3", "presentation_order": "BA", "slot": "first", "p_first": 0.5},
]


def written(name: str, rows: list[dict[str, Any]]) -> bytes:
    if name.endswith(".csv"):
        return pd.DataFrame(rows, dtype=object).to_csv(index=False).encode("utf-8")
    if name.endswith(".parquet"):
        stream = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), stream)
        return bytes(stream.getvalue())
    if name.endswith(".json"):
        return json.dumps(rows).encode()
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(
    rows: list[dict[str, Any]], name: str = "c.jsonl", ids: list[str] | None = None, **settings: Any
) -> RecordedChoices:
    judge = RecordedJudge(backend="recorded", file=name, **settings)
    return recorded_choices(name, written(name, rows), judge, IDS if ids is None else ids)


def picked(found: RecordedChoices, name: str = "slot") -> dict[tuple[str, str], Any]:
    return {(row["pair_id"], row["presentation_order"]): row[name] for row in found.rows}


SLOTS = {
    ("p1", "AB"): "first", ("p1", "BA"): "first", ("p2", "AB"): "tie", ("p2", "BA"): "second", ("p3", "AB"): None,
    ("p3", "BA"): "first",
}  # fmt: skip


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.csv", "c.parquet"])
def test_a_row_a_pair_in_every_format(name: str) -> None:
    found = read(BY_PAIR, name, model="somebody's")
    assert picked(found) == SLOTS
    assert (found.orders, found.missing, found.notes) == (("AB", "BA"), (), ())
    table = choices_table("theirs", found.rows)
    assert list(table["rationale"])[:2] == ['short, "plain"\nand right'] * 2
    assert list(table["model"]) == ["m-1"] * 2 + ["somebody's"] * 4
    assert set(table["judge"]) == {"theirs"} and set(table["n_tries"]) == {0}
    assert table["request_hash"].str.fullmatch("[0-9a-f]{64}").all() and table["request_hash"].is_unique
    assert table["cost_usd"].isna().all() and table["latency_ms"].isna().all()
    blank = table[table["slot"].isna()]
    assert list(blank["failure_class"]) == ["invalid"] and "blank" in blank["failure"].iloc[0]


@pytest.mark.parametrize("name", ["c.jsonl", "c.json", "c.csv", "c.parquet"])
def test_a_row_an_order_in_every_format(name: str) -> None:
    found = read(BY_ORDER, name)
    assert picked(found) == SLOTS
    assert [row["p_first"] for row in found.rows] == [0.75, 1.0, None, 0.0, None, 0.5]
    assert picked(found, "decision") == {
        ("p1", "AB"): "A", ("p1", "BA"): "B", ("p2", "AB"): "tie", ("p2", "BA"): "A", ("p3", "AB"): None,
        ("p3", "BA"): "B",
    }  # fmt: skip


def test_slots_and_decisions_of_an_order_say_the_same() -> None:
    decisions = picked(read(BY_ORDER), "decision")
    rows = [
        {"pair_id": row["pair_id"], "presentation_order": row["presentation_order"].lower(), "slot": row["slot"],
         "decision": decisions[row["pair_id"], row["presentation_order"]]}
        for row in BY_ORDER
    ]  # fmt: skip
    assert picked(read(rows)) == SLOTS
    assert picked(read([{k: v for k, v in row.items() if k != "slot"} for row in rows])) == SLOTS


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(["A", "B", "tie", None])] * 2), min_size=1, max_size=8))
def test_what_is_written_as_decisions_is_read_as_the_slots_of_verdicts(chosen: list[tuple[Any, Any]]) -> None:
    decisions = pd.DataFrame(
        [{"pair_id": f"p{i}", "judge": "j", "decision_ab": ab, "decision_ba": ba} for i, (ab, ba) in enumerate(chosen)]
    )
    ids = list(decisions["pair_id"])
    by_pair = read(decisions.drop(columns="judge").to_dict("records"), ids=ids)
    verdicts = verdicts_of(decisions)
    by_order = read(verdicts.drop(columns="judge").to_dict("records"), ids=ids)
    expected = {(p, o): s for p, o, s in zip(*(verdicts[c] for c in verdicts.columns if c != "judge"), strict=True)}
    assert picked(by_pair) == picked(by_order) == {key: slot or None for key, slot in expected.items()}
    back = decisions_of(choices_table("j", by_pair.rows))
    assert back.astype(object).where(back.notna(), None).to_dict("records") == decisions.to_dict("records")


def test_slot_of_refuses_what_is_no_decision() -> None:
    assert [slot_of(d, "BA") for d in ("A", "B", "tie", None)] == ["second", "first", "tie", None]
    with pytest.raises(ValueError, match="decision 'C' is not one of"):
        slot_of("C", "AB")


def test_one_order_is_one_order() -> None:
    found = read([{"pair_id": p, "decision_ab": "A"} for p in IDS])
    assert found.orders == ("AB",) and len(found.rows) == 3 and found.missing == ()
    only_ba = read([{"pair_id": "p1", "presentation_order": "BA", "decision": "A"}])
    assert only_ba.orders == ("BA",) and picked(only_ba) == {("p1", "BA"): "second"}
    assert only_ba.missing == (("p2", "BA"), ("p3", "BA"))


def test_a_row_without_the_key_of_an_order_has_nothing_there_and_null_is_invalid() -> None:
    rows = [BY_PAIR[0], {"pair_id": "p2", "decision_ab": "A"}, {"pair_id": "p3", "decision_ab": "A", "decision_ba": ""}]
    found = read(rows)
    assert found.missing == (("p2", "BA"),)
    assert picked(found)["p3", "BA"] is None


def test_columns_and_words_are_mapped() -> None:
    rows = [
        {"id": 1, "first_run": 0, "swapped_run": 1.0, "pair_id": "not this", "decision_ab": "nor this"},
        {"id": 2, "first_run": 2, "swapped_run": "Tie ", "pair_id": "x", "decision_ab": "y"},
    ]
    found = read(
        rows,
        ids=["1", "2"],
        columns={"pair_id": "id", "decision_ab": "first_run", "decision_ba": "swapped_run"},
        choice_words={"0": "A", "1": "B", "2": "tie"},
    )
    assert picked(found) == {("1", "AB"): "first", ("1", "BA"): "first", ("2", "AB"): "tie", ("2", "BA"): "tie"}


def test_rows_of_other_pairs_are_counted_and_named() -> None:
    rows = [*BY_PAIR, *({"pair_id": f"z{i}", "decision_ab": "A", "decision_ba": "A"} for i in range(7))]
    found = read([*rows, rows[-1]])
    assert found.notes == ("c.jsonl: 8 rows are for pairs outside the scope, such as z0, z1, z2, z3, z4, ...",)
    assert picked(found) == SLOTS


def test_rows_come_in_the_order_of_the_pairs_whatever_the_files_is() -> None:
    found = read(BY_PAIR[::-1], ids=["p2", "p1", "p3"])
    assert [row["pair_id"] for row in found.rows] == ["p2", "p2", "p1", "p1", "p3", "p3"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"slot": "left"},
            "column slot: 'left' is none that is known (first, second, tie); write first, second or tie",
        ),
        ({"slot": "A"}, "column slot: 'A' is none that is known"),
        ({"slot": True}, "column slot: True is none that is known"),
        ({"slot": ["first"]}, "column slot: ['first'] is none that is known"),
        ({"decision": "B"}, "column slot: 'first' and decision 'B' do not fit in order AB, where first is A and that"),
        ({"decision": None}, "column slot: 'first' and decision None do not fit in order AB"),
        ({"slot": None}, "column slot: None and decision 'A' do not fit in order AB, where a blank slot is an invalid"),
        (
            {"slot": "first", "decision": "C"},
            "column decision: 'C' is none that is known (A, B, tie, both_bad); write A, B or tie",
        ),
        ({"p_first": 1.2}, "column p_first: 1.2 is not a probability from 0 to 1"),
        ({"p_first": "85%"}, "column p_first: '85%' is not a number"),
        ({"score_first": float("inf")}, "column score_first: inf is not a number"),
        ({"score_second": True}, "column score_second: True is not a number"),
        ({"rationale": 7}, "column rationale: 7 is not text"),
        ({"error": "HTTP 500"}, "the recorded call failed: HTTP 500"),
    ],
)
def test_a_wrong_row_is_an_invalid_answer_of_its_pair_and_order_alone(change: dict[str, Any], said: str) -> None:
    rest = {"decision": "A", "score_first": 2.5, "score_second": -1, "rationale": "r", "error": None}
    rows = [BY_ORDER[0] | rest | change, BY_ORDER[1] | rest | {"decision": "B"}]
    found = read(rows, ids=["p1"])
    wrong, right = found.rows
    assert (wrong["slot"], wrong["decision"], wrong["p_first"], wrong["failure_class"]) == (None, None, None, "invalid")
    assert wrong["failure"].startswith("c.jsonl, row 1 (line 1)") and said in wrong["failure"]
    assert (right["slot"], right["score_first"], right["score_second"]) == ("first", 2.5, -1.0)
    choices_table("j", found.rows)


def test_two_rows_for_a_pair_are_a_contradiction_not_a_choice() -> None:
    found = read([*BY_ORDER, BY_ORDER[0]])
    assert picked(found) == SLOTS | {("p1", "AB"): None}
    assert found.rows[0]["failure"] == (
        "c.jsonl: row 1 (line 1) and row 7 (line 7) are all for pair p1 in order AB; keep one of them"
    )
    both = read([*BY_PAIR, BY_PAIR[1]])
    assert picked(both) == SLOTS | {("p2", "AB"): None, ("p2", "BA"): None}


@pytest.mark.parametrize(("order", "said"), [("XY", "'XY' is none that is known"), (None, "None does not say which")])
def test_a_row_without_its_order_spoils_its_pair(order: str | None, said: str) -> None:
    found = read([*BY_ORDER, BY_ORDER[0] | {"presentation_order": order}])
    assert picked(found) == SLOTS | {("p1", "AB"): None, ("p1", "BA"): None}
    assert all(said in row["failure"] and "row 7" in row["failure"] for row in found.rows[:2])


@pytest.mark.parametrize(
    ("rows", "settings", "said"),
    [
        ([], {}, "is empty"),
        ([{"pair_id": "p1", "verdict": "A"}], {}, r"c.jsonl: needs pair_id, and decision_ab .* \['pair_id', 'verdict'"),
        ([{"pair_id": "p1", "decision_ba": "A"}], {}, "needs pair_id, and decision_ab"),
        ([{"pair_id": "p1", "presentation_order": "AB"}], {}, "presentation_order with slot or decision"),
        ([{"id": "p1", "decision_ab": "A"}], {}, "needs pair_id"),
        ([BY_PAIR[0] | {"presentation_order": "AB"}], {}, "has both presentation_order and decision_ab, decision_ba"),
        (BY_PAIR, {"columns": {"decision": "x"}}, "has no column 'x'"),
        (BY_PAIR, {"columns": {"p_ac": "decision_ab"}}, r"\['p_ac'\] are not columns of choices"),
        (BY_PAIR, {"columns": {"decision_ab": "model", "decision_ba": "model"}}, r"\['model'\] stand for two of ours"),
        (
            [BY_PAIR[0] | {"p": 1}],
            {"columns": {"p_first": "p"}},
            r"\['p_first'\] belong to files with one row an order",
        ),
        ([*BY_PAIR, {"decision_ab": "A"}], {}, r"row 4 \(line 4\), column pair_id: None is no pair_id"),
        ([BY_PAIR[0] | {"pair_id": ["p1"]}], {}, r"\['p1'\] is no pair_id"),
        ([BY_ORDER[0] | {"presentation_order": "?"}], {}, "no row says its presentation order"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(rows: Any, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(JudgingError, match=said):
        read(rows, **settings)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("c.csv", b"pair_id,decision_ab\np1,A,B\n", r"c.csv, row 1 \(line 2\): has 3 cells"),
        ("c.jsonl", written("c.jsonl", BY_PAIR)[:-20], "line 3, the last, is cut off"),
        ("c.jsonl", b"no json", "c.jsonl"),
        ("c.parquet", written("c.parquet", BY_PAIR)[:60], "c.parquet: is no whole Parquet file"),
    ],
)
def test_a_file_that_is_at_fault_is_refused(name: str, content: bytes, said: str) -> None:
    with pytest.raises(JudgingError, match=said):
        recorded_choices(name, content, RecordedJudge(backend="recorded", file=name), IDS)


def test_what_belongs_to_one_order_is_not_read_of_a_row_of_both_and_a_note_says_so() -> None:
    found = read([row | {"p_first": 0.5, "slot": "first"} for row in BY_PAIR])
    assert found.notes == (
        "c.jsonl: columns slot, p_first are not read, since one row is of both orders; give one row an order",
    )
    assert picked(found) == SLOTS and not any(picked(found, "p_first").values())


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_choices_or_an_error_that_says_what_to_do(content: bytes) -> None:
    judge = RecordedJudge(backend="recorded", file="c")
    for name in ("c.csv", "c.jsonl", "c"):
        for data in (content, b"pair_id,decision_ab,decision_ba\n" + content, b'{"pair_id": "p1", ' + content):
            try:
                found = recorded_choices(name, data, judge, IDS)
            except JudgingError as error:
                assert name in str(error)
            else:
                choices_table("j", found.rows)


def test_the_hash_covers_the_files_bytes_the_row_and_what_columns_are_called() -> None:
    first = picked(read(BY_PAIR), "request_hash")
    content, judge = written("c.jsonl", BY_PAIR), RecordedJudge(backend="recorded", file="c.jsonl")
    assert recorded_hashes("c.jsonl", content, judge, IDS) == first
    assert recorded_hashes("moved.jsonl", content, judge, IDS[:1]) == {k: first[k] for k in first if k[0] == "p1"}
    named = judge.model_copy(update={"model": "m"})
    for other in (recorded_hashes("c.jsonl", content + b"\n", judge, IDS), recorded_hashes("c", content, named, IDS)):
        assert other.keys() == first.keys() and not set(other.values()) & set(first.values())


def test_auto_js_verdicts_are_read_as_they_lie_there() -> None:
    content = shared_verdicts.shared_file("auto_j/verdicts.csv").read_bytes()
    expected = shared_verdicts.auto_j()
    judge = RecordedJudge(
        backend="recorded",
        file="verdicts.csv",
        columns={"pair_id": "idx", "decision_ab": "verdict_orig", "decision_ba": "verdict_swapped_mapped_back"},
        choice_words={"0": "A", "1": "B", "2": "tie"},
    )
    found = recorded_choices("verdicts.csv", content, judge, list(expected["pair_id"]))
    decisions = decisions_of(choices_table("auto-j-13b", found.rows))
    table = preference_accuracy(decisions.assign(label=expected["label"]), rule="exact", n_resamples=2)
    of_judge = table[(table["of"] == "judge") & table["category"].isna()].set_index("figure")["value"]
    assert round(100 * of_judge["acc"], 2) == 54.96 and round(100 * of_judge["consistent_share"], 2) == 83.41


def test_pandalms_verdicts_are_read_as_they_lie_there_and_garbage_is_invalid() -> None:
    content = shared_verdicts.shared_file("pandalm/verdicts.csv").read_bytes()
    expected = shared_verdicts.pandalm()
    for name, words in (
        ("gpt35", {"1": "A", "2": "B"}),
        ("pandalm7b", {"0": "tie", "1": "A", "2": "B"}),
    ):
        judge = RecordedJudge(
            backend="recorded", file="v.csv", columns={"pair_id": "idx", "decision_ab": name}, choice_words=words
        )
        own = expected[expected["judge"] == name]
        found = recorded_choices("v.csv", content, judge, list(own["pair_id"]))
        assert found.orders == ("AB",)
        decisions = own["decision_ab"].astype(object)
        assert [row["decision"] for row in found.rows] == list(decisions.where(decisions.notna(), None))
        invalid = [row["failure"] for row in found.rows if row["slot"] is None]
        assert len(invalid) == own["decision_ab"].isna().sum() and all("'garbage' is none" in text for text in invalid)


def test_llmbars_verdicts_are_read_once_a_judge_and_an_id_are_taken_from_them() -> None:
    """The conversion that docs/how-to/bring-choices-made-elsewhere.md shows."""
    path = shared_verdicts.shared_file("llmbar/verdicts.csv")
    expected, _ = shared_verdicts.llmbar()
    verdicts = pd.read_csv(path, dtype=str)
    verdicts["pair_id"] = verdicts["dataset"] + "/" + verdicts["idx"]
    evaluator = verdicts["evaluator"][verdicts["verdict_orig"].isna()].mode()[0]
    content = verdicts[verdicts["evaluator"] == evaluator].to_csv(index=False).encode()
    judge = RecordedJudge(
        backend="recorded",
        file="v.csv",
        columns={"decision_ab": "verdict_orig", "decision_ba": "verdict_swapped_mapped_back"},
        choice_words={"1": "A", "2": "B"},
    )
    own = expected[expected["judge"] == evaluator].reset_index(drop=True)
    found = recorded_choices("v.csv", content, judge, list(own["pair_id"]))
    decisions = decisions_of(choices_table(evaluator, found.rows))
    names = ["pair_id", "judge", "decision_ab", "decision_ba"]
    pd.testing.assert_frame_equal(decisions[names].fillna("invalid"), own[names].fillna("invalid"), check_dtype=False)
    assert (decisions["decision_ab"].isna()).sum() > 0
