from __future__ import annotations

import hashlib
import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_pipeline.cocreation.requests import (
    attempts_without_source,
    canonical_json,
    judge_requests,
    label_leaks,
    to_jsonl,
)
from judge_pipeline.tables import ATTEMPTS, JUDGE_OUTPUTS, PREDICTIONS

BUDGETS: dict[str, Any] = {"context": "nonblind", "max_code_chars": 12000, "max_prompt_chars": 12000}


def attempt(i: int, source: str | None = "int main(){}", **values: Any) -> dict[str, Any]:
    row = dict.fromkeys(ATTEMPTS.column_names) | {
        "attempt_id": f"{i:016x}",
        "participant": "E1",
        "problem_id": "P1",
        "turn": i,
        "language": "C++",
        "source_code": source,
        "verdict": "WA",
        "y": 0,
        "order_source": "instant",
        "path": "submissions/E1/x.html",
        "reader": "generic",
    }
    return row | values


def tables(
    *rows: dict[str, Any], prompts: dict[str, str] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    attempts = ATTEMPTS.conform(rows)
    said = prompts or {}
    people = sorted(set(attempts["participant"]))
    contexts = pd.DataFrame({"participant": people, "prompt_text": [said.get(u, "how do I sort?") for u in people]})
    splits = attempts[["participant", "problem_id"]].drop_duplicates().assign(split="test")
    return attempts, contexts, splits


def test_a_request_holds_what_equation_7_says() -> None:
    requests = judge_requests(*tables(attempt(1)), **BUDGETS)
    assert json.loads(to_jsonl(requests)) == {
        "attempt_id": "0000000000000001",
        "split": "test",
        "context": "nonblind",
        "problem_id": "P1",
        "language": "C++",
        "source_code": "int main(){}",
        "prompt_text": "how do I sort?",
    }


def test_attempts_without_source_are_no_requests_and_are_listed() -> None:
    attempts, contexts, splits = tables(attempt(1), attempt(2, source=None), attempt(3, source=""))
    requests = judge_requests(attempts, contexts, splits, **BUDGETS)
    assert list(requests["attempt_id"]) == [f"{i:016x}" for i in (1, 3)]
    assert list(attempts_without_source(attempts)["attempt_id"]) == [f"{2:016x}"]


def test_what_exceeds_a_budget_loses_its_tail_and_is_counted() -> None:
    requests = judge_requests(
        *tables(attempt(1, source="𝔸bcdef")), context="nonblind", max_code_chars=4, max_prompt_chars=3
    )
    assert requests.loc[0, ["source_code", "source_chars_cut"]].tolist() == ["𝔸bcd", 2]
    assert requests.loc[0, ["prompt_text", "prompt_chars_cut"]].tolist() == ["how", 11]


def test_blind_requests_show_no_context_and_have_another_hash() -> None:
    parts = tables(attempt(1))
    nonblind = judge_requests(*parts, **BUDGETS)
    blind = judge_requests(*parts, **BUDGETS | {"context": "blind"})
    assert blind.loc[0, ["prompt_text", "prompt_chars_cut"]].tolist() == ["", 0]
    assert blind["request_sha256"][0] != nonblind["request_sha256"][0]


def test_the_setting_is_in_the_hash_even_where_there_was_no_prompt_to_hide() -> None:
    parts = tables(attempt(1), prompts={"E1": ""})
    hashes = {judge_requests(*parts, **BUDGETS | {"context": c})["request_sha256"][0] for c in ("blind", "nonblind")}
    assert len(hashes) == 2


def test_a_statement_is_shown_where_there_is_one_and_changes_the_hash() -> None:
    parts = tables(attempt(1), attempt(2, problem_id="P2"))
    plain = judge_requests(*parts, **BUDGETS)
    stated = judge_requests(*parts, **BUDGETS, statements={"P1": "Add two numbers."})
    lines = [json.loads(line) for line in to_jsonl(stated).splitlines()]
    assert [line.get("problem_statement") for line in lines] == ["Add two numbers.", None]
    assert "problem_statement" not in lines[1]
    assert (plain["request_sha256"] == stated["request_sha256"]).tolist() == [False, True]


def test_the_hash_is_over_the_request_alone_and_can_be_recomputed_from_the_jsonl() -> None:
    requests = judge_requests(*tables(attempt(1), attempt(2), attempt(3, source="x")), **BUDGETS)
    lines = to_jsonl(requests).splitlines()
    for line, row in zip(lines, requests.to_dict("records"), strict=True):
        request = {key: value for key, value in json.loads(line).items() if key not in ("attempt_id", "split")}
        text = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
        assert text == canonical_json(row)
        assert hashlib.sha256(text.encode()).hexdigest() == row["request_sha256"]
    assert requests["request_sha256"].nunique() == 2  # two attempts with the same source ask the same


def test_joins_that_are_not_complete_are_refused_by_name() -> None:
    attempts, contexts, splits = tables(attempt(1))
    with pytest.raises(ValueError, match="no participant context for E1"):
        judge_requests(attempts, contexts.iloc[:0], splits, **BUDGETS)
    with pytest.raises(ValueError, match=r"no split for trajectories \('E1', 'P1'\)"):
        judge_requests(attempts, contexts, splits.iloc[:0], **BUDGETS)


def test_no_attempts_no_requests() -> None:
    requests = judge_requests(*tables(), **BUDGETS)
    assert requests.empty
    assert to_jsonl(requests) == ""


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(texts, st.sampled_from(["AC", "WA", "PENDING"]), texts), max_size=8),
    st.integers(1, 50),
    st.integers(0, 50),
    st.booleans(),
)
def test_requests_are_the_same_whatever_the_labels_and_never_hold_them(
    rows: list[tuple[str, str, str]], max_code: int, max_prompt: int, blind: bool
) -> None:
    made = [
        attempt(i, source=source, verdict=verdict, verdict_raw="Zurückgewiesen", y=None)
        for i, (source, verdict, _) in enumerate(rows, 1)
    ]
    other = [row | {"verdict": "TLE", "verdict_raw": "ok", "y": 1} for row in made]
    settings: dict[str, Any] = {
        "context": "blind" if blind else "nonblind",
        "max_code_chars": max_code,
        "max_prompt_chars": max_prompt,
    }
    prompts = {"E1": "\n".join(text for *_, text in rows)}
    first = judge_requests(*tables(*made, prompts=prompts), **settings)
    second = judge_requests(*tables(*other, prompts=prompts), **settings)
    pd.testing.assert_frame_equal(first, second)
    assert label_leaks(first) == []
    assert label_leaks(to_jsonl(first)) == []
    for row, (source, *_) in zip(first.to_dict("records"), rows, strict=True):
        assert source.startswith(row["source_code"])
        assert len(row["source_code"]) + row["source_chars_cut"] == len(source)
        assert len(row["prompt_text"]) <= max_prompt
    assert len(to_jsonl(first).split("\n")) == len(rows) + 1


@pytest.mark.parametrize(
    "name", ["y", "verdict", "verdict_raw", "isAccepted", "AC", "score", "p_ac", "y_true", "caseVerdicts", "Status"]
)
def test_label_names_are_found_in_columns_and_keys(name: str) -> None:
    requests = judge_requests(*tables(attempt(1)), **BUDGETS)
    assert label_leaks(requests.assign(**{name: 1})) == [name]
    assert label_leaks(json.dumps({"attempt_id": "a", "meta": [{name: 1}]})) == [name]


@pytest.mark.parametrize("name", ["year", "language", "accuracy", "scoped", "yes", "package", "attempt_id", "Activity"])
def test_other_names_are_not(name: str) -> None:
    assert label_leaks(json.dumps({name: 1})) == []


def test_tables_that_do_hold_labels_are_recognized() -> None:
    assert label_leaks(ATTEMPTS.empty()) == ["verdict", "verdict_raw", "y"]
    assert label_leaks(PREDICTIONS.empty()) == ["p_ac", "verdict", "y"]
    assert label_leaks(JUDGE_OUTPUTS.empty()) == ["p_ac"]
